/** The status of a Deployment, summed up from its ReplicaSets. */
import { setCondition } from '../../api/condition.ts';
import type {
  Deployment,
  DeploymentCondition,
  DeploymentStatus,
  ReplicaSet,
} from '../../api/types/index.ts';
import { allOf, type Knowledge, type Sets, type Steps } from './actions.ts';
import { newCondition } from './conditions.ts';
import {
  actualOf,
  availableOf,
  maxUnavailableOf,
  readyOf,
  sizeOf,
  sumOf,
  wantedOf,
} from './sizes.ts';

const CONDITION_FIELDS = [
  'type',
  'status',
  'reason',
  'message',
  'lastUpdateTime',
  'lastTransitionTime',
] as const satisfies readonly (keyof DeploymentCondition)[];
const COUNTS = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
] as const satisfies readonly (keyof DeploymentStatus)[];

/**
 * Sum of terminating pods; undefined if a ReplicaSet that has been observed doesn't report them.
 * One that was never observed counts as none.
 */
export function terminatingOf(replicaSets: readonly ReplicaSet[]): number | undefined {
  let sum = 0;
  for (const { status } of replicaSets) {
    const terminating = status?.terminatingReplicas ?? undefined;
    if (terminating === undefined && (status?.observedGeneration ?? 0) !== 0) return undefined;
    sum += terminating ?? 0;
  }
  return sum;
}

function availability(deployment: Deployment, available: number, now: number) {
  return available >= wantedOf(deployment) - maxUnavailableOf(deployment)
    ? newCondition(
        'Available',
        'True',
        'MinimumReplicasAvailable',
        'Deployment has minimum availability.',
        now,
      )
    : newCondition(
        'Available',
        'False',
        'MinimumReplicasUnavailable',
        'Deployment does not have minimum availability.',
        now,
      );
}

/** Counts and the Available condition; the other conditions as they are. */
export function calculateStatus(known: Knowledge, sets: Sets): DeploymentStatus {
  const { deployment, now } = known;
  const all = allOf(sets);
  const available = sumOf(all, availableOf);
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: sumOf(all, actualOf),
    updatedReplicas: sets.newRS === undefined ? 0 : actualOf(sets.newRS),
    readyReplicas: sumOf(all, readyOf),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sumOf(all, sizeOf) - available),
    terminatingReplicas: known.terminatingReplicas ? terminatingOf(all) : undefined,
    collisionCount: deployment.status?.collisionCount,
    conditions: setCondition(
      deployment.status?.conditions ?? [],
      availability(deployment, available, now),
    ),
  };
}

function conditionsEqual(
  a: readonly DeploymentCondition[],
  b: readonly DeploymentCondition[],
): boolean {
  if (a.length !== b.length) return false;
  return a.every((condition, at) =>
    CONDITION_FIELDS.every((field) => (condition[field] ?? '') === (b[at]?.[field] ?? '')),
  );
}

/** True if writing `b` over `a` would change nothing. */
export function statusesEqual(a: DeploymentStatus | undefined, b: DeploymentStatus): boolean {
  return (
    COUNTS.every((count) => (a?.[count] ?? 0) === (b[count] ?? 0)) &&
    (a?.terminatingReplicas ?? undefined) === b.terminatingReplicas &&
    (a?.collisionCount ?? undefined) === (b.collisionCount ?? undefined) &&
    conditionsEqual(a?.conditions ?? [], b.conditions ?? [])
  );
}

/** True once all wanted replicas are updated and available, no old one is left, and all is seen. */
export function isComplete(deployment: Deployment, status: DeploymentStatus | undefined): boolean {
  const wanted = wantedOf(deployment);
  return (
    (status?.updatedReplicas ?? 0) === wanted &&
    (status?.replicas ?? 0) === wanted &&
    (status?.availableReplicas ?? 0) === wanted &&
    (status?.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

/** The sentence that goes with a status write. */
export function statusBecause(deployment: Deployment, status: DeploymentStatus): string {
  return (
    `status: ${status.updatedReplicas ?? 0} of ${wantedOf(deployment)} updated, ` +
    `${status.replicas ?? 0} exist, ${status.availableReplicas ?? 0} available`
  );
}

/** Writes counts and Available if something differs: for passes that are no rollout. */
export function* syncStatus(known: Knowledge, sets: Sets): Steps<void> {
  const status = calculateStatus(known, sets);
  if (statusesEqual(known.deployment.status, status)) return;
  yield {
    kind: 'updateStatus',
    deployment: { ...known.deployment, status },
    because: statusBecause(known.deployment, status),
  };
}
