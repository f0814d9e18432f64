import { describe, expect, test } from 'bun:test';
import { fakeClock } from '../testing/fake-clock.ts';
import {
  bucketLimiter,
  createLimiter,
  exponentialLimiter,
  fixedLimiter,
  maxOfLimiter,
} from './limiter.ts';

const times = <T>(count: number, draw: () => T): T[] => Array.from({ length: count }, draw);

describe('exponentialLimiter', () => {
  test('doubles per key up to its maximum, and forgets', () => {
    const limiter = exponentialLimiter(5, 70);
    expect(times(6, () => limiter.when('a'))).toEqual([5, 10, 20, 40, 70, 70]);
    expect(limiter.when('b')).toBe(5);
    expect(limiter.failures('a')).toBe(6);
    limiter.forget('a');
    expect(limiter.failures('a')).toBe(0);
    expect(limiter.when('a')).toBe(5);
  });

  test('stays at its maximum after any number of failures', () => {
    const limiter = exponentialLimiter(5, 1_000_000);
    limiter.restore('a', 5000);
    expect(limiter.when('a')).toBe(1_000_000);
    expect(limiter.failures('a')).toBe(5001);
  });
});

describe('bucketLimiter', () => {
  test('gives its burst at once, then lines callers up', () => {
    const limiter = bucketLimiter(10, 3, fakeClock(0));
    expect(times(6, () => limiter.when('a'))).toEqual([0, 0, 0, 100, 200, 300]);
  });

  test('fills with time, never beyond its burst', async () => {
    const clock = fakeClock(0);
    const limiter = bucketLimiter(10, 3, clock);
    times(5, () => limiter.when('a'));
    await clock.advance(250);
    expect(limiter.when('b')).toBe(50);
    await clock.advance(3_600_000);
    expect(times(4, () => limiter.when('a'))).toEqual([0, 0, 0, 100]);
  });
});

describe('createLimiter', () => {
  test('by default doubles from 5 ms and gives ten a second beyond a burst of a hundred', () => {
    const limiter = createLimiter({}, fakeClock(0));
    expect(times(3, () => limiter.when('a'))).toEqual([5, 10, 20]);
    const others = Array.from({ length: 100 }, (_, i) => limiter.when(`b${i}`));
    expect(others.slice(0, 97).every((delay) => delay === 5)).toBe(true);
    expect(others.slice(97)).toEqual([100, 200, 300]);
  });

  test('without a bucket each key is on its own', () => {
    const limiter = createLimiter({ baseDelayMs: 1000, bucket: null }, fakeClock(0));
    expect(times(300, () => limiter.when('a')).at(-1)).toBe(1_000_000);
    expect(limiter.when('b')).toBe(1000);
  });
});

test('maxOfLimiter asks all of them and takes the worst', () => {
  const slow = exponentialLimiter(7, 1000);
  const quick = exponentialLimiter(5, 1000);
  const limiter = maxOfLimiter(quick, slow);
  expect(times(2, () => limiter.when('a'))).toEqual([7, 14]);
  expect(quick.failures('a')).toBe(2);
  limiter.restore('a', 4);
  expect(limiter.failures('a')).toBe(4);
  limiter.forget('a');
  expect(slow.failures('a') + quick.failures('a')).toBe(0);
});

test('fixedLimiter keeps its rhythm and counts nothing', () => {
  const limiter = fixedLimiter(15_000);
  expect(times(3, () => limiter.when('a'))).toEqual([15_000, 15_000, 15_000]);
  expect(limiter.failures('a')).toBe(0);
});
