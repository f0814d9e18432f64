/** The events of the deployment controller, one function a reason. */
import type { DeploymentEvent } from './actions.ts';

const UNCHANGED = 'The rollback revision contains the same template as current deployment';

/** A ReplicaSet changed its size; a new one starts from 0. */
export function scalingReplicaSet(name: string, from: number, to: number): DeploymentEvent {
  const direction = from < to ? 'up' : 'down';
  return {
    type: 'Normal',
    reason: 'ScalingReplicaSet',
    message: `Scaled ${direction} replica set ${name} from ${from} to ${to}`,
  };
}

/** The API server refused the new ReplicaSet; `message` is the condition's text. */
export function replicaSetCreateError(message: string): DeploymentEvent {
  return { type: 'Warning', reason: 'ReplicaSetCreateError', message };
}

/** The selector is empty. */
export function selectingAll(): DeploymentEvent {
  return {
    type: 'Warning',
    reason: 'SelectingAll',
    message: 'This deployment is selecting all pods. A non-empty selector is required.',
  };
}

/** A rollback was carried out. */
export function rolledBack(deployment: string, revision: bigint): DeploymentEvent {
  return {
    type: 'Normal',
    reason: 'DeploymentRollback',
    message: `Rolled back deployment "${deployment}" to revision ${revision}`,
  };
}

/** The rollback names a revision nobody has (or "the last one", and there is none). */
export function rollbackRevisionNotFound(last: boolean): DeploymentEvent {
  return {
    type: 'Warning',
    reason: 'DeploymentRollbackRevisionNotFound',
    message: last ? 'Unable to find last revision.' : 'Unable to find the revision to rollback to.',
  };
}

/** The rollback would change nothing. */
export function rollbackTemplateUnchanged(deployment: string): DeploymentEvent {
  return {
    type: 'Warning',
    reason: 'DeploymentRollbackTemplateUnchanged',
    message: `${UNCHANGED} "${deployment}"`,
  };
}
