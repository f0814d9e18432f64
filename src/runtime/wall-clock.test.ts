import { expect, test } from 'bun:test';
import { fakeClock } from './testing/fake-clock.ts';
import { watchWallClock } from './wall-clock.ts';

const START = Date.parse('2026-11-30T06:00:00Z');
const HOUR = 3_600_000;

test('a wall clock that is set is told of once, forward or back, until the end', async () => {
  const clock = fakeClock(START);
  const stop = new AbortController();
  const told: number[] = [];
  watchWallClock(clock, stop.signal, (byMs) => told.push(byMs));
  await clock.advance(HOUR);
  expect(told).toEqual([]);
  clock.setWall(clock.now() + 5 * HOUR);
  await clock.advance(10_000);
  expect(told).toEqual([5 * HOUR]);
  await clock.advance(HOUR);
  clock.setWall(clock.now() - HOUR);
  await clock.advance(10_000);
  expect(told).toEqual([5 * HOUR, -HOUR]);
  stop.abort();
  expect(clock.timers()).toBe(0);
});

test('some milliseconds are nothing, but add up', async () => {
  const clock = fakeClock(START);
  const told: number[] = [];
  watchWallClock(clock, new AbortController().signal, (byMs) => told.push(byMs));
  for (let times = 0; times < 3; times++) {
    clock.setWall(clock.now() + 400);
    await clock.advance(10_000);
  }
  expect(told).toEqual([1_200]);
});
