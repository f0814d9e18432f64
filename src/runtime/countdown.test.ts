import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  COUNTDOWN_TEXT,
  createCountdowns,
  elapsed,
  observe,
  startCountdown,
  type Watch,
} from './countdown.ts';
import { fakeClock } from './testing/fake-clock.ts';

const START = Date.parse('2026-11-30T06:00:00Z');

function watching(
  fields: Omit<Partial<Watch>, 'clock'> = {},
): Watch & { clock: ReturnType<typeof fakeClock> } {
  const clock = fakeClock(START);
  return { bootId: 'boot', since: clock.monotonic(), serverSteady: true, ...fields, clock };
}

/** A countdown that ran `ranMs` in one process, then the process was down for `downMs`. */
async function afterDowntime(
  ranMs: number,
  downMs: number,
  next: Omit<Partial<Watch>, 'clock'> = {},
) {
  const first = watching();
  const countdown = startCountdown(first);
  await first.clock.advance(ranMs);
  const remembered = observe(countdown, first);
  await first.clock.advance(downMs);
  return { remembered, second: { ...first, since: first.clock.monotonic(), ...next } };
}

describe('elapsed', () => {
  test('is the time since the start, in one process', async () => {
    const watch = watching();
    const countdown = startCountdown(watch, 50);
    await watch.clock.advance(1_000);
    expect(elapsed(countdown, watch)).toBe(1_050);
    expect(elapsed(observe(countdown, watch), watch)).toBe(1_050);
  });

  test('does not notice a wall clock that jumps', async () => {
    const watch = watching();
    const countdown = startCountdown(watch);
    await watch.clock.advance(10);
    watch.clock.setWall(START + 365 * 86_400_000);
    expect(elapsed(countdown, watch)).toBe(10);
    watch.clock.setWall(0);
    expect(elapsed(countdown, watch)).toBe(10);
  });

  test('counts a short downtime, and goes on in the next process', async () => {
    const { remembered, second } = await afterDowntime(200_000, 15_000);
    expect(elapsed(remembered, second)).toBe(215_000);
    await second.clock.advance(1_000);
    expect(elapsed(remembered, second)).toBe(216_000);
  });

  test.each([
    ['longer than fifteen seconds', 15_001, {}],
    ['with the API server away or restarted', 1_000, { serverSteady: false }],
    ['with a reboot in it', 1_000, { bootId: 'another boot' }],
  ])('does not count a downtime %s', async (_, downMs, next) => {
    const { remembered, second } = await afterDowntime(200_000, downMs, next);
    await second.clock.advance(500);
    expect(elapsed(remembered, second)).toBe(200_500);
  });

  test('counts what the former process watched after its last look', async () => {
    const { remembered, second } = await afterDowntime(0, 600_000);
    const formerUntil = second.since - 2_000;
    expect(elapsed(remembered, { ...second, formerUntil })).toBe(600_000);
    const longAgo = second.since - 20_000;
    expect(elapsed(remembered, { ...second, formerUntil: longAgo })).toBe(580_000);
    expect(elapsed(remembered, { ...second, formerUntil: longAgo, bootId: 'x' })).toBe(0);
  });

  test('the length of downtime that counts can be chosen', async () => {
    const { remembered, second } = await afterDowntime(0, 60_000);
    expect(elapsed(remembered, second, 60_000)).toBe(60_000);
    expect(elapsed(remembered, second, 59_999)).toBe(0);
  });

  test('never runs ahead of real time nor backwards, over any number of restarts', async () => {
    const life = fc.record({
      upMs: fc.nat(100_000),
      downMs: fc.nat(40_000),
      steady: fc.boolean(),
      rebooted: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(life, { maxLength: 6 }), async (lives) => {
        let watch = watching();
        const begun = watch.clock.monotonic();
        let countdown = startCountdown(watch);
        let last = 0;
        let upMs = 0;
        for (const { upMs: up, downMs, steady, rebooted } of lives) {
          await watch.clock.advance(up);
          upMs += up;
          countdown = observe(countdown, watch);
          await watch.clock.advance(downMs);
          const bootId = rebooted ? `${watch.bootId}+` : watch.bootId;
          const since = watch.clock.monotonic();
          watch = { ...watch, bootId, since, serverSteady: steady };
          const now = elapsed(countdown, watch);
          expect(now).toBeGreaterThanOrEqual(Math.max(last, upMs));
          expect(now).toBeLessThanOrEqual(watch.clock.monotonic() - begun);
          last = now;
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('countdowns of a lead', () => {
  test('count as much downtime as they are told to', async () => {
    const { remembered, second } = await afterDowntime(5_000, 20_000);
    expect(createCountdowns(second, 20_000).elapsed(remembered)).toBe(25_000);
    const strict = createCountdowns(second, 19_000);
    expect(strict.elapsed(remembered)).toBe(5_000);
    const { elapsedMs } = strict.observe(remembered);
    expect(elapsedMs).toBe(5_000);
    expect(strict.start(7).elapsedMs).toBe(7);
  });

  test('come back from their text, and nothing else does', () => {
    const countdown = startCountdown(watching(), 3);
    expect(COUNTDOWN_TEXT.decode(COUNTDOWN_TEXT.encode(countdown))).toEqual(countdown);
    for (const text of ['', '{}', '{"elapsedMs":1,"observedAt":1,"bootId":1,"monotonic":1}']) {
      expect(() => COUNTDOWN_TEXT.decode(text)).toThrow();
    }
  });
});
