import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { zoneKey } from '../../api/node.ts';
import type { Node, Taint } from '../../api/types/index.ts';
import { judge, type Seen, type Sight, unknownConditions } from './decide-health.ts';
import {
  changedTaints,
  labelChange,
  NOT_READY,
  noExecuteChange,
  noScheduleChange,
  UNREACHABLE,
} from './decide-node.ts';
import { countZone, decideDisruption, rateOf, type ZoneState } from './decide-zones.ts';

const GRACE = { usualMs: 40_000, startupMs: 60_000 };
const NOW = Date.parse('2026-11-30T06:00:00Z');
const READY = { status: 'True', heartbeatTime: 't1' };

describe('a node', () => {
  test.each<[string, Sight, Seen | undefined, string, string | undefined]>([
    ['seen first', { ready: READY, renewTime: undefined }, undefined, 'heard', undefined],
    ['seen first, mute', { ready: undefined, renewTime: undefined }, undefined, 'born', undefined],
    [
      'seen first, mute, with a Lease',
      { ready: undefined, renewTime: 'a' },
      undefined,
      'heard',
      'a',
    ],
    [
      'unchanged',
      { ready: READY, renewTime: 'a' },
      { ready: READY, renewTime: 'a' },
      'silent',
      'a',
    ],
    [
      'with a Lease renewed',
      { ready: READY, renewTime: 'b' },
      { ready: READY, renewTime: 'a' },
      'heard',
      'b',
    ],
    [
      'with a Lease put back',
      { ready: READY, renewTime: 'a' },
      { ready: READY, renewTime: 'b' },
      'silent',
      'b',
    ],
    [
      'whose Lease is gone',
      { ready: READY, renewTime: undefined },
      { ready: READY, renewTime: 'a' },
      'silent',
      'a',
    ],
    [
      'whose Lease never had a time',
      { ready: READY, renewTime: 'a' },
      { ready: READY, renewTime: '' },
      'silent',
      '',
    ],
    [
      'that posted its status, forgets its Lease for one look',
      { ready: { ...READY, heartbeatTime: 't2' }, renewTime: 'a' },
      { ready: READY, renewTime: 'a' },
      'heard',
      undefined,
    ],
    [
      'that spoke at last',
      { ready: READY, renewTime: undefined },
      { ready: undefined, renewTime: undefined },
      'heard',
      undefined,
    ],
    [
      'that lost its status',
      { ready: undefined, renewTime: undefined },
      { ready: READY, renewTime: 'a' },
      'silent',
      'a',
    ],
  ])('%s', (_, sight, seen, stamp, renewTime) => {
    const judgement = judge(sight, seen, GRACE);
    expect(judgement.stamp).toBe(stamp as 'heard');
    expect(judgement.seen).toEqual({ ready: sight.ready, renewTime });
    expect(judgement.graceMs).toBe(sight.ready === undefined ? 60_000 : 40_000);
  });
});

function nodeOf(conditions: Node['status'], fields: Partial<Node> = {}): Node {
  const creationTimestamp = '2026-01-01T00:00:00Z';
  const metadata = { name: 'n', uid: 'u', resourceVersion: '1', creationTimestamp };
  return { metadata, status: conditions, ...fields };
}

describe('conditions of a node that is not heard of', () => {
  test('become Unknown, those that never were are added', () => {
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'KubeletReady',
      message: 'm',
      lastHeartbeatTime: 't1',
      lastTransitionTime: 't0',
    };
    const pressure = { ...ready, type: 'DiskPressure', status: 'Unknown' };
    const network = { ...ready, type: 'NetworkUnavailable', status: 'False' };
    const node = nodeOf({ conditions: [network, ready, pressure] });
    const never = {
      status: 'Unknown',
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
      lastHeartbeatTime: '2026-01-01T00:00:00Z',
      lastTransitionTime: '2026-11-30T06:00:00Z',
    };
    expect(unknownConditions(node, NOW)).toEqual([
      {
        type: 'Ready',
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
        lastHeartbeatTime: 't1',
        lastTransitionTime: '2026-11-30T06:00:00Z',
      },
      { type: 'MemoryPressure', ...never },
      { type: 'PIDPressure', ...never },
    ]);
  });

  test('are left alone once Ready is Unknown', () => {
    const ready = { type: 'Ready', status: 'Unknown' };
    expect(unknownConditions(nodeOf({ conditions: [ready] }), NOW)).toEqual([]);
  });
});

