/**
 * Remembered durations that count only time that was watched: a machine that was off for two hours,
 * or whose clock jumped a year, must not find every deadline passed.
 */
import type { Clock } from './clock.ts';
import { DOWNTIME_COUNTED_MAX_MS } from './limits.ts';

/** Sums of fractions of a millisecond don't come out exactly. */
const CLOCK_TOLERANCE_MS = 1;

/** How much of a duration had passed when it was last looked at. Plain data, to be remembered. */
export interface Countdown {
  readonly elapsedMs: number;
  /** Wall time of that look, milliseconds; for people, nothing is computed from it. */
  readonly observedAt: number;
  /** Boot and monotonic time of that look. */
  readonly bootId: string;
  readonly monotonic: number;
}

/** What this process knows about its own watching, and about the time before it. */
export interface Watch {
  readonly clock: Clock;
  /** Changes with each boot of the machine (/proc/sys/kernel/random/boot_id). */
  readonly bootId: string;
  /** Monotonic time from which this process has watched. */
  readonly since: number;
  /** Monotonic time until which the process before is known to have watched; same boot only. */
  readonly formerUntil?: number;
  /** Between the two processes the API server was neither away nor restarted. */
  readonly serverSteady: boolean;
  /** Milliseconds after this monotonic time of this process that it didn't watch; absent: none. */
  unwatched?(from: number): number;
}

/** A countdown as of now, of which `elapsedMs` have passed already. */
export function startCountdown(watch: Watch, elapsedMs = 0): Countdown {
  const { clock, bootId } = watch;
  return { elapsedMs, observedAt: clock.now(), bootId, monotonic: clock.monotonic() };
}

/** Watched time between the last look of a former process and the start of this one. */
function watchedBefore(countdown: Countdown, watch: Watch, downtimeMaxMs: number): number {
  if (countdown.bootId === '' || countdown.bootId !== watch.bootId) return 0;
  const former = Math.max(countdown.monotonic, watch.formerUntil ?? countdown.monotonic);
  const until = Math.min(former, watch.since);
  const downtimeMs = watch.since - until;
  const counted = watch.serverSteady && downtimeMs <= downtimeMaxMs ? downtimeMs : 0;
  return until - countdown.monotonic + counted;
}

/**
 * Milliseconds that have passed on a countdown. All time of this process counts, and that of the
 * process before up to `formerUntil`; the gap between them only if it was no longer than
 * `downtimeMaxMs`, on the same boot, with the API server steady.
 */
export function elapsed(
  countdown: Countdown,
  watch: Watch,
  downtimeMaxMs = DOWNTIME_COUNTED_MAX_MS,
): number {
  const now = watch.clock.monotonic();
  const ours = countdown.bootId === watch.bootId && countdown.monotonic >= watch.since;
  const from = ours ? countdown.monotonic : watch.since;
  const before = ours ? 0 : watchedBefore(countdown, watch, downtimeMaxMs);
  const missed = watch.unwatched?.(from) ?? 0;
  return countdown.elapsedMs + before + now - from - missed;
}

/** True if all the time since the last look counts: nothing can have happened unseen in it. */
export function isUnbroken(
  countdown: Countdown,
  watch: Watch,
  downtimeMaxMs = DOWNTIME_COUNTED_MAX_MS,
): boolean {
  if (countdown.bootId !== watch.bootId) return false;
  const passed = watch.clock.monotonic() - countdown.monotonic;
  const counted = elapsed(countdown, watch, downtimeMaxMs) - countdown.elapsedMs;
  return counted >= passed - CLOCK_TOLERANCE_MS;
}

/** The same countdown looked at now: remember this, so that a later process goes on from here. */
export function observe(
  countdown: Countdown,
  watch: Watch,
  downtimeMaxMs = DOWNTIME_COUNTED_MAX_MS,
): Countdown {
  return startCountdown(watch, elapsed(countdown, watch, downtimeMaxMs));
}

/** Countdowns as a controller starts and reads them: bound to what this process watched. */
export interface Countdowns {
  /** One of which `elapsedMs` have passed already. */
  start(elapsedMs?: number): Countdown;
  /** Milliseconds that have passed. */
  elapsed(countdown: Countdown): number;
  /** The same one looked at now; remember it to go on from here after a restart. */
  observe(countdown: Countdown): Countdown;
  /** True if no time was left out since it was last looked at. */
  unbroken(countdown: Countdown): boolean;
}

/** Countdowns of one lead. */
export function createCountdowns(watch: Watch, downtimeMaxMs: number): Countdowns {
  return {
    start: (elapsedMs) => startCountdown(watch, elapsedMs),
    elapsed: (countdown) => elapsed(countdown, watch, downtimeMaxMs),
    observe: (countdown) => observe(countdown, watch, downtimeMaxMs),
    unbroken: (countdown) => isUnbroken(countdown, watch, downtimeMaxMs),
  };
}

/** How a memory of countdowns is stored. */
export const COUNTDOWN_TEXT = Object.freeze({
  encode: (countdown: Countdown): string => JSON.stringify(countdown),
  /** Throws for a text that is no countdown. */
  decode(text: string): Countdown {
    const value = JSON.parse(text) as Partial<Countdown>;
    const { elapsedMs, observedAt, bootId, monotonic } = value;
    const numbers = [elapsedMs, observedAt, monotonic];
    if (typeof bootId !== 'string' || !numbers.every(Number.isFinite)) {
      throw new Error(`no countdown: ${text}`);
    }
    return value as Countdown;
  },
});
