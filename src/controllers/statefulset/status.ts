/** Status of a StatefulSet: what its pods are, and when a rolling update is through. */
import { availableIn, isAvailable } from '../../api/pod.ts';
import type { StatefulSet, StatefulSetStatus } from '../../api/types/index.ts';
import type { Knowledge } from './actions.ts';
import {
  isCreated,
  isRunningAndReady,
  type Member,
  minReadySecondsOf,
  replicasOf,
} from './members.ts';

/** A status in which every count is there. */
export type FullStatus = StatefulSetStatus &
  Required<
    Pick<
      StatefulSetStatus,
      | 'readyReplicas'
      | 'availableReplicas'
      | 'currentReplicas'
      | 'updatedReplicas'
      | 'currentRevision'
      | 'updateRevision'
    >
  >;

/** The status that these pods make; planned ones count for nothing. */
export function statusOf(
  { set, current, update, now }: Knowledge,
  pods: readonly Member[],
  collisionCount: number,
): FullStatus {
  const minReadySeconds = minReadySecondsOf(set);
  const created = pods.filter(isCreated);
  const ready = created.filter(isRunningAndReady);
  const staying = created.filter(({ deleting }) => !deleting);
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: created.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
    currentReplicas: staying.filter(({ revision }) => revision === current.name).length,
    updatedReplicas: staying.filter(({ revision }) => revision === update.name).length,
    currentRevision: current.name,
    updateRevision: update.name,
    collisionCount,
  };
}

/** True if the set is rolled by us; only OnDelete is not. */
export function isRolling({ spec }: StatefulSet): boolean {
  return (spec?.updateStrategy?.type ?? 'RollingUpdate') === 'RollingUpdate';
}

/** The status with the update revision as the current one, once every pod is of it and ready. */
export function completed(set: StatefulSet, status: FullStatus): FullStatus {
  const wanted = replicasOf(set);
  const counts = [status.updatedReplicas, status.readyReplicas, status.replicas];
  if (!isRolling(set) || counts.some((count) => count !== wanted)) return status;
  return {
    ...status,
    currentReplicas: status.updatedReplicas,
    currentRevision: status.updateRevision,
  };
}

const COMPARED = [
  'replicas',
  'readyReplicas',
  'availableReplicas',
  'currentReplicas',
  'updatedReplicas',
  'currentRevision',
  'updateRevision',
] as const;

/** What differs from the stored status, for the journal; empty if nothing is to be written. */
export function changesOf(before: StatefulSetStatus | undefined, after: FullStatus): string[] {
  const changes: string[] = [];
  for (const name of COMPARED) {
    const old = before?.[name] ?? (typeof after[name] === 'number' ? 0 : '');
    if (old !== after[name]) changes.push(`${name} ${old}->${after[name]}`);
  }
  const [seen, seeing] = [before?.observedGeneration ?? 0, after.observedGeneration ?? 0];
  if (seeing > seen) changes.push(`observedGeneration ${seen}->${seeing}`);
  return changes;
}

/** When a ready pod may become available without any event; undefined if none is waiting. */
export function availabilityWish(
  { set, now }: Knowledge,
  pods: readonly Member[],
  status: FullStatus,
): { readonly delayMs: number; readonly because: string } | undefined {
  const seconds = minReadySecondsOf(set);
  const waiting = status.readyReplicas - status.availableReplicas;
  if (seconds <= 0 || waiting === 0) return undefined;
  const waits = pods.flatMap((pod) => availableIn(pod, seconds, now) ?? []);
  const delayMs = waits.length > 0 ? Math.min(...waits) : seconds * 1000;
  return { delayMs, because: `${waiting} ready pods wait for minReadySeconds ${seconds}` };
}
