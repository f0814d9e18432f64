import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { EndpointSlice, SliceEndpoint } from '../../api/types/index.ts';
import { node } from '../_kit/slices/testing/build.ts';
import { draftOf, newDraft } from './draft.ts';
import type { SliceSet } from './hints.ts';
import { isOverloaded, withTopologyHints, type ZoneRatios } from './topology.ts';
import { HintBook, NodeZones } from './zones.ts';

type Zoned = readonly [zone: string, hint?: string];

function endpoint([zone, hint]: Zoned, at: number, ready: boolean | undefined): SliceEndpoint {
  return {
    addresses: [`10.0.0.${at}`],
    conditions: { ready },
    ...(zone === '' ? {} : { zone }),
    ...(hint === undefined ? {} : { hints: { forZones: [{ name: hint }] } }),
  };
}

function stored(name: string, zones: readonly Zoned[], ready: boolean | undefined = true) {
  return {
    metadata: { name, uid: name, resourceVersion: '1' },
    addressType: 'IPv4',
    ports: [],
    endpoints: zones.map((zoned, at) => endpoint(zoned, at, ready)),
  } as unknown as EndpointSlice;
}

interface Given {
  readonly create?: readonly Zoned[][];
  readonly update?: readonly Zoned[][];
  readonly unchanged?: readonly Zoned[][];
}

function setOf({ create = [], update = [], unchanged = [] }: Given): SliceSet {
  return {
    create: create.map((zones) => {
      const draft = newDraft('IPv4', []);
      draft.endpoints = zones.map((zoned, at) => endpoint(zoned, at, true));
      return draft;
    }),
    update: update.map((zones, at) => draftOf(stored(`update-${at}`, zones))),
    unchanged: unchanged.map((zones, at) => stored(`unchanged-${at}`, zones)),
  };
}

const ratiosOf = (shares: Record<string, number>): ZoneRatios => new Map(Object.entries(shares));

/** Hints of one slice in order: "a b -" for zone a, zone b and none. */
function hintsOf({ endpoints = [] }: { readonly endpoints?: readonly SliceEndpoint[] }): string {
  return endpoints.map(({ hints }) => hints?.forZones?.[0]?.name ?? '-').join(' ');
}

describe('when hints are given', () => {
  const two = { create: [[['a'], ['b']]] as Zoned[][] };
  test.each<[string, ZoneRatios, Given, string | undefined]>([
    ['nodes are unknown', undefined, two, 'Insufficient Node information'],
    [
      'fewer endpoints than zones',
      ratiosOf({ a: 0.3, b: 0.4, c: 0.3 }),
      two,
      'Insufficient number of endpoints (2 endpoints, 3 zones)',
    ],
    ['one for each zone', ratiosOf({ a: 0.45, b: 0.55 }), two, undefined],
    [
      'the minimums together are too much',
      ratiosOf({ a: 0.1, b: 0.45, c: 0.45 }),
      { create: [[['a'], ['b'], ['c'], ['c']]] },
      'Unable to allocate minimum required endpoints to each zone without exceeding overload ' +
        'threshold (4 endpoints, 3 zones)',
    ],
    [
      'an endpoint has no zone',
      ratiosOf({ a: 0.5, b: 0.5 }),
      { create: [[['a'], ['b'], ['b'], ['']]] },
      'One or more endpoints do not have a zone specified',
    ],
  ])('%s', (_, ratios, given, problem) => {
    const hints = withTopologyHints(setOf(given), ratios);
    if (problem === undefined) expect(hints.problem).toBeUndefined();
    else expect(hints.problem).toStartWith(problem);
    expect(hints.counts === undefined).toBe(problem !== undefined);
    const hinted = hints.set.create.map(hintsOf).join('|');
    expect(/[abc]/.test(hinted)).toBe(problem === undefined);
  });
});

