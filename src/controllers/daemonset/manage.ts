/** Which pods each node lacks and which it has too many, apart from any update. */
import { isAvailable, isTerminal } from '../../api/pod.ts';
import {
  act,
  type Knowledge,
  listPods,
  type NodeCreation,
  type PodDeletion,
  type Steps,
} from './actions.ts';
import { nextBackoffMs, remainingMs } from './backoff.ts';
import { failedDaemonPod, succeededDaemonPod } from './events.ts';
import { byAge, type DaemonPod, HASH_LABEL, minReadySecondsOf } from './pod.ts';
import { allowsSurge } from './sizes.ts';

/** Most pods created, and most deleted, at a time. */
export const BURST_REPLICAS = 250;

/** Pods by node. Deleted ones that have ended concern only the kubelet and are left out. */
export function byNode(pods: readonly DaemonPod[]): Map<string, DaemonPod[]> {
  const nodes = new Map<string, DaemonPod[]>();
  for (const pod of pods) {
    if (pod.deleting && !pod.unanswered && isTerminal(pod.record)) continue;
    const there = nodes.get(pod.node);
    if (there === undefined) nodes.set(pod.node, [pod]);
    else there.push(pod);
  }
  return nodes;
}

/** Creates the pods that nodes lack and deletes those that they must not have. */
export function* manage(known: Knowledge, hash: string): Steps<void> {
  const pods = byNode(yield* listPods());
  const create: NodeCreation[] = [];
  const remove: PodDeletion[] = [];
  for (const { name } of known.nodes) {
    const placement = known.placements.get(name);
    const there = pods.get(name);
    if (there === undefined) {
      if (placement?.shouldRun) create.push({ node: name, because: 'the node has no pod yet' });
    } else if (placement?.mayStay) {
      const running = yield* removeEnded(known, there, remove);
      if (allowsSurge(known.set)) {
        pruneSurging(known, running, hash, remove);
        if (placement.shouldRun && running.length === 0) {
          create.push({ node: name, because: 'no pod of the node is staying' });
        }
      } else prune(running, remove);
    } else {
      const because = `the set does not run on node ${name}`;
      for (const pod of there) if (!pod.deleting) remove.push({ pod, because });
    }
  }
  remove.push(...unscheduledOnGoneNodes(known, pods), ...unanswered(known, pods, hash));
  yield* syncPods(create, remove, hash);
}

/** Creates and deletes, at most a burst of each; the rest is left to a later sync. */
export function* syncPods(
  create: readonly NodeCreation[],
  remove: readonly PodDeletion[],
  hash: string,
): Steps<void> {
  if (create.length === 0 && remove.length === 0) return;
  const cut = Math.max(create.length, remove.length) > BURST_REPLICAS;
  const at = cut ? `, ${BURST_REPLICAS} at a time` : '';
  const because = `${create.length} pods to create, ${remove.length} to delete${at}`;
  yield* act({ kind: 'note', because });
  yield {
    kind: 'syncPods',
    create: create.slice(0, BURST_REPLICAS),
    remove: remove.slice(0, BURST_REPLICAS),
    hash,
  };
}

/** Marks ended pods for deletion, failed ones with a growing wait; gives those that are staying. */
function* removeEnded(
  known: Knowledge,
  pods: readonly DaemonPod[],
  remove: PodDeletion[],
): Steps<DaemonPod[]> {
  const running: DaemonPod[] = [];
  for (const pod of pods) {
    if (pod.deleting) continue;
    const { phase } = pod.record;
    if (phase === 'Failed') yield* removeFailed(known, pod, remove);
    else if (phase === 'Succeeded') {
      yield* act({ kind: 'event', event: succeededDaemonPod(pod) });
      remove.push({ pod, because: 'pod succeeded: making it anew' });
    } else running.push(pod);
  }
  return running;
}

