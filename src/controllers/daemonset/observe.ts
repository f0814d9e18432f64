/** From the caches to what a sync claims and decides on. */

import type { Selector } from '../../api/selector.ts';
import type { TolerationRules } from '../../api/taint.ts';
import type { ControllerRevision, DaemonSet, Pod } from '../../api/types/index.ts';
import { type ClaimOwner, type Claims, decideClaims } from '../../runtime/claim.ts';
import type { Lister, ObjectRecord, PodRecord } from '../../runtime/informer/types.ts';
import type { NodeBook } from './nodes.ts';
import { type PlacementRule, placementRule } from './placement.ts';
import { type DaemonPod, pinnedNode } from './pod.ts';

/** The caches a sync reads. */
export interface DaemonSetCaches {
  readonly sets: Lister<DaemonSet>;
  readonly pods: Lister<Pod, PodRecord>;
  readonly revisions: Lister<ControllerRevision>;
  readonly nodes: NodeBook;
}

/** The set as one that claims. */
export function ownerOf({ metadata }: DaemonSet): ClaimOwner {
  const { namespace = '', name, uid, deletionTimestamp } = metadata;
  return { namespace, name, uid, deleting: deletionTimestamp !== undefined };
}

/** What of a resource the set keeps, adopts and releases. */
export function claimsOf<R extends ObjectRecord>(
  lister: Pick<Lister<never, R>, 'controlledBy' | 'orphans'>,
  set: DaemonSet,
  selector: Selector,
): Claims<R> {
  const owner = ownerOf(set);
  const candidates = [
    ...lister.controlledBy(owner.uid).filter(({ namespace }) => namespace === owner.namespace),
    ...lister.orphans(owner.namespace),
  ];
  return decideClaims({ owner, matches: selector.matches, candidates });
}

/** Finds the nodes of pods; those of unscheduled ones are in the whole object. */
export class TargetNodes {
  readonly #pods: Lister<Pod, PodRecord>;
  /** Records are replaced with each change of a pod. */
  readonly #known = new WeakMap<PodRecord, { readonly node: string | undefined }>();

  constructor(pods: Lister<Pod, PodRecord>) {
    this.#pods = pods;
  }

  /** Pods with their nodes; one that belongs to no node is left out. */
  place(records: readonly PodRecord[], going: ReadonlySet<string>): readonly DaemonPod[] {
    return records.flatMap((record) => {
      const node = this.#nodeOf(record);
      if (node === undefined) return [];
      const announced = going.has(record.uid);
      const deleting = record.deleting || announced;
      return { record, node, deleting, unanswered: announced && !record.deleting };
    });
  }

  #nodeOf(record: PodRecord): string | undefined {
    if (record.nodeName !== '') return record.nodeName;
    const known = this.#known.get(record);
    if (known !== undefined) return known.node;
    const pod = this.#pods.get(record.key);
    const node = pod && pinnedNode(pod);
    this.#known.set(record, { node });
    return node;
  }
}

/** Placement rules by set, compiled once for each version of it. */
export class PlacementRules {
  readonly #rules: TolerationRules;
  readonly #compiled = new WeakMap<DaemonSet, PlacementRule>();

  constructor(rules: TolerationRules) {
    this.#rules = rules;
  }

  /** The rule of a cached set. */
  of(set: DaemonSet): PlacementRule {
    const known = this.#compiled.get(set);
    if (known !== undefined) return known;
    const rule = placementRule(set, this.#rules);
    this.#compiled.set(set, rule);
    return rule;
  }
}
