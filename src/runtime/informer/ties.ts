/**
 * Ties of objects, each kind of tie once: the 5,000 pods of one ReplicaSet share one list of owner
 * references, one controller and one map of labels, instead of holding 5,000 equal ones.
 */
import { sameMap } from '../../api/meta.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER, sameReferences } from '../../api/owners.ts';
import type { KubeObject, OwnerReference } from '../../api/types/index.ts';
import { TIES_KEPT_MAX } from '../limits.ts';
import { Lru } from '../lru.ts';
import type { ResourceTraits } from './traits.ts';
import type { ObjectRecord, Ties } from './types.ts';

const NO_OWNERS: readonly OwnerReference[] = Object.freeze([]);
const FREE: Ties = Object.freeze({ owners: NO_OWNERS, foreground: false, orphan: false });

interface Kept {
  readonly ties: Ties;
  readonly controller: ObjectRecord['controller'];
  labels: ObjectRecord['labels'];
}

/** Gives records their ties; equal ones of objects that have the same first owner are shared. */
export class TieBook {
  readonly #kept = new Lru<string, Kept>(TIES_KEPT_MAX);

  /** The record with ties, sharing with others what it has in common with them. */
  tie<R extends ObjectRecord>(record: R, object: KubeObject): R {
    const { ownerReferences = NO_OWNERS, finalizers = [] } = object.metadata;
    const foreground = finalizers.includes(FOREGROUND_FINALIZER);
    const orphan = finalizers.includes(ORPHAN_FINALIZER);
    const first = ownerReferences[0];
    if (first === undefined) {
      const free = !foreground && !orphan;
      return { ...record, ties: free ? FREE : { owners: NO_OWNERS, foreground, orphan } };
    }
    const known = this.#kept.get(first.uid);
    const shared = known !== undefined && sameReferences(known.ties.owners, ownerReferences);
    if (shared && known.ties.foreground === foreground && known.ties.orphan === orphan) {
      if (!sameMap(known.labels, record.labels)) known.labels = record.labels;
      const { ties, controller, labels } = known;
      return { ...record, ties, controller, labels };
    }
    const owners = shared ? known.ties.owners : ownerReferences;
    const ties = { owners, foreground, orphan };
    const { controller, labels } = record;
    this.#kept.set(first.uid, { ties, controller, labels });
    return { ...record, ties };
  }
}

/** The same traits, with ties in every record. */
export function withTies<T extends KubeObject, R extends ObjectRecord>(
  traits: ResourceTraits<T, R>,
  book: TieBook,
): ResourceTraits<T, R> {
  return { ...traits, record: (object) => book.tie(traits.record(object), object) };
}
