import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { RateMeter } from './rate.ts';
import { fakeClock } from './testing/fake-clock.ts';

test('counts what happened within the window, and forgets what is older', async () => {
  const clock = fakeClock(0);
  const meter = new RateMeter(clock, 60_000, 12);
  meter.add();
  await clock.advance(30_000);
  meter.add(4);
  expect(meter.sum()).toBe(5);
  await clock.advance(30_000);
  expect(meter.sum()).toBe(4);
  await clock.advance(10 * 60_000);
  expect(meter.sum()).toBe(0);
});

test('never sums up less than the window without a step, nor more than the window', () => {
  const moves = fc.array(fc.tuple(fc.nat(30_000), fc.nat(5)), { maxLength: 40 });
  fc.assert(
    fc.property(moves, (steps) => {
      let now = 123_456;
      const meter = new RateMeter({ monotonic: () => now }, 60_000, 12);
      const added: { at: number; amount: number }[] = [];
      for (const [waitMs, amount] of steps) {
        now += waitMs;
        meter.add(amount);
        added.push({ at: now, amount });
        const within = (ms: number) =>
          added.filter(({ at }) => at > now - ms).reduce((sum, each) => sum + each.amount, 0);
        expect(meter.sum()).toBeGreaterThanOrEqual(within(55_000));
        expect(meter.sum()).toBeLessThanOrEqual(within(60_000));
      }
    }),
  );
});
