/** The metric of the cronjob controller. */
import { exponentialBuckets, type Metrics } from '../../runtime/metrics.ts';

/** Reports by how many seconds a Job was created after its scheduled time. */
export type CreationSkew = (seconds: number) => void;

/** Registers the family and gives its reporter. */
export function creationSkew(metrics: Metrics): CreationSkew {
  const histogram = metrics.histogram(
    'cronjob_controller_job_creation_skew_duration_seconds',
    '[STABLE] Time between when a cronjob is scheduled to be run, and when the corresponding job ' +
      'is created',
    [],
    exponentialBuckets(1, 2, 10),
  );
  return (seconds) => histogram.observe(seconds);
}
