/** One wanted pod of a StatefulSet: replaced, created, waited for, or put right. */
import { isAlreadyExists, isConflict } from '../../api/errors.ts';
import { isAvailable, isTerminal } from '../../api/pod.ts';
import type { Pod, StatefulSet } from '../../api/types/index.ts';
import { attempt } from '../_kit/steps.ts';
import { act, emit, fetchPod, type Knowledge, note, readPod, type Steps } from './actions.ts';
import { areClaimsRight, createClaims, repairClaimOwners, staleClaim } from './claims.ts';
import { podEvent, type Verb } from './events.ts';
import {
  isCreated,
  isOrdered,
  isRunningAndReady,
  type Member,
  minReadySecondsOf,
  POD_NAME_LABEL,
} from './members.ts';
import { claimNames, hasIdentity, holdsClaims, withIdentity, withStorage } from './pod.ts';

/** Tries of an update that meets a conflict. */
const UPDATE_TRIES = 4;

/** Whether this sync goes on to the next pod, or ends here and comes back later. */
export type Progress = 'next' | 'wait';

/** Takes one step for a wanted pod. Throws what the server refused, its event shown. */
export function* processReplica(known: Knowledge, pod: Member): Steps<Progress> {
  const { set, now } = known;
  if (isTerminal(pod)) return yield* replaceEnded(known, pod);
  if (!isCreated(pod)) return yield* createMissing(known, pod);
  if (pod.phase === 'Pending') yield* createMissingClaims(known, pod);
  const wait = isOrdered(set) ? whyWait(pod, minReadySecondsOf(set), now) : undefined;
  if (wait !== undefined) {
    yield* note(`pod ${pod.name} ${wait}: waiting for it`);
    return 'wait';
  }
  yield* putRight(known, pod);
  return 'next';
}

function whyWait(pod: Member, minReadySeconds: number, now: number): string | undefined {
  if (pod.deleting) return 'is terminating';
  if (!isRunningAndReady(pod)) return 'is not running and ready';
  if (isAvailable(pod, minReadySeconds, now)) return undefined;
  return `is not ready for ${minReadySeconds} s yet`;
}

/** Deletes a pod and shows how that ended; one that is gone is deleted. Throws the refusal. */
export function* deletePod({ set }: Knowledge, pod: Member, because: string): Steps<void> {
  const { record } = pod;
  if (record === undefined) throw new Error(`pod ${pod.name} is only planned: nothing to delete`);
  yield* shown('Delete', set, pod, act({ kind: 'deletePod', record, because }));
  yield* emit(podEvent('Delete', pod.name, set.metadata.name));
}

/** Runs steps; a refusal is shown as a failure to do this to the pod, and thrown on. */
function* shown(verb: Verb, set: StatefulSet, pod: Member, steps: Steps<void>): Steps<void> {
  const { error } = yield* attempt(steps);
  if (error === undefined) return;
  yield* emit(podEvent(verb, pod.name, set.metadata.name, error));
  throw error;
}

/** A pod that ended, well or not, is deleted; the next sync finds it missing. */
function* replaceEnded(known: Knowledge, pod: Member): Steps<Progress> {
  if (!pod.deleting) yield* deletePod(known, pod, `pod ended (${pod.phase}): making it anew`);
  return 'wait';
}

function* createMissing(known: Knowledge, pod: Member): Steps<Progress> {
  const { set } = known;
  const stale = yield* staleClaim(set, pod);
  if (stale !== undefined) {
    yield* note(`claim ${stale} belongs to a former pod ${pod.name}: waiting for it to go`);
    return 'wait';
  }
  yield* shown('Create', set, pod, createClaims(set, pod));
  const because = `pod ${pod.name} is missing: creating it at revision ${pod.revision}`;
  const { error } = yield* attempt(act({ kind: 'createPod', pod, because }));
  // Somebody made it meanwhile: the cache will show it.
  if (isAlreadyExists(error)) throw error;
  yield* shown('Update', set, pod, repairClaimOwners(set, pod));
  yield* emit(podEvent('Create', pod.name, set.metadata.name, error));
  if (error !== undefined) throw error;
  return isOrdered(set) ? 'wait' : 'next';
}

/** A pending pod may be waiting for claims that somebody deleted. */
function* createMissingClaims({ set }: Knowledge, pod: Member): Steps<void> {
  yield* createClaims(set, pod);
  yield* shown('Update', set, pod, repairClaimOwners(set, pod));
}

/** Repairs labels, volumes and claim owners of a pod that is well. */
function* putRight(known: Knowledge, pod: Member): Steps<void> {
  const { set } = known;
  const identity = hasIdentity(set, pod);
  const storage = yield* isStorageRight(known, pod);
  const claims = yield* areClaimsRight(set, pod);
  if (identity && storage && claims) return;
  let stored = yield* readPod(pod.name);
  for (let tries = 1; stored !== undefined; tries++) {
    const { value: written, error } = yield* attempt(updatePod(known, pod, stored));
    if (error === undefined) {
      // Somebody else put it right after the conflict: upstream counts that as its own success.
      if (!written && tries > 1) yield* emit(podEvent('Update', pod.name, set.metadata.name));
      return;
    }
    if (!isConflict(error)) throw error;
    if (tries === UPDATE_TRIES) {
      yield* emit(podEvent('Update', pod.name, set.metadata.name, error));
      throw error;
    }
    stored = yield* fetchPod(pod.name);
    if (stored.metadata.uid !== pod.uid) throw error;
  }
}

function* isStorageRight({ set }: Knowledge, pod: Member): Steps<boolean> {
  const claims = claimNames(set, pod.ordinal);
  if (claims.size === 0) return true;
  const stored = yield* readPod(pod.name);
  return stored === undefined || holdsClaims(stored.spec?.volumes, claims);
}

/**
 * One try. Claims are put right first; the pod is written even if nothing of itself changes. False
 * if nothing was to be put right.
 */
function* updatePod({ set }: Knowledge, pod: Member, stored: Pod): Steps<boolean> {
  const reasons: string[] = [];
  let next = stored;
  const nameLabel = stored.metadata.labels?.[POD_NAME_LABEL] ?? '';
  if (!hasIdentity(set, { ...pod, nameLabel })) {
    next = withIdentity(set, next, pod.ordinal);
    reasons.push('identity');
  }
  if (!holdsClaims(stored.spec?.volumes, claimNames(set, pod.ordinal))) {
    next = withStorage(set, next, pod.ordinal);
    reasons.push('volumes');
    yield* shown('Update', set, pod, createClaims(set, pod));
  }
  if (!(yield* areClaimsRight(set, pod))) {
    reasons.push('claim owners');
    yield* shown('Update', set, pod, repairClaimOwners(set, pod));
  }
  if (reasons.length === 0) return false;
  const because = `${reasons.join(', ')} of pod ${pod.name} not as the set asks`;
  const { error } = yield* attempt(act({ kind: 'updatePod', pod: next, because }));
  // A conflict is tried again; only what comes of it in the end is shown.
  if (isConflict(error)) throw error;
  yield* emit(podEvent('Update', pod.name, set.metadata.name, error));
  if (error !== undefined) throw error;
  return true;
}
