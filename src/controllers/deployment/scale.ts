/** The scaling pass: a changed spec.replicas is spread over the ReplicaSets, no rollout step. */
import type { Deployment, ReplicaSet } from '../../api/types/index.ts';
import { allOf, type Knowledge, type Sets, type Steps } from './actions.ts';
import { DESIRED_REPLICAS, desiredReplicasOf, maxReplicasOf } from './annotations.ts';
import { byCreationNewest, bySizeNewer, bySizeOlder } from './order.ts';
import { resize } from './resize.ts';
import { activeOf, availableOf, maxSurgeOf, sizeOf, strategyOf, sumOf, wantedOf } from './sizes.ts';

const INTEGER = /^[+-]?\d+$/;

/** True if an active ReplicaSet was last sized for another spec.replicas. */
export function isScalingEvent(deployment: Deployment, sets: Sets): boolean {
  return activeOf(allOf(sets)).some((replicaSet) => {
    const desired = desiredReplicasOf(replicaSet);
    return desired !== undefined && desired !== wantedOf(deployment);
  });
}

/**
 * The one ReplicaSet that takes a new size as a whole: the only active one; if none is active the
 * new one, else the newest. Undefined if several are active, or there is none.
 */
export function activeOrLatest(sets: Sets): ReplicaSet | undefined {
  const active = activeOf(allOf(sets));
  if (active.length > 1) return undefined;
  return active[0] ?? sets.newRS ?? [...sets.oldRSs].sort(byCreationNewest)[0];
}

/** True if the new ReplicaSet has all wanted replicas, was sized for them, all are available. */
export function isSaturated(deployment: Deployment, newRS: ReplicaSet | undefined): boolean {
  if (newRS === undefined) return false;
  const wanted = wantedOf(deployment);
  const desired = newRS.metadata.annotations?.[DESIRED_REPLICAS] ?? '';
  return (
    INTEGER.test(desired) &&
    Number(desired) === wanted &&
    sizeOf(newRS) === wanted &&
    availableOf(newRS) === wanted
  );
}

/** Nearest whole number, halves away from zero. */
function rounded(value: number): number {
  return value < 0 ? Math.ceil(value - 0.5) : Math.floor(value + 0.5);
}

/**
 * By how much a ReplicaSet would change if it kept its part of the whole: its size times the new
 * maximum over the maximum it was sized for. Without that annotation status.replicas stands in.
 */
export function replicaSetFraction(deployment: Deployment, replicaSet: ReplicaSet): number {
  const size = sizeOf(replicaSet);
  const wanted = wantedOf(deployment);
  if (wanted === 0) return -size;
  const before = maxReplicasOf(replicaSet) || (deployment.status?.replicas ?? 0);
  if (before === 0) return 0;
  return rounded((size * (wanted + maxSurgeOf(deployment))) / before) - size;
}

/** New sizes, in the order in which they are written. */
export interface Shares {
  readonly toAdd: number;
  readonly sizes: readonly { readonly replicaSet: ReplicaSet; readonly size: number }[];
}

/**
 * Spreads what is to be added (or removed) over the active ReplicaSets in proportion to their
 * sizes, the largest first; ties go to the newest when growing, the oldest when shrinking. What
 * rounding leaves over goes to the first.
 */
export function proportionalShares(
  deployment: Deployment,
  replicaSets: readonly ReplicaSet[],
): Shares {
  const wanted = wantedOf(deployment);
  const allowed = wanted > 0 ? wanted + maxSurgeOf(deployment) : 0;
  const toAdd = allowed - sumOf(replicaSets, sizeOf);
  if (toAdd === 0) {
    return { toAdd, sizes: replicaSets.map((each) => ({ replicaSet: each, size: sizeOf(each) })) };
  }
  const limit = toAdd > 0 ? Math.min : Math.max;
  let rest = toAdd;
  const sizes = [...replicaSets].sort(toAdd > 0 ? bySizeNewer : bySizeOlder).map((replicaSet) => {
    const share = rest === 0 ? 0 : limit(replicaSetFraction(deployment, replicaSet), rest);
    rest -= share;
    return { replicaSet, size: sizeOf(replicaSet) + share };
  });
  const [first, ...others] = sizes;
  if (first === undefined) return { toAdd, sizes };
  return { toAdd, sizes: [{ ...first, size: Math.max(0, first.size + rest) }, ...others] };
}

/**
 * The scaling pass. `scalingEvent`: it was chosen because a size annotation differs; if then no
 * size has to change, the annotations alone are brought up to date. Upstream leaves them, comes to
 * the same pass at each sync and never rolls out again (kubernetes#138036, #138840).
 */
export function* scalingPass(known: Knowledge, sets: Sets, scalingEvent: boolean): Steps<void> {
  const { deployment } = known;
  const wanted = wantedOf(deployment);
  const only = activeOrLatest(sets);
  if (only !== undefined) {
    const why = `scaling: ${wanted} wanted, one to carry them`;
    yield* resize(known, only, wanted, why, { annotations: scalingEvent });
    return;
  }
  const newestFirst = { ...sets, oldRSs: [...sets.oldRSs].sort(byCreationNewest) };
  if (isSaturated(deployment, sets.newRS)) {
    for (const oldRS of activeOf(newestFirst.oldRSs)) {
      yield* resize(known, oldRS, 0, `scaling: the new ReplicaSet has all ${wanted}, old`);
    }
    return;
  }
  const active = activeOf(allOf(newestFirst));
  if (strategyOf(deployment) === 'RollingUpdate') {
    const { toAdd, sizes } = proportionalShares(deployment, active);
    const why = `scaling: ${wanted} wanted, ${toAdd} to add over ${sizes.length} in proportion`;
    for (const { replicaSet, size } of sizes) {
      yield* resize(known, replicaSet, size, why, { annotations: true });
    }
    return;
  }
  if (!scalingEvent) return;
  for (const replicaSet of active) {
    const why = `scaling: ${wanted} wanted, sizes are left to the strategy`;
    yield* resize(known, replicaSet, sizeOf(replicaSet), why, { annotations: true });
  }
}
