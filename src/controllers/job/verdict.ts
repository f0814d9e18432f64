/** Whether a Job ends, and why: upstream's tests in their order, the first that is met counts. */
import { secondsMs, timeMs } from '../../api/time.ts';
import type { Job, JobCondition } from '../../api/types/index.ts';
import type { JobPod, Steps } from './actions.ts';
import {
  COMPLETE,
  FAILED,
  FAILURE_TARGET,
  newCondition,
  SUCCESS_CRITERIA_MET,
  trueCondition,
} from './conditions.ts';
import { type IndexState, isPodFailed, judge, type Sync } from './counts.ts';
import { countIndexes } from './indexes.ts';
import { backoffLimitOf, completionsOf, isSuspended } from './spec.ts';
import { metSuccessRule } from './success-policy.ts';

/**
 * The condition that ends the Job, undefined while it goes on: a former sync's decision, a failed
 * pod that fails the Job, too many failures, too much time, limits of indexes, the success policy.
 * Asks to look again at the deadline.
 */
export function* verdictOf(sync: Sync): Steps<JobCondition | undefined> {
  const former = formerDecision(sync) ?? failedByPod(sync);
  if (former !== undefined) return former;
  const overrun = overrunOf(sync);
  if (overrun !== undefined) return overrun;
  yield* awaitDeadline(sync);
  const { indexed } = sync;
  return indexed && (failedIndexes(sync, indexed) ?? metPolicy(sync, indexed));
}

/** The condition of a Job that has as many successes as it asked for. */
export function completed(now: number): JobCondition {
  const message = 'Reached expected number of succeeded pods';
  const reason = 'CompletionsReached';
  return newCondition({ type: SUCCESS_CRITERIA_MET, status: 'True', reason, message }, now);
}

/** What an interim condition turns into once all pods are counted. */
export function terminalOf(condition: JobCondition, now: number): JobCondition {
  const { type, reason, message } = condition;
  const terminal = type === SUCCESS_CRITERIA_MET || type === COMPLETE ? COMPLETE : FAILED;
  return newCondition({ type: terminal, status: 'True', reason, message }, now);
}

/** True if the Job ends well. */
export function isSuccess({ type }: JobCondition): boolean {
  return type === SUCCESS_CRITERIA_MET || type === COMPLETE;
}

function failure(reason: string, message: string, now: number): JobCondition {
  return newCondition({ type: FAILURE_TARGET, status: 'True', reason, message }, now);
}

function formerDecision({ job, now }: Sync): JobCondition | undefined {
  const met = trueCondition(job.status?.conditions, SUCCESS_CRITERIA_MET);
  if (met !== undefined) return met;
  const target = trueCondition(job.status?.conditions, FAILURE_TARGET);
  // Its interim condition stands already, so it is the terminal one that is worked towards.
  return target && terminalOf(target, now);
}

function failedByPod(sync: Sync): JobCondition | undefined {
  const { job, pods, now } = sync;
  if (job.spec?.podFailurePolicy === undefined) return undefined;
  for (const pod of pods) {
    const message = isPodFailed(pod, job) ? judge(sync, pod).message : undefined;
    if (message !== undefined) return failure('PodFailurePolicy', message, now);
  }
  return undefined;
}

function overrunOf({ job, pods, failed, status, now }: Sync): JobCondition | undefined {
  if (failed > backoffLimitOf(job) || hasTooManyRestarts(job, pods)) {
    return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit', now);
  }
  const seconds = job.spec?.activeDeadlineSeconds;
  if (seconds === undefined || isSuspended(job)) return undefined;
  if (now - timeMs(status.startTime) < secondsMs(seconds)) return undefined;
  return failure('DeadlineExceeded', 'Job was active longer than specified deadline', now);
}

/** Containers that are restarted in place count their restarts as failures. */
function hasTooManyRestarts(job: Job, pods: readonly JobPod[]): boolean {
  if (job.spec?.template.spec?.restartPolicy !== 'OnFailure') return false;
  let restarts = 0;
  for (const pod of pods) {
    if (pod.phase === 'Running' || pod.phase === 'Pending') restarts += pod.job.restarts;
  }
  return restarts >= Math.max(1, backoffLimitOf(job));
}

function* awaitDeadline({ job, status, now }: Sync): Steps<void> {
  const seconds = job.spec?.activeDeadlineSeconds;
  if (seconds === undefined || isSuspended(job)) return;
  const delayMs = timeMs(status.startTime) + secondsMs(seconds) - now;
  const because = `started ${status.startTime}, may be active for ${seconds} s`;
  yield { kind: 'again', delayMs, because };
}

function failedIndexes({ job, now }: Sync, indexed: IndexState): JobCondition | undefined {
  if (indexed.failed === undefined) return undefined;
  const count = countIndexes(indexed.failed);
  const most = job.spec?.maxFailedIndexes;
  if (most !== undefined && count > most) {
    const message = 'Job has exceeded the specified maximal number of failed indexes';
    return failure('MaxFailedIndexesExceeded', message, now);
  }
  if (count === 0 || count + countIndexes(indexed.succeeded) < (completionsOf(job) ?? 1)) {
    return undefined;
  }
  return failure('FailedIndexes', 'Job has failed indexes', now);
}

function metPolicy({ job, now }: Sync, indexed: IndexState): JobCondition | undefined {
  const { completions, succeeded } = indexed;
  const message = metSuccessRule(job.spec?.successPolicy, completions, succeeded);
  if (message === undefined) return undefined;
  const reason = 'SuccessPolicy';
  return newCondition({ type: SUCCESS_CRITERIA_MET, status: 'True', reason, message }, now);
}
