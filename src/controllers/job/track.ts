/**
 * Counts ended pods exactly once: their UIDs go into the status, then their finalizers are removed,
 * then the counters take the UIDs over. The status is written between these steps, so that a crash
 * at any point neither loses a pod nor counts it twice. Last comes the condition that ends the Job.
 */
import type { JobCondition, JobStatus } from '../../api/types/index.ts';
import { type JobPod, removeFinalizers, type Steps, writeStatus } from './actions.ts';
import { COMPLETE, ensureCondition, FAILURE_TARGET, SUCCESS_CRITERIA_MET } from './conditions.ts';
import { countsText, hasValidIndex, isPodFailed, isTracked, judge, type Sync } from './counts.ts';
import { completedEvent, failedEvent, tooManySucceeded } from './events.ts';
import { countIndexes, hasIndex, indexesText, parseIndexes } from './indexes.ts';
import { completionsOf, limitsPerIndex } from './spec.ts';
import { isSuccess, terminalOf } from './verdict.ts';

/** Most UIDs that a status holds for counting, so that it stays below some 20 KB. */
const UNCOUNTED_MAX = 500;

/** What one pass over the ended pods has found. */
interface Stock {
  readonly removable: readonly JobPod[];
  /** Failed pods by the action of the policy's rule that matched. */
  readonly byAction: ReadonlyMap<string, number>;
  /** There are more; the next sync goes on. */
  readonly full: boolean;
}

/** Counts, writes the status if it changed, and ends the Job if nothing is left to be done. */
export function* track(sync: Sync, changed: boolean): Steps<void> {
  let flush = changed;
  const { pods } = sync;
  const holding = new Set(pods.filter((pod) => isTracked(sync, pod)).map(({ uid }) => uid));
  let counted = sync.job.status;
  flush = absorb(sync, holding) || flush;
  const held = heldCount(sync);
  const stock = holdEnded(sync);
  flush = heldCount(sync) !== held || flush;
  flush = writeIndexes(sync) || flush;
  flush = writeInterim(sync) || flush;
  if (flush) {
    yield* write(sync, `${countsText(sync)}; ${stock.removable.length} ended pods to release`);
    yield { kind: 'remember', backoff: sync.nextBackoff };
    yield* countEnded(sync, counted);
    counted = { ...sync.status };
  }
  for (const [action, by] of stock.byAction) {
    yield { kind: 'count', count: { metric: 'policyAction', action, by } };
  }
  flush = yield* release(sync, stock.removable, holding);
  const finish = stock.full ? undefined : endJob(sync);
  if (!flush && finish === undefined) return;
  yield* write(sync, `${countsText(sync)}${finish ? `; ${finish.type}: ${finish.message}` : ''}`);
  if (finish !== undefined) yield* announceEnd(sync, finish);
  yield* countEnded(sync, counted);
}

function* write(sync: Sync, because: string): Steps<void> {
  const stored = yield* writeStatus({ ...sync.job, status: { ...sync.status } }, because);
  sync.job = stored;
  const { uncountedTerminatedPods = {} } = stored.status ?? {};
  sync.status = { ...stored.status, uncountedTerminatedPods };
}

function heldCount({ status }: Sync): number {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  return succeeded.length + failed.length;
}

/** Counts the held UIDs whose pods have no finalizer any more; true if there were any. */
function absorb(sync: Sync, holding: ReadonlySet<string>): boolean {
  const { status } = sync;
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const left = {
    succeeded: succeeded.filter((uid) => holding.has(uid)),
    failed: failed.filter((uid) => holding.has(uid)),
  };
  const gone = succeeded.length - left.succeeded.length;
  const goneFailed = failed.length - left.failed.length;
  if (gone === 0 && goneFailed === 0) return false;
  status.succeeded = (status.succeeded ?? 0) + gone;
  status.failed = (status.failed ?? 0) + goneFailed;
  status.uncountedTerminatedPods = left;
  return true;
}

/** Puts ended pods into the status for counting, as many as it may hold. */
function holdEnded(sync: Sync): Stock {
  const { indexed, status } = sync;
  const held = {
    succeeded: [...(status.uncountedTerminatedPods?.succeeded ?? [])],
    failed: [...(status.uncountedTerminatedPods?.failed ?? [])],
  };
  const knownFailed = new Set(held.failed);
  const known = new Set([...held.succeeded, ...held.failed]);
  const removable: JobPod[] = [];
  const byAction = new Map<string, number>();
  let newIndexes = 0;
  let full = false;
  for (const pod of inOrder(sync)) {
    if (!isTracked(sync, pod) || !mayRelease(sync, pod)) continue;
    removable.push(pod);
    if (pod.phase === 'Succeeded' && !knownFailed.has(pod.uid)) {
      if (indexed === undefined) {
        if (!known.has(pod.uid)) held.succeeded.push(pod.uid);
      } else if (
        hasValidIndex(pod, indexed.completions) &&
        !hasIndex(indexed.before, pod.job.index)
      ) {
        newIndexes++;
      }
    } else if (countsAsFailed(sync, pod) && !known.has(pod.uid)) {
      const { counted, action } = judge(sync, pod);
      if (action !== undefined) byAction.set(action, (byAction.get(action) ?? 0) + 1);
      if (counted) held.failed.push(pod.uid);
    }
    full = newIndexes + held.succeeded.length + held.failed.length >= UNCOUNTED_MAX;
    if (full) break;
  }
  status.uncountedTerminatedPods = held;
  return { removable, byAction, full };
}

