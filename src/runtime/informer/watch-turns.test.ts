import { describe, expect, test } from 'bun:test';
import { fakeClock } from '../testing/fake-clock.ts';
import { type Turn, WatchTurns } from './watch-turns.ts';

const TURN_MS = 10_000;

function setUp(places: number) {
  const clock = fakeClock(0);
  const turns = new WatchTurns(clock, places, TURN_MS);
  const never = new AbortController().signal;
  return { clock, turns, never };
}

describe('WatchTurns', () => {
  test('as long as there are places nobody is asked to leave', async () => {
    const { clock, turns, never } = setUp(2);
    const held = [await turns.take(never), await turns.take(never)];
    await clock.advance(100 * TURN_MS);
    expect(held.map((turn) => turn?.over.aborted)).toEqual([false, false]);
  });

  test('who has held a place longest gives it up once its turn is over', async () => {
    const { clock, turns, never } = setUp(2);
    const first = await turns.take(never);
    await clock.advance(4_000);
    const second = await turns.take(never);
    let third: Turn | undefined;
    void turns.take(never).then((turn) => {
      third = turn;
    });
    await clock.advance(5_999);
    expect(first?.over.aborted).toBe(false);
    await clock.advance(1);
    expect(first?.over.aborted).toBe(true);
    expect(second?.over.aborted).toBe(false);
    expect(third).toBeUndefined();
    first?.end();
    first?.end();
    await clock.settle();
    expect(third).toBeDefined();
  });

  test('places go round among all who want one', async () => {
    const { clock, turns, never } = setUp(3);
    const served: number[] = [0, 0, 0, 0, 0, 0, 0];
    const stop = new AbortController();
    const watch = async (index: number): Promise<void> => {
      for (;;) {
        const turn = await turns.take(stop.signal);
        if (turn === undefined) return;
        served[index] = (served[index] ?? 0) + 1;
        await new Promise<void>((resolve) => {
          turn.over.addEventListener('abort', () => resolve(), { once: true });
          stop.signal.addEventListener('abort', () => resolve(), { once: true });
        });
        turn.end();
      }
    };
    const all = served.map((_, index) => watch(index));
    await clock.advance(20 * TURN_MS);
    expect(Math.min(...served)).toBeGreaterThan(5);
    expect(Math.max(...served) - Math.min(...served)).toBeLessThanOrEqual(1);
    stop.abort();
    await Promise.all(all);
    expect(await turns.take(never)).toBeDefined();
  });

  test('who gives up waiting takes no place', async () => {
    const { turns, never } = setUp(1);
    const held = await turns.take(never);
    const stop = new AbortController();
    const waiting = turns.take(stop.signal);
    stop.abort();
    expect(await waiting).toBeUndefined();
    held?.end();
    expect(await turns.take(never)).toBeDefined();
  });
});
