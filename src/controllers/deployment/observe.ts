/** From the caches to what a decision looks at, and to what claiming looks at. */
import { compileSelector } from '../../api/selector.ts';
import type { Deployment, Pod, ReplicaSet } from '../../api/types/index.ts';
import { type ClaimOwner, type Claims, decideClaims } from '../../runtime/claim.ts';
import type { Lister, ObjectRecord, PodRecord } from '../../runtime/informer/types.ts';
import type { Observed } from './decide.ts';
import { strategyOf } from './sizes.ts';

export interface DeploymentCaches {
  readonly deployments: Lister<Deployment>;
  readonly replicaSets: Lister<ReplicaSet>;
  readonly pods: Lister<Pod, PodRecord>;
}

/** What there is to claim for a Deployment. */
export interface ClaimView {
  readonly owner: ClaimOwner;
  readonly selectorText: string;
  readonly claims: Claims<ObjectRecord>;
}

/** ReplicaSets it controls or may adopt. Throws if its selector is invalid. */
export function observeClaims(caches: DeploymentCaches, deployment: Deployment): ClaimView {
  const { namespace = '', name, uid, deletionTimestamp } = deployment.metadata;
  const { selector, problem } = compileSelector(deployment.spec?.selector);
  if (selector === undefined) {
    throw new Error(`deployment ${namespace}/${name} has invalid label selector: ${problem}`);
  }
  const owner = { namespace, name, uid, deleting: deletionTimestamp !== undefined };
  const owned = caches.replicaSets.controlledBy(uid);
  const candidates = [...owned, ...caches.replicaSets.orphans(namespace)];
  const claims = decideClaims({ owner, matches: selector.matches, candidates });
  return { owner, selectorText: selector.text, claims };
}

/** The Deployment, its ReplicaSets whole, and for Recreate which of them have pods running. */
export function observe(
  caches: DeploymentCaches,
  deployment: Deployment,
  owned: readonly ObjectRecord[],
): Observed {
  const replicaSets: ReplicaSet[] = [];
  for (const record of owned) {
    const replicaSet = caches.replicaSets.get(record.key);
    if (replicaSet?.metadata.uid === record.uid) replicaSets.push(replicaSet);
  }
  const running = new Set<string>();
  if (strategyOf(deployment) === 'Recreate') {
    for (const { uid } of owned) {
      if (caches.pods.controlledBy(uid).some(isRunning)) running.add(uid);
    }
  }
  return { deployment, replicaSets, running };
}

/** Anything but an ended pod counts, also one of unknown phase. */
function isRunning({ phase }: PodRecord): boolean {
  return phase !== 'Succeeded' && phase !== 'Failed';
}
