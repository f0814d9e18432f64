/** Owner references and the finalizers that say what a deletion means for dependents. */
import type { OwnerReference } from './types/index.ts';

/** Finalizer of an object that waits until its blocking dependents are gone. */
export const FOREGROUND_FINALIZER = 'foregroundDeletion';
/** Finalizer of an object whose dependents are kept and lose their reference to it. */
export const ORPHAN_FINALIZER = 'orphan';

/** True if both lists hold the same references in the same order. */
export function sameReferences(
  a: readonly OwnerReference[],
  b: readonly OwnerReference[],
): boolean {
  if (a === b) return true;
  return a.length === b.length && a.every((one, index) => sameReference(one, b[index]));
}

/** True if two references say the same, field by field; unset is not the same as false. */
export function sameReference(a: OwnerReference, b: OwnerReference | undefined): boolean {
  return (
    a.uid === b?.uid &&
    a.name === b.name &&
    a.kind === b.kind &&
    a.apiVersion === b.apiVersion &&
    a.controller === b.controller &&
    a.blockOwnerDeletion === b.blockOwnerDeletion
  );
}
