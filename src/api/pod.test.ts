import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { PodRecord } from '../runtime/informer/types.ts';
import {
  availableIn,
  deletionCost,
  isActive,
  isAvailable,
  isTerminal,
  isTerminating,
  type NamedPort,
  podRecordFields,
} from './pod.ts';
import { timeMs, timeText } from './time.ts';
import type { Container, Pod } from './types/index.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');

describe('what a pod counts as', () => {
  test.each([
    ['Pending', false, 'active'],
    ['Running', false, 'active'],
    ['Unknown', false, 'active'],
    ['', false, 'active'],
    ['Succeeded', false, 'terminal'],
    ['Failed', false, 'terminal'],
    ['Running', true, 'terminating'],
    ['Pending', true, 'terminating'],
    ['Succeeded', true, 'terminal'],
    ['Failed', true, 'terminal'],
  ])('phase %p, deleting %p: %s', (phase, deleting, what) => {
    const pod = { phase, deleting };
    expect(isActive(pod)).toBe(what === 'active');
    expect(isTerminating(pod)).toBe(what === 'terminating');
    expect(isTerminal(pod)).toBe(what === 'terminal');
  });
});

describe('available', () => {
  test.each([
    // ready, ready for (s, undefined: unknown), minReadySeconds, available, available in (ms)
    [false, 100, 0, false, undefined],
    [false, 100, 10, false, undefined],
    [true, 0, 0, true, undefined],
    [true, undefined, 0, true, undefined],
    [true, undefined, 1, false, undefined],
    [true, 0, 1, false, 1000],
    [true, 20, 30, false, 10_000],
    [true, 30, 30, true, undefined],
    [true, 51, 50, true, undefined],
    [true, -5, 30, false, 35_000],
  ])('ready %p for %p s with %p s asked: %p, in %p', (ready, forSeconds, min, answer, wait) => {
    const readySince = forSeconds === undefined ? 0 : NOW - forSeconds * 1000;
    expect(isAvailable({ ready, readySince }, min, NOW)).toBe(answer);
    expect(availableIn({ ready, readySince }, min, NOW)).toBe(wait as number | undefined);
  });

  test('a ready pod is available after exactly the wait that was given, and not before', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -5000, max: 5000 }),
        fc.integer({ min: 1, max: 600 }),
        (age, min) => {
          const pod = { ready: true, readySince: NOW - age };
          const wait = availableIn(pod, min, NOW);
          if (wait === undefined) {
            expect(isAvailable(pod, min, NOW)).toBe(true);
            return;
          }
          expect(isAvailable(pod, min, NOW + wait - 1)).toBe(false);
          expect(isAvailable(pod, min, NOW + wait)).toBe(true);
        },
      ),
    );
  });
});

describe('deletion cost', () => {
  test.each([
    ['10', 10],
    ['-10', -10],
    ['0', 0],
    ['-01', -1],
    ['2147483647', 2147483647],
    ['-2147483648', -2147483648],
    ['2147483648', 0],
    ['-2147483649', 0],
    ['+1', 0],
    ['01', 0],
    ['', 0],
    ['-', 0],
    [' 1', 0],
    ['1.5', 0],
    ['1_0', 0],
    ['0x1', 0],
    ['high', 0],
  ])('%p is %d', (text, cost) => {
    expect(deletionCost({ 'controller.kubernetes.io/pod-deletion-cost': text })).toBe(cost);
  });

  test('unset is 0', () => {
    expect(deletionCost(undefined)).toBe(0);
    expect(deletionCost({ other: '5' })).toBe(0);
  });
});

const FULL: Pod = {
  metadata: {
    name: 'p',
    namespace: 'ns',
    uid: 'u',
    resourceVersion: '5',
    labels: { a: '1' },
    annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-3' },
    creationTimestamp: '2026-01-01T00:00:00Z',
    deletionTimestamp: '2026-01-01T00:09:00Z',
    ownerReferences: [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u-w', controller: true },
    ],
  },
  spec: {
    nodeName: 'node-1',
    containers: [{ name: 'a' }, { name: 'b' }],
    initContainers: [{ name: 'side', restartPolicy: 'Always' }, { name: 'init' }],
  },
  status: {
    phase: 'Running',
    podIP: '10.0.0.1',
    podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
    conditions: [
      { type: 'Initialized', status: 'True', lastTransitionTime: '2026-01-01T00:00:01Z' },
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:05Z' },
    ],
    containerStatuses: [
      { name: 'a', image: '', imageID: '', ready: true, restartCount: 2 },
      { name: 'b', image: '', imageID: '', ready: true, restartCount: 7 },
    ],
    initContainerStatuses: [
      { name: 'init', image: '', imageID: '', ready: true, restartCount: 9 },
      { name: 'side', image: '', imageID: '', ready: true, restartCount: 4 },
    ],
  },
};

