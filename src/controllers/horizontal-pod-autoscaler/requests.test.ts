import { describe, expect, test } from 'bun:test';
import type { Pod } from '../../api/types/index.ts';
import { requestOf } from './requests.ts';
import { tolerancesOf } from './tolerances.ts';

const container = (name: string, requests?: object, more: object = {}) => ({
  name,
  ...(requests === undefined ? {} : { resources: { requests } }),
  ...more,
});
const podOf = (spec: object): Pod =>
  ({ metadata: { name: 'p', uid: 'u', resourceVersion: '1' }, spec }) as unknown as Pod;

const TWO = podOf({
  containers: [container('web', { cpu: '250m', memory: '1Mi' }), container('log', { cpu: '1' })],
  initContainers: [
    container('init', { cpu: '9' }),
    container('side', { cpu: '100m' }, { restartPolicy: 'Always' }),
  ],
});
const whole = { resource: 'cpu', container: '', usePodLevel: true };

describe('what a pod requests', () => {
  test('its containers and sidecars, or one of them', () => {
    expect(requestOf(TWO, whole)).toBe(1_350n);
    expect(requestOf(TWO, { ...whole, container: 'web' })).toBe(250n);
    expect(requestOf(TWO, { ...whole, container: 'side' })).toBe(100n);
    expect(requestOf(podOf({ containers: [] }), whole)).toBe(0n);
  });

  test('as a whole, unless a container is asked for or the gate is off', () => {
    const pod = podOf({
      containers: [container('web', { cpu: '250m' })],
      resources: { requests: { cpu: '2' } },
      overhead: { cpu: '10m' },
    });
    expect(requestOf(pod, whole)).toBe(2_010n);
    expect(requestOf(pod, { ...whole, container: 'web' })).toBe(250n);
    expect(requestOf(pod, { ...whole, usePodLevel: false })).toBe(250n);
  });

  test.each([
    [TWO, { ...whole, resource: 'memory' }, 'missing request for memory in container log of Pod p'],
    [TWO, { ...whole, container: 'no' }, 'container no not found in Pod p'],
    [
      podOf({ containers: [container('web')], resources: { requests: { cpu: '1' } } }),
      { ...whole, resource: 'memory' },
      'missing pod-level request for memory in Pod p',
    ],
  ])('case %#: nothing', (pod, query, message) => {
    expect(() => requestOf(pod, query)).toThrow(message);
  });
});

test("tolerances are the flag's where the behavior says nothing", () => {
  expect(tolerancesOf(undefined, 0.1)).toEqual({ down: 0.1, up: 0.1 });
  const scaleUp = { tolerance: '50m' };
  expect(tolerancesOf({ scaleUp }, 0.1)).toEqual({ down: 0.1, up: 0.05 });
  const scaleDown = { tolerance: '0' };
  expect(tolerancesOf({ scaleUp: { tolerance: '12500u' }, scaleDown }, 0.1)).toEqual({
    down: 0,
    up: 12_500_000 * 1e-9,
  });
});
