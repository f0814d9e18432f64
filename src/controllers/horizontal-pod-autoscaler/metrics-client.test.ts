import { describe, expect, test } from 'bun:test';
import { ApiError } from '../../api/errors.ts';
import { selectorFromMap } from '../../api/selector.ts';
import type { ControllerContext } from '../../runtime/controller.ts';
import { fakeClock } from '../../runtime/testing/fake-clock.ts';
import { Kinds } from '../_kit/scale/kinds.ts';
import { MetricsClient } from './metrics-client.ts';

const PERIOD_MS = 15_000;
const AT = {
  namespace: 'ns',
  selector: selectorFromMap({ app: 'web' }),
  signal: new AbortController().signal,
};
const NO_SELECTOR = selectorFromMap({});

function setUp(preferredVersion = 'v1beta2', answer: object | Error = { items: [] }) {
  const asked: string[] = [];
  const getPath = async (path: string) => {
    asked.push(path);
    if (answer instanceof Error) throw answer;
    return JSON.stringify(answer);
  };
  const client = { getPath } as unknown as ControllerContext['client'];
  const resource = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment' };
  const groups = [
    { name: 'apps', preferredVersion: 'v1' },
    { name: 'custom.metrics.k8s.io', preferredVersion },
  ];
  const discovery = async () => ({
    groups: preferredVersion === 'none' ? [] : groups,
    resources: [{ ...resource, namespaced: true, verbs: [] }],
    failed: new Map<string, string>(),
  });
  const kinds = new Kinds({ discovery, clock: fakeClock(0) });
  return { metrics: new MetricsClient({ client }, kinds, PERIOD_MS), asked };
}

const usage = (name: string, ...containers: readonly (readonly [string, object])[]) => ({
  metadata: { name },
  timestamp: '2026-05-20T12:00:00Z',
  window: '30s',
  containers: containers.map(([container, used]) => ({ name: container, usage: used })),
});

describe('resource metrics', () => {
  const items = [
    usage('a', ['web', { cpu: '100m', memory: '1Ki' }], ['log', { cpu: '1500u' }]),
    usage('b', ['web', { cpu: '1' }], ['log', {}]),
    usage('c'),
  ];
  const at = Date.parse('2026-05-20T12:00:00Z');
  const value = (milli: bigint) => ({ value: milli, at, windowMs: 30_000 });

  test('are summed over containers, or those of one', async () => {
    const { metrics, asked } = setUp('v1beta2', { items });
    expect([...(await metrics.ofResource(AT, 'cpu', ''))]).toEqual([['a', value(102n)]]);
    expect([...(await metrics.ofResource(AT, 'cpu', 'web'))]).toEqual([
      ['a', value(100n)],
      ['b', value(1_000n)],
    ]);
    expect([...(await metrics.ofResource(AT, 'memory', 'web'))]).toEqual([
      ['a', value(1_024_000n)],
    ]);
    expect(asked[0]).toBe(
      '/apis/metrics.k8s.io/v1beta1/namespaces/ns/pods?labelSelector=app%3Dweb',
    );
  });

  test('of a name that objects have by themselves are none', () => {
    const { metrics } = setUp('v1beta2', { items });
    expect(metrics.ofResource(AT, 'constructor', '')).resolves.toEqual(new Map());
  });

  test('that nobody serves are told as by upstream', () => {
    const generic = 'the server could not find the requested resource';
    const error = new ApiError(404, `${generic} (GET /apis/metrics.k8s.io/v1beta1/x)`);
    expect(setUp('v1beta2', error).metrics.ofResource(AT, 'cpu', '')).rejects.toThrow(
      `unable to fetch metrics from resource metrics API: ${generic} (get pods.metrics.k8s.io)`,
    );
    expect(setUp().metrics.ofResource(AT, 'cpu', '')).rejects.toThrow(
      'no metrics returned from resource metrics API',
    );
  });
});

describe('custom metrics', () => {
  const one = { items: [{ describedObject: { name: 'a' }, value: '1500m' }] };
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

  test.each(['v1beta2', 'v1beta1'])('are asked in the preferred version %p', async (version) => {
    const { metrics, asked } = setUp(version, one);
    const found = await metrics.ofPods(AT, 'qps', selectorFromMap({ verb: 'GET' }));
    expect(found.get('a')?.value).toBe(1_500n);
    expect(await metrics.ofObject(AT, deployment, 'qps', NO_SELECTOR)).toBe(1_500n);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', name: 'any' };
    expect(await metrics.ofObject(AT, namespace, 'qps', NO_SELECTOR)).toBe(1_500n);
    const root = `/apis/custom.metrics.k8s.io/${version}/namespaces/ns`;
    expect(asked).toEqual([
      `${root}/pods/*/qps?labelSelector=app%3Dweb&metricLabelSelector=verb%3DGET`,
      `${root}/deployments.apps/web/qps`,
      `${root}/metrics/qps`,
    ]);
  });

  test.each([
    ['none', 'no custom metrics API (custom.metrics.k8s.io) registered'],
    ['v9', 'no known available metric versions found'],
    ['', 'no known available metric versions found'],
  ])('in version %p: %p', (version, problem) => {
    expect(setUp(version).metrics.ofPods(AT, 'qps', NO_SELECTOR)).rejects.toThrow(
      `unable to fetch metrics from custom metrics API: ${problem}`,
    );
  });

  test('an object must have one value and a known kind', () => {
    const two = { items: [...one.items, ...one.items] };
    const prefix = 'unable to fetch metrics from custom metrics API: ';
    expect(
      setUp('v1beta1', two).metrics.ofObject(AT, deployment, 'qps', NO_SELECTOR),
    ).rejects.toThrow(
      `${prefix}the custom metrics API server returned 2 results when we asked for exactly one`,
    );
    const ghost = { apiVersion: 'x.io/v1', kind: 'Ghost', name: 'g' };
    expect(setUp().metrics.ofObject(AT, ghost, 'qps', NO_SELECTOR)).rejects.toThrow(
      `${prefix}unable to map kind Ghost.x.io to resource: no matches for kind "Ghost" in group "x.io"`,
    );
  });
});

test('external metrics are all values that the selector finds', async () => {
  const { metrics, asked } = setUp('v1beta2', { items: [{ value: '2' }, { value: '1m' }] });
  expect(await metrics.ofOutside(AT, 'queue', selectorFromMap({ q: 'a' }))).toEqual([2_000n, 1n]);
  expect(asked).toEqual([
    '/apis/external.metrics.k8s.io/v1beta1/namespaces/ns/queue?labelSelector=q%3Da',
  ]);
});

test('an external metric is asked for in lower case, and complained about as it is written', async () => {
  const { metrics, asked } = setUp('v1beta2', new ApiError(404, 'nothing (GET /apis/x)'));
  expect(metrics.ofOutside(AT, 's0-Queue_Length', NO_SELECTOR)).rejects.toThrow(
    'nothing (get s0-Queue_Length.external.metrics.k8s.io)',
  );
  expect(asked).toEqual(['/apis/external.metrics.k8s.io/v1beta1/namespaces/ns/s0-queue_length']);
});
