/** A node came or changed: which DaemonSets have to look at it. */
import { keyOf } from '../../api/meta.ts';
import { DAEMON_SETS } from '../../api/resource.ts';
import type { DaemonSet } from '../../api/types/index.ts';
import type { DaemonSetCaches } from './observe.ts';
import type { Placement, PlacementRule } from './placement.ts';

/** True if a set lacks a pod on the node, has one to remove, or may count it wrong. */
export function isConcerned(
  placement: Placement,
  scheduled: boolean,
  { status }: DaemonSet,
): boolean {
  if (!scheduled) return placement.shouldRun;
  return !placement.mayStay || (status?.numberMisscheduled ?? 0) > 0;
}

/** Keys of the sets that a node concerns; none if it is gone. */
export function concernedSets(
  { nodes, sets, pods }: DaemonSetCaches,
  ruleOf: (set: DaemonSet) => PlacementRule,
  name: string,
): readonly string[] {
  const node = nodes.get(name);
  if (node === undefined) return [];
  const scheduled = new Set<string>();
  for (const { namespace, controller } of pods.byIndex('nodeName', name)) {
    if (controller?.kind !== DAEMON_SETS.kind) continue;
    scheduled.add(keyOf({ namespace, name: controller.name }));
  }
  return sets.list('').flatMap(({ key }) => {
    const set = sets.get(key);
    if (set === undefined) return [];
    return isConcerned(ruleOf(set)(node), scheduled.has(key), set) ? [key] : [];
  });
}
