/** Metrics of the replica engine; ReplicationControllers count into the same family, as upstream. */
import type { Metrics } from '../../../runtime/metrics.ts';

/** What the age ratio looks at in a pod. */
export interface AgedPod {
  readonly ready: boolean;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

const AGE_RATIO_BUCKETS = [0.25, 0.5, 1, 2, 4, 8];

/** Reports, for pods chosen by order, their age against that of the youngest ready pod. */
export type AgeRatios = (pods: readonly AgedPod[], chosen: readonly AgedPod[], now: number) => void;

/** Registers the family and gives its reporter. */
export function ageRatios(metrics: Metrics): AgeRatios {
  const histogram = metrics.histogram(
    'replicaset_controller_sorting_deletion_age_ratio',
    "The ratio of chosen deleted pod's ages to the current youngest pod's age (at the time). Should " +
      'be <2. The intent of this metric is to measure the rough efficacy of the ' +
      "LogarithmicScaleDown feature gate's effect on the sorting (and deletion) of pods when a " +
      'replicaset scales down. This only considers Ready pods when calculating and reporting.',
    [],
    AGE_RATIO_BUCKETS,
  );
  return (pods, chosen, now) => {
    const youngest = pods.reduce((at, pod) => (pod.ready ? Math.max(at, pod.createdAt) : at), 0);
    const youngestAge = now - youngest;
    for (const pod of chosen) {
      if (pod.ready && youngestAge > 0) {
        histogram.observe(Math.trunc((now - pod.createdAt) / youngestAge));
      }
    }
  };
}
