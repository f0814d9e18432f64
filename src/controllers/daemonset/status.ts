/** Status of a DaemonSet, counted by node. */
import { isAvailable } from '../../api/pod.ts';
import type { DaemonSet, DaemonSetStatus } from '../../api/types/index.ts';
import type { Knowledge } from './actions.ts';
import { byNode } from './manage.ts';
import { byAge, type DaemonPod, isUpdated, minReadySecondsOf } from './pod.ts';

/** The numbers of a status. */
export type Counts = Required<
  Pick<
    DaemonSetStatus,
    | 'desiredNumberScheduled'
    | 'currentNumberScheduled'
    | 'numberMisscheduled'
    | 'numberReady'
    | 'updatedNumberScheduled'
    | 'numberAvailable'
    | 'numberUnavailable'
  >
>;

/** Counts nodes; of several pods on one the first by `byAge` speaks for it. */
export function countNodes(known: Knowledge, pods: readonly DaemonPod[], hash: string): Counts {
  const { set, now } = known;
  const counts = {
    desiredNumberScheduled: 0,
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    numberReady: 0,
    updatedNumberScheduled: 0,
    numberAvailable: 0,
    numberUnavailable: 0,
  };
  const nodes = byNode(pods);
  for (const [node, { shouldRun }] of known.placements) {
    const [pod] = [...(nodes.get(node) ?? [])].sort(byAge);
    if (!shouldRun) {
      if (pod !== undefined) counts.numberMisscheduled++;
      continue;
    }
    counts.desiredNumberScheduled++;
    if (pod === undefined) continue;
    counts.currentNumberScheduled++;
    if (pod.record.ready) counts.numberReady++;
    if (isAvailable(pod.record, minReadySecondsOf(set), now)) counts.numberAvailable++;
    if (isUpdated(pod, set, hash)) counts.updatedNumberScheduled++;
  }
  counts.numberUnavailable = counts.desiredNumberScheduled - counts.numberAvailable;
  return counts;
}

/**
 * The fields of the status that a sync sets, and what changes, empty if nothing is to be written.
 * The generation counts as observed only if this sync worked on it.
 */
export function nextStatus(
  { metadata, status }: DaemonSet,
  counts: Counts,
  worked: boolean,
): { readonly status: DaemonSetStatus; readonly changes: readonly string[] } {
  const changes: string[] = [];
  for (const [name, count] of Object.entries(counts)) {
    const before = status?.[name as keyof Counts] ?? 0;
    if (before !== count) changes.push(`${name} ${before}->${count}`);
  }
  const { generation = 0 } = metadata;
  const observed = status?.observedGeneration ?? 0;
  if (worked && observed < generation) {
    changes.push(`observedGeneration ${observed}->${generation}`);
  }
  return { status: worked ? { ...counts, observedGeneration: generation } : counts, changes };
}
