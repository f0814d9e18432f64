/** Keeps the new ReplicaSet's annotations and the revision up to date, and creates it if asked. */
import type { ReplicaSet } from '../../api/types/index.ts';
import { type Knowledge, type Sets, type Steps, writeReplicaSet } from './actions.ts';
import { maxRevision, newReplicaSetAnnotations, REVISION } from './annotations.ts';
import { newCondition, progressingOf } from './conditions.ts';
import { createNewReplicaSet } from './create.ts';
import { splitReplicaSets } from './find.ts';
import { noteRevision } from './revision.ts';

/**
 * Finds the new and the old ReplicaSets and syncs the revision (upstream's
 * getAllReplicaSetsAndSyncRevision). `create`: make the new one if there is none.
 */
export function* syncReplicaSets(known: Knowledge, create: boolean): Steps<Sets> {
  const sets = splitReplicaSets(known.deployment, known.replicaSets);
  const { newRS, oldRSs } = sets;
  const revision = maxRevision(oldRSs) + 1n;
  if (newRS !== undefined) {
    return { newRS: yield* syncExisting(known, newRS, revision), oldRSs };
  }
  if (!create) return sets;
  return { newRS: yield* createNewReplicaSet(known, oldRSs, revision), oldRSs };
}

function* syncExisting(known: Knowledge, newRS: ReplicaSet, revision: bigint): Steps<ReplicaSet> {
  const { deployment } = known;
  const noted = newReplicaSetAnnotations(deployment, newRS.metadata.annotations ?? {}, revision);
  const minReadySeconds = deployment.spec?.minReadySeconds;
  const metadata = { ...newRS.metadata, annotations: noted.annotations };
  const before = newRS.spec?.minReadySeconds ?? 0;
  const minReadyDiffers = before !== (minReadySeconds ?? 0);
  if (noted.changed || minReadyDiffers) {
    const spec = newRS.spec && { ...newRS.spec, minReadySeconds };
    const because = minReadyDiffers
      ? `new ReplicaSet: minReadySeconds from ${before} to ${minReadySeconds ?? 0}`
      : `new ReplicaSet: annotations of the Deployment and revision ${noted.annotations[REVISION]}`;
    const stored = yield* writeReplicaSet(
      'updateReplicaSet',
      { ...newRS, metadata, spec },
      because,
    );
    known.replicaSets = known.replicaSets.map((each) => (each === newRS ? stored : each));
    return stored;
  }
  const found =
    progressingOf(deployment) === undefined
      ? newCondition(
          'Progressing',
          'True',
          'FoundNewReplicaSet',
          `Found new replica set "${newRS.metadata.name}"`,
          known.now,
        )
      : undefined;
  yield* noteRevision(known, noted.annotations[REVISION] ?? '', found);
  return { ...newRS, metadata };
}
