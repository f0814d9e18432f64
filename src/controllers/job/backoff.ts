/** How long a Job waits before it replaces failed pods. */

/** What is remembered of the failures of a Job without limits per index. */
export interface Backoff {
  /** Failures since the last success. */
  readonly failures: number;
  /** When the last of them ended, milliseconds since the epoch; 0 if there is none. */
  readonly lastFailureAt: number;
}

export const NO_BACKOFF: Backoff = Object.freeze({ failures: 0, lastFailureAt: 0 });

const BASE_MS = 10_000;
const LONGEST_MS = 10 * 60_000;

/** The times at which pods ended that were not counted before, milliseconds. */
export interface Ended {
  readonly succeeded: readonly number[];
  readonly failed: readonly number[];
}

/** The backoff once these pods are counted. A success ends the failures before it. */
export function nextBackoff(backoff: Backoff, { succeeded, failed }: Ended): Backoff {
  if (succeeded.length === 0) {
    if (failed.length === 0) return backoff;
    return { failures: backoff.failures + failed.length, lastFailureAt: Math.max(...failed) };
  }
  const lastSuccess = Math.max(...succeeded);
  const since = failed.filter((at) => at > lastSuccess);
  return since.length === 0
    ? NO_BACKOFF
    : { failures: since.length, lastFailureAt: Math.max(...since) };
}

/**
 * Milliseconds left at `now` until a pod may be created again: 10 s after the first failure, twice
 * as long after each further one, 10 min at most; 0 if it may be now.
 */
export function backoffLeft({ failures, lastFailureAt }: Backoff, now: number): number {
  if (failures <= 0) return 0;
  // Past some failures the factor makes no difference any more, and would overflow.
  const doublings = Math.min(failures - 1, LONGEST_MS / BASE_MS);
  const backoff = Math.min(BASE_MS * 2 ** doublings, LONGEST_MS);
  return Math.max(0, backoff - (now - lastFailureAt));
}
