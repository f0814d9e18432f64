import { describe, expect, test } from 'bun:test';
import type { ControllerContext } from '../../runtime/controller.ts';
import { createCountdowns } from '../../runtime/countdown.ts';
import { DOWNTIME_COUNTED_MAX_MS } from '../../runtime/limits.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { type History, NO_HISTORY } from './history.ts';
import { Pasts } from './memory.ts';

const KEY = 'default/hpa';
const WINDOW_MS = 100_000;

/** A process after the other on one machine, with one file. */
function setUp() {
  const fakes = fakeContext({ now: Date.parse('2026-05-20T12:00:00Z') });
  const { clock, memory } = fakes;
  const start = (bootId = 'boot'): Pasts => {
    const watch = { clock, bootId, since: clock.monotonic(), serverSteady: true };
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

  test('is written when something happens, and now and then while ages matter', async () => {
    const { clock, start, written } = setUp();
    const pasts = start();
    const set = (...replicas: number[]) =>
      pasts.set(
        KEY,
        'u',
        { history: history(clock.monotonic(), ...replicas), selector: '' },
        WINDOW_MS,
      );
    set(4);
    const first = written();
    await clock.advance(50_000);
    set(4);
    expect(written()).toBe(first);
    set(4, 5);
    const second = written();
    expect(second).toBeGreaterThan(first);
    await clock.advance(5_000);
    set(4, 5);
    set(5, 4);
    expect(written()).toBe(second);
    await clock.advance(6_000);
    set(4, 5);
    expect(written()).toBe(second + 11_000);
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
