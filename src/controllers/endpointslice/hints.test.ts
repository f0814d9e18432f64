import { describe, expect, test } from 'bun:test';
import type {
  EndpointHints,
  EndpointSlice,
  Service,
  SliceEndpoint,
} from '../../api/types/index.ts';
import { pod, pods, service } from '../_kit/slices/testing/build.ts';
import type { Observed } from './decide.ts';
import { CONFIG, endpointsOf, sliceOf, slicesOf, sync } from './testing/family.ts';

const FORMER = 'service.kubernetes.io/topology-aware-hints';
const MODE = 'service.kubernetes.io/topology-mode';

function distributing(trafficDistribution: string, annotations = {}): Service {
  return service({ trafficDistribution }, { annotations });
}

/** Pods web-1 in zone a, web-2 in zone b, web-3 in no zone, web-4 not ready. */
const ZONES = new Map([
  ['a', 'zone-a'],
  ['b', 'zone-b'],
  ['c', ''],
]);
const PODS = [
  pod('web-1', { node: 'a' }),
  pod('web-2', { node: 'b' }),
  pod('web-3', { node: 'c' }),
  pod('web-4', { node: 'a', ready: false }),
];
const WORLD: Partial<Observed> = { pods: PODS, zones: ZONES };

/** Hints by pod: "zone-a", "zone-a/a", "/a", or "" for none. */
function hintsIn(slices: readonly EndpointSlice[]): Record<string, string> {
  const entries = endpointsOf(slices).map(({ targetRef, hints }) => [targetRef?.name, text(hints)]);
  return Object.fromEntries(entries.sort());
}

function text(hints: EndpointHints | undefined): string {
  const names = (list: readonly { name: string }[] | undefined) =>
    (list ?? []).map(({ name }) => name).join('+');
  const nodes = names(hints?.forNodes);
  return names(hints?.forZones) + (nodes === '' ? '' : `/${nodes}`);
}

describe('trafficDistribution', () => {
  const sameZone = { 'web-1': 'zone-a', 'web-2': 'zone-b', 'web-3': '', 'web-4': '' };
  const sameNode = { 'web-1': 'zone-a/a', 'web-2': 'zone-b/b', 'web-3': '/c', 'web-4': '' };
  const none = { 'web-1': '', 'web-2': '', 'web-3': '', 'web-4': '' };

  test.each<[string, boolean, Record<string, string>]>([
    ['PreferClose', true, sameZone],
    ['PreferClose', false, sameZone],
    ['PreferSameZone', true, sameZone],
    ['PreferSameZone', false, none],
    ['PreferSameNode', true, sameNode],
    ['PreferSameNode', false, none],
    ['PreferElsewhere', true, none],
  ])('%s, gate %p', (value, preferSame, wanted) => {
    const config = { ...CONFIG, preferSame };
    const given = { ...WORLD, service: distributing(value) };
    const { slices } = sync(given, config);
    expect(hintsIn(slices)).toEqual(wanted);
    expect(sync({ ...given, slices }, config).writes).toEqual([]);
  });

  test('set, changed and unset: one update each', () => {
    let slices: readonly EndpointSlice[] = slicesOf(WORLD);
    const steps: [Service, Record<string, string>][] = [
      [distributing('PreferSameZone'), sameZone],
      [distributing('PreferSameNode'), sameNode],
      [distributing('PreferClose'), sameZone],
      [service(), none],
    ];
    for (const [wanted, hints] of steps) {
      const outcome = sync({ ...WORLD, service: wanted, slices });
      expect(outcome.writes).toEqual(['update web-1 4']);
      expect(outcome.decision.writes.update[0]?.because).toBe('hints have changed');
      expect(hintsIn(outcome.slices)).toEqual(hints);
      slices = outcome.slices;
    }
  });

  test.each<[string, EndpointHints | undefined, string[]]>([
    ['right', { forZones: [{ name: 'zone-a' }] }, []],
    ['missing', undefined, ['update web-1 1']],
    ['empty', {}, ['update web-1 1']],
    ['another zone', { forZones: [{ name: 'zone-b' }] }, ['update web-1 1']],
    ['a zone too many', { forZones: [{ name: 'zone-a' }, { name: 'b' }] }, ['update web-1 1']],
    [
      'a node nobody asked for',
      { forZones: [{ name: 'zone-a' }], forNodes: [{ name: 'a' }] },
      ['update web-1 1'],
    ],
  ])('a stored hint that is %s', (_, hints, writes) => {
    const given = { pods: PODS.slice(0, 1), zones: ZONES, service: distributing('PreferClose') };
    const slices = slicesOf(given).map((slice) => ({
      ...slice,
      endpoints: slice.endpoints?.map((endpoint): SliceEndpoint => ({ ...endpoint, hints })),
    }));
    expect(sync({ ...given, slices }).writes).toEqual(writes);
  });

  test('hints of endpoints that are not ready bring no update', () => {
    const given = { pods: PODS.slice(3), zones: ZONES, service: distributing('PreferClose') };
    const slices = slicesOf(given).map((slice) => ({
      ...slice,
      endpoints: slice.endpoints?.map((endpoint) => ({
        ...endpoint,
        hints: { forZones: [{ name: 'elsewhere' }] },
      })),
    }));
    expect(sync({ ...given, slices }).writes).toEqual([]);
  });
});

