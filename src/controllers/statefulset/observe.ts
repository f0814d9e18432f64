/** From the caches to what a sync claims and decides on. */
import type { Selector } from '../../api/selector.ts';
import type {
  ControllerRevision,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
} from '../../api/types/index.ts';
import { type ClaimOwner, type Claims, decideClaims } from '../../runtime/claim.ts';
import type { Lister, ObjectRecord, PodRecord } from '../../runtime/informer/types.ts';
import { isMemberName } from './members.ts';

/** The caches a sync reads. */
export interface StatefulSetCaches {
  readonly sets: Lister<StatefulSet>;
  readonly pods: Lister<Pod, PodRecord>;
  readonly revisions: Lister<ControllerRevision>;
  readonly claims: Lister<PersistentVolumeClaim>;
}

/** The set as one that claims. */
export function ownerOf({ metadata }: StatefulSet): ClaimOwner {
  const { namespace = '', name, uid, deletionTimestamp } = metadata;
  return { namespace, name, uid, deleting: deletionTimestamp !== undefined };
}

/**
 * Pods to keep, adopt and release. Only pods whose name is one of the set's count as its own; an
 * owned one of another name is released as one of other labels is.
 */
export function podClaims(
  { pods }: StatefulSetCaches,
  set: StatefulSet,
  selector: Selector,
): Claims<PodRecord> {
  const owner = ownerOf(set);
  const owned = pods.controlledBy(owner.uid).filter((pod) => pod.namespace === owner.namespace);
  const strangers = owned.filter(({ name }) => !isMemberName(owner.name, name));
  const members = [...owned, ...pods.orphans(owner.namespace)].filter(({ name }) =>
    isMemberName(owner.name, name),
  );
  const claims = decideClaims({ owner, matches: selector.matches, candidates: members });
  if (owner.deleting || strangers.length === 0) return claims;
  return { ...claims, release: [...claims.release, ...strangers] };
}

/**
 * Revisions of the set that match its selector, and matching orphans to adopt. What no longer
 * matches is neither used nor released.
 */
export function revisionClaims(
  { revisions }: StatefulSetCaches,
  set: StatefulSet,
  selector: Selector,
): Claims<ObjectRecord> {
  const owner = ownerOf(set);
  const candidates = [
    ...revisions.controlledBy(owner.uid).filter((one) => one.namespace === owner.namespace),
    ...revisions.orphans(owner.namespace),
  ];
  const claims = decideClaims({ owner, matches: selector.matches, candidates });
  return { ...claims, release: [] };
}
