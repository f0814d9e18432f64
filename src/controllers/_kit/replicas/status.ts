/** Status of a ReplicaSet: counts, the ReplicaFailure condition, when to look again. */
import { findCondition, removeCondition, replaceCondition } from '../../../api/condition.ts';
import type { StringMap } from '../../../api/meta.ts';
import { availableIn, isAvailable, type PodReadiness } from '../../../api/pod.ts';
import { repeatedMatch, selectorFromMap } from '../../../api/selector.ts';
import { timeText } from '../../../api/time.ts';
import type { ReplicaSetCondition, ReplicaSetStatus } from '../../../api/types/index.ts';
import type { ReplicaPlan } from './decide.ts';

const REPLICA_FAILURE = 'ReplicaFailure';

/** What is read of a pod for the status. */
export interface CountedPod extends PodReadiness {
  readonly labels: StringMap;
}

/** Everything the status depends on. */
export interface StatusInput {
  readonly current: ReplicaSetStatus | undefined;
  readonly generation: number;
  readonly minReadySeconds: number;
  readonly templateLabels: StringMap;
  /** Active pods it owns, counted before this sync created or deleted any. */
  readonly pods: readonly CountedPod[];
  /** Pods it owns that are being deleted; undefined leaves the field out. */
  readonly terminating: number | undefined;
  /** The server is known to drop terminatingReplicas: its absence is no difference. */
  readonly terminatingDropped: boolean;
  /** The error of creating or deleting, and what was tried. */
  readonly failure?: { readonly verb: ReplicaPlan['verb']; readonly message: string };
  /** Wall time, milliseconds since the epoch. */
  readonly now: number;
}

/** A status, and when it may change without any event. */
export interface StatusDecision {
  readonly status: ReplicaSetStatus;
  /** False if the stored status says the same already. */
  readonly changed: boolean;
  /** What changes, for the journal. */
  readonly because: string;
  /** Ready pods wait for minReadySeconds: look again after this. */
  readonly again?: { readonly delayMs: number; readonly because: string };
}

/** Computes the status and compares it with the stored one. */
export function decideStatus(input: StatusInput): StatusDecision {
  const { current, generation, minReadySeconds, pods, now } = input;
  const fullyLabeled = repeatedMatch(selectorFromMap(input.templateLabels));
  const counts = { labeled: 0, ready: 0, available: 0 };
  let nextMs: number | undefined;
  for (const pod of pods) {
    if (fullyLabeled(pod.labels)) counts.labeled++;
    if (!pod.ready) continue;
    counts.ready++;
    if (isAvailable(pod, minReadySeconds, now)) counts.available++;
    const waitMs = availableIn(pod, minReadySeconds, now);
    if (waitMs !== undefined && (nextMs === undefined || waitMs < nextMs)) nextMs = waitMs;
  }
  const before = current?.conditions ?? [];
  const conditions = conditionsAfter(before, input);
  const { conditions: _, terminatingReplicas: __, ...rest } = current ?? { replicas: 0 };
  const status: ReplicaSetStatus = {
    ...rest,
    replicas: pods.length,
    fullyLabeledReplicas: counts.labeled,
    readyReplicas: counts.ready,
    availableReplicas: counts.available,
    ...(input.terminating === undefined ? {} : { terminatingReplicas: input.terminating }),
    observedGeneration: generation,
    ...(conditions.length > 0 ? { conditions } : {}),
  };
  const changes = changedCounts(current, status, input.terminatingDropped);
  if (conditions !== before) changes.push(`condition ${REPLICA_FAILURE}`);
  return {
    status,
    changed: changes.length > 0,
    because: changes.length > 0 ? changes.join(', ') : 'status is as stored',
    again: againFor(counts, minReadySeconds, nextMs),
  };
}

/** A failure is noted once and stays as it is until a pass without one removes it. */
function conditionsAfter(
  before: readonly ReplicaSetCondition[],
  { failure, now }: StatusInput,
): readonly ReplicaSetCondition[] {
  if (failure === undefined) return removeCondition(before, REPLICA_FAILURE);
  if (findCondition(before, REPLICA_FAILURE) !== undefined) return before;
  return replaceCondition(before, {
    type: REPLICA_FAILURE,
    status: 'True',
    lastTransitionTime: timeText(now),
    reason: failure.verb === 'delete' ? 'FailedDelete' : 'FailedCreate',
    message: failure.message,
  });
}

const COUNTS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
] as const;

/** An absent count is 0, but an absent terminatingReplicas is not: it has never been written. */
function changedCounts(
  current: ReplicaSetStatus | undefined,
  next: ReplicaSetStatus,
  terminatingDropped: boolean,
): string[] {
  const changes: string[] = [];
  for (const name of COUNTS) {
    const [before, after] = [current?.[name] ?? 0, next[name] ?? 0];
    if (before !== after) changes.push(`${name} ${before}->${after}`);
  }
  const [before, after] = [current?.terminatingReplicas, next.terminatingReplicas];
  if (before !== after && !(before === undefined && terminatingDropped)) {
    changes.push(`terminatingReplicas ${before ?? 'none'}->${after ?? 'none'}`);
  }
  return changes;
}

function againFor(
  { ready, available }: { readonly ready: number; readonly available: number },
  minReadySeconds: number,
  nextMs: number | undefined,
): StatusDecision['again'] {
  if (minReadySeconds <= 0 || ready === available) return undefined;
  return {
    delayMs: nextMs ?? minReadySeconds * 1000,
    because: `${ready - available} of ${ready} ready pods wait for minReadySeconds ${minReadySeconds}`,
  };
}
