/** The metrics of the pod garbage collector. */
import type { Metrics } from '../../runtime/metrics.ts';

/** Why a pod was deleted by force, as the label says it. */
export type Reason = 'terminated' | 'out-of-service' | 'orphaned' | 'unscheduled';

/** Counts attempts, and those that failed. */
export interface Counts {
  tried(namespace: string, reason: Reason): void;
  failed(namespace: string, reason: Reason): void;
}

/** Registers both families. */
export function removalCounts(metrics: Metrics): Counts {
  const tried = metrics.counter(
    'pod_gc_collector_force_delete_pods_total',
    'Number of pods that are being forcefully deleted since the Pod GC Controller started.',
    ['namespace', 'reason'],
  );
  const failed = metrics.counter(
    'pod_gc_collector_force_delete_pod_errors_total',
    'Number of errors encountered when forcefully deleting the pods since the Pod GC Controller ' +
      'started.',
    ['namespace', 'reason'],
  );
  return {
    tried: (namespace, reason) => tried.inc({ namespace, reason }),
    failed: (namespace, reason) => failed.inc({ namespace, reason }),
  };
}
