/** Sets of completion indexes as ordered intervals, and their text: "1,3-5,7". */
import { parseInt64 } from '../../api/integer.ts';

/** Indexes from `first` to `last`. */
export interface Interval {
  readonly first: number;
  readonly last: number;
}

/** Intervals in order, no two of them touching. */
export type Intervals = readonly Interval[];

/**
 * Reads a text of indexes below `completions`. What is no number is left out; the first interval
 * that begins at `completions` or above ends the reading.
 */
export function parseIndexes(text: string, completions: number): Intervals {
  const result: { first: number; last: number }[] = [];
  for (const part of text === '' ? [] : text.split(',')) {
    const [low = '', high] = part.split('-');
    const first = parseInt64(low);
    const last = high === undefined ? first : parseInt64(high);
    if (first !== undefined && first >= completions) break;
    if (first === undefined || last === undefined) continue;
    const interval = { first: Number(first), last: Math.min(Number(last), completions - 1) };
    const before = result.at(-1);
    if (before !== undefined && before.last === interval.first - 1) before.last = interval.last;
    else result.push(interval);
  }
  return result;
}

/** Both sets together. */
export function mergeIndexes(a: Intervals, b: Intervals): Intervals {
  const result: { first: number; last: number }[] = [];
  let i = 0;
  let j = 0;
  for (;;) {
    const left = a[i];
    const right = b[j];
    const takesLeft = left !== undefined && (right === undefined || left.first < right.first);
    const next = takesLeft ? left : right;
    if (next === undefined) return result;
    if (takesLeft) i++;
    else j++;
    const before = result.at(-1);
    if (before === undefined || next.first > before.last + 1) result.push({ ...next });
    else before.last = Math.max(before.last, next.last);
  }
}

/** The set with more indexes, given in any order, also repeatedly. */
export function withIndexes(intervals: Intervals, indexes: Iterable<number>): Intervals {
  const sorted = [...indexes].sort((a, b) => a - b);
  return mergeIndexes(
    intervals,
    sorted.map((index) => ({ first: index, last: index })),
  );
}

/** How many indexes there are. */
export function countIndexes(intervals: Intervals): number {
  return intervals.reduce((count, { first, last }) => count + last - first + 1, 0);
}

/** True if the index is in the set. */
export function hasIndex(intervals: Intervals, index: number): boolean {
  let low = 0;
  let high = intervals.length;
  while (high > low) {
    const middle = (low + high) >> 1;
    if ((intervals[middle]?.last ?? 0) >= index) high = middle;
    else low = middle + 1;
  }
  const found = intervals[high];
  return found !== undefined && found.first <= index;
}

/** "1,3-5,7"; a run of two is written with a comma. */
export function indexesText(intervals: Intervals): string {
  return intervals
    .map(({ first, last }) => {
      if (last <= first) return `${first}`;
      return last === first + 1 ? `${first},${last}` : `${first}-${last}`;
    })
    .join(',');
}

/** The lowest `count` indexes from 0 to `completions` - 1 that are not taken. */
export function freeIndexes(taken: Intervals, count: number, completions: number): number[] {
  const free: number[] = [];
  let candidate = 0;
  for (const { first, last } of [...taken, { first: completions, last: completions }]) {
    for (; candidate < Math.min(first, completions) && free.length < count; candidate++) {
      free.push(candidate);
    }
    candidate = Math.max(candidate, last + 1);
  }
  return free;
}