function* removeFailed(known: Knowledge, pod: DaemonPod, remove: PodDeletion[]): Steps<void> {
  const failed = known.failedOn(pod.node);
  const waitMs = remainingMs(failed);
  if (waitMs > 0) {
    const because = `failed pod ${pod.record.name} stays until the back-off of its node is over`;
    yield* act({ kind: 'again', delayMs: waitMs, because });
    return;
  }
  const backoffMs = nextBackoffMs(failed);
  yield* act({ kind: 'rememberFailure', node: pod.node, backoffMs });
  yield* act({ kind: 'event', event: failedDaemonPod(pod) });
  const because = `pod failed: making it anew, the next one waits ${backoffMs / 1000} s`;
  remove.push({ pod, because });
}

/** Without surge a node has one pod: the oldest. */
function prune(running: readonly DaemonPod[], remove: PodDeletion[]): void {
  const [oldest, ...others] = [...running].sort(byAge);
  if (oldest === undefined) return;
  const because = `${running.length} pods on the node: the oldest, ${oldest.record.name}, stays`;
  for (const pod of others) remove.push({ pod, because });
}

/**
 * With surge a node may have an old and a new pod, the oldest of each, as long as the old one is
 * ready and the new one isn't available yet.
 */
function pruneSurging(
  { set, now }: Knowledge,
  running: readonly DaemonPod[],
  hash: string,
  remove: PodDeletion[],
): void {
  if (running.length <= 1) return;
  const sorted = [...running].sort(byAge);
  const isNew = ({ record }: DaemonPod): boolean => record.labels[HASH_LABEL] === hash;
  const newest = sorted.find(isNew);
  const old = sorted.find((pod) => !isNew(pod));
  for (const pod of sorted) {
    if (pod === newest || pod === old) continue;
    const which = isNew(pod) ? 'new' : 'old';
    remove.push({ pod, because: `several ${which} pods on the node: the oldest stays` });
  }
  if (newest === undefined || old === undefined) return;
  if (!old.record.ready) {
    remove.push({ pod: old, because: `not ready any more, and ${newest.record.name} is new` });
  } else if (isAvailable(newest.record, minReadySecondsOf(set), now)) {
    remove.push({ pod: old, because: `new pod ${newest.record.name} is available` });
  }
}

/**
 * Deletions that were announced and got no answer are sent again where the rules would ask for them
 * anew: perhaps nobody told the server, and the nodes of these pods wait for it. Those of an update
 * are its own affair: it counts what may be unavailable.
 */
function unanswered(
  known: Knowledge,
  pods: ReadonlyMap<string, readonly DaemonPod[]>,
  hash: string,
): PodDeletion[] {
  const because = 'its deletion was announced and got no answer';
  return [...pods].flatMap(([node, there]) => {
    const placement = known.placements.get(node);
    const staying = there.filter(({ deleting }) => !deleting);
    const mustGo = (pod: DaemonPod): boolean => {
      if (placement === undefined) return pod.record.nodeName === '';
      if (!placement.mayStay || isTerminal(pod.record)) return true;
      return isSpare(known, pod, staying, hash);
    };
    return there.filter((pod) => pod.unanswered && mustGo(pod)).map((pod) => ({ pod, because }));
  });
}

/** True if one of the staying pods makes this one superfluous. */
function isSpare(
  { set, now }: Knowledge,
  pod: DaemonPod,
  staying: readonly DaemonPod[],
  hash: string,
): boolean {
  if (!allowsSurge(set)) return staying.length > 0;
  const isNew = ({ record }: DaemonPod): boolean => record.labels[HASH_LABEL] === hash;
  return staying.some((other) => {
    if (isNew(other) === isNew(pod)) return true;
    const isUp = isAvailable(other.record, minReadySecondsOf(set), now);
    return isNew(other) && (!pod.record.ready || isUp);
  });
}

/** Nobody else deletes a pod that waits for a node which is gone. */
function unscheduledOnGoneNodes(
  known: Knowledge,
  pods: ReadonlyMap<string, readonly DaemonPod[]>,
): PodDeletion[] {
  return [...pods].flatMap(([node, there]) => {
    if (known.placements.has(node)) return [];
    const waiting = there.filter(({ record, deleting }) => record.nodeName === '' && !deleting);
    return waiting.map((pod) => ({ pod, because: `node ${node} is gone` }));
  });
}
