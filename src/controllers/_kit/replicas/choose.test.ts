import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { compareForDeletion, rankForDeletion } from '../../../api/pod-deletion.ts';
import { type PodFacts, podRecordOf } from '../testing/objects.ts';
import { chooseForDeletion } from './choose.ts';

const NOW = Date.parse('2026-01-02T00:00:00Z');
const HOUR = 3_600_000;
const COST = 'controller.kubernetes.io/pod-deletion-cost';

function choose(facts: readonly PodFacts[], count: number, siblings: Record<string, number> = {}) {
  const pods = facts.map((one, index) => podRecordOf({ name: `p${index}`, ...one }));
  return chooseForDeletion({
    pods,
    count,
    surplus: count,
    siblings: new Map(Object.entries(siblings)),
    now: NOW,
    useCost: true,
  }).map(({ pod, because }) => [pod.name, because.replace(/^\d+ too many; /, '')]);
}

const unscheduled = { node: '', phase: 'Pending', ready: false };
const pending = { phase: 'Pending', ready: false };
const notReady = { ready: false };

describe('which pods go', () => {
  test('none of none', () => {
    expect(choose([], 0)).toEqual([]);
  });

  test('all of them: in the order they came, without ranking', () => {
    expect(choose([{}, unscheduled], 2)).toEqual([
      ['p0', '2 too many: all active pods go'],
      ['p1', '2 too many: all active pods go'],
    ]);
  });

  test.each([
    ['unassigned', [pending, unscheduled], 1, [['p1', 'not assigned to a node']]],
    ['phase', [notReady, pending], 1, [['p1', 'phase Pending']]],
    [
      'not ready, twice',
      [{}, notReady, notReady],
      2,
      [
        ['p1', 'not ready'],
        ['p2', 'not ready'],
      ],
    ],
    [
      'deletion cost',
      [{}, { annotations: { [COST]: '-7' } }],
      1,
      [['p1', 'deletion cost -7, the next has 0']],
    ],
    [
      'ready for less time',
      [{ readySince: NOW - 5 * HOUR }, { readySince: NOW - 2 * HOUR }],
      1,
      [['p1', 'ready 7200 s ago, the next earlier']],
    ],
    [
      'ready about as long',
      [
        { uid: 'b', readySince: NOW - 5 * HOUR },
        { uid: 'a', readySince: NOW - 6 * HOUR },
      ],
      1,
      [['p1', 'ready 21600 s ago, about as long as the next, lower UID']],
    ],
    [
      'not known since when',
      [{ readySince: NOW }, { readySince: 0 }],
      1,
      [['p1', 'not known since when ready']],
    ],
    ['restarts', [{}, { restarts: 12 }], 1, [['p1', 'restarted 12 times']]],
    [
      'younger',
      [
        { ready: false, createdAt: NOW - 5 * HOUR },
        { ready: false, createdAt: NOW - HOUR },
      ],
      1,
      [['p1', 'created 3600 s ago, the next earlier']],
    ],
    ['alike', [{}, {}], 1, [['p0', 'no rule tells it from those that stay']]],
  ] as const)('%s', (_name, facts, count, chosen) => {
    const expected = chosen.map(([name, why]) => [name, `first in deletion order: ${why}`]);
    expect(choose(facts, count)).toEqual(expected);
  });

  test('more siblings on its node', () => {
    const facts = [{ node: 'n1' }, { node: 'n2' }];
    expect(choose(facts, 1, { n1: 1, n2: 3 })).toEqual([
      ['p1', 'first in deletion order: 3 pods of the same controller on node n2'],
    ]);
  });

  test('the worst go first: each kind before the next', () => {
    const facts = [{ node: 'n1' }, { node: 'n2' }, notReady, pending, unscheduled];
    for (let count = 0; count < facts.length; count++) {
      const names = choose(facts, count, { n2: 2 }).map(([name]) => name!);
      expect(names).toEqual(['p4', 'p3', 'p2', 'p1', 'p0'].slice(0, count));
    }
  });

  test('the sentence says by how many there are too many, even where fewer go', () => {
    const pods = [podRecordOf({ name: 'a' }), podRecordOf({ name: 'b', ready: false })];
    const input = { pods, count: 1, surplus: 700, siblings: new Map(), now: NOW, useCost: true };
    expect(chooseForDeletion(input).map(({ because }) => because)).toEqual([
      '700 too many; first in deletion order: not ready',
    ]);
  });
});

describe('generated pods', () => {
  /** Times differ from pod to pod: only then is upstream's order free of circles. */
  const pods = fc
    .uniqueArray(
      fc.record({
        node: fc.constantFrom('', 'n1', 'n2'),
        phase: fc.constantFrom('Pending', 'Running', 'Unknown'),
        ready: fc.boolean(),
        restarts: fc.nat(2),
        ageSeconds: fc.integer({ min: -10, max: 100_000 }),
        cost: fc.integer({ min: -1, max: 1 }),
      }),
      { maxLength: 30, selector: ({ ageSeconds }) => ageSeconds },
    )
    .map((facts) =>
      facts.map(({ ageSeconds, cost, ...rest }, index) =>
        podRecordOf({
          ...rest,
          name: `p${index}`,
          createdAt: NOW - ageSeconds * 1000,
          annotations: { [COST]: `${cost}` },
        }),
      ),
    );
  const siblings = new Map([
    ['n1', 1],
    ['n2', 2],
  ]);

  test('as many as asked, each once, none before a pod that stays by right', () => {
    fc.assert(
      fc.property(pods, fc.nat(30), (all, asked) => {
        const count = Math.min(asked, all.length);
        const input = { pods: all, count, surplus: count, siblings, now: NOW, useCost: true };
        const victims = chooseForDeletion(input).map(({ pod }) => pod);
        expect(new Set(victims).size).toBe(count);
        expect(chooseForDeletion(input)).toEqual(chooseForDeletion(input));
        if (count === all.length) return;
        const rank = (pod: (typeof all)[number]) =>
          rankForDeletion(pod, siblings.get(pod.nodeName) ?? 0, NOW, { useCost: true });
        for (const stays of all.filter((pod) => !victims.includes(pod))) {
          for (const goes of victims) {
            expect(compareForDeletion(rank(goes), rank(stays))).toBeLessThanOrEqual(0);
          }
        }
      }),
    );
  });
});
