/** What the pods of a Job amount to at the start of a sync, and what a sync carries along. */
import { NO_INDEX } from '../../api/job.ts';
import { isActive, isTerminating } from '../../api/pod.ts';
import { timeText } from '../../api/time.ts';
import type { Job, JobCondition, JobStatus } from '../../api/types/index.ts';
import type { JobPod } from './actions.ts';
import { type Backoff, nextBackoff } from './backoff.ts';
import {
  countIndexes,
  hasIndex,
  type Intervals,
  indexesText,
  parseIndexes,
  withIndexes,
} from './indexes.ts';
import { type FailureFacts, type FailureVerdict, judgeFailure } from './pod-failure-policy.ts';
import {
  completionsOf,
  isIndexed,
  isSuspended,
  limitsPerIndex,
  replacesOnlyFailed,
} from './spec.ts';

/** What a decision looks at. */
export interface Observed {
  readonly job: Job;
  /** Those it controls, adopting and releasing done. */
  readonly pods: readonly JobPod[];
  /** By UID, of every pod whose failure has to be judged. */
  readonly failures: ReadonlyMap<string, FailureFacts>;
  /** UIDs of pods whose finalizer was removed and the cache doesn't show it yet. */
  readonly untracked: ReadonlySet<string>;
  /** UIDs of pods whose deletion was announced and got no answer. */
  readonly announced: ReadonlySet<string>;
  /** All pods created and deleted before are seen. */
  readonly satisfied: boolean;
  readonly backoff: Backoff;
}

/** The completions of an Indexed Job. */
export interface IndexState {
  readonly completions: number;
  /** Indexes that status.completedIndexes had. */
  readonly before: Intervals;
  /** With those that have succeeded since. */
  readonly succeeded: Intervals;
  /** Only with limits per index. */
  readonly failed: Intervals | undefined;
  /** Failed pods that wait for their replacement, by index. */
  readonly delayed: ReadonlyMap<number, JobPod>;
}

/** A status that is being worked on. */
export type Draft = { -readonly [K in keyof JobStatus]: JobStatus[K] };

/** One sync; it folds what it does into the numbers. */
export interface Sync extends Observed {
  job: Job;
  status: Draft;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly active: readonly JobPod[];
  readonly indexed: IndexState | undefined;
  /** Ended pods together, counted in the status or not. */
  readonly succeeded: number;
  readonly failed: number;
  readonly nextBackoff: Backoff;
  /** Active pods, those of them that are ready, and pods being deleted that have not stopped. */
  activeCount: number;
  readyCount: number;
  terminating: number;
  /** Why the Job ends, if it does. */
  finish: JobCondition | undefined;
}

/** Failed; pods being deleted count as well, unless only failed pods are replaced. */
export function isPodFailed(pod: Pick<JobPod, 'phase' | 'deleting'>, job: Job): boolean {
  if (pod.phase === 'Failed') return true;
  return !replacesOnlyFailed(job) && pod.deleting && pod.phase !== 'Succeeded';
}

/** What the failure of this pod means. */
export function judge(
  { job, failures }: Pick<Observed, 'job' | 'failures'>,
  pod: JobPod,
): FailureVerdict {
  return judgeFailure(job.spec?.podFailurePolicy, pod.key, failures.get(pod.uid));
}

/** Has the finalizer, and nobody has removed it yet. */
export function isTracked({ untracked }: Observed, pod: JobPod): boolean {
  return pod.job.tracked && !untracked.has(pod.uid);
}

/** Has an index, and it is below the completions. */
export function hasValidIndex(pod: JobPod, completions: number): boolean {
  return pod.job.index !== NO_INDEX && pod.job.index < completions;
}

/** Failures of its index before this pod, ignored ones included. */
export function failuresBefore({ failures }: Pick<Observed, 'failures'>, pod: JobPod): number {
  const facts = failures.get(pod.uid);
  return (facts?.failureCount ?? 0) + (facts?.ignoredCount ?? 0);
}

/** Counts the pods. */
export function takeStock(observed: Observed, now: number): Sync {
  const { job, pods, backoff } = observed;
  const active = pods.filter(isActive);
  const indexed = isIndexed(job) ? stateOfIndexes(observed, active) : undefined;
  const uncounted = job.status?.uncountedTerminatedPods;
  const newly = newlyEnded(observed, indexed?.completions);
  const ended = {
    succeeded: newly.succeeded.map((pod) => pod.job.endedAt),
    failed: newly.failed.map((pod) => pod.job.endedAt),
  };
  const counted = newly.failed.filter((pod) => judge(observed, pod).counted).length;
  const sum = (known = 0, uids: readonly string[] = [], more = 0) => known + uids.length + more;
  return {
    ...observed,
    now,
    status: draftOf(job, now),
    active,
    indexed,
    succeeded:
      indexed === undefined
        ? sum(job.status?.succeeded, uncounted?.succeeded, newly.succeeded.length)
        : countIndexes(indexed.succeeded),
    failed: sum(job.status?.failed, uncounted?.failed, counted),
    nextBackoff: nextBackoff(backoff, ended),
    activeCount: active.length,
    readyCount: active.filter(({ ready }) => ready).length,
    terminating: pods.filter(isTerminating).length,
    finish: undefined,
  };
}