describe('who serves which zone', () => {
  test('its own, as far as the shares allow', () => {
    const given = { create: [[['a'], ['b'], ['b'], ['b']]] as Zoned[][] };
    const { set, counts } = withTopologyHints(setOf(given), ratiosOf({ a: 0.3, b: 0.7 }));
    expect(set.create.map(hintsOf)).toEqual(['a b b b']);
    expect(counts as object).toEqual(ratiosOf({ a: 1, b: 3 }) as object);
  });

  test('zones with too many give to those with too few', () => {
    const given = {
      create: [
        [['a'], ['b']],
        [['c'], ['c'], ['a']],
      ],
      update: [
        [['a'], ['a']],
        [['b'], ['c'], ['a']],
      ],
    } as Given;
    const { set, counts } = withTopologyHints(setOf(given), ratiosOf({ a: 0.35, b: 0.35, c: 0.3 }));
    expect(set.create.map(hintsOf)).toEqual(['b b', 'c c a']);
    expect(set.update.map(hintsOf)).toEqual(['a a', 'b c a']);
    expect(counts as object).toEqual(ratiosOf({ a: 4, b: 3, c: 3 }) as object);
  });

  test('three endpoints in one zone serve all three', () => {
    const given = { create: [[['c'], ['c'], ['c']]] as Zoned[][] };
    const third = 1 / 3;
    const { set } = withTopologyHints(setOf(given), ratiosOf({ a: third, b: third, c: third }));
    expect(set.create.map(hintsOf)).toEqual(['a b c']);
  });

  test('those not ready, or of unknown readiness, get none and do not count', () => {
    const set = setOf({ create: [[['a'], ['b'], ['b'], ['b']]] });
    const [draft] = set.create;
    for (const [at, ready] of [
      [2, false],
      [3, undefined],
    ] as const) {
      draft!.endpoints[at] = endpoint(['b', 'b'], at, ready);
    }
    const hints = withTopologyHints(set, ratiosOf({ a: 0.45, b: 0.55 }));
    expect(hints.counts as object).toEqual(ratiosOf({ a: 1, b: 1 }) as object);
  });
});

describe('slices that need no change', () => {
  const half = ratiosOf({ a: 0.5, b: 0.5 });
  const right: Zoned[] = [
    ['a', 'a'],
    ['b', 'b'],
  ];
  test.each<[string, Zoned[][], number]>([
    ['right hints', [right], 0],
    ['no hint', [[['a', 'a'], ['b']]], 1],
    ['a hint for a zone that has no nodes', [[...right, ['b', 'b'], ['a', 'c']]], 1],
    [
      'more hints for a zone than it may have',
      [
        [
          ['a', 'a'],
          ['a', 'a'],
          ['b', 'a'],
          ['b', 'a'],
        ],
      ],
      1,
    ],
    [
      'more for a zone than it may have, together with the slices before',
      [
        [
          ['a', 'a'],
          ['a', 'a'],
        ],
        [
          ['a', 'a'],
          ['b', 'b'],
        ],
        [
          ['b', 'b'],
          ['b', 'b'],
        ],
        [
          ['b', 'a'],
          ['b', 'a'],
        ],
      ],
      1,
    ],
  ])('%s', (_, unchanged, updates) => {
    const { set, problem } = withTopologyHints(setOf({ unchanged }), half);
    expect(problem).toBeUndefined();
    expect(set.update).toHaveLength(updates);
    expect(set.unchanged).toHaveLength(unchanged.length - updates);
  });
});

test('zones get their shares, each ready endpoint serves one, a second look changes nothing', () => {
  const zone = fc.constantFrom('a', 'b', 'c');
  const slices = fc.array(fc.array(zone, { maxLength: 12 }), { minLength: 1, maxLength: 4 });
  const shares = fc.tuple(
    fc.integer({ min: 1, max: 9 }),
    fc.integer({ min: 1, max: 9 }),
    fc.integer({ min: 1, max: 9 }),
  );
  fc.assert(
    fc.property(slices, shares, (zones, [a, b, c]) => {
      const all = a + b + c;
      const ratios = ratiosOf({ a: a / all, b: b / all, c: c / all });
      const create = zones.map((list) => list.map((one): Zoned => [one]));
      const total = zones.flat().length;
      const { set, counts, problem } = withTopologyHints(setOf({ create }), ratios);
      if (counts === undefined) {
        expect(problem).toBeDefined();
        expect(set.create.every((draft) => !/[abc]/.test(hintsOf(draft)))).toBe(true);
        return;
      }
      expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(total);
      // Less than half an endpoint is not worth moving one, so a zone may lack one.
      for (const [zone, ratio] of ratios ?? []) {
        expect(counts.get(zone) ?? 0).toBeGreaterThanOrEqual(Math.ceil((total * ratio) / 1.2) - 1);
      }
      const unchanged = set.create.map((draft, at) => ({
        ...stored(`s-${at}`, []),
        endpoints: draft.endpoints,
      }));
      const again = withTopologyHints({ create: [], update: [], unchanged }, ratios);
      expect(again.set.update).toEqual([]);
      expect(again.counts).toEqual(counts);
    }),
  );
});

