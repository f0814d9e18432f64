/** What is left of a kind after its deletion was asked for, and how long it may take. */
import { secondsMs, timeMs } from '../../api/time.ts';
import type { KubeObject, Namespace, Pod } from '../../api/types/index.ts';

/** Assumed time for finalizers to complete. */
const FINALIZER_ESTIMATE_SECONDS = 15;
const SECOND_MS = 1_000;
/** Nobody tells when the pods are gone, and any grace may be asked for. */
const LOOK_MS_MAX = 3_600_000;

/** What is left of one kind. */
export interface Remainder {
  /** Seconds until it may be gone; 0: no estimate. */
  readonly estimateSeconds: number;
  readonly count: number;
  /** Finalizer to the number of objects that wait for it. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Something is left that should have gone: no grace period and no finalizer explains it. */
  readonly unexpected: boolean;
}

export const NOTHING_LEFT: Remainder = {
  estimateSeconds: 0,
  count: 0,
  finalizers: new Map(),
  unexpected: false,
};

/**
 * Seconds the pods may take to stop: the longest grace period of those that haven't ended; 0 once
 * the namespace has been going for that long.
 */
export function graceSeconds(pods: readonly Pod[], namespace: Namespace, now: number): number {
  let longest = 0;
  for (const { spec, status } of pods) {
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') continue;
    longest = Math.max(longest, Number(spec?.terminationGracePeriodSeconds ?? 0));
  }
  const going = now - timeMs(namespace.metadata.deletionTimestamp);
  return going >= secondsMs(longest) ? 0 : longest;
}

/** Judges what a list still shows after the deletion. `graceSeconds`: see above, 0 if not pods. */
export function remainderOf(items: readonly KubeObject[], graceSeconds: number): Remainder {
  if (items.length === 0) return NOTHING_LEFT;
  const finalizers = new Map<string, number>();
  for (const { metadata } of items) {
    for (const finalizer of metadata.finalizers ?? []) {
      finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
    }
  }
  const unexpected = graceSeconds === 0 && finalizers.size === 0;
  const estimate = graceSeconds || (finalizers.size > 0 ? FINALIZER_ESTIMATE_SECONDS : 0);
  return { estimateSeconds: estimate, count: items.length, finalizers, unexpected };
}

/** Milliseconds until it looks again: half of the estimate, and a second; at most an hour. */
export function lookAgainMs(estimateSeconds: number): number {
  return Math.min((Math.floor(estimateSeconds / 2) + 1) * SECOND_MS, LOOK_MS_MAX);
}
