/** Which pods must go by force, and why. Pure. */
import type { Node } from '../../api/types/index.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';

/** A pod that goes. */
export interface Victim {
  readonly pod: PodRecord;
  readonly because: string;
}

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/** True for a pod that has ended: it uses nothing but a place in the store. */
export function hasEnded({ phase }: PodRecord): boolean {
  return phase !== 'Pending' && phase !== 'Running' && phase !== 'Unknown';
}

/**
 * Of the ended pods those beyond the threshold: evicted ones first, then the oldest, then by name.
 * A threshold of 0 or less keeps all.
 */
export function beyondThreshold(
  ended: readonly PodRecord[],
  threshold: number,
  isEvicted: (pod: PodRecord) => boolean,
): readonly Victim[] {
  const excess = ended.length - threshold;
  if (threshold <= 0 || excess <= 0) return [];
  const rank = new Map(ended.map((pod) => [pod, isEvicted(pod) ? 0 : 1]));
  const ordered = [...ended].sort(
    (a, b) =>
      (rank.get(a) ?? 0) - (rank.get(b) ?? 0) ||
      a.createdAt - b.createdAt ||
      (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  );
  const because = `${ended.length} pods have ended, ${threshold} may be kept`;
  return ordered.slice(0, excess).map((pod) => ({ pod, because }));
}

/** Pods that are being deleted on a node that is out of service and not ready. */
export function onLostNodes(
  pods: readonly PodRecord[],
  nodeOf: (name: string) => Node | undefined,
): readonly Victim[] {
  const lost = new Map<string, boolean>();
  const isLost = (name: string): boolean => {
    const known = lost.get(name);
    if (known !== undefined) return known;
    const found = isOutOfService(nodeOf(name));
    lost.set(name, found);
    return found;
  };
  return pods
    .filter(({ deleting, nodeName }) => deleting && nodeName !== '' && isLost(nodeName))
    .map((pod) => ({
      pod,
      because: `it is being deleted, and node ${pod.nodeName} is out of service and not ready`,
    }));
}

function isOutOfService(node: Node | undefined): boolean {
  if (node === undefined) return false;
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  const isTainted = (node.spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE);
  return isTainted && ready?.status !== 'True';
}

/** Pods that are being deleted and never came to a node: no kubelet will finish that. */
export function neverScheduled(pods: readonly PodRecord[]): readonly Victim[] {
  return pods
    .filter(({ deleting, nodeName }) => deleting && nodeName === '')
    .map((pod) => ({ pod, because: 'it is being deleted and was never scheduled' }));
}

/** Names of nodes that pods are bound to and that do not exist. */
export function missingNodes(
  pods: readonly PodRecord[],
  exists: (name: string) => boolean,
): ReadonlySet<string> {
  const names = new Set(pods.map(({ nodeName }) => nodeName));
  names.delete('');
  for (const name of names) if (exists(name)) names.delete(name);
  return names;
}
