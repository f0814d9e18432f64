import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createCountdowns } from './countdown.ts';
import { SEAMLESS_DOWNTIME_MAX_MS, WATCHED_GAPS_MAX } from './limits.ts';
import { type FakeClock, fakeClock } from './testing/fake-clock.ts';
import { WatchedTime } from './watched-time.ts';

const DOWNTIME_MS = 15_000;

function process(
  clock: FakeClock,
  mark: { until?: number | undefined; saved?: boolean },
  bootId = 'boot',
) {
  const watched = new WatchedTime({
    clock,
    bootId,
    downtimeMaxMs: DOWNTIME_MS,
    mark: {
      read: () => mark.until,
      write: (until) => {
        mark.until = until;
      },
    },
    saved: () => mark.saved ?? true,
  });
  return { watched, countdowns: createCountdowns(watched, DOWNTIME_MS) };
}

test('a cache was just watched if the process before, or this one, watched seconds ago', async () => {
  const clock = fakeClock(0);
  const mark = {};
  const first = process(clock, mark).watched;
  expect(first.justWatched).toBe(false);
  first.begin(true);
  await clock.advance(40_000);
  expect(process(clock, mark).watched.justWatched).toBe(true);
  first.end();
  expect(first.justWatched).toBe(true);
  await clock.advance(SEAMLESS_DOWNTIME_MAX_MS + 1);
  expect(first.justWatched).toBe(false);
  expect(process(clock, mark).watched.justWatched).toBe(false);
});

test('a cache that the disk did not follow was not just watched', async () => {
  const clock = fakeClock(0);
  const mark = { saved: true };
  const { watched } = process(clock, mark);
  watched.begin(true);
  watched.unsaved();
  expect(process(clock, mark).watched.justWatched).toBe(false);
  mark.saved = false;
  await clock.advance(10_000);
  expect(process(clock, mark).watched.justWatched).toBe(false);
  mark.saved = true;
  await clock.advance(10_000);
  expect(process(clock, mark).watched.justWatched).toBe(true);
});

describe('a countdown', () => {
  test('that was looked at once goes on through a kill, up to the last mark and the gap', async () => {
    const clock = fakeClock(0);
    const mark = {};
    const first = process(clock, mark);
    first.watched.begin(true);
    const countdown = first.countdowns.start();
    await clock.advance(40_000);
    const second = process(clock, mark);
    await clock.advance(3_000);
    second.watched.begin(true);
    expect(second.countdowns.elapsed(countdown)).toBe(43_000);
    expect(second.countdowns.unbroken(countdown)).toBe(true);
  });

  test('does not count two hours without power, nor the API server being away', async () => {
    for (const [downMs, steady] of [
      [7_200_000, true],
      [3_000, false],
    ] as const) {
      const clock = fakeClock(0);
      const mark = {};
      const first = process(clock, mark);
      first.watched.begin(true);
      const countdown = first.countdowns.start();
      await clock.advance(40_000);
      first.watched.end();
      await clock.advance(downMs);
      const second = process(clock, mark);
      second.watched.begin(steady);
      expect(second.countdowns.elapsed(countdown)).toBe(40_000);
      expect(second.countdowns.unbroken(countdown)).toBe(false);
    }
  });

  test('counts neither the time between two terms nor a machine that slept', async () => {
    const clock = fakeClock(0);
    const { watched, countdowns } = process(clock, {});
    watched.begin(true);
    const countdown = countdowns.start();
    await clock.advance(10_000);
    watched.end();
    await clock.advance(60_000);
    watched.begin(false);
    await clock.advance(5_000);
    expect(countdowns.elapsed(countdown)).toBe(15_000);
    expect(countdowns.unbroken(countdown)).toBe(false);
    expect(countdowns.unbroken(countdowns.observe(countdown))).toBe(true);
  });

  test('asked right after a long sleep, before any timer fired, leaves it out', () => {
    let now = 0;
    const clock = { ...fakeClock(0), monotonic: () => now };
    const { watched, countdowns } = process(clock, {});
    watched.begin(true);
    const countdown = countdowns.start();
    now = 7_200_000;
    expect(countdowns.elapsed(countdown)).toBe(0);
    now += 1_000;
    expect(countdowns.elapsed(countdown)).toBe(1_000);
  });

  test('never counts more than was watched, over any number of terms', async () => {
    const term = fc.record({ upMs: fc.nat(60_000), downMs: fc.nat(60_000), steady: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(term, { maxLength: WATCHED_GAPS_MAX }), async (terms) => {
        const clock = fakeClock(0);
        const { watched, countdowns } = process(clock, {});
        watched.begin(true);
        const countdown = countdowns.start();
        let most = 0;
        for (const { upMs, downMs, steady } of terms) {
          await clock.advance(upMs);
          watched.end();
          await clock.advance(downMs);
          watched.begin(steady);
          most += upMs + (steady && downMs <= DOWNTIME_MS ? downMs : 0);
          expect(countdowns.elapsed(countdown)).toBeLessThanOrEqual(most);
        }
      }),
      { numRuns: 30 },
    );
  });
});
