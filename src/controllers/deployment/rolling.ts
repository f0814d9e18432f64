/** RollingUpdate: the new ReplicaSet up, the old ones down, within surge and unavailability. */
import type { ReplicaSet } from '../../api/types/index.ts';
import { allOf, attempt, type Knowledge, type Sets, type Steps } from './actions.ts';
import { cleanUp } from './cleanup.ts';
import { syncReplicaSets } from './new-replicaset.ts';
import { byCreation } from './order.ts';
import { syncRolloutStatus } from './progress.ts';
import { resize } from './resize.ts';
import {
  activeOf,
  availableOf,
  maxSurgeOf,
  minAvailableOf,
  newSizeOf,
  sizeOf,
  sumOf,
  wantedOf,
} from './sizes.ts';
import { isComplete } from './status.ts';

/** One kind of move a sync: the new ReplicaSet, else the old ones, else clean-up; then status. */
export function* rollingUpdate(known: Knowledge): Steps<void> {
  const sets = yield* syncReplicaSets(known, true);
  const moved = (yield* moveNew(known, sets)) || (yield* moveOld(known, sets));
  if (!moved && isComplete(known.deployment, known.deployment.status)) {
    yield* cleanUp(known, sets.oldRSs);
  }
  yield* syncRolloutStatus(known, sets);
}

function* moveNew(known: Knowledge, sets: Sets): Steps<boolean> {
  const { newRS } = sets;
  if (newRS === undefined) return false;
  const { deployment } = known;
  const wanted = wantedOf(deployment);
  const size = sizeOf(newRS);
  const target = size > wanted ? wanted : newSizeOf(deployment, sumOf(allOf(sets), sizeOf), size);
  const why = `rolling update: ${wanted} wanted, surge ${maxSurgeOf(deployment)}, new`;
  return (yield* resize(known, newRS, target, why)).scaled;
}

/** Scales old ReplicaSets down; true if any was. An API error counts as nothing scaled. */
function* moveOld(known: Knowledge, sets: Sets): Steps<boolean> {
  const oldRSs = [...activeOf(sets.oldRSs)].sort(byCreation);
  const { newRS } = sets;
  if (newRS === undefined || oldRSs.length === 0) return false;
  const unavailableNew = sizeOf(newRS) - availableOf(newRS);
  const headroom = sumOf(allOf(sets), sizeOf) - minAvailableOf(known.deployment) - unavailableNew;
  if (headroom <= 0) return false;
  const outcome = yield* attempt(shrink(known, newRS, oldRSs, headroom));
  if (outcome.error === undefined) return outcome.value > 0;
  yield { kind: 'note', because: `old ReplicaSets not scaled down: ${outcome.error.message}` };
  return false;
}

/** Removes unavailable replicas within `headroom`, then available ones above the minimum. */
function* shrink(
  known: Knowledge,
  newRS: ReplicaSet,
  oldRSs: readonly ReplicaSet[],
  headroom: number,
): Steps<number> {
  const cleaned = yield* removeUnhealthy(known, oldRSs, headroom);
  if (cleaned === undefined) return 0;
  return cleaned.removed + (yield* removeSpare(known, newRS, cleaned.oldRSs));
}

/**
 * Takes the unavailable replicas off the old ReplicaSets, oldest first, `headroom` at most.
 * Undefined as soon as one reports more available pods than its size: its status is behind, and
 * counting on it would take away too many.
 */
function* removeUnhealthy(
  known: Knowledge,
  oldRSs: readonly ReplicaSet[],
  headroom: number,
): Steps<{ readonly oldRSs: readonly ReplicaSet[]; readonly removed: number } | undefined> {
  let removed = 0;
  const updated: ReplicaSet[] = [];
  for (const oldRS of oldRSs) {
    const size = sizeOf(oldRS);
    const unhealthy = size - availableOf(oldRS);
    const left = headroom - removed;
    const count = left > 0 ? Math.min(left, unhealthy) : 0;
    if (count < 0) return undefined;
    const why = `rolling update: ${unhealthy} of ${size} unavailable, ${headroom} may go, old`;
    updated.push((yield* resize(known, oldRS, size - count, why)).replicaSet);
    removed += count;
  }
  return { oldRSs: updated, removed };
}

/** Takes replicas off the old ReplicaSets, oldest first, until only the minimum is available. */
function* removeSpare(
  known: Knowledge,
  newRS: ReplicaSet,
  oldRSs: readonly ReplicaSet[],
): Steps<number> {
  const available = sumOf(oldRSs, availableOf) + availableOf(newRS);
  const minimum = minAvailableOf(known.deployment);
  const why = `rolling update: ${available} available, ${minimum} needed, old`;
  let removed = 0;
  for (const oldRS of oldRSs) {
    const count = Math.min(sizeOf(oldRS), available - minimum - removed);
    if (count <= 0) continue;
    yield* resize(known, oldRS, sizeOf(oldRS) - count, why);
    removed += count;
  }
  return removed;
}
