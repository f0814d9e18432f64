/** The sync of a Deployment, step by step in upstream's order. */
import { setCondition } from '../../api/condition.ts';
import type { Deployment, ReplicaSet } from '../../api/types/index.ts';
import { attempt, type Knowledge, type Steps, step, writeStatus } from './actions.ts';
import { rollbackRevisionOf } from './annotations.ts';
import { cleanUp } from './cleanup.ts';
import { newCondition, PAUSED, progressingOf, TIMED_OUT } from './conditions.ts';
import { selectingAll } from './events.ts';
import { syncReplicaSets } from './new-replicaset.ts';
import { recreate } from './recreate.ts';
import { rollback } from './rollback.ts';
import { rollingUpdate } from './rolling.ts';
import { isScalingEvent, scalingPass } from './scale.ts';
import { progressDeadlineOf, strategyOf } from './sizes.ts';
import { syncStatus } from './status.ts';

/** What a decision looks at. */
export interface Observed {
  readonly deployment: Deployment;
  /** Those it controls, adopting and releasing done. */
  readonly replicaSets: readonly ReplicaSet[];
  /** UIDs of ReplicaSets that have a pod which is neither Succeeded nor Failed (Recreate only). */
  readonly running: ReadonlySet<string>;
}

export interface DeploymentConfig {
  /** Gate DeploymentReplicaSetTerminatingReplicas. */
  readonly terminatingReplicas: boolean;
}

/** True if the selector would select every pod; such a Deployment is left alone. */
export function selectsEverything(deployment: Deployment): boolean {
  const selector = deployment.spec?.selector;
  return (
    selector !== undefined &&
    Object.keys(selector.matchLabels ?? {}).length === 0 &&
    (selector.matchExpressions ?? []).length === 0
  );
}

/** For a Deployment that selects everything: says so, and marks the generation as seen. */
export function* refuseSelector(deployment: Deployment): Steps<void> {
  yield { kind: 'event', event: selectingAll() };
  const { generation = 0 } = deployment.metadata;
  if ((deployment.status?.observedGeneration ?? 0) >= generation) return;
  const status = { ...deployment.status, observedGeneration: generation };
  const because = `empty selector: generation ${generation} seen, nothing done`;
  const seen = { ...deployment, status };
  yield* attempt(step({ kind: 'updateStatus', deployment: seen, because }));
}

/**
 * One sync. `now` is wall time in milliseconds. Throws what the API server answered to a write that
 * ends the sync, and for a strategy that doesn't exist.
 */
export function* decide(observed: Observed, now: number, config: DeploymentConfig): Steps<void> {
  const known: Knowledge = { ...observed, ...config, now };
  const { metadata, spec } = known.deployment;
  if (metadata.deletionTimestamp !== undefined) {
    return yield* syncStatus(known, yield* syncReplicaSets(known, false));
  }
  yield* syncPausedCondition(known);
  if (spec?.paused) return yield* scaleOnly(known, false);
  const asked = rollbackRevisionOf(known.deployment);
  if (asked !== undefined) return yield* rollback(known, asked);
  const sets = yield* syncReplicaSets(known, false);
  if (isScalingEvent(known.deployment, sets)) return yield* scaleOnly(known, true);
  const strategy = strategyOf(known.deployment);
  if (strategy === 'Recreate') return yield* recreate(known);
  if (strategy === 'RollingUpdate') return yield* rollingUpdate(known);
  throw new Error(
    `spec.strategy.type of ${metadata.name} is "${strategy}": must be Recreate or RollingUpdate`,
  );
}

/** Scaling without a rollout step; a paused Deployment is cleaned up too, unless it rolls back. */
function* scaleOnly(known: Knowledge, scalingEvent: boolean): Steps<void> {
  const sets = yield* syncReplicaSets(known, false);
  yield* scalingPass(known, sets, scalingEvent);
  const { deployment } = known;
  if (deployment.spec?.paused && rollbackRevisionOf(deployment) === undefined) {
    yield* cleanUp(known, sets.oldRSs);
  }
  yield* syncStatus(known, sets);
}

/** Marks pause and resume, so that the time in between doesn't count against the deadline. */
function* syncPausedCondition(known: Knowledge): Steps<void> {
  const { deployment, now } = known;
  const current = progressingOf(deployment);
  const paused = deployment.spec?.paused === true;
  if (progressDeadlineOf(deployment) === undefined || current?.reason === TIMED_OUT) return;
  if (paused === (current?.reason === PAUSED)) return;
  const condition = paused
    ? newCondition('Progressing', 'Unknown', PAUSED, 'Deployment is paused', now)
    : newCondition('Progressing', 'Unknown', 'DeploymentResumed', 'Deployment is resumed', now);
  const conditions = setCondition(deployment.status?.conditions ?? [], condition);
  const status = { ...deployment.status, conditions };
  yield* writeStatus(known, { ...deployment, status }, condition.message ?? '');
}
