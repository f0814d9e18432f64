/** What a CronJob does about Jobs it started before: old ones go, the status is put right. */
import { isNotFound } from '../../api/errors.ts';
import { finishedType } from '../../api/job.ts';
import { timeMs } from '../../api/time.ts';
import type { Job } from '../../api/types/index.ts';
import { answerOf } from '../_kit/steps.ts';
import { attempt, forgetActive, readCronJob, readJob, type Steps, type Sync } from './actions.ts';
import { deleted, deleteFailed, missingJob, sawCompleted, unexpectedJob } from './events.ts';

/** Deletes the oldest of the successful and of the failed Jobs beyond the limits of the spec. */
export function* trimHistory(sync: Sync): Steps<void> {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = sync.cronJob.spec ?? {};
  yield* trim(sync, 'Complete', successfulJobsHistoryLimit);
  yield* trim(sync, 'Failed', failedJobsHistoryLimit);
}

function* trim(sync: Sync, ended: 'Complete' | 'Failed', limit: number | undefined): Steps<void> {
  if (limit === undefined) return;
  const jobs = sync.jobs.filter((job) => finishedType(job) === ended);
  const surplus = Math.max(0, jobs.length - limit);
  const which = ended === 'Complete' ? 'successful' : 'failed';
  const because = `${jobs.length} ${which} Jobs, ${limit} are kept: the oldest go`;
  for (const job of jobs.toSorted(byStart).slice(0, surplus)) yield* remove(sync, job, because);
}

/** Oldest start first, those that never started last, then by name. */
function byStart(a: Job, b: Job): number {
  const startA = a.status?.startTime;
  const startB = b.status?.startTime;
  if ((startA === undefined) !== (startB === undefined)) return startA === undefined ? 1 : -1;
  const order = timeMs(startA) - timeMs(startB);
  return order !== 0 ? order : a.metadata.name < b.metadata.name ? -1 : 1;
}

/** Deletes a Job and its pods, and takes it off the active ones; false if it can't be deleted. */
export function* remove(sync: Sync, job: Job, because: string): Steps<boolean> {
  const { name, uid } = job.metadata;
  const { error } = yield* attempt(deleteJob(job, because));
  if (error !== undefined) {
    yield { kind: 'event', event: deleteFailed(error) };
    return false;
  }
  forgetActive(sync, uid);
  sync.changes.push(`deleted ${name}`);
  yield { kind: 'event', event: deleted(name) };
  return true;
}

function* deleteJob(job: Job, because: string): Steps<void> {
  yield { kind: 'deleteJob', job, because };
}

/**
 * Puts the list of active Jobs and the last success right: Jobs that have ended and Jobs that are
 * gone leave the list; one that runs and isn't on it is only told of. Throws what a live read met.
 */
export function* repairStatus(sync: Sync): Steps<void> {
  for (const job of sync.jobs) {
    const ended = finishedType(job);
    if (ended !== '') yield* noteEnd(sync, job, ended);
    else if (!isActive(sync, job.metadata.uid)) yield* noteStranger(sync, job);
  }
  const known = new Set(sync.jobs.map(({ metadata }) => metadata.uid));
  for (const { uid = '', name = '' } of sync.status.active ?? []) {
    if (known.has(uid)) continue;
    // A cache that lags must not make a Job look lost.
    const { error } = yield* attempt(readJob(name));
    if (error === undefined) continue;
    if (!isNotFound(answerOf(error))) throw error;
    yield { kind: 'event', event: missingJob(name) };
    forgetActive(sync, uid);
    sync.changes.push(`${name} is gone`);
  }
}

/** True if the status has a Job with this UID as active. */
export function isActive({ status }: Pick<Sync, 'status'>, uid: string): boolean {
  return (status.active ?? []).some((reference) => reference.uid === uid);
}

function* noteEnd(sync: Sync, job: Job, ended: 'Complete' | 'Failed'): Steps<void> {
  const { name, uid } = job.metadata;
  if (isActive(sync, uid)) {
    forgetActive(sync, uid);
    sync.changes.push(`${name} has ended`);
    yield { kind: 'event', event: sawCompleted(name, ended) };
  }
  const { completionTime } = job.status ?? {};
  if (!hasSucceeded(job) || completionTime === undefined) return;
  const { lastSuccessfulTime } = sync.status;
  if (lastSuccessfulTime !== undefined && timeMs(completionTime) <= timeMs(lastSuccessfulTime)) {
    return;
  }
  sync.status.lastSuccessfulTime = completionTime;
  sync.changes.push(`${name} succeeded at ${completionTime}`);
}

function hasSucceeded(job: Job): boolean {
  const conditions = job.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Complete' && status === 'True');
}

/** The cached CronJob may be older than the Job: the stored one tells whether it is a stranger. */
function* noteStranger(sync: Sync, job: Job): Steps<void> {
  const { name, uid } = job.metadata;
  const stored = yield* readCronJob();
  if (!(stored.status?.active ?? []).some((reference) => reference.uid === uid)) {
    yield { kind: 'event', event: unexpectedJob(name) };
    return;
  }
  const { removed, status } = sync;
  const active = (stored.status?.active ?? []).filter((one) => !removed.has(one.uid ?? ''));
  const last = [stored.status?.lastSuccessfulTime, status.lastSuccessfulTime];
  const [latest] = last.toSorted((a, b) => timeMs(b) - timeMs(a));
  sync.cronJob = stored;
  sync.status = { ...stored.status, active, lastSuccessfulTime: latest };
}
