import { describe, expect, test } from 'bun:test';
import { indexedPrefix } from './template.ts';
import { HOUR_AGO, type PodFacts, podOf, recordOf } from './testing/build.ts';
import { chooseVictims } from './victims.ts';

/** Names of those that go, of pods with these facts named a, b, c and so on. */
function gone(facts: readonly PodFacts[], surplus: number, completions?: number): string {
  const active = facts.map((each, at) => recordOf(podOf({ name: 'abcdefgh'[at], ...each })));
  return chooseVictims({ active, surplus, completions })
    .map(({ pod }) => pod.name)
    .join('');
}

describe('who goes first', () => {
  const table: readonly [string, PodFacts, PodFacts][] = [
    ['an unscheduled one', { node: '', ready: true }, { ready: false }],
    ['a pending one', { phase: 'Pending', ready: true }, { phase: 'Running' }],
    ['one nobody knows about', { phase: 'Unknown', ready: true }, { phase: 'Running' }],
    ['one that is not ready', { ready: false }, { ready: true }],
    [
      'the one that became ready last',
      { ready: true, readySince: HOUR_AGO + 5_000 },
      { ready: true, readySince: HOUR_AGO, restarts: 9 },
    ],
    ['the one with more restarts', { restarts: 2 }, { restarts: 1, createdAt: HOUR_AGO + 5_000 }],
    ['the newest', { createdAt: HOUR_AGO + 5_000 }, { createdAt: HOUR_AGO }],
  ];
  for (const [name, first, second] of table) {
    test(name, () => {
      expect(gone([second, first], 1)).toBe('b');
      expect(gone([first, second], 1)).toBe('a');
    });
  }

  test('nobody if there are not too many', () => {
    expect(gone([{}, {}], 0)).toBe('');
  });
});

describe('pods with indexes', () => {
  test('without one, or with one that is too high, go first', () => {
    const facts = [{ index: 0 }, { index: 9 }, {}, { index: 1 }, { index: 'x' }];
    expect(gone(facts, 0, 2)).toBe('ceb');
    expect(gone(facts, 4, 2)).toHaveLength(4);
  });

  test('of those with the same one the best stays', () => {
    const facts = [
      { index: 1, phase: 'Pending' },
      { index: 1, ready: true },
      { index: 1 },
      { index: 2, ready: true },
    ];
    expect(gone(facts, 0, 5)).toBe('ac');
    expect(gone(facts, 3, 5)).toHaveLength(3);
  });

  test('why', () => {
    const active = [{ index: 1, ready: true }, { index: 1 }, { index: 7 }, {}].map((facts, at) =>
      recordOf(podOf({ name: `p${at}`, ...facts })),
    );
    expect(chooseVictims({ active, surplus: 0, completions: 5 })).toMatchObject([
      { pod: { name: 'p3' }, because: 'it has no completion index' },
      { pod: { name: 'p1' }, because: 'p0 has index 1 as well' },
      { pod: { name: 'p2' }, because: 'index 7 is not below 5 completions' },
    ]);
  });
});

test('the prefix of a pod’s name keeps the index whole', () => {
  expect(indexedPrefix('pi', 3)).toBe('pi-3-');
  const long = 'a'.repeat(63);
  expect(indexedPrefix(long, 1234)).toBe(`${'a'.repeat(52)}-1234-`);
  expect(indexedPrefix('b'.repeat(55), 1)).toBe(`${'b'.repeat(55)}-1-`);
  expect(indexedPrefix('b'.repeat(56), 1)).toBe(`${'b'.repeat(55)}-1-`);
});
