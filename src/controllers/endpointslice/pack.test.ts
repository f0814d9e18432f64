import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { endpointKey } from '../_kit/slices/endpoint-set.ts';
import { type PodFacts, pod, pods, service } from '../_kit/slices/testing/build.ts';
import { CONFIG, endpointsOf, lengths, sliceOf, sync } from './testing/family.ts';

describe('where new endpoints go', () => {
  /** Sizes of stored slices, of which `changed` have a pod that got unready, and new pods. */
  function packed(sizes: number[], changed: number[], more: number, endpointsMax = 100) {
    const all = pods(sizes.reduce((sum, size) => sum + size, 0));
    let from = 0;
    const slices = sizes.map((size, at) => {
      const slice = sliceOf(`web-${at}`, all.slice(from, from + size));
      if (changed.includes(at)) {
        const { name } = all[from] as { name: string };
        all[from] = pod(name, { ready: false });
      }
      from += size;
      return slice;
    });
    const fresh = Array.from({ length: more }, (_, at) => pod(`web-${5000 + at}`));
    return sync({ pods: [...all, ...fresh], slices }, { ...CONFIG, endpointsMax });
  }

  test.each<[string, number[], number[], number, string[], number[]]>([
    ['into the only slice', [50], [], 10, ['update web-0 60'], [60]],
    ['into one that is written anyway', [50, 60], [0], 10, ['update web-0 60'], [60, 60]],
    [
      'into the fullest of those written anyway',
      [80, 20],
      [0, 1],
      15,
      ['update web-0 95', 'update web-1 20'],
      [95, 20],
    ],
    [
      'the overflow into the next of them',
      [80, 20],
      [0, 1],
      30,
      ['update web-0 100', 'update web-1 30'],
      [100, 30],
    ],
    [
      'into the unchanged one that they nearly fill',
      [10, 70, 95],
      [],
      20,
      ['update web-1 90'],
      [95, 90, 10],
    ],
    ['all of them, or none', [95, 94], [], 7, ['create 7'], [95, 94, 7]],
    [
      'full new ones first, the rest into an unchanged one',
      [62, 61],
      [],
      127,
      ['create 100', 'update web-0 89'],
      [100, 89, 61],
    ],
    ['a full load never into an unchanged one', [0, 74], [], 100, ['create 100'], [100, 74]],
    [
      'more than fits anywhere into new ones',
      [74, 74],
      [],
      152,
      ['create 100', 'create 52'],
      [100, 74, 74, 52],
    ],
  ])('%s', (_, sizes, changed, more, writes, sizesAfter) => {
    const outcome = packed(
      sizes.filter((size) => size > 0),
      changed,
      more,
    );
    expect(outcome.writes).toEqual(writes);
    expect(lengths(outcome.slices)).toEqual(sizesAfter.filter((size) => size > 0));
    expect(outcome.decision.added).toBe(more);
  });

  test('a slice that is over a lowered limit takes nothing more', () => {
    const { writes } = packed([80], [0], 5, 50);
    expect(writes).toEqual(['create 5', 'update web-0 80']);
  });
});

describe('whatever happens to pods', () => {
  const facts: fc.Arbitrary<PodFacts> = fc.record({
    ready: fc.boolean(),
    deleting: fc.boolean(),
    phase: fc.constantFrom('Running', 'Running', 'Running', 'Failed'),
    ports: fc.constantFrom<Record<string, number>>({ http: 8080 }, { http: 8081 }, {}),
  });
  const world = fc.dictionary(fc.integer({ min: 1, max: 40 }).map(String), facts, { maxKeys: 40 });
  const history = fc.array(world, { minLength: 1, maxLength: 5 });
  const named = { ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }] };

  test('each address stands in one slice, none is over full, and a second sync writes nothing', () => {
    fc.assert(
      fc.property(history, fc.integer({ min: 1, max: 9 }), (worlds, endpointsMax) => {
        const config = { ...CONFIG, endpointsMax };
        let slices: ReturnType<typeof sync>['slices'] = [];
        for (const one of worlds) {
          const all = Object.entries(one).map(([number, each]) => pod(`web-${number}`, each));
          const given = { pods: all, service: service(named) };
          const outcome = sync({ ...given, slices }, config);
          const again = sync({ ...given, slices: outcome.slices }, config);
          expect(again.writes).toEqual([]);
          const turned = sync({ ...given, pods: [...all].reverse(), slices }, config);
          expect(turned.slices).toEqual(outcome.slices);
          const keys = endpointsOf(outcome.slices).map(endpointKey);
          const wanted = all.filter(({ phase }) => phase !== 'Failed');
          expect(keys.sort()).toEqual(
            wanted.map(({ name, podIps }) => `${podIps[0]}  default/${name}`).sort(),
          );
          expect(Math.max(...lengths(outcome.slices))).toBeLessThanOrEqual(endpointsMax);
          expect(outcome.slices.length).toBeGreaterThan(0);
          slices = outcome.slices;
        }
      }),
      { numRuns: 60 },
    );
  });
});