/** Completed indexes are counted in their order. */
function inOrder({ pods, indexed }: Sync): readonly JobPod[] {
  return indexed === undefined ? pods : pods.toSorted((a, b) => a.job.index - b.job.index);
}

/**
 * True if the pod need not be kept: the Job goes or ends, or the pod has ended. A failed pod stays
 * until its replacement carries its count of failures on.
 */
function mayRelease({ job, finish, indexed }: Sync, pod: JobPod): boolean {
  if (job.metadata.deletionTimestamp !== undefined || finish !== undefined) return true;
  if (pod.phase === 'Succeeded') return true;
  return isPodFailed(pod, job) && indexed?.delayed.get(pod.job.index)?.uid !== pod.uid;
}

/** When a Job fails, what still runs has failed with it. */
function countsAsFailed({ job, finish, indexed }: Sync, pod: JobPod): boolean {
  const failed = isPodFailed(pod, job) || (finish !== undefined && !isSuccess(finish));
  return failed && (indexed === undefined || hasValidIndex(pod, indexed.completions));
}

/** Brings the texts of indexes up to date; true if one changed. */
function writeIndexes({ indexed, status }: Sync): boolean {
  if (indexed === undefined) return false;
  const completedIndexes = indexesText(indexed.succeeded);
  const failedIndexes = indexed.failed && indexesText(indexed.failed);
  const changed =
    completedIndexes !== (status.completedIndexes ?? '') || failedIndexes !== status.failedIndexes;
  const succeeded = countIndexes(indexed.succeeded);
  Object.assign(status, { succeeded, completedIndexes, failedIndexes });
  return changed;
}

/** Puts the interim condition in and turns to the terminal one; true if there was one to put. */
function writeInterim(sync: Sync): boolean {
  const { finish, status, now } = sync;
  if (finish?.type !== FAILURE_TARGET && finish?.type !== SUCCESS_CRITERIA_MET) return false;
  const conditions = status.conditions ?? [];
  const there = conditions.some(
    (condition) => condition.type === finish.type && condition.status === 'True',
  );
  sync.finish = terminalOf(finish, now);
  if (there) return false;
  status.conditions = [...conditions, finish];
  return true;
}

/** Removes the finalizers and counts whose are gone; true if that is still to be written. */
function* release(sync: Sync, removable: readonly JobPod[], holding: Set<string>): Steps<boolean> {
  if (removable.length === 0) return absorb(sync, holding);
  const because = 'the Job has counted it, or needs it no longer';
  const { uids, error } = yield* removeFinalizers(removable, because);
  for (const uid of uids) holding.delete(uid);
  const changed = absorb(sync, holding);
  if (error === undefined) return changed;
  if (changed) yield* write(sync, `${countsText(sync)}; not all finalizers could be removed`);
  throw error;
}

/** Puts the terminal condition in, if no pod is left that is not counted or has not stopped. */
function endJob(sync: Sync): JobCondition | undefined {
  const { finish, status, terminating, now } = sync;
  if (finish === undefined || heldCount(sync) > 0 || terminating > 0) return undefined;
  const { type, reason, message } = finish;
  const text = { type, status: finish.status, reason, message };
  status.conditions = ensureCondition(status.conditions ?? [], text, now);
  if (type === COMPLETE) status.completionTime = finish.lastTransitionTime;
  return finish;
}

function* announceEnd({ job }: Sync, finish: JobCondition): Steps<void> {
  const completions = completionsOf(job);
  const { reason = '' } = finish;
  if (finish.type === COMPLETE) {
    if (completions !== undefined && (job.status?.succeeded ?? 0) > completions) {
      yield { kind: 'event', event: tooManySucceeded() };
    }
    yield { kind: 'event', event: completedEvent() };
    yield { kind: 'count', count: { metric: 'jobFinished', result: 'succeeded', reason } };
  } else {
    yield { kind: 'event', event: failedEvent(finish) };
    yield { kind: 'count', count: { metric: 'jobFinished', result: 'failed', reason } };
  }
  yield { kind: 'finished' };
}

/** Counts what the status says now and didn't before; 0 as well, so that all series are there. */
function* countEnded({ job, status, indexed }: Sync, before: JobStatus | undefined): Steps<void> {
  let succeeded = (status.succeeded ?? 0) - (before?.succeeded ?? 0);
  if (indexed !== undefined) {
    const { completions } = indexed;
    const count = (text = ''): number => countIndexes(parseIndexes(text, completions));
    succeeded = count(status.completedIndexes) - count(before?.completedIndexes);
    yield* countIndexesBy('succeeded', succeeded);
    const failedIndexes = count(status.failedIndexes) - count(before?.failedIndexes);
    if (limitsPerIndex(job) && failedIndexes > 0) yield* countIndexesBy('failed', failedIndexes);
  }
  yield* countPods('succeeded', succeeded);
  yield* countPods('failed', (status.failed ?? 0) - (before?.failed ?? 0));
}

function* countIndexesBy(status: 'succeeded' | 'failed', by: number): Steps<void> {
  if (by >= 0) yield { kind: 'count', count: { metric: 'indexesFinished', status, by } };
}

function* countPods(result: 'succeeded' | 'failed', by: number): Steps<void> {
  if (by >= 0) yield { kind: 'count', count: { metric: 'podsFinished', result, by } };
}
