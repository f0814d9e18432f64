/** Which ReplicaSet is the new one: the oldest whose template is the Deployment's. */
import { templatesEqual } from '../../api/template.ts';
import type { Deployment, ReplicaSet } from '../../api/types/index.ts';
import type { Sets } from './actions.ts';
import { byCreation } from './order.ts';
import { templateOf } from './sizes.ts';

/**
 * Splits the ReplicaSets of a Deployment, oldest first. Templates are compared by meaning, the hash
 * label left out, so the hash function that once named a ReplicaSet doesn't matter.
 */
export function splitReplicaSets(deployment: Deployment, replicaSets: readonly ReplicaSet[]): Sets {
  const sorted = [...replicaSets].sort(byCreation);
  const template = templateOf(deployment);
  const newRS = sorted.find((replicaSet) => templatesEqual(templateOf(replicaSet), template));
  return { newRS, oldRSs: sorted.filter((replicaSet) => replicaSet !== newRS) };
}
