/** What controllers ask about a Node. */
import type { StringMap } from './meta.ts';
import { type RecordFields, recordFields } from './record.ts';
import { timeMs } from './time.ts';
import type { Node, Taint } from './types/index.ts';

/** The Ready condition as far as the health of a node is judged by it. */
export interface NodeReady {
  readonly status: string;
  readonly heartbeatTime: string;
}

/** What `nodeRecordFields` gives: the record that the Node informer holds. */
export interface NodeRecordFields extends RecordFields {
  /** Taints that drive pods away, in order. */
  readonly noExecute: readonly Taint[];
  /** Undefined if no kubelet ever posted it. */
  readonly ready: NodeReady | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

const NO_TAINTS: readonly Taint[] = Object.freeze([]);
const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';
const ZONE_BETA = 'failure-domain.beta.kubernetes.io/zone';
const REGION_BETA = 'failure-domain.beta.kubernetes.io/region';

/** The record of a whole Node. */
export function nodeRecordFields(node: Node): NodeRecordFields {
  const noExecute = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    ...recordFields(node),
    noExecute: noExecute.length === 0 ? NO_TAINTS : noExecute,
    ready: ready && { status: ready.status, heartbeatTime: ready.lastHeartbeatTime ?? '' },
    createdAt: timeMs(node.metadata.creationTimestamp),
  };
}

/**
 * Names the zone of a node by its labels, the older ones first; "" if it has none. Region and zone
 * are parted by ":", NUL, ":", as in upstream's metrics.
 */
export function zoneKey(labels: StringMap): string {
  const zone = labels[ZONE_BETA] ?? labels[ZONE] ?? '';
  const region = labels[REGION_BETA] ?? labels[REGION] ?? '';
  return zone === '' && region === '' ? '' : `${region}:\u0000:${zone}`;
}
