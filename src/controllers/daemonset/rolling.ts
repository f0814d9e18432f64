/** The rolling update: old pods go, or new ones come beside them, within the limits. */
import { isAvailable } from '../../api/pod.ts';
import { StepError } from '../_kit/steps.ts';
import {
  type Knowledge,
  listPods,
  type NodeCreation,
  type PodDeletion,
  type Steps,
} from './actions.ts';
import { byNode, syncPods } from './manage.ts';
import { type DaemonPod, isUpdated, minReadySecondsOf } from './pod.ts';
import { limitsOf } from './sizes.ts';

/** The staying pods of a node, at most one old and one new; `excess` if there are more. */
interface NodePods {
  readonly node: string;
  readonly newPod?: DaemonPod;
  readonly oldPod?: DaemonPod;
  readonly excess: boolean;
}

/** One step of the update, over the pods as the caches show them now. */
export function* rollingUpdate(known: Knowledge, hash: string): Steps<void> {
  const pods = byNode(yield* listPods());
  const wanted = [...known.placements].filter(([, { shouldRun }]) => shouldRun);
  for (const [node] of wanted) if (!pods.has(node)) pods.set(node, []);
  const { maxSurge, maxUnavailable } = limitsOf(known.set, wanted.length);
  const nodes = Array.from(pods, ([node, there]) => sortPods(known, node, there, hash));
  const move =
    maxSurge === 0
      ? { create: [], remove: replacements(known, nodes, maxUnavailable) }
      : surge(known, nodes, maxSurge, wanted.length);
  yield* syncPods(move.create, move.remove, hash);
}

function sortPods(
  known: Knowledge,
  node: string,
  there: readonly DaemonPod[],
  hash: string,
): NodePods {
  const { set } = known;
  const staying = there.filter((pod) => !pod.deleting || isAgain(known, pod, hash));
  const news = staying.filter((pod) => isUpdated(pod, set, hash));
  const olds = staying.filter((pod) => !isUpdated(pod, set, hash));
  if (news.length > 1 || olds.length > 1) return { node, excess: true };
  return { node, newPod: news[0], oldPod: olds[0], excess: false };
}

/**
 * An old pod whose deletion was announced and got no answer: the update decides on it anew, before
 * any other, for it may be going already.
 */
function isAgain({ set }: Knowledge, pod: DaemonPod, hash: string): boolean {
  return pod.unanswered === true && !isUpdated(pod, set, hash);
}

/** Those that may be going already first, the others as they came. */
function againFirst(pods: readonly DaemonPod[]): readonly DaemonPod[] {
  return [...pods].sort((a, b) => Number(b.unanswered === true) - Number(a.unanswered === true));
}

function available({ set, now }: Knowledge, pod: DaemonPod): boolean {
  return isAvailable(pod.record, minReadySecondsOf(set), now);
}

/**
 * Without surge: all old pods that are unavailable anyway, and available ones as long as no more
 * nodes than allowed are without an available pod.
 */
function replacements(
  known: Knowledge,
  nodes: readonly NodePods[],
  maxUnavailable: number,
): PodDeletion[] {
  const broken: DaemonPod[] = [];
  const candidates: DaemonPod[] = [];
  let unavailable = 0;
  for (const { newPod, oldPod, excess } of nodes) {
    if (oldPod !== undefined && newPod === undefined) {
      if (available(known, oldPod)) candidates.push(oldPod);
      else broken.push(oldPod);
    }
    // None, both, or too many: the node is being worked on.
    const single = newPod ?? oldPod;
    const steady =
      !excess && single !== undefined && (newPod === undefined) !== (oldPod === undefined);
    if (!steady || !available(known, single)) unavailable++;
  }
  const room = Math.max(0, maxUnavailable - unavailable);
  const limits = `${unavailable} nodes unavailable, ${maxUnavailable} may be`;
  return [
    ...broken.map((pod) => ({ pod, because: 'rolling update: old, and not available anyway' })),
    ...againFirst(candidates)
      .slice(0, room)
      .map((pod) => ({ pod, because: `rolling update: old, and ${limits}` })),
  ];
}

/**
 * With surge: a new pod beside every old one that is unavailable, and beside available ones as long
 * as no more new ones than allowed are still unavailable. An old one goes once the new one is up.
 */
function surge(
  known: Knowledge,
  nodes: readonly NodePods[],
  maxSurge: number,
  desired: number,
): { readonly create: NodeCreation[]; readonly remove: PodDeletion[] } {
  const remove: PodDeletion[] = [];
  const sunset: DaemonPod[] = [];
  const broken: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  let availableNodes = 0;
  for (const { node, newPod, oldPod, excess } of nodes) {
    if (excess) {
      surging++;
      continue;
    }
    const counted = oldPod ?? newPod;
    // Where a pod is wanted, one that may be going already serves nobody.
    const mayBeGoing = counted?.unanswered === true && known.placements.get(node)?.shouldRun;
    if (counted !== undefined && available(known, counted) && !mayBeGoing) availableNodes++;
    if (oldPod === undefined) continue;
    if (newPod !== undefined) {
      if (!available(known, newPod)) surging++;
      else remove.push({ pod: oldPod, because: `new pod ${newPod.record.name} is available` });
      continue;
    }
    const up = available(known, oldPod);
    if (shouldRun(known, node)) (up ? candidates : broken).push(node);
    else if (up) sunset.push(oldPod);
    else remove.push({ pod: oldPod, because: `not available, and node ${node} is not wanted` });
  }
  const spare = Math.max(0, availableNodes - desired);
  for (const pod of againFirst(sunset).slice(0, spare)) {
    const because = `node ${pod.node} is not wanted, ${availableNodes} of ${desired} are served`;
    remove.push({ pod, because });
  }
  const room = Math.max(0, maxSurge - surging);
  const limits = `${surging} nodes surge, ${maxSurge} may`;
  const create = [
    ...broken.map((node) => ({ node, because: 'rolling update: the old pod is not available' })),
    ...candidates
      .slice(0, room)
      .map((node) => ({ node, because: `rolling update: beside the old pod; ${limits}` })),
  ];
  return { create, remove };
}

/** Throws for a node that is gone: until its pods are collected, upstream's update stands still. */
function shouldRun({ placements }: Knowledge, node: string): boolean {
  const placement = placements.get(node);
  if (placement === undefined) {
    throw new StepError(`couldn't get node for nodeName "${node}": node "${node}" not found`);
  }
  return placement.shouldRun;
}
