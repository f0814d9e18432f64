/** Which pods count, which are not ready, and of which nothing is known. Pure. */
import type { PodMetric } from './proposal.ts';

/** What is looked at in a pod beside its metric. */
export interface AutoscaledPod {
  readonly name: string;
  readonly phase: string;
  readonly deleting: boolean;
  /** Only asked for CPU. Times are milliseconds since the epoch. */
  readonly startedAt?: number;
  /** Status of the Ready condition, undefined without one. */
  readonly readyStatus?: string;
  readonly readyChangedAt?: number;
}

/** When a pod's CPU is taken seriously, milliseconds. */
export interface CpuTimes {
  readonly initializationMs: number;
  readonly readinessDelayMs: number;
}

/** Pods by what their metrics are worth; those that are ready are only counted. */
export interface Groups {
  readonly ready: number;
  readonly unready: ReadonlySet<string>;
  readonly missing: ReadonlySet<string>;
  readonly ignored: ReadonlySet<string>;
}

/** Groups pods; `cpu` is given if it is their CPU that was measured. `now` is wall time. */
export function groupPods(
  pods: readonly AutoscaledPod[],
  metrics: ReadonlyMap<string, PodMetric>,
  now: number,
  cpu?: CpuTimes,
): Groups {
  let ready = 0;
  const unready = new Set<string>();
  const missing = new Set<string>();
  const ignored = new Set<string>();
  for (const pod of pods) {
    const metric = metrics.get(pod.name);
    if (pod.deleting || pod.phase === 'Failed') ignored.add(pod.name);
    else if (pod.phase === 'Pending') unready.add(pod.name);
    else if (metric === undefined) missing.add(pod.name);
    else if (cpu !== undefined && isCpuUnready(pod, metric, now, cpu)) unready.add(pod.name);
    else ready++;
  }
  return { ready, unready, missing, ignored };
}

/**
 * While a pod may still be starting: it isn't ready, or was measured before it had been ready for a
 * whole window. Later: it isn't ready and never was.
 */
function isCpuUnready(
  { startedAt, readyStatus, readyChangedAt = 0 }: AutoscaledPod,
  metric: PodMetric,
  now: number,
  { initializationMs, readinessDelayMs }: CpuTimes,
): boolean {
  if (readyStatus === undefined || startedAt === undefined) return true;
  const isNotReady = readyStatus === 'False';
  if (startedAt + initializationMs > now) {
    return isNotReady || metric.at < readyChangedAt + metric.windowMs;
  }
  return isNotReady && startedAt + readinessDelayMs > readyChangedAt;
}
