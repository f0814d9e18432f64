/** How long a failing key waits, as client-go's workqueue limiters decide it. */
import type { Clock } from '../clock.ts';
import type { QueueLimiterOptions } from '../controller.ts';

/** Decides delays and counts failures. Counts are held per key until `forget`. */
export interface Limiter {
  /** Counts one more failure of the key; gives the delay before its next try, milliseconds. */
  when(key: string): number;
  forget(key: string): void;
  failures(key: string): number;
  /** Sets the failure count of a key, as remembered from another process. */
  restore(key: string, failures: number): void;
}

const BASE_DELAY_MS = 5;
const MAX_DELAY_MS = 1_000_000;
const BUCKET = { perSecond: 10, burst: 100 };

/** Each failure of a key doubles its delay: `baseMs`, twice that, ... up to `maxMs`. */
export function exponentialLimiter(baseMs: number, maxMs: number): Limiter {
  const counts = new Map<string, number>();
  return {
    when: (key) => {
      const before = counts.get(key) ?? 0;
      counts.set(key, before + 1);
      return Math.min(baseMs * 2 ** before, maxMs);
    },
    forget: (key) => {
      counts.delete(key);
    },
    failures: (key) => counts.get(key) ?? 0,
    restore: (key, failures) => {
      if (failures > 0) counts.set(key, failures);
      else counts.delete(key);
    },
  };
}

/**
 * A token bucket over all keys. Each call takes a token, going into debt if there is none: the
 * delay is the time until the debt is paid, so calls line up behind each other.
 */
export function bucketLimiter(
  perSecond: number,
  burst: number,
  clock: Pick<Clock, 'monotonic'>,
): Limiter {
  let tokens = burst;
  let countedAt = clock.monotonic();
  return {
    when: () => {
      const now = clock.monotonic();
      tokens = Math.min(burst, tokens + ((now - countedAt) * perSecond) / 1e3) - 1;
      countedAt = now;
      return tokens < 0 ? (-tokens * 1e3) / perSecond : 0;
    },
    forget: () => undefined,
    failures: () => 0,
    restore: () => undefined,
  };
}

/** The longest delay and the highest count of several limiters; every one is asked each time. */
export function maxOfLimiter(...limiters: readonly Limiter[]): Limiter {
  return {
    when: (key) => limiters.reduce((longest, one) => Math.max(longest, one.when(key)), 0),
    forget: (key) => {
      for (const limiter of limiters) limiter.forget(key);
    },
    failures: (key) => limiters.reduce((most, one) => Math.max(most, one.failures(key)), 0),
    restore: (key, failures) => {
      for (const limiter of limiters) limiter.restore(key, failures);
    },
  };
}

/** The same delay always, and no failures: a rhythm rather than a punishment (the autoscaler's). */
export function fixedLimiter(intervalMs: number): Limiter {
  return {
    when: () => intervalMs,
    forget: () => undefined,
    failures: () => 0,
    restore: () => undefined,
  };
}

/** A queue's limiter: by default 5 ms doubling to 1000 s, and 10 a second in all (burst 100). */
export function createLimiter(options: QueueLimiterOptions, clock: Clock): Limiter {
  const { baseDelayMs = BASE_DELAY_MS, maxDelayMs = MAX_DELAY_MS, bucket = BUCKET } = options;
  const perKey = exponentialLimiter(baseDelayMs, maxDelayMs);
  if (bucket === null) return perKey;
  return maxOfLimiter(perKey, bucketLimiter(bucket.perSecond, bucket.burst, clock));
}
