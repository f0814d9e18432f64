/** Is the rollout getting anywhere? The Progressing condition, and when to look again. */
import { findCondition, removeCondition, setCondition } from '../../api/condition.ts';
import { timeMs } from '../../api/time.ts';
import type { DeploymentStatus } from '../../api/types/index.ts';
import { allOf, type Knowledge, type Sets, type Steps } from './actions.ts';
import {
  type Conditions,
  NEW_RS_AVAILABLE,
  newCondition,
  progressingOf,
  replicaFailure,
  TIMED_OUT,
} from './conditions.ts';
import { progressDeadlineOf } from './sizes.ts';
import { calculateStatus, isComplete, statusBecause, statusesEqual } from './status.ts';

const SECOND_MS = 1_000;
/** First delay of a rate-limited requeue. */
const SOON_MS = 5;

/** True if there are more updated, fewer old, more ready or more available pods than before. */
export function hasProgressed(
  before: DeploymentStatus | undefined,
  after: DeploymentStatus,
): boolean {
  const old = (status: DeploymentStatus | undefined) =>
    (status?.replicas ?? 0) - (status?.updatedReplicas ?? 0);
  return (
    (after.updatedReplicas ?? 0) > (before?.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before?.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before?.availableReplicas ?? 0)
  );
}

/**
 * True if Progressing was last touched longer ago than the deadline, or says so already. A rollout
 * that has ended can't time out.
 */
export function hasTimedOut(
  conditions: Conditions | undefined,
  deadlineSeconds: number | undefined,
  now: number,
): boolean {
  const condition = findCondition(conditions, 'Progressing');
  if (deadlineSeconds === undefined || condition === undefined) return false;
  if (condition.reason === NEW_RS_AVAILABLE) return false;
  if (condition.reason === TIMED_OUT) return true;
  return timeMs(condition.lastUpdateTime) + deadlineSeconds * SECOND_MS < now;
}

function subjectOf(known: Knowledge, sets: Sets): string {
  return sets.newRS === undefined
    ? `Deployment "${known.deployment.metadata.name}"`
    : `ReplicaSet "${sets.newRS.metadata.name}"`;
}

/** The first that is true of complete, progressing, timed out; none: the conditions as they are. */
function estimate(known: Knowledge, sets: Sets, status: DeploymentStatus): Conditions {
  const { deployment, now } = known;
  const conditions = status.conditions ?? [];
  const subject = subjectOf(known, sets);
  if (isComplete(deployment, status)) {
    const message = `${subject} has successfully progressed.`;
    return setCondition(
      conditions,
      newCondition('Progressing', 'True', NEW_RS_AVAILABLE, message, now),
    );
  }
  if (hasProgressed(deployment.status, status)) {
    const message = `${subject} is progressing.`;
    const condition = newCondition('Progressing', 'True', 'ReplicaSetUpdated', message, now);
    const current = progressingOf(deployment);
    const since = current?.status === 'True' ? current.lastTransitionTime : undefined;
    // Removed first: every bit of progress moves lastUpdateTime, even with the same reason.
    return setCondition(removeCondition(conditions, 'Progressing'), {
      ...condition,
      lastTransitionTime: since ?? condition.lastTransitionTime,
    });
  }
  if (hasTimedOut(conditions, progressDeadlineOf(deployment), now)) {
    const message = `${subject} has timed out progressing.`;
    return setCondition(conditions, newCondition('Progressing', 'False', TIMED_OUT, message, now));
  }
  return conditions;
}

/** The status of a rollout: counts, Available, Progressing, ReplicaFailure. */
export function rolloutStatus(known: Knowledge, sets: Sets): DeploymentStatus {
  const { deployment } = known;
  const status = calculateStatus(known, sets);
  let conditions = status.conditions ?? [];
  const current = progressingOf(deployment);
  const settled =
    status.replicas === status.updatedReplicas && current?.reason === NEW_RS_AVAILABLE;
  if (progressDeadlineOf(deployment) === undefined) {
    conditions = removeCondition(conditions, 'Progressing');
  } else if (!settled) {
    conditions = estimate(known, sets, status);
  }
  const failure = replicaFailure(allOf(sets), sets.newRS);
  return {
    ...status,
    conditions:
      failure === undefined
        ? removeCondition(conditions, 'ReplicaFailure')
        : setCondition(conditions, failure),
  };
}

/**
 * Milliseconds until the progress deadline should be checked, undefined if it needs no check: no
 * deadline, complete, timed out, or a rollout that has ended (upstream looks again and again in
 * that last case; only an event can change anything, and that queues the Deployment anyway).
 */
export function progressCheckDelay(known: Knowledge, status: DeploymentStatus): number | undefined {
  const { deployment, now } = known;
  const deadline = progressDeadlineOf(deployment);
  const current = progressingOf(deployment);
  if (deadline === undefined || current === undefined || isComplete(deployment, status)) {
    return undefined;
  }
  if (current.reason === TIMED_OUT || current.reason === NEW_RS_AVAILABLE) return undefined;
  const left = timeMs(current.lastUpdateTime) + deadline * SECOND_MS - now;
  return left < SECOND_MS ? Math.max(left + 1, SOON_MS) : left + SECOND_MS;
}

/** Writes the rollout's status; if nothing changed, asks to look again at the deadline. */
export function* syncRolloutStatus(known: Knowledge, sets: Sets): Steps<void> {
  const status = rolloutStatus(known, sets);
  const { deployment } = known;
  if (!statusesEqual(deployment.status, status)) {
    yield {
      kind: 'updateStatus',
      deployment: { ...deployment, status },
      because: statusBecause(deployment, status),
    };
    return;
  }
  const delayMs = progressCheckDelay(known, status);
  if (delayMs === undefined) return;
  const since = progressingOf(deployment)?.lastUpdateTime;
  const because = `no progress since ${since}, deadline is ${progressDeadlineOf(deployment)} s`;
  yield { kind: 'again', delayMs, because };
}