describe('the annotation', () => {
  const ratios = new Map([
    ['zone-a', 0.5],
    ['zone-b', 0.5],
  ]);
  const two = { pods: PODS.slice(0, 2), zones: ZONES, ratios };

  test.each<[Record<string, string>, boolean]>([
    [{ [MODE]: 'Auto' }, true],
    [{ [MODE]: 'auto' }, true],
    [{ [FORMER]: 'auto' }, true],
    [{ [FORMER]: 'Auto', [MODE]: 'Disabled' }, true],
    [{ [FORMER]: 'disabled', [MODE]: 'Auto' }, false],
    [{ [MODE]: 'AUTO' }, false],
    [{ [MODE]: 'Disabled' }, false],
    [{}, false],
  ])('%p asks for hints by CPUs: %p', (annotations, asks) => {
    const { decision } = sync({ ...two, service: service({}, { annotations }) });
    expect(decision.hintCounts !== undefined).toBe(asks);
  });

  test('wins over trafficDistribution', () => {
    const annotations = { [MODE]: 'Auto' };
    const given = { ...two, service: distributing('PreferSameNode', annotations) };
    const { slices, decision } = sync(given);
    expect(hintsIn(slices)).toEqual({ 'web-1': 'zone-a', 'web-2': 'zone-b' });
    expect(decision.hintCounts).toBeDefined();
  });

  test('is told of once when hints come, and once when it goes', () => {
    const annotations = { [MODE]: 'Auto' };
    const auto = service({}, { annotations });
    const first = sync({ ...two, service: auto });
    expect(first.decision.events).toEqual([
      {
        type: 'Normal',
        reason: 'TopologyAwareHintsEnabled',
        message: 'Topology Aware Hints has been enabled, addressType: IPv4',
      },
    ]);
    const enabled = { ...two, slices: first.slices, hintsEnabled: true };
    const second = sync({ ...enabled, service: auto });
    expect(second.decision).toMatchObject({ events: [], writes: { update: [] } });
    const third = sync(enabled);
    expect(third.writes).toEqual(['update web-1 2']);
    expect(hintsIn(third.slices)).toEqual({ 'web-1': '', 'web-2': '' });
    expect(third.decision.events).toEqual([
      {
        type: 'Warning',
        reason: 'TopologyAwareHintsDisabled',
        message: 'Topology Aware Hints has been disabled, addressType: IPv4',
      },
    ]);
  });

  test('gives way to trafficDistribution without taking hints away in between', () => {
    const auto = service({}, { annotations: { [MODE]: 'Auto' } });
    const { slices } = sync({ ...two, service: auto });
    const given = { ...two, slices, hintsEnabled: true, service: distributing('PreferSameZone') };
    const { writes, decision } = sync(given);
    expect(writes).toEqual([]);
    expect(decision.events).toHaveLength(1);
  });

  test('hints that cannot be given are taken away, and why is told', () => {
    const auto = service({}, { annotations: { [MODE]: 'Auto' } });
    const { slices } = sync({ ...two, service: auto });
    const { writes, decision, ...after } = sync({
      ...two,
      service: auto,
      slices,
      ratios: undefined,
      hintsEnabled: true,
    });
    expect(writes).toEqual(['update web-1 2']);
    expect(hintsIn(after.slices)).toEqual({ 'web-1': '', 'web-2': '' });
    expect(decision.hintCounts).toBeUndefined();
    expect(decision.events).toEqual([
      {
        type: 'Warning',
        reason: 'TopologyAwareHintsDisabled',
        message:
          'Insufficient Node information: allocatable CPU or zone not specified on one or more ' +
          'nodes, addressType: IPv4',
      },
    ]);
  });
});

test('without a wish hints of others are taken away, slice by slice', () => {
  const given = { pods: pods(4) };
  const [first, second] = [
    sliceOf('web-a', given.pods.slice(0, 2)),
    sliceOf('web-b', pods(4).slice(2)),
  ];
  const hintedOne = {
    ...first,
    endpoints: first.endpoints?.map((endpoint) => ({
      ...endpoint,
      hints: { forZones: [{ name: 'z' }] },
    })),
  };
  expect(sync({ ...given, slices: [hintedOne, second] }).writes).toEqual(['update web-a 2']);
});
