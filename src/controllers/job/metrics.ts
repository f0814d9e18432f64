/** The metrics of the job controller. */
import type { Job } from '../../api/types/index.ts';
import { exponentialBuckets, type Metrics } from '../../runtime/metrics.ts';
import type { Count, SyncAction } from './actions.ts';
import { completionModeOf, limitsPerIndex } from './spec.ts';

const SYNC_LABELS = ['completion_mode', 'result', 'action'] as const;
const SYNC_BUCKETS = exponentialBuckets(0.004, 2, 15);

/** Makes the families and counts into them. */
export class JobMetrics {
  readonly #families: ReturnType<typeof families>;

  constructor(metrics: Metrics) {
    this.#families = families(metrics);
  }

  /** One sync is over, after so many seconds. */
  synced(job: Job, action: SyncAction, failed: boolean, seconds: number): void {
    const result = failed ? 'error' : 'success';
    const labels = { completion_mode: completionModeOf(job), result, action };
    this.#families.syncSeconds.observe(labels, seconds);
    this.#families.syncs.inc(labels);
  }

  /** A Job was seen that another controller manages. */
  managedByOther(controller: string): void {
    this.#families.byOther.inc({ controller_name: controller });
  }

  /** An ended pod with the tracking finalizer came (or lost it). */
  endedWithFinalizer(event: 'add' | 'delete'): void {
    this.#families.endedWithFinalizer.inc({ event });
  }

  /** What a decision counted. */
  count(job: Job, count: Count): void {
    const completion_mode = completionModeOf(job);
    const { podsFinished, indexesFinished, jobsFinished, policyActions, podsCreated } =
      this.#families;
    switch (count.metric) {
      case 'podsFinished':
        podsFinished.inc({ completion_mode, result: count.result }, count.by);
        break;
      case 'indexesFinished': {
        const backoffLimit = limitsPerIndex(job) ? 'perIndex' : 'global';
        indexesFinished.inc({ status: count.status, backoffLimit }, count.by);
        break;
      }
      case 'jobFinished':
        jobsFinished.inc({ completion_mode, result: count.result, reason: count.reason });
        break;
      case 'policyAction':
        policyActions.inc({ action: count.action }, count.by);
        break;
      case 'podsCreated':
        podsCreated.inc({ reason: count.reason, status: count.status }, count.by);
        break;
    }
  }
}

function families(metrics: Metrics) {
  const name = (ending: string): string => `job_controller_${ending}`;
  return {
    syncSeconds: metrics.histogram(
      name('job_sync_duration_seconds'),
      '[STABLE] The time it took to sync a job',
      SYNC_LABELS,
      SYNC_BUCKETS,
    ),
    syncs: metrics.counter(
      name('job_syncs_total'),
      '[STABLE] The number of job syncs',
      SYNC_LABELS,
    ),
    jobsFinished: metrics.counter(
      name('jobs_finished_total'),
      '[STABLE] The number of finished jobs',
      ['completion_mode', 'result', 'reason'],
    ),
    byOther: metrics.counter(
      name('jobs_by_external_controller_total'),
      '[ALPHA] The number of Jobs managed by an external controller',
      ['controller_name'],
    ),
    podsFinished: metrics.counter(
      name('job_pods_finished_total'),
      '[STABLE] The number of finished Pods that are fully tracked',
      ['completion_mode', 'result'],
    ),
    policyActions: metrics.counter(
      name('pod_failures_handled_by_failure_policy_total'),
      '[BETA] The number of failed Pods handled by failure policy, by the action of its rule',
      ['action'],
    ),
    endedWithFinalizer: metrics.counter(
      name('terminated_pods_tracking_finalizer_total'),
      '[BETA] The number of terminated pods that have the tracking finalizer, added and deleted',
      ['event'],
    ),
    indexesFinished: metrics.counter(
      'job_finished_indexes_total',
      '[ALPHA] The number of finished indexes, by status and kind of backoff limit',
      ['status', 'backoffLimit'],
    ),
    podsCreated: metrics.counter(
      'job_pods_creation_total',
      '[ALPHA] The number of Pods created by the Job controller, by reason and status',
      ['reason', 'status'],
    ),
  };
}
