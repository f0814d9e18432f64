/** On which nodes a DaemonSet runs, and on which its pods may stay. */
import { type NodeIdentity, requiredNodeTest } from '../../api/affinity.ts';
import { type TolerationRules, untoleratedTaint } from '../../api/taint.ts';
import type { DaemonSet, Taint } from '../../api/types/index.ts';
import { daemonTolerations, templateOf } from './pod.ts';

/** What is read of a node. */
export interface NodeFacts extends NodeIdentity {
  readonly taints: readonly Taint[];
}

/** What a set wants of a node. */
export interface Placement {
  /** A pod belongs here. */
  readonly shouldRun: boolean;
  /** A pod that is here may stay. */
  readonly mayStay: boolean;
}

/** Says for a node what one set wants of it. */
export type PlacementRule = (node: NodeFacts) => Placement;

const NOWHERE: Placement = { shouldRun: false, mayStay: false };
const HERE: Placement = { shouldRun: true, mayStay: true };
const STAYING: Placement = { shouldRun: false, mayStay: true };

/**
 * The rule of a set: node name, node selector and required affinity must match, and the taints
 * NoSchedule and NoExecute be tolerated; a pod that is there stays unless NoExecute is not.
 */
export function placementRule(set: DaemonSet, rules: TolerationRules): PlacementRule {
  const { spec } = templateOf(set);
  const tolerations = daemonTolerations(spec);
  const matches = requiredNodeTest(spec ?? {});
  const tolerated = (taints: readonly Taint[], effects: readonly string[]): boolean =>
    untoleratedTaint(taints, tolerations, effects, rules) === undefined;
  return (node) => {
    if (spec?.nodeName && spec.nodeName !== node.name) return NOWHERE;
    if (!matches(node)) return NOWHERE;
    if (tolerated(node.taints, ['NoSchedule', 'NoExecute'])) return HERE;
    return tolerated(node.taints, ['NoExecute']) ? STAYING : NOWHERE;
  };
}
