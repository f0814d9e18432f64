/** The rolling update: pods of another revision are deleted, the highest ordinal first. */
import { scaledValue } from '../../api/int-or-percent.ts';
import type { StatefulSet } from '../../api/types/index.ts';
import { StepError } from '../_kit/steps.ts';
import { type Knowledge, note, type Steps } from './actions.ts';
import { isCreated, isUnavailable, type Member, minReadySecondsOf, replicasOf } from './members.ts';
import { deletePod } from './replica.ts';

/** Ordinals below this (counted from the first one) keep the current revision. */
export function partitionOf({ spec }: StatefulSet): number {
  return spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
}

/**
 * Pods that may be unavailable during an update: a percentage is rounded down, at least 1. Throws
 * for text that is no percentage.
 */
export function maxUnavailableOf(set: StatefulSet): number {
  const value = set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1;
  const scaled = scaledValue(value, replicasOf(set), 'down');
  if (scaled === undefined) {
    const field = 'spec.updateStrategy.rollingUpdate.maxUnavailable';
    throw new StepError(`${field} of ${set.metadata.name} is "${value}": must be a number or "N%"`);
  }
  return Math.max(1, scaled);
}

/** In-range pods that are unavailable, planned ones too. */
export function unavailableCount({ set, now }: Knowledge, replicas: readonly Member[]): number {
  const minReadySeconds = minReadySecondsOf(set);
  return replicas.filter((pod) => isUnavailable(pod, minReadySeconds, now)).length;
}

/**
 * One pod at a time: deletes the highest of another revision, unless one above it is unavailable
 * or going. Gives the number of pods deleted.
 */
export function* rollOne(known: Knowledge, replicas: readonly Member[]): Steps<number> {
  const { set, update, now } = known;
  for (const pod of replicas.slice(partitionOf(set)).reverse()) {
    if (isOutdated(pod, update.name)) {
      yield* deletePod(known, pod, updateReason(known, pod));
      return 1;
    }
    if (isUnavailable(pod, minReadySecondsOf(set), now)) {
      yield* note(`pod ${pod.name} is not available: the update waits for it`);
      return 0;
    }
  }
  return 0;
}

/**
 * With gate MaxUnavailableStatefulSet: deletes pods of another revision, the highest first, as long
 * as no more than maxUnavailable are unavailable. Gives the number of pods deleted.
 */
export function* rollMany(known: Knowledge, replicas: readonly Member[]): Steps<number> {
  const { set, update } = known;
  const unavailable = unavailableCount(known, replicas);
  const room = maxUnavailableOf(set) - unavailable;
  let deleted = 0;
  for (const pod of replicas.slice(partitionOf(set)).reverse()) {
    if (deleted >= room) break;
    if (!isOutdated(pod, update.name)) continue;
    yield* deletePod(known, pod, updateReason(known, pod));
    deleted++;
  }
  return deleted;
}

/** Of another revision, and not going yet; what is only planned is not there to go. */
function isOutdated(pod: Member, updateRevision: string): boolean {
  return pod.revision !== updateRevision && !pod.deleting && isCreated(pod);
}

function updateReason({ update }: Knowledge, { revision }: Member): string {
  return `rolling update to ${update.name}: this pod is of ${revision || 'no revision'}`;
}
