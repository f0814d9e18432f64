/** Pods that were said to be disrupted and then were not: the condition is taken back. Pure. */
import { isTerminal } from '../../api/pod.ts';
import { timeText } from '../../api/time.ts';
import type { Pod } from '../../api/types/index.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';

/** A pod that isn't being deleted so long after it was said to be disrupted isn't disrupted. */
export const STALE_AFTER_MS = 120_000;

/** Milliseconds until the condition is stale, 0 if it is; undefined if it never gets stale. */
export function staleInMs(pod: PodRecord, now: number): number | undefined {
  if (pod.deleting || pod.disruptionTargetAt === undefined || isTerminal(pod)) return undefined;
  return Math.max(0, pod.disruptionTargetAt + STALE_AFTER_MS - now);
}

/** The pod with its DisruptionTarget condition set to False, without reason and message. */
export function withoutDisruption(pod: Pod, now: number): Pod {
  const { generation } = pod.metadata;
  const conditions = (pod.status?.conditions ?? []).map((condition) =>
    condition.type === 'DisruptionTarget'
      ? {
          type: condition.type,
          status: 'False',
          lastTransitionTime: timeText(now),
          ...(generation === undefined ? {} : { observedGeneration: generation }),
        }
      : condition,
  );
  return { ...pod, apiVersion: 'v1', kind: 'Pod', status: { ...pod.status, conditions } };
}
