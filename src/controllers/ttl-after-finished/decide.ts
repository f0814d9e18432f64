/** When a finished Job is to be deleted. Pure. */
import { timeText } from '../../api/time.ts';
import type { Job } from '../../api/types/index.ts';

const SECOND_MS = 1_000;

/** What to do about a Job; times in ms since the epoch. */
export type Decision =
  /** It runs, is being deleted, or has no TTL. */
  | { readonly do: 'nothing' }
  | { readonly do: 'wait'; readonly waitMs: number; readonly because: string }
  | { readonly do: 'delete'; readonly expiredAt: number; readonly because: string }
  /** It has finished and does not say when. */
  | { readonly do: 'complain'; readonly problem: string };

/** Decides by the finish time, the TTL and `now` (ms). */
export function decide(job: Job, now: number): Decision {
  const { namespace, name, deletionTimestamp } = job.metadata;
  const ttlSeconds = job.spec?.ttlSecondsAfterFinished;
  const finished = job.status?.conditions?.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
  if (deletionTimestamp !== undefined || ttlSeconds === undefined) return { do: 'nothing' };
  if (finished === undefined) return { do: 'nothing' };
  const finishedAt = Date.parse(finished.lastTransitionTime ?? '');
  if (Number.isNaN(finishedAt)) {
    const problem = `unable to find the time when the Job ${namespace}/${name} finished`;
    return { do: 'complain', problem };
  }
  const expiredAt = finishedAt + ttlSeconds * SECOND_MS;
  const because = `finished at ${timeText(finishedAt)}, to be kept for ${ttlSeconds} s`;
  if (expiredAt > now) return { do: 'wait', waitMs: expiredAt - now, because };
  return { do: 'delete', expiredAt, because };
}

/** True if the Job says that it finished later than `now`: clocks differ. */
export function finishedInFuture(job: Job, now: number): boolean {
  return (job.status?.conditions ?? []).some(
    ({ type, status, lastTransitionTime }) =>
      (type === 'Complete' || type === 'Failed') &&
      status === 'True' &&
      Date.parse(lastTransitionTime ?? '') > now,
  );
}
