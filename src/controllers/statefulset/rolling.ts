/** The rolling update: pods of another revision are deleted, the highest ordinal first. */
import { scaledValue } from '../../api/int-or-percent.ts';
import type { StatefulSet } from '../../api/types/index.ts';
import { attempt, StepError } from '../_kit/steps.ts';
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

/** What came of a step of the update. */
export interface Rolled {
  /** Pods deleted. */
  readonly deleted: number;
  /** The refusal that ended it, if any. */
  readonly error?: Error;
}

/**
 * One pod at a time: deletes the highest of another revision, unless one above it is unavailable
 * or going.
 */
export function* rollOne(known: Knowledge, replicas: readonly Member[]): Steps<Rolled> {
  const { set, update, now } = known;
  for (const pod of replicas.slice(partitionOf(set)).reverse()) {
    if (isOutdated(pod, update.name)) {
      return yield* rollPods(known, [pod]);
    }
    if (isUnavailable(pod, minReadySecondsOf(set), now)) {
      yield* note(`pod ${pod.name} is not available: the update waits for it`);
      break;
    }
  }
  return { deleted: 0 };
}

/**
 * With gate MaxUnavailableStatefulSet: deletes pods of another revision, the highest first, as long
 * as no more than maxUnavailable are unavailable.
 */
export function* rollMany(known: Knowledge, replicas: readonly Member[]): Steps<Rolled> {
  const { set, update } = known;
  const room = maxUnavailableOf(set) - unavailableCount(known, replicas);
  const outdated = replicas.slice(partitionOf(set)).filter((pod) => isOutdated(pod, update.name));
  return yield* rollPods(known, outdated.reverse().slice(0, Math.max(0, room)));
}

/** Deletes these pods one after the other, up to the first refusal. */
function* rollPods(known: Knowledge, pods: readonly Member[]): Steps<Rolled> {
  for (const [deleted, pod] of pods.entries()) {
    const { error } = yield* attempt(deletePod(known, pod, updateReason(known, pod)));
    if (error !== undefined) return { deleted, error };
  }
  return { deleted: pods.length };
}

/** Of another revision, and not going yet; what is only planned is not there to go. */
function isOutdated(pod: Member, updateRevision: string): boolean {
  return pod.revision !== updateRevision && !pod.deleting && isCreated(pod);
}

function updateReason({ update }: Knowledge, { revision }: Member): string {
  return `rolling update to ${update.name}: this pod is of ${revision || 'no revision'}`;
}
