/** Deleting old ReplicaSets beyond the revision history limit. */
import { isNotFound } from '../../api/errors.ts';
import type { ReplicaSet } from '../../api/types/index.ts';
import { attempt, type Knowledge, type Steps, step } from './actions.ts';
import { revisionOf } from './annotations.ts';
import { byRevision } from './order.ts';
import { actualOf, historyLimitOf, sizeOf } from './sizes.ts';

function isIdle(replicaSet: ReplicaSet): boolean {
  const observed = replicaSet.status?.observedGeneration ?? 0;
  return (
    actualOf(replicaSet) === 0 &&
    sizeOf(replicaSet) === 0 &&
    (replicaSet.metadata.generation ?? 0) <= observed
  );
}

/**
 * Of the old ReplicaSets that aren't being deleted, the lowest revisions beyond the limit go, if
 * they are empty and have been observed so. One that must stay is not replaced by another.
 */
export function* cleanUp(known: Knowledge, oldRSs: readonly ReplicaSet[]): Steps<void> {
  const limit = historyLimitOf(known.deployment);
  if (limit === undefined) return;
  const cleanable = oldRSs.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const excess = Math.max(0, cleanable.length - limit);
  for (const replicaSet of cleanable.sort(byRevision).slice(0, excess)) {
    if (!isIdle(replicaSet)) continue;
    const because =
      `${cleanable.length} old ReplicaSets, history limit ${limit}: ` +
      `${replicaSet.metadata.name} of revision ${revisionOf(replicaSet) ?? 'unknown'} goes`;
    const outcome = yield* attempt(step({ kind: 'deleteReplicaSet', replicaSet, because }));
    if (outcome.error !== undefined && !isNotFound(outcome.error)) throw outcome.error;
  }
}
