/** From a key to what a sync decides on: the object, its pods, its siblings. Reads caches only. */
import { controllerOf } from '../../../api/meta.ts';
import { isActive, isTerminating } from '../../../api/pod.ts';
import { compileSelector, repeatedMatch, type Selector } from '../../../api/selector.ts';
import type { KubeObject, Pod } from '../../../api/types/index.ts';
import type { Lister, PodRecord } from '../../../runtime/informer/types.ts';
import type { ReplicaKind, ReplicaView } from './kind.ts';

/** One ReplicaSet (or what is seen as one) and the pods it may claim. */
export interface Observed<T extends KubeObject> {
  /** As cached, apiVersion and kind filled in. */
  readonly object: T;
  readonly set: ReplicaView;
  readonly selector: Selector;
  /** Active pods: its own, and the orphans of its namespace. */
  readonly candidates: readonly PodRecord[];
  /** Its own matching pods that are being deleted and have not stopped. */
  readonly terminating: number;
}

/** The caches a sync reads. */
export interface ReplicaCaches<T extends KubeObject> {
  readonly kind: ReplicaKind<T>;
  readonly owners: Lister<T>;
  readonly pods: Lister<Pod, PodRecord>;
}

/** Sorts the pods of a ReplicaSet in one pass over its own and its namespace's orphans. */
export function observe<T extends KubeObject>(
  caches: ReplicaCaches<T>,
  object: T,
  set: ReplicaView,
  selector: Selector,
): Observed<T> {
  const { uid, name, namespace = '' } = set.metadata;
  const matches = repeatedMatch(selector);
  const candidates: PodRecord[] = [];
  let terminating = 0;
  for (const pod of caches.pods.controlledBy(uid)) {
    const { controller } = pod;
    const mine = controller?.name === name && controller.kind === caches.kind.resource.kind;
    if (!mine || pod.namespace !== namespace) continue;
    if (isActive(pod)) candidates.push(pod);
    else if (isTerminating(pod) && matches(pod.labels)) terminating++;
  }
  for (const pod of caches.pods.orphans(namespace)) if (isActive(pod)) candidates.push(pod);
  return { object, set, selector, candidates, terminating };
}

/**
 * Active pods per node that match the selector of any ReplicaSet with the same controller; none
 * for a ReplicaSet without one, nor for a kind that doesn't count them.
 */
export function siblingsPerNode<T extends KubeObject>(
  { kind, owners, pods }: ReplicaCaches<T>,
  set: ReplicaView,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const controller = controllerOf(set);
  if (controller === undefined || !kind.countsSiblings) return counts;
  const matchers = new Map<string, ((labels: PodRecord['labels']) => boolean)[]>();
  for (const { key, namespace } of owners.controlledBy(controller.uid)) {
    const object = owners.get(key);
    const selector = object && compileSelector(kind.view(object).spec?.selector).selector;
    if (selector === undefined) continue;
    matchers.set(namespace, [...(matchers.get(namespace) ?? []), repeatedMatch(selector)]);
  }
  for (const [namespace, there] of matchers) {
    for (const pod of pods.list(namespace)) {
      if (!isActive(pod) || !there.some((matches) => matches(pod.labels))) continue;
      counts.set(pod.nodeName, (counts.get(pod.nodeName) ?? 0) + 1);
    }
  }
  return counts;
}
