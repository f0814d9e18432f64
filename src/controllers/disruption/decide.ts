/** What a budget allows, and what its status says about it. Pure. */
import { scaledValue } from '../../api/int-or-percent.ts';
import { timeMs, timeText } from '../../api/time.ts';
import type { Condition, PodDisruptionBudget } from '../../api/types/index.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';

/** An evicted pod must be seen to go within this time; else it is taken to stay. */
export const DELETION_TIMEOUT_MS = 120_000;

const ALLOWED = 'DisruptionAllowed';

/** The spec and status of a budget; fields that upstream requires are there. */
export type BudgetSpec = NonNullable<PodDisruptionBudget['spec']>;
export type BudgetStatus = NonNullable<PodDisruptionBudget['status']>;

/** How many pods there should be, and how many of them must be healthy. */
export interface Counts {
  readonly expectedPods: number;
  readonly desiredHealthy: number;
}

/** True if the counts depend on how many pods the pods' controllers want. */
export function needsScale({ minAvailable, maxUnavailable }: BudgetSpec): boolean {
  return isSet(maxUnavailable) || typeof minAvailable === 'string';
}

/**
 * The counts of a budget over `podCount` pods whose controllers want `scale` in all. Percentages
 * are rounded up. Gives upstream's words for a text that is no percentage.
 */
export function countsOf(
  { minAvailable, maxUnavailable }: BudgetSpec,
  podCount: number,
  scale: number,
): Counts | { readonly problem: string } {
  if (isSet(maxUnavailable)) {
    const unavailable = scaledValue(maxUnavailable, scale, 'up');
    if (unavailable === undefined) return NO_PERCENTAGE;
    return { expectedPods: scale, desiredHealthy: Math.max(0, scale - unavailable) };
  }
  if (typeof minAvailable === 'number') {
    return { expectedPods: podCount, desiredHealthy: minAvailable };
  }
  if (!isSet(minAvailable)) return { expectedPods: 0, desiredHealthy: 0 };
  const desiredHealthy = scaledValue(minAvailable, scale, 'up');
  return desiredHealthy === undefined ? NO_PERCENTAGE : { expectedPods: scale, desiredHealthy };
}

const NO_PERCENTAGE = {
  problem: 'invalid value for IntOrString: invalid type: string is not a percentage',
};

/** The API server may send null for what is not set. */
function isSet<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

/** What is known about evictions under way. */
export interface Disrupted {
  /** Evicted pods that may still go, by name: since when. */
  readonly pods: Readonly<Record<string, string>>;
  /** Those that were expected to be gone by now and are not being deleted. */
  readonly late: readonly PodRecord[];
  /** Milliseconds until the first of those that may still go gets late. */
  readonly recheckInMs: number | undefined;
}

/** Which evictions of `status.disruptedPods` are still under way at `now` (ms). */
export function disruptedPods(
  pods: readonly PodRecord[],
  noted: Readonly<Record<string, string>> | undefined,
  now: number,
): Disrupted {
  const kept: Record<string, string> = {};
  const late: PodRecord[] = [];
  let recheckInMs: number | undefined;
  for (const pod of noted === undefined ? [] : pods) {
    const since = timeOf(noted, pod.name);
    if (pod.deleting || since === undefined) continue;
    const leftMs = timeMs(since) + DELETION_TIMEOUT_MS - now;
    if (leftMs < 0) {
      late.push(pod);
      continue;
    }
    kept[pod.name] = since;
    recheckInMs = Math.min(recheckInMs ?? leftMs, leftMs);
  }
  return { pods: kept, late, recheckInMs };
}

/** Since when a pod is noted; a pod may have the name of something that objects have anyway. */
function timeOf(noted: Readonly<Record<string, string>> | undefined, pod: string) {
  return noted !== undefined && Object.hasOwn(noted, pod) ? noted[pod] : undefined;
}

/** Pods that are ready, are not being deleted and were not evicted a moment ago. */
export function healthyCount(
  pods: readonly PodRecord[],
  disrupted: Readonly<Record<string, string>>,
  now: number,
): number {
  return pods.filter(({ name, ready, deleting }) => {
    const since = timeOf(disrupted, name);
    const isGoing = since !== undefined && timeMs(since) + DELETION_TIMEOUT_MS > now;
    return ready && !deleting && !isGoing;
  }).length;
}

/** What a status is made of. */
export interface Measured extends Counts {
  readonly currentHealthy: number;
  readonly disruptedPods: Readonly<Record<string, string>>;
}

/** The status that says so, or undefined if the budget's status says it already. */
export function nextStatus(
  { metadata, status }: PodDisruptionBudget,
  measured: Measured,
  now: number,
): BudgetStatus | undefined {
  const { currentHealthy, desiredHealthy, expectedPods, disruptedPods: disrupted } = measured;
  const spare = currentHealthy - desiredHealthy;
  const disruptionsAllowed = expectedPods <= 0 || spare <= 0 ? 0 : spare;
  const isAllowed = disruptionsAllowed > 0;
  const condition = {
    type: ALLOWED,
    status: isAllowed ? 'True' : 'False',
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    ...observed(metadata.generation),
  };
  const before = status?.conditions?.find(({ type }) => type === ALLOWED);
  const isSame =
    status?.currentHealthy === currentHealthy &&
    status.desiredHealthy === desiredHealthy &&
    status.expectedPods === expectedPods &&
    status.disruptionsAllowed === disruptionsAllowed &&
    sameTimes(status.disruptedPods ?? {}, disrupted) &&
    (status.observedGeneration ?? 0) === (metadata.generation ?? 0) &&
    before?.status === condition.status &&
    before.reason === condition.reason;
  if (isSame) return undefined;
  return {
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptionsAllowed,
    disruptedPods: disrupted,
    ...observed(metadata.generation),
    conditions: withCondition(status?.conditions ?? [], condition, now),
  };
}

/** The status of a budget that could not be worked out: nothing is allowed, and why. */
export function failSafeStatus(
  { status }: PodDisruptionBudget,
  message: string,
  now: number,
): BudgetStatus {
  const condition = {
    type: ALLOWED,
    status: 'False',
    reason: 'SyncFailed',
    message,
    ...observed(status?.observedGeneration),
  };
  return {
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
    ...status,
    disruptionsAllowed: 0,
    conditions: withCondition(status?.conditions ?? [], condition, now),
  };
}

function observed(generation: number | undefined): { observedGeneration?: number } {
  return generation === undefined ? {} : { observedGeneration: generation };
}

/** The transition time is kept while the status stays. */
function withCondition(
  conditions: readonly Condition[],
  condition: Omit<Condition, 'lastTransitionTime'>,
  now: number,
): readonly Condition[] {
  const before = conditions.find(({ type }) => type === condition.type);
  const isSameStatus = before?.status === condition.status;
  const lastTransitionTime = isSameStatus ? before.lastTransitionTime : timeText(now);
  const next = { ...condition, lastTransitionTime };
  if (before === undefined) return [...conditions, next];
  return conditions.map((one) => (one === before ? next : one));
}

function sameTimes(
  a: Readonly<Record<string, string>>,
  b: Readonly<Record<string, string>>,
): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => b[name] !== undefined && timeMs(a[name]) === timeMs(b[name]))
  );
}
