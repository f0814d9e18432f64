import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  countIndexes,
  freeIndexes,
  hasIndex,
  type Intervals,
  indexesText,
  mergeIndexes,
  parseIndexes,
  withIndexes,
} from './indexes.ts';

const TEN = 10;
const anyIndexes = fc.uniqueArray(fc.nat({ max: 40 }));

function listed(intervals: Intervals): number[] {
  return intervals.flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at),
  );
}

describe('the text of indexes', () => {
  const table: readonly [string, string, number[]][] = [
    ['nothing', '', []],
    ['one', '3', [3]],
    ['a run', '2-4', [2, 3, 4]],
    ['two and a run', '1,3,5-7', [1, 3, 5, 6, 7]],
    ['neighbours become one', '1,2-3', [1, 2, 3]],
    ['beyond the completions', '8,10,12', [8]],
    ['partly beyond the completions', '8-12', [8, 9]],
    ['what is no number is left out', '1,x,3-y,5', [1, 5]],
    ['what follows the first beyond is not looked at', '11,2', []],
  ];
  for (const [name, text, wanted] of table) {
    test(name, () => expect(listed(parseIndexes(text, TEN))).toEqual(wanted));
  }

  test('a run of two takes a comma', () => {
    expect(indexesText(withIndexes([], [1, 3, 4, 5, 7, 8]))).toBe('1,3-5,7,8');
  });
});

test('a set knows what is in it', () => {
  const set = parseIndexes('2-4,6,8-9', TEN);
  const inside = Array.from({ length: 11 }, (_, index) => index).filter((index) =>
    hasIndex(set, index),
  );
  expect(inside).toEqual([2, 3, 4, 6, 8, 9]);
  expect(countIndexes(set)).toBe(6);
  expect(hasIndex([], 0)).toBe(false);
});

test('the free indexes are the lowest ones', () => {
  const taken = parseIndexes('0,2-3,7', TEN);
  expect(freeIndexes(taken, 3, TEN)).toEqual([1, 4, 5]);
  expect(freeIndexes(taken, 99, TEN)).toEqual([1, 4, 5, 6, 8, 9]);
  expect(freeIndexes([], 2, 1)).toEqual([0]);
  expect(freeIndexes(taken, 0, TEN)).toEqual([]);
  expect(freeIndexes([{ first: 12, last: 15 }], 99, 3)).toEqual([0, 1, 2]);
});

describe('any set', () => {
  test('reads what it wrote', () => {
    fc.assert(
      fc.property(anyIndexes, (indexes) => {
        const set = withIndexes([], indexes);
        expect(listed(parseIndexes(indexesText(set), 41))).toEqual(listed(set));
        expect(listed(set)).toEqual([...indexes].sort((a, b) => a - b));
      }),
    );
  });

  test('merges as sets do, and its intervals never touch', () => {
    fc.assert(
      fc.property(anyIndexes, anyIndexes, (a, b) => {
        const merged = mergeIndexes(withIndexes([], a), withIndexes([], b));
        expect(listed(merged)).toEqual([...new Set([...a, ...b])].sort((x, y) => x - y));
        for (const [at, { first }] of merged.entries()) {
          const before = merged[at - 1];
          if (before !== undefined) expect(first).toBeGreaterThan(before.last + 1);
        }
      }),
    );
  });

  test('has its indexes, and the free ones are the others', () => {
    fc.assert(
      fc.property(anyIndexes, fc.nat({ max: 40 }), (indexes, completions) => {
        const set = withIndexes([], indexes);
        const free = freeIndexes(set, 99, completions);
        for (let index = 0; index < completions; index++) {
          expect(hasIndex(set, index)).toBe(indexes.includes(index));
          expect(free.includes(index)).toBe(!indexes.includes(index));
        }
        expect(free.every((index) => index < completions)).toBe(true);
      }),
    );
  });
});
