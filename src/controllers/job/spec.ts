/** What a Job's spec asks for, absent fields as the API server would have filled them in. */
import type { Job } from '../../api/types/index.ts';

/** Upstream's name for this controller in spec.managedBy. */
const OURSELVES = 'kubernetes.io/job-controller';
const BACKOFF_LIMIT = 6;
const INT32_MAX = 2 ** 31 - 1;

/** The controller that manages the Job instead of this one, undefined if this one does. */
export function managedByOther(managedBy: string | undefined): string | undefined {
  return managedBy && managedBy !== OURSELVES ? managedBy : undefined;
}

/** True if each completion has an index and pods of its own. */
export function isIndexed(job: Job): boolean {
  return job.spec?.completionMode === 'Indexed';
}

/** "Indexed" or "NonIndexed", for metrics. */
export function completionModeOf(job: Job): string {
  return isIndexed(job) ? 'Indexed' : 'NonIndexed';
}

/** False for a completion mode that nobody knows. */
export function knowsCompletionMode(job: Job): boolean {
  const { completionMode = 'NonIndexed' } = job.spec ?? {};
  return completionMode === 'Indexed' || completionMode === 'NonIndexed';
}

/** Pods that may be active at once. */
export function parallelismOf(job: Job): number {
  return job.spec?.parallelism ?? 1;
}

/** Successes asked for; undefined for a work queue, which is done when any pod succeeds. */
export function completionsOf(job: Job): number | undefined {
  const { completions, parallelism } = job.spec ?? {};
  return completions === undefined && parallelism === undefined ? 1 : completions;
}

/** Failures that are allowed. */
export function backoffLimitOf(job: Job): number {
  return job.spec?.backoffLimit ?? (limitsPerIndex(job) ? INT32_MAX : BACKOFF_LIMIT);
}

/** True if each index has a backoff and a limit of its own. */
export function limitsPerIndex(job: Job): boolean {
  return job.spec?.backoffLimitPerIndex !== undefined;
}

/** True if no pod should run. */
export function isSuspended(job: Job): boolean {
  return job.spec?.suspend === true;
}

/** True if a pod is replaced, and counted as failed, only once it has ended. */
export function replacesOnlyFailed(job: Job): boolean {
  return job.spec?.podReplacementPolicy === 'Failed' || job.spec?.podFailurePolicy !== undefined;
}
