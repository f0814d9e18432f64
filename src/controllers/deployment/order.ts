/** Orders of ReplicaSets. Names are unique, so none of them leaves two in doubt. */
import { timeMs } from '../../api/time.ts';
import type { ReplicaSet } from '../../api/types/index.ts';
import { revisionOf } from './annotations.ts';
import { sizeOf } from './sizes.ts';

type Order = (a: ReplicaSet, b: ReplicaSet) => number;

/** Oldest first; same second: by name. */
export const byCreation: Order = (a, b) => {
  const apart = timeMs(a.metadata.creationTimestamp) - timeMs(b.metadata.creationTimestamp);
  if (apart !== 0) return apart;
  return a.metadata.name < b.metadata.name ? -1 : 1;
};

/** Newest first. */
export const byCreationNewest: Order = (a, b) => byCreation(b, a);

/** Largest first, same size: oldest first. */
export const bySizeOlder: Order = (a, b) => sizeOf(b) - sizeOf(a) || byCreation(a, b);

/** Largest first, same size: newest first. */
export const bySizeNewer: Order = (a, b) => sizeOf(b) - sizeOf(a) || byCreation(b, a);

/** Lowest revision first; same or unreadable: oldest first. */
export const byRevision: Order = (a, b) => {
  const left = revisionOf(a);
  const right = revisionOf(b);
  if (left === undefined || right === undefined || left === right) return byCreation(a, b);
  return left < right ? -1 : 1;
};
