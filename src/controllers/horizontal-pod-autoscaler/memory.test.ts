import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ControllerContext } from '../../runtime/controller.ts';
import { createCountdowns } from '../../runtime/countdown.ts';
import { DOWNTIME_COUNTED_MAX_MS } from '../../runtime/limits.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { type History, NO_HISTORY, withRecommendation } from './history.ts';
import { Pasts } from './memory.ts';

const KEY = 'default/hpa';
const WINDOW_MS = 100_000;

/** A process after the other on one machine, with one file. */
function setUp() {
  const fakes = fakeContext({ now: Date.parse('2026-05-20T12:00:00Z') });
  const { clock, memory } = fakes;
  /** `formerUntil`: until when the process before is known to have watched. */
  const start = (bootId = 'boot', formerUntil?: number): Pasts => {
    const since = clock.monotonic();
    const former = formerUntil === undefined ? {} : { formerUntil };
    const watch = { clock, bootId, since, serverSteady: true, ...former };
    const countdowns = createCountdowns(watch, DOWNTIME_COUNTED_MAX_MS);
    return new Pasts({ ...fakes.context, countdowns } as ControllerContext);
  };
  const written = () => memory.all().map(({ updatedAt }) => updatedAt)[0] ?? 0;
  const ages = (pasts: Pasts) =>
    pasts
      .get(KEY, 'u')
      .history.recommendations.map(({ replicas, at }) => [
        replicas,
        Math.round(clock.monotonic() - at),
      ]);
  return { clock, memory, start, written, ages };
}

const history = (at: number, ...replicas: number[]): History => ({
  ...NO_HISTORY,
  recommendations: replicas.map((one) => ({ replicas: one, at })),
});

describe('the past of an autoscaler', () => {
  test('goes on in the next process: the last recommendation is fresh, others have aged', async () => {
    const { clock, start, ages } = setUp();
    const first = start();
    const past = { history: history(clock.monotonic() - 30_000, 9, 2), selector: 'app=web' };
    first.set(KEY, 'u', past, WINDOW_MS);
    await clock.advance(5_000);
    const second = start();
    expect(ages(second)).toEqual([
      [9, 35_000],
      [2, 0],
    ]);
    expect(second.get(KEY, 'u').selector).toBe('app=web');
    expect(second.known()).toEqual([{ key: KEY, uid: 'u' }]);
  });

  test('does not age while nobody watched for long, or over a reboot', async () => {
    const { clock, start, ages } = setUp();
    start().set(KEY, 'u', { history: history(clock.monotonic(), 9, 2), selector: '' }, WINDOW_MS);
    await clock.advance(3_600_000);
    expect(ages(start())).toEqual([
      [9, 0],
      [2, 0],
    ]);
    expect(ages(start('another boot'))).toEqual([
      [9, 0],
      [2, 0],
    ]);
  });

  test('is written when something happens, not because time passes', async () => {
    const { clock, start, written } = setUp();
    const pasts = start();
    const high = clock.monotonic();
    const set = (...replicas: number[]) => {
      const [last = 0, ...others] = replicas.toReversed();
      const recommendations = [
        ...others.map((one) => ({ replicas: one, at: high })),
        { replicas: last, at: clock.monotonic() },
      ];
      const past = { ...NO_HISTORY, recommendations };
      pasts.set(KEY, 'u', { history: past, selector: '' }, WINDOW_MS);
    };
    set(4);
    const first = written();
    await clock.advance(50_000);
    set(4);
    expect(written()).toBe(first);
    set(4, 2);
    const second = written();
    expect(second).toBeGreaterThan(first);
    await clock.advance(40_000);
    set(4, 2);
    expect(written()).toBe(second);
    set(2);
    expect(written()).toBeGreaterThan(second);
  });

  test('to and fro is written now and then, and taken as younger than it may be', async () => {
    const { clock, start, written, ages } = setUp();
    const pasts = start();
    let recommendations = history(clock.monotonic(), 4).recommendations;
    const say = (replicas: number) => {
      const others = recommendations.filter((one) => one.replicas !== replicas);
      recommendations = [...others, { replicas, at: clock.monotonic() }];
      const past = { ...NO_HISTORY, recommendations };
      pasts.set(KEY, 'u', { history: past, selector: '' }, WINDOW_MS);
    };
    const times = new Set<number>();
    for (let sync = 0; sync < 60; sync++) {
      say(sync % 2 === 0 ? 4 : 5);
      times.add(written());
      await clock.advance(1_000);
    }
    // The first two, the one that notices, then one each tenth of the window.
    expect(times.size).toBeWithin(6, 11);
    for (const [, age = 0] of ages(start())) expect(age).toBeLessThanOrEqual(2_000);
  });

  test('is never taken as older than it is, whenever a process dies', async () => {
    const step = fc.record({
      afterMs: fc.integer({ min: 500, max: 12_000 }),
      replicas: fc.integer({ min: 1, max: 4 }),
      dies: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, start } = setUp();
        const latest = new Map<number, number>();
        let pasts = start();
        for (const { afterMs, replicas, dies } of steps) {
          await clock.advance(afterMs);
          const now = clock.monotonic();
          const before = pasts.get(KEY, 'u').history;
          const next = withRecommendation(before, replicas, now, WINDOW_MS);
          pasts.set(KEY, 'u', { history: next, selector: '' }, WINDOW_MS);
          latest.set(replicas, now);
          if (!dies) continue;
          pasts = start('boot', now);
          const known = pasts.get(KEY, 'u').history.recommendations;
          for (const [wanted, at] of latest) {
            if (at < now - WINDOW_MS) continue;
            const found = known.find((one) => one.replicas === wanted);
            expect(found?.at ?? 0).toBeGreaterThanOrEqual(at - 1);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('belongs to one UID, and can be forgotten', () => {
    const { clock, start, memory } = setUp();
    const pasts = start();
    pasts.set(KEY, 'u', { history: history(clock.monotonic(), 4), selector: '' }, WINDOW_MS);
    expect(pasts.get(KEY, 'other').history).toBe(NO_HISTORY);
    expect(memory.all()).toHaveLength(1);
    pasts.delete(KEY);
    expect(pasts.get(KEY, 'u').history).toBe(NO_HISTORY);
    expect(memory.all()).toHaveLength(0);
  });

  test('changes of size and what was announced are kept; a text that is none is dropped', () => {
    const { clock, start, memory } = setUp();
    const now = clock.monotonic();
    const pending = { from: 1, to: 3, at: now, longestSeconds: 60 };
    const ups = [{ change: 2, at: now - 10_000 }];
    const past = { ...history(now, 4), ups, pending };
    start().set(KEY, 'u', { history: past, selector: '' }, WINDOW_MS);
    expect(start().get(KEY, 'u').history).toEqual(past);
    const [row] = memory.all();
    for (const value of ['', '{}', JSON.stringify({ recommendations: [[1]] })]) {
      memory.put({ ...row!, value });
      expect(start().known()).toEqual([]);
    }
  });
});
