import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { systemClock } from './clock.ts';

const clock = systemClock();

describe('systemClock', () => {
  test('monotonic time is the time since boot and never goes back', () => {
    const before = Number.parseFloat(readFileSync('/proc/uptime', 'latin1')) * 1e3;
    let last = clock.monotonic();
    // /proc/uptime cuts to hundredths of a second.
    expect(last).toBeGreaterThanOrEqual(before);
    for (let i = 0; i < 10_000; i++) {
      const next = clock.monotonic();
      expect(next >= last).toBe(true);
      last = next;
    }
    const after = Number.parseFloat(readFileSync('/proc/uptime', 'latin1')) * 1e3;
    expect(last).toBeLessThan(after + 10);
  });

  test('timers fire once, in order, never early and never inside the call', async () => {
    const started = clock.monotonic();
    const fired: [number, number][] = [];
    await new Promise<void>((resolve) => {
      for (const delay of [20, 0, 5]) {
        clock.after(delay, () => {
          fired.push([delay, clock.monotonic() - started]);
          if (delay === 20) resolve();
        });
      }
      expect(fired).toEqual([]);
    });
    expect(fired.map(([delay]) => delay)).toEqual([0, 5, 20]);
    for (const [delay, elapsed] of fired) expect(elapsed).toBeGreaterThanOrEqual(delay);
  });

  test('a cancelled timer does not fire', async () => {
    let fired = false;
    clock
      .after(1, () => {
        fired = true;
      })
      .cancel();
    await clock.sleep(5);
    expect(fired).toBe(false);
  });

  test('sleep ends when its signal aborts, also if that was before', async () => {
    const controller = new AbortController();
    const slept = clock.sleep(3_600_000, controller.signal);
    controller.abort();
    await slept;
    await clock.sleep(3_600_000, controller.signal);
    expect(controller.signal.aborted).toBe(true);
  });
});
