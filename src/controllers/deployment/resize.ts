/** Changing the size of one ReplicaSet, together with the annotations that tell why. */
import type { ReplicaSet } from '../../api/types/index.ts';
import { type Knowledge, type Steps, writeReplicaSet } from './actions.ts';
import { sizeAnnotationsDiffer, sizeAnnotationsFor } from './annotations.ts';
import { scalingReplicaSet } from './events.ts';
import { sizeOf } from './sizes.ts';

/** What became of a ReplicaSet. */
export interface Resized {
  /** Its size was changed. */
  readonly scaled: boolean;
  readonly replicaSet: ReplicaSet;
}

/**
 * Sets a ReplicaSet to `size` and refreshes its size annotations. Same size: nothing is written,
 * unless `annotations` asks to write them where they differ. An event follows a changed size.
 */
export function* resize(
  known: Knowledge,
  replicaSet: ReplicaSet,
  size: number,
  why: string,
  options: { readonly annotations: boolean } = { annotations: false },
): Steps<Resized> {
  const { deployment } = known;
  const from = sizeOf(replicaSet);
  const { name, annotations } = replicaSet.metadata;
  const annotate = options.annotations && sizeAnnotationsDiffer(replicaSet, deployment);
  if (from === size && !annotate) return { scaled: false, replicaSet };
  const next: ReplicaSet = {
    ...replicaSet,
    metadata: {
      ...replicaSet.metadata,
      annotations: { ...annotations, ...sizeAnnotationsFor(deployment) },
    },
    spec: replicaSet.spec && { ...replicaSet.spec, replicas: size },
  };
  const change =
    from === size
      ? `ReplicaSet ${name} keeps ${size}`
      : `ReplicaSet ${name} from ${from} to ${size}`;
  const stored = yield* writeReplicaSet('scaleReplicaSet', next, `${why}: ${change}`);
  if (from === size) return { scaled: false, replicaSet: stored };
  yield { kind: 'event', event: scalingReplicaSet(name, from, size) };
  return { scaled: true, replicaSet: stored };
}
