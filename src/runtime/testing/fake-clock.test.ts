import { describe, expect, test } from 'bun:test';
import { fakeClock } from './fake-clock.ts';

describe('fakeClock', () => {
  test('fires timers in order of time, each at its own time', async () => {
    const clock = fakeClock(1_000);
    const fired: string[] = [];
    const note = (name: string) => () => fired.push(`${name}@${clock.now()}`);
    clock.after(30, note('late'));
    clock.after(10, note('first'));
    clock.after(10, note('second'));
    clock.after(40, note('too late'));
    clock.after(20, note('cancelled')).cancel();
    await clock.advance(35);
    expect(fired).toEqual(['first@1010', 'second@1010', 'late@1030']);
    expect(clock.now()).toBe(1_035);
    expect(clock.timers()).toBe(1);
  });

  test('fires timers that are started by what it wakes, if they are due too', async () => {
    const clock = fakeClock(0);
    const woken: number[] = [];
    const sleeper = async () => {
      for (let i = 0; i < 3; i++) {
        await clock.sleep(10);
        woken.push(clock.now());
      }
    };
    const slept = sleeper();
    await clock.advance(25);
    expect(woken).toEqual([10, 20]);
    await clock.advance(5);
    await slept;
    expect(woken).toEqual([10, 20, 30]);
  });

  test('a sleep ends when its signal aborts and leaves no timer', async () => {
    const clock = fakeClock(0);
    const controller = new AbortController();
    const slept = clock.sleep(100, controller.signal);
    controller.abort();
    await slept;
    expect(clock.timers()).toBe(0);
    expect(clock.now()).toBe(0);
  });

  test('the wall can be set without anybody but its readers noticing', async () => {
    const clock = fakeClock(0);
    const before = clock.monotonic();
    clock.setWall(5_000);
    await clock.advance(1);
    expect(clock.now()).toBe(5_001);
    expect(clock.monotonic()).toBe(before + 1);
  });
});