describe('the shares of zones', () => {
  const shares = (...nodes: ReturnType<typeof node>[]) => {
    const zones = new NodeZones();
    for (const one of nodes) zones.put(one);
    return zones.ratios && Object.fromEntries(zones.ratios);
  };
  test.each<[string, ReturnType<typeof node>[], object | undefined]>([
    ['no nodes', [], undefined],
    ['one node', [node('n1', 'a')], undefined],
    ['one zone', [node('n1', 'a'), node('n2', 'a')], undefined],
    [
      'two zones',
      [node('n1', 'a', { cpu: '1000m' }), node('n2', 'b', { cpu: '3' })],
      { a: 0.25, b: 0.75 },
    ],
    [
      'a zone with nodes that are not ready',
      [node('n1', 'a'), node('n2', 'b', { ready: false })],
      undefined,
    ],
    [
      'nodes not ready do not count',
      [node('n1', 'a'), node('n2', 'b'), node('n3', 'b', { ready: false })],
      { a: 0.5, b: 0.5 },
    ],
    [
      'nodes of the control plane do not count',
      [
        node('n1', 'a'),
        node('n2', 'b'),
        node('n3', 'b', { labels: { 'node-role.kubernetes.io/control-plane': '' } }),
        node('n4', '', { labels: { 'node-role.kubernetes.io/master': 'x' } }),
      ],
      { a: 0.5, b: 0.5 },
    ],
    ['a ready node without a zone', [node('n1', 'a'), node('n2', 'b'), node('n3', '')], undefined],
    [
      'a ready node without CPUs',
      [node('n1', 'a'), node('n2', 'b'), node('n3', 'b', { cpu: '' })],
      undefined,
    ],
    [
      'a node without a zone that is not ready',
      [node('n1', 'a'), node('n2', 'b'), node('n3', '', { ready: false })],
      { a: 0.5, b: 0.5 },
    ],
  ])('%s', (_, nodes, wanted) => {
    expect(shares(...nodes)).toEqual(wanted as Record<string, number>);
  });

  test('follow the nodes', () => {
    const zones = new NodeZones();
    expect(zones.put(node('n1', 'a'))).toBe(true);
    expect(zones.put(node('n2', 'b'))).toBe(true);
    expect(zones.put(node('n2', 'b'))).toBe(false);
    expect(zones.put(node('n2', 'b', { cpu: '12' }))).toBe(false);
    expect(zones.ratios?.get('b')).toBe(0.75);
    expect(zones.put(node('n2', 'b', { ready: false }))).toBe(true);
    expect(zones.ratios).toBeUndefined();
    expect(zones.put(node('n2', 'c'))).toBe(true);
    expect(zones.ratios?.size).toBe(2);
    zones.remove('n1');
    expect(zones.ratios).toBeUndefined();
  });
});

describe('overload', () => {
  test.each<[string, Record<string, number>, ZoneRatios, boolean]>([
    ['no hints', {}, undefined, false],
    ['hints, but nodes are unknown', { a: 1 }, undefined, true],
    ['a zone without endpoints', { a: 5 }, ratiosOf({ a: 0.5, b: 0.5 }), true],
    ['even', { a: 5, b: 5 }, ratiosOf({ a: 0.5, b: 0.5 }), false],
    ['within the threshold', { a: 8, b: 10 }, ratiosOf({ a: 0.5, b: 0.5 }), false],
    ['beyond the threshold', { a: 7, b: 11 }, ratiosOf({ a: 0.5, b: 0.5 }), true],
  ])('%s', (_, counts, ratios, overloaded) => {
    expect(isOverloaded(new Map(Object.entries(counts)), ratios)).toBe(overloaded);
  });

  test('names the Services whose hints overload a zone', () => {
    const book = new HintBook();
    book.set(
      'ns/even',
      'IPv4',
      new Map([
        ['a', 5],
        ['b', 5],
      ]),
    );
    book.set(
      'ns/even',
      'IPv6',
      new Map([
        ['a', 5],
        ['b', 5],
      ]),
    );
    book.set(
      'ns/odd',
      'IPv4',
      new Map([
        ['a', 5],
        ['b', 5],
      ]),
    );
    book.set(
      'ns/odd',
      'IPv6',
      new Map([
        ['a', 1],
        ['b', 9],
      ]),
    );
    const half = ratiosOf({ a: 0.5, b: 0.5 });
    expect(book.overloaded(half)).toEqual(['ns/odd']);
    book.remove('ns/odd', 'IPv6');
    expect(book.overloaded(half)).toEqual([]);
    expect(book.isEnabled('ns/odd')).toBe(false);
    expect(book.overloaded(undefined).sort()).toEqual(['ns/even', 'ns/odd']);
    book.forget('ns/even');
    expect(book.isEnabled('ns/even')).toBe(false);
  });
});
