/** How many: sizes of ReplicaSets, and what a rollout may add or take away. */
import { type IntOrPercent, scaledValue } from '../../api/int-or-percent.ts';
import type { Deployment, PodTemplateSpec, ReplicaSet } from '../../api/types/index.ts';

/** What the API server fills in, for objects that lack it. */
const REPLICAS_DEFAULT = 1;
const ROLLING_UPDATE_DEFAULT = { maxSurge: '25%', maxUnavailable: '25%' };
/** Stands for "no limit" and "no deadline". */
const INT32_MAX = 2 ** 31 - 1;

/** spec.replicas of the Deployment. */
export function wantedOf(deployment: Deployment): number {
  return deployment.spec?.replicas ?? REPLICAS_DEFAULT;
}

/** The pod template of a Deployment or a ReplicaSet. */
export function templateOf(object: Deployment | ReplicaSet): PodTemplateSpec {
  return object.spec?.template ?? {};
}

/** spec.replicas of a ReplicaSet. */
export function sizeOf(replicaSet: ReplicaSet): number {
  return replicaSet.spec?.replicas ?? REPLICAS_DEFAULT;
}

/** Pods the ReplicaSet has, as it reports. */
export function actualOf(replicaSet: ReplicaSet): number {
  return replicaSet.status?.replicas ?? 0;
}

/** Ready pods as the ReplicaSet reports. */
export function readyOf(replicaSet: ReplicaSet): number {
  return replicaSet.status?.readyReplicas ?? 0;
}

/** Available pods as the ReplicaSet reports. */
export function availableOf(replicaSet: ReplicaSet): number {
  return replicaSet.status?.availableReplicas ?? 0;
}

/** Sum of a number over ReplicaSets. */
export function sumOf(
  replicaSets: readonly ReplicaSet[],
  number: (replicaSet: ReplicaSet) => number,
): number {
  return replicaSets.reduce((sum, replicaSet) => sum + number(replicaSet), 0);
}

/** Those whose size isn't 0. */
export function activeOf(replicaSets: readonly ReplicaSet[]): readonly ReplicaSet[] {
  return replicaSets.filter((replicaSet) => sizeOf(replicaSet) > 0);
}

/** spec.strategy.type, RollingUpdate if unset. */
export function strategyOf(deployment: Deployment): string {
  return deployment.spec?.strategy?.type ?? 'RollingUpdate';
}

/**
 * Surge and unavailability in pods for `wanted` replicas: surge rounded up, unavailability down,
 * missing counts as 0; if both come to 0, one may be unavailable, or nothing could ever move.
 * A value that is no number or percentage makes both 0 (validation refuses it).
 */
export function resolveFenceposts(
  maxSurge: IntOrPercent | undefined,
  maxUnavailable: IntOrPercent | undefined,
  wanted: number,
): { readonly surge: number; readonly unavailable: number } {
  const surge = scaledValue(maxSurge ?? 0, wanted, 'up');
  const unavailable = scaledValue(maxUnavailable ?? 0, wanted, 'down');
  if (surge === undefined || unavailable === undefined) return { surge: 0, unavailable: 0 };
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

function fencepostsOf(deployment: Deployment) {
  if (strategyOf(deployment) !== 'RollingUpdate') return { surge: 0, unavailable: 0 };
  const rolling = deployment.spec?.strategy?.rollingUpdate ?? ROLLING_UPDATE_DEFAULT;
  return resolveFenceposts(rolling.maxSurge, rolling.maxUnavailable, wantedOf(deployment));
}

/** Pods a rollout may have above spec.replicas; 0 unless RollingUpdate. */
export function maxSurgeOf(deployment: Deployment): number {
  return fencepostsOf(deployment).surge;
}

/** Pods a rollout may lack of spec.replicas, at most all; 0 unless RollingUpdate. */
export function maxUnavailableOf(deployment: Deployment): number {
  const wanted = wantedOf(deployment);
  return wanted === 0 ? 0 : Math.min(fencepostsOf(deployment).unavailable, wanted);
}

/** Pods that must stay available. */
export function minAvailableOf(deployment: Deployment): number {
  return wantedOf(deployment) - maxUnavailableOf(deployment);
}

/**
 * Size of the new ReplicaSet by the strategy: all at once for Recreate; else it grows by what surge
 * leaves free beside `total` (the sizes of all), up to the wanted number. Never smaller than now.
 */
export function newSizeOf(deployment: Deployment, total: number, size: number): number {
  const wanted = wantedOf(deployment);
  if (strategyOf(deployment) !== 'RollingUpdate') return wanted;
  const free = wanted + maxSurgeOf(deployment) - total;
  return free <= 0 ? size : size + Math.min(free, wanted - size);
}

/** progressDeadlineSeconds, undefined if there is no deadline (unset or the highest int32). */
export function progressDeadlineOf(deployment: Deployment): number | undefined {
  const seconds = deployment.spec?.progressDeadlineSeconds;
  return seconds === INT32_MAX ? undefined : seconds;
}

/** revisionHistoryLimit, undefined if there is no limit (unset or the highest int32). */
export function historyLimitOf(deployment: Deployment): number | undefined {
  const limit = deployment.spec?.revisionHistoryLimit;
  return limit === INT32_MAX ? undefined : limit;
}
