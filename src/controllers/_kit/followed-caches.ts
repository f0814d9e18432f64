/** Waiting for the caches of what is followed as discovery finds it. */
import type { Clock } from '../../runtime/clock.ts';
import type { Followed, FollowedResources } from '../../runtime/informer/types.ts';

/** How long anybody waits for caches to be complete. */
const TIMEOUT_MS = 30_000;
const POLL_MS = 100;

/** What is waited for. */
export interface CacheWait {
  readonly followed: FollowedResources;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Which of the followed resources count. */
  counts(one: Followed): boolean;
  /** True once its cache is good enough. */
  test(one: Followed): boolean;
}

/**
 * Resolves with true once all that counts (something must) has such a cache, with false after 30 s.
 * Ends at the abort too, with true: nobody waits any more, so nothing is to be complained of.
 */
export async function cachesComplete(wait: CacheWait): Promise<boolean> {
  const { followed, clock, signal } = wait;
  const until = clock.monotonic() + TIMEOUT_MS;
  while (!signal.aborted) {
    const all = followed.list().filter((one) => wait.counts(one));
    if (all.length > 0 && all.every((one) => wait.test(one))) return true;
    if (clock.monotonic() >= until) return false;
    await clock.sleep(POLL_MS, signal);
  }
  return true;
}
