/** Bodies of the patches: the strategic form first, and the merge form for kinds that lack it. */
import type { OwnerReference } from '../../api/types/index.ts';

/** An object's references in a known version. */
export interface Referring {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly owners: readonly OwnerReference[];
}

/** Strategic: takes the references to these owners away, if the object is still the one meant. */
export function dropReferences(uid: string, owners: readonly string[]): object {
  const ownerReferences = owners.map((owner) => ({ $patch: 'delete', uid: owner }));
  return { metadata: { uid, ownerReferences } };
}

/** Merge: the same, by the whole list; refused if the object changed. */
export function dropReferencesMerged(object: Referring, owners: readonly string[]): object {
  const kept = object.owners.filter(({ uid }) => !owners.includes(uid));
  return merged(object, kept);
}

/** Strategic: no reference of the object blocks its owner's deletion any more. */
export function unblockOwners(uid: string, owners: readonly OwnerReference[]): object {
  const ownerReferences = owners
    .filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
    .map((owner) => ({ ...owner, blockOwnerDeletion: false }));
  return { metadata: { uid, ownerReferences } };
}

/** Merge: the same, by the whole list; refused if the object changed. */
export function unblockOwnersMerged(object: Referring): object {
  return merged(
    object,
    object.owners.map((owner) => ({ ...owner, blockOwnerDeletion: false })),
  );
}

/** Merge: the finalizers that stay; refused if the object changed or is another one. */
export function keepFinalizers(
  uid: string,
  resourceVersion: string,
  finalizers: readonly string[],
): object {
  return { metadata: { uid, resourceVersion, finalizers: nullIfEmpty(finalizers) } };
}

function merged({ uid, resourceVersion }: Referring, owners: readonly OwnerReference[]): object {
  return { metadata: { uid, resourceVersion, ownerReferences: nullIfEmpty(owners) } };
}

function nullIfEmpty<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}
