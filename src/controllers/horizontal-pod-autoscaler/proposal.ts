/** How many replicas a metric asks for. Pure. Amounts are thousandths, as upstream counts. */
import type { Groups } from './groups.ts';

/** What was measured of one pod. */
export interface PodMetric {
  readonly value: bigint;
  /** When, ms since the epoch. */
  readonly at: number;
  readonly windowMs: number;
}

/** How far from 1 a ratio may be before anything is done. */
export interface Tolerances {
  readonly down: number;
  readonly up: number;
}

/** What a measurement comes to. */
export interface Measure {
  /** Of what is used to what it should be. */
  readonly ratio: number;
  /** For the status: percent of the requests. */
  readonly utilization?: number;
  /** For the status: the average of one pod. */
  readonly average: bigint;
}

/** Replicas asked for, and what is shown of it. */
export interface Proposal extends Measure {
  readonly replicas: number;
}

/** The metric can't say anything; the message is upstream's. */
export class MetricProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MetricProblem';
  }
}

const INT32_MAX = 2 ** 31 - 1;
const INT64_MAX = 2n ** 63n - 1n;
/** What Go's conversion makes of a float that no 64-bit integer can hold. */
const INT64_OVERFLOW = -(2n ** 63n);

type Metrics = ReadonlyMap<string, PodMetric>;

/** True if a ratio is close enough to 1. */
export function isWithin({ down, up }: Tolerances, ratio: number): boolean {
  return 1 - down <= ratio && ratio <= 1 + up;
}

/** Utilization: what the pods use of what they request, against a target in percent. */
export function measureUtilization(
  metrics: Metrics,
  requests: ReadonlyMap<string, bigint>,
  targetPercent: number,
): Measure {
  let used = 0n;
  let requested = 0n;
  let pods = 0n;
  for (const [name, { value }] of metrics) {
    const request = requests.get(name);
    if (request === undefined) continue;
    used += value;
    requested += request;
    pods++;
  }
  if (requested === 0n) throw new MetricProblem('no metrics returned matched known pods');
  const utilization = Number((used * 100n) / requested);
  return { ratio: utilization / targetPercent, utilization, average: used / pods };
}

/** The average of a pod against a target. */
export function measureAverage(metrics: Metrics, target: bigint): Measure {
  let used = 0n;
  for (const { value } of metrics.values()) used += value;
  const average = used / BigInt(metrics.size);
  return { ratio: Number(average) / Number(target), average };
}

/** What a proposal is made from. */
export interface PodMetrics {
  readonly current: number;
  readonly metrics: Metrics;
  readonly groups: Groups;
  readonly tolerances: Tolerances;
  measure(metrics: Metrics): Measure;
  /** What a pod without metrics is taken to use when that would have fewer pods do. */
  fallback(pod: string): bigint;
}

/**
 * What the pods that count ask for. Pods without metrics, and those that aren't ready, are then
 * taken to speak against a change; if they turn it round, nothing is changed.
 */
export function proposeFromPods(given: PodMetrics): Proposal {
  const { current, groups, tolerances, measure } = given;
  const metrics = ofCounting(given.metrics, groups);
  const first = measure(metrics);
  const { ratio } = first;
  const withUnready = groups.unready.size > 0 && ratio > 1;
  if (!withUnready && groups.missing.size === 0) {
    const isCalm = isWithin(tolerances, ratio);
    return { ...first, replicas: isCalm ? current : ceiling(ratio * groups.ready) };
  }
  for (const name of ratio === 1 ? [] : groups.missing) {
    metrics.set(name, unmeasured(ratio < 1 ? given.fallback(name) : 0n));
  }
  for (const name of withUnready ? groups.unready : []) metrics.set(name, unmeasured(0n));
  const next = measure(metrics).ratio;
  const isTurned = (ratio < 1 && next > 1) || (ratio > 1 && next < 1);
  if (isTurned || isWithin(tolerances, next)) return { ...first, replicas: current };
  const replicas = ceiling(next * metrics.size);
  const isWrongWay = (next < 1 && replicas > current) || (next > 1 && replicas < current);
  return { ...first, replicas: isWrongWay ? current : replicas };
}

/** The metrics of pods that count. Throws MetricProblem if there are none. */
export function ofCounting(all: Metrics, { ignored, unready }: Groups): Map<string, PodMetric> {
  const metrics = new Map(all);
  for (const name of [...ignored, ...unready]) metrics.delete(name);
  if (metrics.size > 0) return metrics;
  throw new MetricProblem('did not receive metrics for targeted pods (pods might be unready)');
}

function unmeasured(value: bigint): PodMetric {
  return { value, at: 0, windowMs: 0 };
}

/** What a value for all pods together asks for; `readyPods` is only asked if it matters. */
export function proposeFromTotal(
  usage: bigint,
  target: bigint,
  {
    current,
    tolerances,
    readyPods,
  }: {
    readonly current: number;
    readonly tolerances: Tolerances;
    readyPods(): number;
  },
): Proposal {
  const ratio = Number(usage) / Number(target);
  const measured = { ratio, average: usage };
  if (current === 0) return { ...measured, replicas: ceiling(ratio) };
  if (isWithin(tolerances, ratio)) return { ...measured, replicas: current };
  return { ...measured, replicas: ceiling(ratio * readyPods()) };
}

/** What a value to be shared by the pods asks for, over the replicas that the target reports. */
export function proposeFromShare(
  usage: bigint,
  target: bigint,
  { replicas, tolerances }: { readonly replicas: number; readonly tolerances: Tolerances },
): Proposal {
  const ratio = Number(usage) / (Number(target) * replicas);
  const isCalm = isWithin(tolerances, ratio);
  const wanted = isCalm ? replicas : ceiling(Number(usage) / Number(target));
  return { ratio, replicas: wanted, average: shareOf(usage, replicas) };
}

/** Upstream's sum of an external metric's values: it stops at the largest number there is. */
export function sumOf(values: readonly bigint[]): bigint {
  let sum = 0n;
  for (const value of values) {
    sum += value;
    if (sum > INT64_MAX) return INT64_MAX;
  }
  return sum;
}

/** The same to be shared by pods: there upstream takes a sum below zero for one that overflowed. */
export function sumToShare(values: readonly bigint[]): bigint {
  let sum = 0n;
  for (const value of values) {
    sum += value;
    if (sum < 0n || sum > INT64_MAX) return INT64_MAX;
  }
  return sum;
}

/** Rounded up. A target that reports no replicas yet gives Go's overflow, as upstream shows it. */
function shareOf(usage: bigint, replicas: number): bigint {
  if (usage >= INT64_MAX) return INT64_MAX;
  const share = Math.ceil(Number(usage) / replicas);
  return Number.isFinite(share) ? BigInt(share) : INT64_OVERFLOW;
}

function ceiling(replicas: number): number {
  return Math.min(Math.ceil(replicas), INT32_MAX);
}
