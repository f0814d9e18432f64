/** The metrics of the autoscaler. */
import type { Metrics } from '../../runtime/metrics.ts';
import { exponentialBuckets } from '../../runtime/metrics.ts';

const SUBSYSTEM = 'horizontal_pod_autoscaler_controller';
const ACTION = "The label 'action' should be either 'scale_down', 'scale_up', or 'none'.";
const ERROR = "the label 'error' should be either 'spec', 'internal', or 'none'.";
const FIRST =
  'Note that if both spec and internal errors happen during a reconciliation, the first one to ' +
  'occur is reported in `error` label.';
const TYPE = "The label 'metric_type' corresponds to HPA.spec.metrics[*].type";
const RESULT = ['action', 'error'] as const;
const METRIC_RESULT = ['action', 'error', 'metric_type'] as const;
const BUCKETS = exponentialBuckets(0.001, 2, 15);

/** What a reconciliation or a metric came to. */
export interface Result {
  readonly action: 'scale_up' | 'scale_down' | 'none';
  /** `spec`: what the user wrote is impossible. */
  readonly error: 'spec' | 'internal' | 'none';
}

/** Observes what the autoscaler does. */
export interface Monitor {
  reconciled(result: Result, durationMs: number): void;
  computed(result: Result, type: string, durationMs: number): void;
  /** How many autoscalers there are. */
  known(count: number): void;
  desired(namespace: string, name: string, replicas: number): void;
}

/** Registers the families. */
export function createMonitor(metrics: Metrics): Monitor {
  const reconciliations = metrics.counter(
    `${SUBSYSTEM}_reconciliations_total`,
    `[BETA] Number of reconciliations of HPA controller. ${ACTION} Also, ${ERROR} ${FIRST}`,
    RESULT,
  );
  const durations = metrics.histogram(
    `${SUBSYSTEM}_reconciliation_duration_seconds`,
    '[BETA] The time(seconds) that the HPA controller takes to reconcile once. ' +
      `${ACTION} Also, ${ERROR} ${FIRST}`,
    RESULT,
    BUCKETS,
  );
  const computations = metrics.counter(
    `${SUBSYSTEM}_metric_computation_total`,
    `[BETA] Number of metric computations. ${ACTION} Also, ${ERROR} ${TYPE}`,
    METRIC_RESULT,
  );
  const computationDurations = metrics.histogram(
    `${SUBSYSTEM}_metric_computation_duration_seconds`,
    '[BETA] The time(seconds) that the HPA controller takes to calculate one metric. ' +
      `${ACTION} The label 'error' should be either 'spec', 'internal', or 'none'. ${TYPE}`,
    METRIC_RESULT,
    BUCKETS,
  );
  const known = metrics.gauge(
    `${SUBSYSTEM}_num_horizontal_pod_autoscalers`,
    '[ALPHA] Current number of controlled HPA objects.',
    [],
  );
  const desired = metrics.gauge(
    `${SUBSYSTEM}_desired_replicas`,
    '[ALPHA] Current desired replica count for HPA objects.',
    ['namespace', 'hpa_name'],
  );
  return {
    reconciled: ({ action, error }, durationMs) => {
      reconciliations.inc({ action, error });
      durations.observe({ action, error }, durationMs / 1_000);
    },
    computed: ({ action, error }, type, durationMs) => {
      computations.inc({ action, error, metric_type: type });
      computationDurations.observe({ action, error, metric_type: type }, durationMs / 1_000);
    },
    known: (count) => known.set(count),
    desired: (namespace, name, replicas) => desired.set({ namespace, hpa_name: name }, replicas),
  };
}
