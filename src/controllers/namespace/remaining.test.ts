import { describe, expect, test } from 'bun:test';
import { timeText } from '../../api/time.ts';
import type { Namespace, Pod } from '../../api/types/index.ts';
import { graceSeconds, lookAgainMs, remainderOf } from './remaining.ts';

const NOW = Date.parse('2026-05-20T12:00:00Z');

function pod(grace: number | undefined, phase = 'Running'): Pod {
  return {
    metadata: { name: 'p', uid: 'u', resourceVersion: '1' },
    spec: { containers: [], terminationGracePeriodSeconds: grace },
    status: { phase },
  };
}

function deletedAgo(ms: number): Namespace {
  const deletionTimestamp = timeText(NOW - ms);
  return { metadata: { name: 'n', uid: 'u', resourceVersion: '1', deletionTimestamp } };
}

describe('grace of pods', () => {
  test.each<[string, Pod[], number, number]>([
    ['none', [], 0, 0],
    ['the longest', [pod(10), pod(30), pod(undefined)], 5_000, 30],
    ['ended ones do not count', [pod(10), pod(60, 'Failed'), pod(60, 'Succeeded')], 0, 10],
    ['just before it is over', [pod(30)], 29_000, 30],
    ['over', [pod(30)], 30_000, 0],
    ['the longest there is', [pod((2n ** 63n) as unknown as number)], 30_000, 2 ** 63],
  ])('%s', (_, pods, ago, expected) => {
    expect(graceSeconds(pods, deletedAgo(ago), NOW)).toBe(expected);
  });
});

describe('what remains', () => {
  const item = (...finalizers: string[]) => ({
    metadata: { name: 'x', uid: 'u', resourceVersion: '1', finalizers },
  });

  test('nothing', () => {
    expect(remainderOf([], 30)).toMatchObject({ estimateSeconds: 0, count: 0, unexpected: false });
  });

  test('within their grace', () => {
    expect(remainderOf([item(), item('a')], 30)).toEqual({
      estimateSeconds: 30,
      count: 2,
      finalizers: new Map([['a', 1]]),
      unexpected: false,
    });
  });

  test('a finalizer explains it: 15 s', () => {
    expect(remainderOf([item('a', 'b'), item('a'), item()], 0)).toEqual({
      estimateSeconds: 15,
      count: 3,
      finalizers: new Map([
        ['a', 2],
        ['b', 1],
      ]),
      unexpected: false,
    });
  });

  test('nothing explains it', () => {
    const remainder = remainderOf([item()], 0);
    expect(remainder).toMatchObject({ estimateSeconds: 0, count: 1, unexpected: true });
  });
});

test.each([
  [1, 1_000],
  [15, 8_000],
  [30, 16_000],
  [31, 16_000],
  [1e9, 3_600_000],
])('an estimate of %p s: again after %p ms', (estimate, expected) => {
  expect(lookAgainMs(estimate)).toBe(expected);
});
