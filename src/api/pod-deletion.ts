/** The order in which surplus pods are deleted (upstream's ActivePodsWithRanks), rule by rule. */

/** What ranks a pod for deletion. */
export interface DeletionFacts {
  readonly uid: string;
  readonly nodeName: string;
  readonly phase: string;
  readonly ready: boolean;
  /** Milliseconds since the epoch, 0 if unknown. */
  readonly readySince: number;
  readonly createdAt: number;
  readonly restarts: number;
  readonly initRestarts: number;
  readonly deletionCost: number;
}

/** A pod with everything the comparison needs worked out once. */
export interface RankedPod<P extends DeletionFacts = DeletionFacts> {
  readonly pod: P;
  /** Active pods of its siblings on the same node. */
  readonly siblings: number;
  readonly cost: number;
  readonly readyBucket: number;
  readonly ageBucket: number;
}

/** Upstream's rules in their order; the comparison answers with the one that decided. */
export const DeletionRule = {
  unassigned: 1,
  phase: 2,
  notReady: 3,
  cost: 4,
  siblings: 5,
  readyTime: 6,
  restarts: 7,
  age: 8,
} as const;

const NANOSECONDS_PER_MS = 1e6;

function phaseOrder(phase: string): number {
  if (phase === 'Running') return 2;
  return phase === 'Unknown' ? 1 : 0;
}

/** trunc(log2(age in nanoseconds)); -1 for an age of zero or less, so small errors don't matter. */
function ageBucket(since: number, now: number): number {
  const age = now - since;
  return age > 0 ? Math.trunc(Math.log2(age * NANOSECONDS_PER_MS)) : -1;
}

/** Prepares a pod for comparing. `siblings`: active sibling pods on its node; `now` in ms. */
export function rankForDeletion<P extends DeletionFacts>(
  pod: P,
  siblings: number,
  now: number,
  options: { readonly useCost: boolean },
): RankedPod<P> {
  return {
    pod,
    siblings,
    cost: options.useCost ? pod.deletionCost : 0,
    readyBucket: pod.ready ? ageBucket(pod.readySince, now) : 0,
    ageBucket: ageBucket(pod.createdAt, now),
  };
}

/** A time of 0 is unknown and goes first; then the smaller bucket; then the smaller UID. */
function compareTimes(a: RankedPod, b: RankedPod, timeA: number, timeB: number, buckets: number) {
  if (timeA === 0) return -1;
  if (timeB === 0) return 1;
  if (buckets !== 0) return buckets;
  return a.pod.uid < b.pod.uid ? -1 : 1;
}

/**
 * Negative if `a` is deleted before `b`, positive if after, 0 if no rule tells them apart. The
 * absolute value is the DeletionRule that decided. As upstream's, the order is not transitive
 * where some pods share exact times and others only a bucket.
 */
export function compareForDeletion(a: RankedPod, b: RankedPod): number {
  const x = a.pod;
  const y = b.pod;
  const assigned = Number(x.nodeName !== '') - Number(y.nodeName !== '');
  if (assigned !== 0) return Math.sign(assigned) * DeletionRule.unassigned;
  const phase = phaseOrder(x.phase) - phaseOrder(y.phase);
  if (phase !== 0) return Math.sign(phase) * DeletionRule.phase;
  if (x.ready !== y.ready) return x.ready ? DeletionRule.notReady : -DeletionRule.notReady;
  if (a.cost !== b.cost) return Math.sign(a.cost - b.cost) * DeletionRule.cost;
  if (a.siblings !== b.siblings) return Math.sign(b.siblings - a.siblings) * DeletionRule.siblings;
  if (x.ready && x.readySince !== y.readySince) {
    const buckets = a.readyBucket - b.readyBucket;
    const order = compareTimes(a, b, x.readySince, y.readySince, buckets);
    return Math.sign(order) * DeletionRule.readyTime;
  }
  const restarts = y.restarts - x.restarts || y.initRestarts - x.initRestarts;
  if (restarts !== 0) return Math.sign(restarts) * DeletionRule.restarts;
  if (x.createdAt !== y.createdAt) {
    const buckets = a.ageBucket - b.ageBucket;
    return Math.sign(compareTimes(a, b, x.createdAt, y.createdAt, buckets)) * DeletionRule.age;
  }
  return 0;
}
