/** The metrics of evictions. */
import type { Metrics } from '../../runtime/metrics.ts';

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240];
const NANOSECONDS_PER_MS = 1e6;
/** Upstream multiplies nanoseconds by a second; dashboards know its values. */
const SECOND_NANOSECONDS = 1e9;

/** Tells of a pod that was evicted `lateMs` after it was due. */
export type CountEviction = (lateMs: number) => void;

/** Registers both families. */
export function evictionMetrics(metrics: Metrics): CountEviction {
  const total = metrics.counter(
    'taint_eviction_controller_pod_deletions_total',
    'Total number of Pods deleted by TaintEvictionController since its start.',
    [],
  );
  const latency = metrics.histogram(
    'taint_eviction_controller_pod_deletion_duration_seconds',
    'Latency, in seconds, between the time when a taint effect has been activated for the Pod ' +
      'and its deletion via TaintEvictionController.',
    [],
    BUCKETS,
  );
  return (lateMs) => {
    total.inc();
    latency.observe(Math.round(lateMs * NANOSECONDS_PER_MS) * SECOND_NANOSECONDS);
  };
}
