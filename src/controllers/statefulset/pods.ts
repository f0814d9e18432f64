/** The pods of a StatefulSet in one sync: wanted ones first, then surplus ones, then the update. */
import type { StatefulSet } from '../../api/types/index.ts';
import { attempt } from '../_kit/steps.ts';
import { type Knowledge, note, type RevisionView, type Steps } from './actions.ts';
import { type Places, toSendAgain } from './announced.ts';
import { areClaimsRight, repairClaimOwners } from './claims.ts';
import {
  isOrdered,
  isRunningAndReady,
  isUnavailable,
  isWanted,
  type Member,
  minReadySecondsOf,
  replicasOf,
  startOf,
} from './members.ts';
import { plannedMember } from './pod.ts';
import { deletePod, type Progress, processReplica } from './replica.ts';
import { partitionOf, type Rolled, rollMany, rollOne, unavailableCount } from './rolling.ts';
import { type FullStatus, isRolling, statusOf } from './status.ts';

export interface StatefulSetConfig {
  /** Gate MaxUnavailableStatefulSet. */
  readonly maxUnavailable: boolean;
  /** Gate StatefulSetSemanticRevisionComparison. */
  readonly semanticRevisions: boolean;
}

/** The revision that the pod of this ordinal is made from. */
function revisionFor({ set, current, update }: Knowledge, ordinal: number): RevisionView {
  const { type = 'RollingUpdate', rollingUpdate } = set.spec?.updateStrategy ?? {};
  const start = startOf(set);
  if (rollingUpdate !== undefined) {
    return ordinal < start + partitionOf(set) ? current : update;
  }
  const kept = type === 'RollingUpdate' ? (set.status?.currentReplicas ?? 0) : 0;
  return ordinal < start + kept ? current : update;
}

/** Puts each pod in its place and plans the missing ones; a pod without an ordinal has none. */
export function placesOf(known: Knowledge, pods: readonly Member[]): Places {
  const { set } = known;
  const start = startOf(set);
  const wanted: Member[] = [];
  for (const pod of pods) if (isWanted(set, pod.ordinal)) wanted[pod.ordinal - start] = pod;
  const replicas = Array.from({ length: replicasOf(set) }, (_, index) => {
    const ordinal = start + index;
    const { name, template } = revisionFor(known, ordinal);
    return wanted[index] ?? plannedMember(set, template, ordinal, name);
  });
  const condemned = pods
    .filter(({ ordinal }) => ordinal >= 0 && !isWanted(set, ordinal))
    .sort((a, b) => b.ordinal - a.ordinal);
  return { replicas, condemned };
}

/** The first unavailable pod: of the wanted ones, else of the condemned ones, lowest first. */
function firstUnavailable({ set, now }: Knowledge, places: Places): Member | undefined {
  const minReadySeconds = minReadySecondsOf(set);
  return [...places.replicas, ...places.condemned.toReversed()].find((pod) =>
    isUnavailable(pod, minReadySeconds, now),
  );
}

/** A status to be written, and the error that ended the work on the pods, if any. */
export interface PodsOutcome {
  readonly status: FullStatus;
  readonly error?: Error;
  /** Unavailable wanted pods, if this sync came as far as the update; for the metric. */
  readonly unavailable?: number;
}

/** Works on the pods as far as this sync may, and gives the status they leave. */
export function* syncPods(
  known: Knowledge,
  pods: readonly Member[],
  config: StatefulSetConfig,
  collisionCount: number,
): Steps<PodsOutcome> {
  const { set } = known;
  if (set.metadata.deletionTimestamp !== undefined) {
    return { status: statusOf(known, pods, collisionCount) };
  }
  const places = placesOf(known, pods);
  const { replicas, condemned } = places;
  const status = statusOf(known, [...replicas, ...condemned], collisionCount);
  const first = firstUnavailable(known, places);
  const resent = yield* attempt(resend(known, places, config.maxUnavailable));
  if (resent.error !== undefined) return { status, error: resent.error };
  const stages: readonly Steps<Progress>[] = [
    forEach(set, replicas, (pod) => processReplica(known, pod)),
    forEach(set, condemned, (pod) => fixClaims(known, pod)),
    forEach(set, condemned, (pod) => scaleDown(known, pod, first)),
  ];
  for (const stage of stages) {
    const { value, error } = yield* attempt(stage);
    if (error !== undefined || value === 'wait') return { status, error };
  }
  if (!isRolling(set)) return { status };
  const roll = config.maxUnavailable ? rollMany : rollOne;
  const rolled = yield* attempt(roll(known, replicas));
  const { deleted, error }: Rolled = rolled.value ?? { deleted: 0, error: rolled.error };
  // Upstream takes off one for each pod deleted, whatever its revision; below 0 is refused.
  const currentReplicas = Math.max(0, status.currentReplicas - deleted);
  const unavailable = unavailableCount(known, replicas);
  return { status: { ...status, currentReplicas }, error, unavailable };
}

/** Everything else waits for these pods, and perhaps nobody told the server. */
function* resend(known: Knowledge, places: Places, manyAtOnce: boolean): Steps<void> {
  for (const pod of toSendAgain(known, places, manyAtOnce)) {
    yield* deletePod(known, pod, 'its deletion was announced and got no answer');
  }
}

/** In order, ending at the first that waits; a Parallel set takes all side by side. */
function* forEach(
  set: StatefulSet,
  pods: readonly Member[],
  work: (pod: Member) => Steps<Progress>,
): Steps<Progress> {
  if (!isOrdered(set)) {
    if (pods.length > 0) yield { kind: 'sideBySide', steps: pods.map(work) };
    return 'next';
  }
  for (const pod of pods) if ((yield* work(pod)) === 'wait') return 'wait';
  return 'next';
}

function* fixClaims({ set }: Knowledge, pod: Member): Steps<Progress> {
  if (!(yield* areClaimsRight(set, pod))) yield* repairClaimOwners(set, pod);
  return 'next';
}

/**
 * Deletes a pod that is too many. In order: one at a time, and an unhealthy pod holds up the rest,
 * unless it is the first unhealthy one and so the one that has to go.
 */
function* scaleDown(known: Knowledge, pod: Member, first: Member | undefined): Steps<Progress> {
  const { set, now } = known;
  if (pod.deleting) {
    if (!isOrdered(set)) return 'next';
    yield* note(`pod ${pod.name} is terminating: scaling down waits for it`);
    return 'wait';
  }
  const healthy = isRunningAndReady(pod) && !isUnavailable(pod, minReadySecondsOf(set), now);
  if (isOrdered(set) && !healthy && pod !== first) {
    yield* note(`pod ${pod.name} is not available, nor is ${first?.name}: scaling down waits`);
    return 'wait';
  }
  const wanted = replicasOf(set);
  const range = `${startOf(set)} to ${startOf(set) + wanted - 1}`;
  const asked = wanted === 0 ? 'no pod is wanted' : `ordinals ${range} are wanted`;
  yield* deletePod(known, pod, `scaling down: ${asked}`);
  return 'wait';
}
