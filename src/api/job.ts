/** What controllers ask about Jobs, and about the pods of Jobs, without reading them whole. */
import { parseInt64 } from './integer.ts';
import type { StringMap } from './meta.ts';
import { type RecordFields, recordFields } from './record.ts';
import { secondsMs, timeMs } from './time.ts';
import type { ContainerStatus, Job, Pod } from './types/index.ts';

/** Finalizer that keeps an ended pod until its Job has counted it. */
export const JOB_TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
/** Annotation (and label) with the completion index of a pod of an Indexed Job. */
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';
/** The completion index of a pod that has none, or none that is a number from 0 up. */
export const NO_INDEX = -1;

/** What is kept of a pod that belongs, or belonged, to a Job. */
export interface JobPodFields {
  /** Has the tracking finalizer: it is not counted yet. */
  readonly tracked: boolean;
  /** Completion index, NO_INDEX if it has none. */
  readonly index: number;
  /** When it ended, as far as it tells, milliseconds since the epoch. */
  readonly endedAt: number;
  /** Restarts of all its containers together, init containers included. */
  readonly restarts: number;
}

/** What `jobRecordFields` gives: the record that the job informer holds. */
export interface JobRecordFields extends RecordFields {
  readonly generation: number;
  /** "" while the Job runs. */
  readonly finished: FinishedType | '';
  /** spec.managedBy, "" if unset. */
  readonly managedBy: string;
  /** spec.activeDeadlineSeconds in milliseconds. */
  readonly deadlineMs: number | undefined;
  /** status.startTime, milliseconds since the epoch, 0 if unset. */
  readonly startedAt: number;
}

/** The condition that ends a Job. */
export type FinishedType = 'Complete' | 'Failed';

/** Which condition has ended the Job, "" if none has. */
export function finishedType(job: Job): FinishedType | '' {
  for (const { type, status } of job.status?.conditions ?? []) {
    if (status === 'True' && (type === 'Complete' || type === 'Failed')) return type;
  }
  return '';
}

/** The record of a whole Job. */
export function jobRecordFields(job: Job): JobRecordFields {
  const seconds = job.spec?.activeDeadlineSeconds;
  return {
    ...recordFields(job),
    generation: job.metadata.generation ?? 0,
    finished: finishedType(job),
    managedBy: job.spec?.managedBy ?? '',
    deadlineMs: seconds === undefined ? undefined : secondsMs(seconds),
    startedAt: timeMs(job.status?.startTime),
  };
}

/** Completion index in a pod's annotations, NO_INDEX if there is no number from 0 up. */
export function completionIndex(annotations: StringMap | undefined): number {
  const index = parseInt64(annotations?.[COMPLETION_INDEX] ?? '');
  return index === undefined || index < 0n ? NO_INDEX : Number(index);
}

/** What is kept of a pod of a Job. */
export function ownedPodFields(pod: Pod): JobPodFields {
  const { finalizers = [], annotations } = pod.metadata;
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  let restarts = 0;
  for (const { restartCount } of [...initContainerStatuses, ...containerStatuses]) {
    restarts += restartCount;
  }
  return {
    tracked: finalizers.includes(JOB_TRACKING_FINALIZER),
    index: completionIndex(annotations),
    endedAt: endedAt(pod),
    restarts,
  };
}

/** As `ownedPodFields`; undefined for a pod that no Job has ever had anything to do with. */
export function jobPodFields(pod: Pod): JobPodFields | undefined {
  const { ownerReferences = [], finalizers = [], annotations } = pod.metadata;
  const concerned =
    ownerReferences.some((owner) => owner.controller && owner.kind === 'Job') ||
    finalizers.includes(JOB_TRACKING_FINALIZER) ||
    annotations?.[COMPLETION_INDEX] !== undefined;
  return concerned ? ownedPodFields(pod) : undefined;
}

/**
 * When a pod ended, milliseconds: the latest end of its containers if all have one, else the time
 * at which it became not ready, else its deletion less the grace period, else its creation.
 */
export function endedAt(pod: Pod): number {
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  const stopped = stoppedAt(pod);
  if (stopped !== 0) return stopped;
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  const notReadySince = ready?.status === 'False' ? timeMs(ready.lastTransitionTime) : 0;
  if (notReadySince !== 0) return notReadySince;
  if (deletionTimestamp === undefined) return timeMs(creationTimestamp);
  return timeMs(deletionTimestamp) - secondsMs(deletionGracePeriodSeconds);
}

/**
 * When the last container stopped; 0 if one still runs or none is known. Restartable init
 * containers count; if all of them have stopped but not all others, theirs is the time, as upstream
 * has it.
 */
function stoppedAt(pod: Pod): number {
  const sidecars = new Set(
    (pod.spec?.initContainers ?? [])
      .filter(({ restartPolicy }) => restartPolicy === 'Always')
      .map(({ name }) => name),
  );
  const inits = pod.status?.initContainerStatuses ?? [];
  const sidecarStatuses = inits.filter(({ name }) => sidecars.has(name));
  const stopped = latestEnd(pod.status?.containerStatuses ?? [], 0);
  return latestEnd(sidecarStatuses, stopped);
}

function latestEnd(statuses: readonly ContainerStatus[], before: number): number {
  let latest = before;
  for (const { state } of statuses) {
    const at = timeMs(state?.terminated?.finishedAt);
    if (at === 0) return 0;
    latest = Math.max(latest, at);
  }
  return latest;
}