describe('taints', () => {
  test('without execution mirror conditions and spec', () => {
    const conditions = [
      { type: 'Ready', status: 'Unknown' },
      { type: 'MemoryPressure', status: 'True' },
      { type: 'DiskPressure', status: 'Unknown' },
    ];
    const taints = [
      { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule', value: 'x' },
      { key: 'node.kubernetes.io/pid-pressure', effect: 'NoExecute' },
      { key: 'own', effect: 'NoSchedule' },
    ];
    const node = nodeOf({ conditions }, { spec: { taints, unschedulable: true } });
    const change = noScheduleChange(node);
    expect(change.add.map(({ key }) => key)).toEqual([
      'node.kubernetes.io/unreachable',
      'node.kubernetes.io/unschedulable',
    ]);
    expect(change.remove.map(({ key }) => key)).toEqual(['node.kubernetes.io/not-ready']);
  });

  test('are timed anew in place, added last, and removed', () => {
    const before: Taint[] = [
      { ...NOT_READY, timeAdded: 'old' },
      { key: 'own', effect: 'NoSchedule', value: 'v' },
      { ...UNREACHABLE, timeAdded: 'old', value: 'v' },
    ];
    const swap = { add: [UNREACHABLE], remove: [NOT_READY] };
    expect(changedTaints(before, swap, 'now')).toEqual([
      { key: 'own', effect: 'NoSchedule', value: 'v' },
      { ...UNREACHABLE, timeAdded: 'now' },
    ]);
    expect(changedTaints([], swap, 'now')).toEqual([{ ...UNREACHABLE, timeAdded: 'now' }]);
    expect(changedTaints([], { add: [], remove: [NOT_READY] }, 'now')).toBeUndefined();
  });

  test('with execution exclude each other', () => {
    expect(noExecuteChange('False')?.add).toEqual([NOT_READY]);
    expect(noExecuteChange('Unknown')?.remove).toEqual([NOT_READY]);
    expect(noExecuteChange('True')).toBeUndefined();
  });
});

test('older labels follow newer ones, and are not made up', () => {
  expect(labelChange({ 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'x' })).toEqual({
    'beta.kubernetes.io/os': 'linux',
  });
  expect(labelChange({ 'beta.kubernetes.io/arch': 'x' })).toEqual({});
});

test('zones are named by region and zone, the older labels first', () => {
  expect(zoneKey({})).toBe('');
  expect(zoneKey({ 'topology.kubernetes.io/zone': 'z' })).toBe(':\u0000:z');
  const old = { 'failure-domain.beta.kubernetes.io/region': 'old' };
  expect(zoneKey({ ...old, 'topology.kubernetes.io/region': 'r' })).toBe('old:\u0000:');
});

describe('a zone', () => {
  const rates = { usual: 0.1, secondary: 0.01, largeZone: 50 };

  test.each([
    [5, 0, 'normal', 0.1],
    [5, 2, 'normal', 0.1],
    [2, 2, 'full', 0.1],
    [5, 3, 'partial', 0],
    [6, 3, 'normal', 0.1],
    [60, 33, 'partial', 0.01],
    [60, 32, 'normal', 0.1],
    [60, 60, 'full', 0.1],
  ] as const)('of %d nodes, %d of them unhealthy, is %s', (size, unhealthy, state, rate) => {
    const statuses = Array.from({ length: size }, (_, at) =>
      at >= unhealthy ? 'True' : at % 2 === 0 ? 'Unknown' : undefined,
    );
    const count = countZone(statuses, 0.55);
    expect(count).toEqual({ size, unhealthy, state });
    expect(rateOf(count, rates)).toBe(rate);
  });
});

describe('disruption', () => {
  const decide = (before: Record<string, ZoneState>, found: Record<string, ZoneState>) => {
    const states = Object.entries(found).map(([zone, state]) => [zone, { state }] as const);
    const { kind, changes } = decideDisruption(new Map(Object.entries(before)), new Map(states));
    return [kind, Object.fromEntries(changes)];
  };

  test.each<[string, Record<string, ZoneState>, Record<string, ZoneState>, string, object]>([
    [
      'begins when the last zone is lost',
      { a: 'full', b: 'normal' },
      { a: 'full', b: 'full' },
      'begins',
      { b: 'full' },
    ],
    ['begins at the first look', { a: 'new' }, { a: 'full' }, 'begins', { a: 'full' }],
    ['lasts', { a: 'full', b: 'full' }, { a: 'full', b: 'full' }, 'zones', {}],
    ['ends', { a: 'full', b: 'full' }, { a: 'normal', b: 'full' }, 'ends', { a: 'normal' }],
    [
      'is each zone its own otherwise',
      { a: 'normal', b: 'normal' },
      { a: 'full', b: 'normal' },
      'zones',
      { a: 'full' },
    ],
    ['is nothing without nodes', {}, {}, 'zones', {}],
  ])('%s', (_, before, found, kind, changes) => {
    expect<unknown>(decide(before, found)).toEqual([kind, changes]);
  });

  test('leaves every zone in a state that was found, or all of them full', () => {
    const state = fc.constantFrom<ZoneState>('normal', 'partial', 'full');
    const zones = fc.dictionary(fc.constantFrom('a', 'b', 'c'), state);
    fc.assert(
      fc.property(zones, zones, (before, found) => {
        const [, changes] = decide(before, found);
        const after = { ...before, ...(changes as Record<string, ZoneState>) };
        for (const zone of Object.keys(found)) expect(after[zone]).toBe(found[zone]);
      }),
    );
  });
});
