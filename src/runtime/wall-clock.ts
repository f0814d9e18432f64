/**
 * Notices that somebody set the wall clock, as NTP does after the start of a machine without a
 * battery. Delays run on a clock that nobody sets; one that was worked out with the wall clock, as
 * the time until a CronJob is due, is then wrong by as much.
 */
import type { Clock } from './clock.ts';
import { WALL_CLOCK_LOOK_INTERVAL_MS, WALL_CLOCK_SET_MS } from './limits.ts';

/**
 * Calls `wasSet` with the milliseconds by which the wall clock was put forward (or back, negative)
 * since the last call, until `signal` aborts. What the clock is slowed or hurried isn't told: that
 * moves both clocks.
 */
export function watchWallClock(
  clock: Clock,
  signal: AbortSignal,
  wasSet: (byMs: number) => void,
): void {
  const aheadMs = (): number => clock.now() - clock.monotonic();
  const wait = () => clock.after(WALL_CLOCK_LOOK_INTERVAL_MS, look, { background: true });
  let known = aheadMs();
  const look = (): void => {
    if (signal.aborted) return;
    timer = wait();
    const byMs = Math.round(aheadMs() - known);
    if (Math.abs(byMs) < WALL_CLOCK_SET_MS) return;
    known = aheadMs();
    wasSet(byMs);
  };
  let timer = wait();
  signal.addEventListener('abort', () => timer.cancel(), { once: true });
}
