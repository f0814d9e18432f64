/** How many pods a Job should have now: what a sync creates or deletes (upstream's manageJob). */
import { isTerminating } from '../../api/pod.ts';
import { createPods, deletePods, type NewPod, type Steps, type Victim } from './actions.ts';
import { backoffLeft } from './backoff.ts';
import { failuresBefore, type IndexState, type Sync } from './counts.ts';
import { freeIndexes, mergeIndexes, withIndexes } from './indexes.ts';
import {
  completionsOf,
  isSuspended,
  limitsPerIndex,
  parallelismOf,
  replacesOnlyFailed,
} from './spec.ts';
import { indexedPods, plainPods } from './template.ts';
import { chooseVictims } from './victims.ts';

/** Most pods created, or deleted, in one sync. */
const PODS_PER_SYNC = 500;

/** Shortest delay of a sync that waits for a backoff. */
const RECREATION_DELAY_MS = 1_000;

/** Creates or deletes pods, never both. Gives the error of a call that failed, if any. */
export function* manage(sync: Sync): Steps<unknown> {
  if (isSuspended(sync.job)) {
    const because = 'the Job is suspended';
    return yield* drop(
      sync,
      sync.active.map((pod) => ({ pod, because })),
    );
  }
  const wanted = wantedOf(sync);
  const victims = victimsOf(sync, wanted.count);
  if (victims.length > 0) return yield* drop(sync, victims);
  const terminating = replacesOnlyFailed(sync.job) ? sync.terminating : 0;
  const missing = wanted.count - terminating - sync.activeCount;
  if (missing > 0) return yield* create(sync, missing, wanted.because);
  yield { kind: 'doing', action: 'tracking' };
  return undefined;
}

function wantedOf(sync: Sync): { readonly count: number; readonly because: string } {
  const { job, activeCount, succeeded } = sync;
  const parallelism = parallelismOf(job);
  const completions = completionsOf(job);
  const found = `${activeCount} active, ${succeeded} succeeded`;
  if (completions === undefined) {
    const count = succeeded > 0 ? activeCount : parallelism;
    return { count, because: `${found}, parallelism ${parallelism}` };
  }
  const count = Math.max(0, Math.min(completions - succeeded, parallelism));
  return { count, because: `${found} of ${completions}, parallelism ${parallelism}` };
}

/** Deletions without an answer are sent again before any other: they may have happened. */
function victimsOf({ active, announced, indexed }: Sync, wanted: number): readonly Victim[] {
  const unanswered = active.filter(({ uid }) => announced.has(uid));
  if (unanswered.length > 0) {
    const because = 'its deletion was announced and got no answer';
    return unanswered.map((pod) => ({ pod, because }));
  }
  const surplus = Math.max(0, active.length - wanted);
  const completions = indexed?.completions;
  return chooseVictims({ active, surplus, completions }).slice(0, PODS_PER_SYNC);
}

function* drop(sync: Sync, victims: readonly Victim[]): Steps<unknown> {
  yield { kind: 'doing', action: 'pods_deleted' };
  if (victims.length === 0) return undefined;
  const deleted = yield* deletePods('dropPods', victims);
  sync.activeCount -= deleted.count;
  sync.terminating += deleted.count;
  sync.readyCount -= deleted.ready;
  return deleted.error;
}

function* create(sync: Sync, missing: number, found: string): Steps<unknown> {
  yield { kind: 'doing', action: 'pods_created' };
  const { job, indexed, nextBackoff, now } = sync;
  if (!limitsPerIndex(job)) {
    const waitMs = backoffLeft(nextBackoff, now);
    if (waitMs > 0) return yield* wait(waitMs, `${nextBackoff.failures} failures in a row`);
  }
  const count = Math.min(missing, PODS_PER_SYNC);
  const because = `${found}: creating ${count}`;
  if (indexed === undefined) return yield* send(sync, plainPods(job, count, because));
  const free = pendingIndexes(sync, indexed, count);
  const { indexes, waitMs } = limitsPerIndex(job)
    ? readyIndexes(sync, indexed, free)
    : { indexes: free, waitMs: 0 };
  if (waitMs > 0) return yield* wait(waitMs, 'the indexes that are left failed a short time ago');
  return yield* send(sync, indexedPods(sync, indexes, indexed.delayed, because));
}

function* wait(delayMs: number, why: string): Steps<undefined> {
  const because = `${why}: pods are created again when the backoff is over`;
  yield { kind: 'again', delayMs: Math.max(delayMs, RECREATION_DELAY_MS), because };
  return undefined;
}

function* send(sync: Sync, pods: readonly NewPod[]): Steps<unknown> {
  if (pods.length === 0) return undefined;
  const created = yield* createPods(pods);
  sync.activeCount += created.count;
  const reason = creationReason(sync);
  // Upstream counts the failed ones among those that succeeded as well, and the refused nowhere.
  const by = created.count - created.refused + created.failed;
  if (by > 0) {
    yield { kind: 'count', count: { metric: 'podsCreated', reason, status: 'succeeded', by } };
  }
  if (created.failed > 0) {
    const by = created.failed;
    yield { kind: 'count', count: { metric: 'podsCreated', reason, status: 'failed', by } };
  }
  return created.error;
}

function creationReason({ job, failed, terminating }: Sync): string {
  if (job.spec?.podReplacementPolicy === 'Failed' && failed > 0) return 'recreate_failed';
  return failed > 0 || terminating > 0 ? 'recreate_terminating_or_failed' : 'new';
}

/** The lowest indexes that have no pod and neither succeeded nor failed. */
function pendingIndexes(sync: Sync, indexed: IndexState, count: number): readonly number[] {
  const { job, pods, active } = sync;
  const indexesOf = (some: typeof pods) =>
    some.map((pod) => pod.job.index).filter((index) => index >= 0);
  let taken = withIndexes(indexed.succeeded, indexesOf(active));
  if (replacesOnlyFailed(job)) taken = withIndexes(taken, indexesOf(pods.filter(isTerminating)));
  if (indexed.failed !== undefined) taken = mergeIndexes(taken, indexed.failed);
  return freeIndexes(taken, count, indexed.completions);
}

/** Those of the indexes whose backoff is over; if none is, how long the first has to wait. */
function readyIndexes(
  sync: Sync,
  { delayed }: IndexState,
  indexes: readonly number[],
): { readonly indexes: readonly number[]; readonly waitMs: number } {
  const waits = indexes.map((index) => {
    const pod = delayed.get(index);
    if (pod === undefined) return 0;
    const failures = failuresBefore(sync, pod) + 1;
    return backoffLeft({ failures, lastFailureAt: pod.job.endedAt }, sync.now);
  });
  const ready = indexes.filter((_, at) => waits[at] === 0);
  if (ready.length > 0 || indexes.length === 0) return { indexes: ready, waitMs: 0 };
  return { indexes: [], waitMs: Math.min(...waits) };
}
