/** Which pods go when there are too many, and why (upstream's getPodsToDelete). */
import {
  compareForDeletion,
  type DeletionFacts,
  DeletionRule,
  type RankedPod,
  rankForDeletion,
} from '../../../api/pod-deletion.ts';

/** A pod chosen for deletion. */
export interface Choice<P> {
  readonly pod: P;
  readonly because: string;
}

/** Everything the choice depends on. */
export interface ChoiceInput<P extends DeletionFacts> {
  /** Active pods, more than or as many as are to go. */
  readonly pods: readonly P[];
  readonly count: number;
  /** By how many there are too many; more than `count` when a burst is not enough. */
  readonly surplus: number;
  /** Active sibling pods per node name; nodes without any may be absent. */
  readonly siblings: ReadonlyMap<string, number>;
  /** Wall time, milliseconds since the epoch. */
  readonly now: number;
  /** Feature gate PodDeletionCost. */
  readonly useCost: boolean;
}

/** The first `count` pods in deletion order. All of them: no order is needed, and none is made. */
export function chooseForDeletion<P extends DeletionFacts>(
  input: ChoiceInput<P>,
): readonly Choice<P>[] {
  const { pods, count, surplus, siblings, now, useCost } = input;
  if (count >= pods.length) {
    return pods.map((pod) => ({ pod, because: `${surplus} too many: all active pods go` }));
  }
  const ranked = pods
    .map((pod) => rankForDeletion(pod, siblings.get(pod.nodeName) ?? 0, now, { useCost }))
    .sort(compareForDeletion);
  const survivor = ranked[count];
  return ranked.slice(0, count).map((victim) => ({
    pod: victim.pod,
    because: `${surplus} too many; first in deletion order: ${reason(victim, survivor, now)}`,
  }));
}

/** What puts a victim before the first pod that stays. */
function reason(victim: RankedPod, survivor: RankedPod | undefined, now: number): string {
  const { pod } = victim;
  if (survivor === undefined) return 'no pod stays';
  switch (-compareForDeletion(victim, survivor)) {
    case DeletionRule.unassigned:
      return 'not assigned to a node';
    case DeletionRule.phase:
      return `phase ${pod.phase || 'not set'}`;
    case DeletionRule.notReady:
      return 'not ready';
    case DeletionRule.cost:
      return `deletion cost ${victim.cost}, the next has ${survivor.cost}`;
    case DeletionRule.siblings:
      return `${victim.siblings} pods of the same controller on node ${pod.nodeName}`;
    case DeletionRule.readyTime:
      return timeReason('ready', pod.readySince, victim.readyBucket === survivor.readyBucket, now);
    case DeletionRule.restarts:
      return `restarted ${Math.max(pod.restarts, pod.initRestarts)} times`;
    case DeletionRule.age:
      return timeReason('created', pod.createdAt, victim.ageBucket === survivor.ageBucket, now);
    default:
      return 'no rule tells it from those that stay';
  }
}

function timeReason(what: string, since: number, sameBucket: boolean, now: number): string {
  if (since === 0) return `not known since when ${what}`;
  const ago = `${what} ${Math.round((now - since) / 1000)} s ago`;
  return sameBucket ? `${ago}, about as long as the next, lower UID` : `${ago}, the next earlier`;
}
