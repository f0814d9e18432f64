import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { backoffLeft, type Ended, NO_BACKOFF, nextBackoff } from './backoff.ts';
import { NOW } from './testing/build.ts';

describe('failures since the last success', () => {
  const two = { failures: 2, lastFailureAt: 5 };
  const table: readonly [string, typeof two, Ended, typeof two][] = [
    ['nothing ended', two, { succeeded: [], failed: [] }, two],
    [
      'a first failure',
      NO_BACKOFF,
      { succeeded: [], failed: [7] },
      { failures: 1, lastFailureAt: 7 },
    ],
    [
      'two failures: the time of the later one',
      NO_BACKOFF,
      { succeeded: [], failed: [9, 7] },
      { failures: 2, lastFailureAt: 9 },
    ],
    ['one more failure', two, { succeeded: [], failed: [7] }, { failures: 3, lastFailureAt: 7 }],
    ['a success', two, { succeeded: [6], failed: [] }, NO_BACKOFF],
    ['failures, then a success', two, { succeeded: [9], failed: [7, 8] }, NO_BACKOFF],
    [
      'failures on both sides of a success: those after it',
      two,
      { succeeded: [8], failed: [6, 7, 9, 10] },
      { failures: 2, lastFailureAt: 10 },
    ],
    ['a failure at the time of a success', two, { succeeded: [8], failed: [8] }, NO_BACKOFF],
  ];
  for (const [name, before, ended, after] of table) {
    test(name, () => expect(nextBackoff(before, ended)).toEqual(after));
  }
});

describe('the backoff', () => {
  const left = (failures: number, agoMs: number): number =>
    backoffLeft({ failures, lastFailureAt: NOW - agoMs }, NOW);

  test('is none without failures', () => {
    expect(backoffLeft(NO_BACKOFF, NOW)).toBe(0);
  });

  test('is 10 s after the first failure and twice as long after each', () => {
    expect([1, 2, 3, 4, 5, 6].map((failures) => left(failures, 0))).toEqual([
      10_000, 20_000, 40_000, 80_000, 160_000, 320_000,
    ]);
  });

  test('is 10 min at most', () => {
    expect([7, 8, 100, 2 ** 31].map((failures) => left(failures, 0))).toEqual([
      600_000, 600_000, 600_000, 600_000,
    ]);
  });

  test('runs from the end of the last failed pod', () => {
    expect(left(2, 15_000)).toBe(5_000);
    expect(left(2, 20_000)).toBe(0);
    expect(left(2, 3_600_000)).toBe(0);
  });

  test('never grows while time goes on', () => {
    fc.assert(
      fc.property(fc.nat({ max: 50 }), fc.nat(), fc.nat(), (failures, ago, more) => {
        expect(left(failures, ago + more)).toBeLessThanOrEqual(left(failures, ago));
      }),
    );
  });
});
