/** The conditions of a Deployment. */
import { findCondition } from '../../api/condition.ts';
import { timeText } from '../../api/time.ts';
import type {
  Deployment,
  DeploymentCondition,
  ReplicaSet,
  ReplicaSetCondition,
} from '../../api/types/index.ts';

export type Conditions = readonly DeploymentCondition[];
type ConditionType = 'Available' | 'Progressing' | 'ReplicaFailure';

/** Reasons of Progressing that decisions depend on. */
export const TIMED_OUT = 'ProgressDeadlineExceeded';
export const NEW_RS_AVAILABLE = 'NewReplicaSetAvailable';
export const PAUSED = 'DeploymentPaused';

/** The Progressing condition as stored. */
export function progressingOf(deployment: Deployment): DeploymentCondition | undefined {
  return findCondition(deployment.status?.conditions, 'Progressing');
}

/** A condition that changes now. `now` in milliseconds. */
export function newCondition(
  type: ConditionType,
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  message: string,
  now: number,
): DeploymentCondition {
  const time = timeText(now);
  return { type, status, lastUpdateTime: time, lastTransitionTime: time, reason, message };
}

function fromReplicaSet(condition: ReplicaSetCondition): DeploymentCondition {
  const { type, status, reason, message, lastTransitionTime } = condition;
  return { type, status, lastUpdateTime: lastTransitionTime, lastTransitionTime, reason, message };
}

/** The failure to show: the new ReplicaSet's, else that of the first one which has it. */
export function replicaFailure(
  replicaSets: readonly ReplicaSet[],
  newRS: ReplicaSet | undefined,
): DeploymentCondition | undefined {
  for (const replicaSet of newRS === undefined ? replicaSets : [newRS, ...replicaSets]) {
    const found = replicaSet.status?.conditions?.find(({ type }) => type === 'ReplicaFailure');
    if (found !== undefined) return fromReplicaSet(found);
  }
  return undefined;
}
