/** Recreate: everything old down, then everything new up. */
import type { ReplicaSet } from '../../api/types/index.ts';
import type { Knowledge, Sets, Steps } from './actions.ts';
import { cleanUp } from './cleanup.ts';
import { syncReplicaSets } from './new-replicaset.ts';
import { syncRolloutStatus } from './progress.ts';
import { resize } from './resize.ts';
import { activeOf, actualOf, sumOf, wantedOf } from './sizes.ts';
import { isComplete } from './status.ts';

/** Scales the old down and waits until none of their pods runs; then creates and scales the new. */
export function* recreate(known: Knowledge): Steps<void> {
  // The new one isn't created yet: nothing may come up before the old is down.
  let sets = yield* syncReplicaSets(known, false);
  if ((yield* scaleDownOld(known, sets.oldRSs)) || oldPodsRunning(known, sets)) {
    yield* syncRolloutStatus(known, sets);
    return;
  }
  if (sets.newRS === undefined) sets = yield* syncReplicaSets(known, true);
  if (sets.newRS !== undefined) {
    yield* resize(
      known,
      sets.newRS,
      wantedOf(known.deployment),
      'recreate: no old pod is left, new',
    );
  }
  if (isComplete(known.deployment, known.deployment.status)) yield* cleanUp(known, sets.oldRSs);
  yield* syncRolloutStatus(known, sets);
}

function* scaleDownOld(known: Knowledge, oldRSs: readonly ReplicaSet[]): Steps<boolean> {
  let scaled = false;
  for (const oldRS of activeOf(oldRSs)) {
    const resized = yield* resize(known, oldRS, 0, 'recreate: old pods go first, old');
    scaled ||= resized.scaled;
  }
  return scaled;
}

/** True while an old ReplicaSet reports pods, or has one that is neither Succeeded nor Failed. */
export function oldPodsRunning(known: Pick<Knowledge, 'running'>, sets: Sets): boolean {
  if (sumOf(sets.oldRSs, actualOf) > 0) return true;
  const newUid = sets.newRS?.metadata.uid;
  return [...known.running].some((uid) => uid !== newUid);
}
