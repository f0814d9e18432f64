import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { fakeClock } from '../runtime/testing/fake-clock.ts';
import { ConfigError } from './config-error.ts';
import { createLimiter, type Limiter } from './limiter.ts';

function limiterOf(qps: number, burst: number) {
  const clock = fakeClock(0);
  const limiter = createLimiter(qps, burst, clock) as Limiter;
  const done: number[] = [];
  const start = clock.monotonic();
  const ask = (name: number, signal?: AbortSignal) =>
    void limiter.wait(signal).then(() => done.push(name));
  return { clock, limiter, done, ask, elapsed: () => clock.monotonic() - start };
}

describe('the token bucket', () => {
  test('lets a burst through at once and then a steady rate, in order', async () => {
    const { clock, done, ask } = limiterOf(2, 3);
    for (let name = 1; name <= 6; name++) ask(name);
    await clock.settle();
    expect(done).toEqual([1, 2, 3]);
    await clock.advance(499);
    expect(done).toEqual([1, 2, 3]);
    await clock.advance(1);
    expect(done).toEqual([1, 2, 3, 4]);
    await clock.advance(1_000);
    expect(done).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('fills up again, but never beyond the burst', async () => {
    const { clock, done, ask } = limiterOf(10, 2);
    ask(1);
    ask(2);
    await clock.advance(3_600_000);
    for (let name = 3; name <= 5; name++) ask(name);
    await clock.settle();
    expect(done).toEqual([1, 2, 3, 4]);
  });

  test('gives the token of the last waiter back when it gives up', async () => {
    const { clock, done, ask } = limiterOf(1, 1);
    ask(1);
    const stop = new AbortController();
    ask(2, stop.signal);
    await clock.settle();
    stop.abort();
    await clock.settle();
    expect(done).toEqual([1, 2]);
    ask(3);
    await clock.advance(999);
    expect(done).toEqual([1, 2]);
    await clock.advance(1);
    expect(done).toEqual([1, 2, 3]);
  });

  test('those behind a waiter that gives up keep their turn, as upstream', async () => {
    const { clock, done, ask } = limiterOf(1, 1);
    const stop = new AbortController();
    ask(1);
    ask(2, stop.signal);
    ask(3);
    await clock.settle();
    stop.abort();
    await clock.advance(1_999);
    expect(done).toEqual([1, 2]);
    await clock.advance(1);
    expect(done).toEqual([1, 2, 3]);
  });

  test('a waiter that comes aborted takes nothing', async () => {
    const { clock, done, ask } = limiterOf(1, 1);
    ask(1, AbortSignal.abort());
    ask(2);
    await clock.settle();
    expect(done).toEqual([1, 2]);
  });

  test('never more than burst + rate × time, whatever the arrivals', async () => {
    const arrivals = fc.array(fc.integer({ min: 0, max: 2_000 }), { minLength: 1, maxLength: 30 });
    const rates = fc.constantFrom(0.5, 1, 5, 20);
    await fc.assert(
      fc.asyncProperty(
        arrivals,
        rates,
        fc.integer({ min: 1, max: 8 }),
        async (gaps, qps, burst) => {
          const { clock, limiter, elapsed } = limiterOf(qps, burst);
          const left: number[] = [];
          for (const gap of gaps) {
            await clock.advance(gap);
            void limiter.wait().then(() => left.push(elapsed()));
          }
          await clock.advance((gaps.length / qps) * 1e3 + 1);
          expect(left.length).toBe(gaps.length);
          for (const [first, from] of left.entries()) {
            for (const [last, until] of left.entries()) {
              if (last <= first) continue;
              const allowed = burst + ((until - from) / 1e3) * qps;
              expect(last - first + 1).toBeLessThanOrEqual(allowed + 1e-6);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('its settings, as upstream', () => {
  test('a negative rate is no limit', () => {
    expect(createLimiter(-1, 0, fakeClock(0))).toBeUndefined();
  });

  test('nothing set means 5 a second and bursts of 10', async () => {
    const { clock, done, ask } = limiterOf(0, 0);
    for (let name = 1; name <= 12; name++) ask(name);
    await clock.settle();
    expect(done.length).toBe(10);
    await clock.advance(200);
    expect(done.length).toBe(11);
  });

  test('a rate without a burst is refused', () => {
    expect(() => createLimiter(20, 0, fakeClock(0))).toThrow(
      new ConfigError('--kube-api-burst is 0 while --kube-api-qps is 20; valid: a burst above 0'),
    );
  });
});
