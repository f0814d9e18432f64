/**
 * Who owns the claims of a StatefulSet, by its persistentVolumeClaimRetentionPolicy: the set, so
 * that they go with it; the pod that is scaled away, so that they go with that; or nobody.
 */

import { controllerReference } from '../../api/meta.ts';
import { apiVersionOf, PODS, type Resource, STATEFUL_SETS } from '../../api/resource.ts';
import type { OwnerReference, PersistentVolumeClaim, StatefulSet } from '../../api/types/index.ts';
import { isWanted, type Member } from './members.ts';

interface Owner {
  readonly name: string;
  readonly uid: string;
}

interface Policy {
  readonly whenDeleted: string;
  readonly whenScaled: string;
}

const DELETE = 'Delete';

/** The set's policy; what it leaves out, or says that is unknown, keeps the claims. */
function policyOf({ spec }: StatefulSet): Policy {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } =
    spec?.persistentVolumeClaimRetentionPolicy ?? {};
  return { whenDeleted, whenScaled };
}

function keepsAll({ whenDeleted, whenScaled }: Policy): boolean {
  return whenDeleted === 'Retain' && whenScaled === 'Retain';
}

function referencesOf(claim: PersistentVolumeClaim): readonly OwnerReference[] {
  return claim.metadata.ownerReferences ?? [];
}

/** Same kind and name, whatever the UID. */
function names(reference: OwnerReference, owner: Owner, resource: Resource): boolean {
  return (
    reference.apiVersion === apiVersionOf(resource) &&
    reference.kind === resource.kind &&
    reference.name === owner.name
  );
}

function isOwnedBy(claim: PersistentVolumeClaim, { uid }: Owner): boolean {
  return referencesOf(claim).some((reference) => reference.uid === uid);
}

/** The claim names a former object of that name: it is left alone. */
function namesFormer(claim: PersistentVolumeClaim, owner: Owner, resource: Resource): boolean {
  const reference = referencesOf(claim).find((each) => names(each, owner, resource));
  return reference !== undefined && reference.uid !== owner.uid;
}

/** True if another controller, or a former set or pod, has the claim under a policy to delete. */
export function hasOtherController(
  claim: PersistentVolumeClaim,
  set: StatefulSet,
  pod: Member,
): boolean {
  if (keepsAll(policyOf(set))) return false;
  return referencesOf(claim).some((reference) => {
    if (names(reference, set.metadata, STATEFUL_SETS)) return reference.uid !== set.metadata.uid;
    if (names(reference, pod, PODS)) return reference.uid !== pod.uid;
    return reference.controller === true;
  });
}

/** Owned by the set or the pod, but not controlled. */
function isOwnedLoosely(claim: PersistentVolumeClaim, set: Owner, pod: Owner): boolean {
  return referencesOf(claim).some(
    ({ uid, controller }) => (uid === set.uid || uid === pod.uid) && controller !== true,
  );
}

/** Which of the two should control the claim; a policy nobody knows counts as Retain. */
function wantedOwner(set: StatefulSet, pod: Member): 'set' | 'pod' | undefined {
  const { whenDeleted, whenScaled } = policyOf(set);
  const known = [whenDeleted, whenScaled].every((when) => when === 'Retain' || when === DELETE);
  if (!known) return undefined;
  if (whenScaled === DELETE && !isWanted(set, pod.ordinal)) return 'pod';
  return whenDeleted === DELETE ? 'set' : undefined;
}

/**
 * True if the claim's owners are as the policy asks, or if it is none of our business: it names a
 * former set or pod, or another controller manages it and neither of ours is among its owners.
 */
export function isOwnershipRight(
  claim: PersistentVolumeClaim,
  set: StatefulSet,
  pod: Member,
): boolean {
  if (namesFormer(claim, set.metadata, STATEFUL_SETS) || namesFormer(claim, pod, PODS)) return true;
  const bySet = isOwnedBy(claim, set.metadata);
  const byPod = isOwnedBy(claim, pod);
  if (hasOtherController(claim, set, pod)) return !bySet && !byPod;
  if (isOwnedLoosely(claim, set.metadata, pod)) return false;
  const wanted = wantedOwner(set, pod);
  return bySet === (wanted === 'set') && byPod === (wanted === 'pod');
}

/** The claim with the owners that the policy asks for; those of others stay. */
export function withRightOwners(
  claim: PersistentVolumeClaim,
  set: StatefulSet,
  pod: Member,
): PersistentVolumeClaim {
  const others = referencesOf(claim).filter(
    (reference) => !names(reference, set.metadata, STATEFUL_SETS) && !names(reference, pod, PODS),
  );
  const wanted = hasOtherController(claim, set, pod) ? undefined : wantedOwner(set, pod);
  const [owner, resource] = wanted === 'pod' ? [pod, PODS] : [set.metadata, STATEFUL_SETS];
  const missing = wanted !== undefined && others.every(({ uid }) => uid !== owner.uid);
  const ownerReferences = missing ? [...others, controllerReference(owner, resource)] : others;
  return { ...claim, metadata: { ...claim.metadata, ownerReferences } };
}

/**
 * True if a claim still belongs to a former pod of that name under whenScaled=Delete: it is about
 * to go with it, and the pod must wait for that.
 */
export function isStaleClaim(claim: PersistentVolumeClaim, set: StatefulSet, pod: Member): boolean {
  return policyOf(set).whenScaled !== 'Retain' && namesFormer(claim, pod, PODS);
}