describe('the record of a pod', () => {
  test('holds what controllers decide on', () => {
    const record: PodRecord = podRecordFields(FULL);
    expect(record).toEqual({
      key: 'ns/p',
      namespace: 'ns',
      name: 'p',
      uid: 'u',
      resourceVersion: '5',
      labels: { a: '1' },
      controller: { kind: 'ReplicaSet', name: 'web', uid: 'u-w' },
      deleting: true,
      nodeName: 'node-1',
      phase: 'Running',
      ready: true,
      readySince: Date.parse('2026-01-01T00:00:05Z'),
      createdAt: Date.parse('2026-01-01T00:00:00Z'),
      deletionAt: Date.parse('2026-01-01T00:09:00Z'),
      restarts: 7,
      initRestarts: 4,
      deletionCost: -3,
      podIps: ['10.0.0.1', 'fd00::1'],
      job: undefined,
      hostname: '',
      subdomain: '',
      namedPorts: [],
      disruptionTargetAt: undefined,
      tolerations: '',
    });
  });

  test('host name and subdomain, and the ports that have names, restartable containers last', () => {
    const http = { name: 'http', containerPort: 8080, protocol: 'TCP' };
    const container = (name: string, ...ports: object[]) => ({ name, ports }) as Container;
    const spec = {
      hostname: 'p',
      subdomain: 'web',
      initContainers: [
        container('init', { name: 'never', containerPort: 1 }),
        {
          ...container('side', { name: 'metrics', containerPort: 9090 }),
          restartPolicy: 'Always',
        },
      ],
      containers: [container('a', http, { containerPort: 1234 }), container('b'), { name: 'c' }],
    };
    expect(podRecordFields({ ...FULL, spec })).toMatchObject({
      hostname: 'p',
      subdomain: 'web',
      namedPorts: [
        { name: 'http', port: 8080, protocol: 'TCP' },
        { name: 'metrics', port: 9090, protocol: 'TCP' },
      ],
    });
  });

  test('what is shared is asked for by its content', () => {
    const known = new Map<string, unknown>();
    const share = <T extends string | readonly NamedPort[]>(id: string, value: T): T => {
      if (!known.has(id)) known.set(id, value);
      return known.get(id) as T;
    };
    const pod = (port: number, name = 'http'): Pod => ({
      ...FULL,
      spec: { containers: [{ name: 'a', ports: [{ name, containerPort: port }] }] },
    });
    const portsOf = (given: Pod) => podRecordFields(given, share).namedPorts;
    expect(portsOf(pod(80))).toBe(portsOf(pod(80)));
    expect(portsOf(pod(80))).not.toEqual(portsOf(pod(81)));
    expect(portsOf(pod(80))).not.toEqual(portsOf(pod(80, 'web')));
  });

  test('a pod that says little', () => {
    const bare: Pod = { metadata: { name: 'p', uid: 'u', resourceVersion: '1' } };
    expect(podRecordFields(bare)).toMatchObject({
      nodeName: '',
      phase: '',
      ready: false,
      readySince: 0,
      createdAt: 0,
      deletionAt: 0,
      restarts: 0,
      initRestarts: 0,
      deletionCost: 0,
      podIps: [],
    });
  });

  test('the one IP of a pod without a list', () => {
    const pod = { ...FULL, status: { podIP: '10.0.0.2' } };
    expect(podRecordFields(pod).podIps).toEqual(['10.0.0.2']);
  });

  test('a Ready condition that is Unknown is not ready, but says since when', () => {
    const condition = {
      type: 'Ready',
      status: 'Unknown',
      lastTransitionTime: '2026-01-01T00:00:07Z',
    };
    const record = podRecordFields({ ...FULL, status: { conditions: [condition] } });
    expect(record).toMatchObject({ ready: false, readySince: Date.parse('2026-01-01T00:00:07Z') });
  });
});

describe('times', () => {
  test('whole seconds survive being written and read', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4_102_444_800 }), (seconds) => {
        expect(timeMs(timeText(seconds * 1000))).toBe(seconds * 1000);
      }),
    );
  });

  test('fractions are cut off; what is absent or unreadable is 0', () => {
    expect(timeText(Date.parse('2026-01-01T00:00:00.999Z'))).toBe('2026-01-01T00:00:00Z');
    expect(timeMs('2026-01-01T02:00:00.5+02:00')).toBe(Date.parse('2026-01-01T00:00:00.500Z'));
    expect(timeMs(undefined)).toBe(0);
    expect(timeMs('yesterday')).toBe(0);
  });
});