/** The status as it is, started if it is the first sync that may start it. */
function draftOf(job: Job, now: number): Draft {
  const { startTime } = job.status ?? {};
  return {
    ...job.status,
    uncountedTerminatedPods: job.status?.uncountedTerminatedPods ?? {},
    ...(startTime === undefined && !isSuspended(job) ? { startTime: timeText(now) } : {}),
  };
}

/** Ended pods that no status has counted, nor holds for counting. */
function newlyEnded(
  observed: Observed,
  completions: number | undefined,
): { readonly succeeded: readonly JobPod[]; readonly failed: readonly JobPod[] } {
  const { job, pods } = observed;
  const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {};
  const valid = pods.filter(
    (pod) =>
      isTracked(observed, pod) && (completions === undefined || hasValidIndex(pod, completions)),
  );
  const heldSucceeded = new Set(succeeded);
  const heldFailed = new Set(failed);
  return {
    succeeded: valid.filter(({ phase, uid }) => phase === 'Succeeded' && !heldSucceeded.has(uid)),
    failed: valid.filter((pod) => isPodFailed(pod, job) && !heldFailed.has(pod.uid)),
  };
}

function stateOfIndexes(observed: Observed, active: readonly JobPod[]): IndexState {
  const { job, pods } = observed;
  const completions = completionsOf(job) ?? 1;
  const before = parseIndexes(job.status?.completedIndexes ?? '', completions);
  const tracked = pods.filter((pod) => pod.job.tracked && hasValidIndex(pod, completions));
  const done = tracked.filter(({ phase }) => phase === 'Succeeded');
  const succeeded = withIndexes(before, done.map(indexOf));
  if (!limitsPerIndex(job)) {
    return { completions, before, succeeded, failed: undefined, delayed: new Map() };
  }
  const lost = tracked.filter((pod) => isIndexLost(observed, pod)).map(indexOf);
  const failed = withIndexes(parseIndexes(job.status?.failedIndexes ?? '', completions), lost);
  const busy = withIndexes(
    [],
    active.map(indexOf).filter((index) => index !== NO_INDEX),
  );
  const settled = (index: number): boolean =>
    [succeeded, failed, busy].some((intervals) => hasIndex(intervals, index));
  const waiting = tracked.filter(
    (pod) => isTracked(observed, pod) && isPodFailed(pod, job) && !settled(pod.job.index),
  );
  return { completions, before, succeeded, failed, delayed: lastPerIndex(observed, waiting) };
}

function indexOf(pod: JobPod): number {
  return pod.job.index;
}

/** The index has failed for good with this pod. */
function isIndexLost(observed: Observed, pod: JobPod): boolean {
  const { job, failures } = observed;
  if (!isPodFailed(pod, job)) return false;
  const { counted, action } = judge(observed, pod);
  if (action === 'FailIndex') return true;
  const count = failures.get(pod.uid)?.failureCount ?? 0;
  return counted && count >= (job.spec?.backoffLimitPerIndex ?? 0);
}

/** Of each index the pod with the most failures behind it that ended last: it knows the count. */
function lastPerIndex(observed: Observed, pods: readonly JobPod[]): ReadonlyMap<number, JobPod> {
  const last = new Map<number, JobPod>();
  for (const pod of pods) {
    const known = last.get(pod.job.index);
    const later =
      known === undefined ||
      (failuresBefore(observed, known) <= failuresBefore(observed, pod) &&
        pod.job.endedAt >= known.job.endedAt);
    if (later) last.set(pod.job.index, pod);
  }
  return last;
}

/** "3 active, 1 ready, 0 terminating, 2 succeeded, 0 failed", with indexes if there are any. */
export function countsText({ status, indexed }: Pick<Sync, 'status' | 'indexed'>): string {
  const { active = 0, ready = 0, terminating = 0, succeeded = 0, failed = 0 } = status;
  const counts = `${active} active, ${ready} ready, ${terminating} terminating`;
  const ended = `${succeeded} succeeded, ${failed} failed`;
  if (indexed === undefined) return `${counts}, ${ended}`;
  return `${counts}, ${ended}, indexes done: ${indexesText(indexed.succeeded) || 'none'}`;
}
