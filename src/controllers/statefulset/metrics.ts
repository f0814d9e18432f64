/** Metrics of the StatefulSet controller, there only with gate MaxUnavailableStatefulSet. */
import type { StatefulSet } from '../../api/types/index.ts';
import type { Metrics } from '../../runtime/metrics.ts';

const LABELS = ['statefulset_namespace', 'statefulset_name', 'pod_management_policy'];

/** Reports how many pods may be, and are, unavailable. */
export interface MaxUnavailableGauges {
  report(
    set: StatefulSet,
    counts: { readonly maxUnavailable: number; readonly unavailable?: number },
  ): void;
}

/** Registers the two families and gives their reporter. */
export function maxUnavailableGauges(metrics: Metrics): MaxUnavailableGauges {
  const allowed = metrics.gauge(
    'statefulset_controller_statefulset_max_unavailable',
    'Maximum number of unavailable pods allowed during StatefulSet rolling updates',
    LABELS,
  );
  const found = metrics.gauge(
    'statefulset_controller_statefulset_unavailable_replicas',
    'Current number of unavailable pods in StatefulSet',
    LABELS,
  );
  return {
    report(set, { maxUnavailable, unavailable }) {
      const labels = {
        statefulset_namespace: set.metadata.namespace ?? '',
        statefulset_name: set.metadata.name,
        pod_management_policy: set.spec?.podManagementPolicy ?? 'OrderedReady',
      };
      allowed.set(labels, maxUnavailable);
      if (unavailable !== undefined) found.set(labels, unavailable);
    },
  };
}
