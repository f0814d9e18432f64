/** Whether a node is still heard of, and what its conditions become when it isn't. Pure. */
import type { NodeReady } from '../../api/node.ts';
import { timeText } from '../../api/time.ts';
import type { Node } from '../../api/types/index.ts';

export type NodeCondition = NonNullable<NonNullable<Node['status']>['conditions']>[number];

/** What was seen of a node at the last look. */
export interface Seen {
  readonly ready: NodeReady | undefined;
  /** renewTime of its Lease; undefined: none was seen since the status last changed. */
  readonly renewTime: string | undefined;
}

export interface Sight {
  readonly ready: NodeReady | undefined;
  /** renewTime of its Lease, "" if that has none; undefined if there is no Lease. */
  readonly renewTime: string | undefined;
}

/** Milliseconds a node may be silent: usually, and before its kubelet first spoke. */
export interface Grace {
  readonly usualMs: number;
  readonly startupMs: number;
}

export interface Judgement {
  readonly seen: Seen;
  /** `heard`: silent from now on. `born`: since it was created. `silent`: as long as before. */
  readonly stamp: 'heard' | 'born' | 'silent';
  readonly graceMs: number;
}

/** Compares what is there with what was seen; `seen` is undefined for a node never looked at. */
export function judge(sight: Sight, seen: Seen | undefined, grace: Grace): Judgement {
  const { ready } = sight;
  const graceMs = ready === undefined ? grace.startupMs : grace.usualMs;
  const base = byStatus(ready, seen);
  const isRenewed = sight.renewTime !== undefined && isNewer(sight.renewTime, seen?.renewTime);
  if (!isRenewed) return { ...base, graceMs };
  return { seen: { ...base.seen, renewTime: sight.renewTime }, stamp: 'heard', graceMs };
}

function byStatus(
  ready: NodeReady | undefined,
  seen: Seen | undefined,
): Pick<Judgement, 'seen' | 'stamp'> {
  if (ready === undefined) {
    if (seen === undefined) return { seen: { ready, renewTime: undefined }, stamp: 'born' };
    return { seen: { ...seen, ready }, stamp: 'silent' };
  }
  const isKnown = seen?.ready !== undefined && seen.ready.heartbeatTime === ready.heartbeatTime;
  // A node that posted its status anew is looked at without its Lease, as upstream does.
  if (!isKnown) return { seen: { ready, renewTime: undefined }, stamp: 'heard' };
  return { seen: { ready, renewTime: seen.renewTime }, stamp: 'silent' };
}

function isNewer(renewTime: string, before: string | undefined): boolean {
  if (before === undefined) return true;
  return before !== '' && before < renewTime;
}

const WATCHED_CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/**
 * The conditions that a node gets when nothing was heard of it for too long; none if its Ready
 * condition says so already. NetworkUnavailable is not the kubelet's. `now` in ms.
 */
export function unknownConditions({ metadata, status }: Node, now: number): NodeCondition[] {
  const lastTransitionTime = timeText(now);
  const changed: NodeCondition[] = [];
  for (const type of WATCHED_CONDITIONS) {
    const current = status?.conditions?.find((condition) => condition.type === type);
    if (current?.status === 'Unknown') {
      if (type === 'Ready') return [];
      continue;
    }
    changed.push(
      current === undefined
        ? {
            type,
            status: 'Unknown',
            reason: 'NodeStatusNeverUpdated',
            message: 'Kubelet never posted node status.',
            lastHeartbeatTime: metadata.creationTimestamp,
            lastTransitionTime,
          }
        : {
            ...current,
            status: 'Unknown',
            reason: 'NodeStatusUnknown',
            message: 'Kubelet stopped posting node status.',
            lastTransitionTime,
          },
    );
  }
  return changed;
}
