import { describe, expect, test } from 'bun:test';
import { parseJson } from './json.ts';
import { templatesEqual, withoutHashLabel } from './template.ts';
import type { PodTemplateSpec } from './types/index.ts';

/** A template as the API server gives it, with the fields of one container and of the pod. */
function template(container: object = {}, pod: object = {}, metadata: object = {}) {
  return {
    metadata: { labels: { app: 'web' }, ...metadata },
    spec: { containers: [{ name: 'app', image: 'app:1', ...container }], ...pod },
  } as PodTemplateSpec;
}

/** Both ways round. */
function same(a: PodTemplateSpec, b: PodTemplateSpec): boolean {
  const equal = templatesEqual(a, b);
  expect(templatesEqual(b, a)).toBe(equal);
  return equal;
}

describe('the hash label', () => {
  const labeled = (labels: object | undefined) => template({}, {}, { labels });

  test.each<[object | undefined, object | undefined, boolean]>([
    [{ a: '1', 'pod-template-hash': 'x' }, { a: '1', 'pod-template-hash': 'y' }, true],
    [{ a: '1', 'pod-template-hash': 'x' }, { a: '1' }, true],
    [{ 'pod-template-hash': 'x' }, {}, true],
    [{ 'pod-template-hash': 'x' }, undefined, true],
    [{ a: '1', 'pod-template-hash': 'x' }, { a: '2', 'pod-template-hash': 'x' }, false],
    [{ a: '1' }, { a: '1', b: '2' }, false],
    [{ a: '' }, {}, false],
    [{ limits: '1' }, { limits: '1000m' }, false],
    [{ divisor: '1' }, { divisor: '1000m' }, false],
  ])('%j and %j: %p', (a, b, expected) => {
    expect(same(labeled(a), labeled(b))).toBe(expected);
  });

  test('is taken out of a map without touching it', () => {
    const labels = { a: '1', 'pod-template-hash': 'x' };
    expect(withoutHashLabel(labels)).toEqual({ a: '1' });
    expect(withoutHashLabel(undefined)).toEqual({});
    expect(Object.keys(labels)).toHaveLength(2);
  });
});

describe('absent, null and empty', () => {
  test.each<[string, object, object]>([
    ['lists', { args: [] }, {}],
    ['null', { args: null }, {}],
    ['maps of quantities', { resources: { limits: {} } }, {}],
    ['objects that are always there', { resources: {} }, {}],
  ])('%s are the same', (_, a, b) => {
    expect(same(template(a), template(b))).toBe(true);
  });

  test('also around the containers', () => {
    const whole = template(
      {},
      { nodeSelector: {}, tolerations: null },
      { creationTimestamp: null },
    );
    expect(same(whole, template())).toBe(true);
    expect(same(template({}, {}, { annotations: {} }), template())).toBe(true);
  });

  test.each<[string, object, object]>([
    ['an optional object', { securityContext: {} }, {}],
    ['an optional flag', { securityContext: { privileged: false } }, { securityContext: {} }],
    ['an optional text', { env: [{ name: 'A', valueFrom: {} }] }, { env: [{ name: 'A' }] }],
    ['one member more', { args: ['a', 'b'] }, { args: ['a'] }],
    ['another order', { args: ['a', 'b'] }, { args: ['b', 'a'] }],
    [
      'a number and its text',
      { ports: [{ containerPort: 80 }] },
      { ports: [{ containerPort: '80' }] },
    ],
  ])('%s makes a difference', (_, a, b) => {
    expect(same(template(a), template(b))).toBe(false);
  });

  test("the pod's own resources are optional, a claim template's are not", () => {
    expect(same(template({}, { resources: {} }), template())).toBe(false);
    const claiming = (resources: object | undefined) =>
      template(
        {},
        { volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: { resources } } } }] },
      );
    expect(same(claiming({}), claiming(undefined))).toBe(true);
  });

  test('an empty node selector of a volume is one', () => {
    const emptied = template({}, { volumes: [{ name: 'v', emptyDir: {} }] });
    expect(same(emptied, template({}, { volumes: [{ name: 'v' }] }))).toBe(false);
  });
});

describe('by value', () => {
  test.each<[object, object, boolean]>([
    [{ limits: { cpu: '1' } }, { limits: { cpu: '1000m' } }, true],
    [{ requests: { memory: '1Gi' } }, { requests: { memory: '1073741824' } }, true],
    [{ limits: { cpu: '1' } }, { limits: { cpu: '1001m' } }, false],
    [{ limits: { cpu: '0' } }, { limits: {} }, false],
    [{ limits: { cpu: '1' } }, { requests: { cpu: '1' } }, false],
  ])('quantities %j and %j: %p', (a, b, expected) => {
    expect(same(template({ resources: a }), template({ resources: b }))).toBe(expected);
  });

  test('overhead, sizeLimit and divisor are quantities too', () => {
    const overhead = (cpu: string) => template({}, { overhead: { cpu } });
    expect(same(overhead('1'), overhead('1e0'))).toBe(true);
    const sized = (sizeLimit: string) => template({}, { volumes: [{ emptyDir: { sizeLimit } }] });
    expect(same(sized('1Ki'), sized('1024'))).toBe(true);
    expect(same(sized('1Ki'), sized('1k'))).toBe(false);
    const divided = (divisor: string | undefined) =>
      template({
        env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor } } }],
      });
    expect(same(divided('0'), divided(undefined))).toBe(true);
    expect(same(divided('1m'), divided('0.001'))).toBe(true);
  });

  test('times', () => {
    const created = (creationTimestamp: string) => template({}, {}, { creationTimestamp });
    expect(same(created('2026-01-01T00:00:00Z'), created('2026-01-01T01:00:00+01:00'))).toBe(true);
    expect(same(created('2026-01-01T00:00:00Z'), created('2026-01-01T00:00:01Z'))).toBe(false);
  });

  test('integers beyond 2^53, to the last digit', () => {
    const tolerating = (seconds: string) =>
      parseJson<PodTemplateSpec>(`{"spec":{"tolerations":[{"tolerationSeconds":${seconds}}]}}`);
    expect(same(tolerating('9223372036854775807'), tolerating('9223372036854775807'))).toBe(true);
    expect(same(tolerating('9223372036854775807'), tolerating('9223372036854775806'))).toBe(false);
  });
});

test.each<[string, PodTemplateSpec]>([
  ['image', template({ image: 'app:2' })],
  ['a field of the pod', template({}, { hostNetwork: true })],
  ['an annotation', template({}, {}, { annotations: { a: '1' } })],
  ['a container more', { ...template(), spec: { containers: [{ name: 'app' }, { name: 'b' }] } }],
])('another %s is another template', (_, other) => {
  expect(same(template(), other)).toBe(false);
});
