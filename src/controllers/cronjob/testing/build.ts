/** CronJobs and their Jobs for tests: plain good ones, changed by what a test gives. */
import { controllerReference } from '../../../api/meta.ts';
import { CRON_JOBS } from '../../../api/resource.ts';
import { timeText } from '../../../api/time.ts';
import type {
  CronJob,
  CronJobStatus,
  Job,
  JobStatus,
  ObjectMeta,
} from '../../../api/types/index.ts';

/** A Thursday at ten; CronJobs were created an hour before, unless a test says otherwise. */
export const TEN = Date.parse('2016-05-19T10:00:00Z');
export const MINUTE = 60_000;
export const HOUR = 3_600_000;

/** What a test says about a CronJob. */
export interface CronFacts {
  readonly schedule?: string;
  readonly createdAt?: number;
  readonly lastAt?: number;
  readonly spec?: Partial<NonNullable<CronJob['spec']>>;
  readonly meta?: Partial<ObjectMeta>;
  readonly status?: CronJobStatus;
}

/** CronJob default/tick at each full hour, with the API server's defaults. */
export function cronOf(facts: CronFacts = {}): CronJob {
  const { schedule = '0 * * * *', createdAt = TEN - HOUR, lastAt, spec, meta, status } = facts;
  const last = lastAt === undefined ? {} : { lastScheduleTime: timeText(lastAt) };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: {
      name: 'tick',
      namespace: 'default',
      uid: 'uid-tick',
      resourceVersion: '7',
      generation: 1,
      creationTimestamp: timeText(createdAt),
      ...meta,
    },
    spec: {
      schedule,
      suspend: false,
      concurrencyPolicy: 'Allow',
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
      jobTemplate: {
        metadata: { labels: { a: 'b' }, annotations: { x: 'y' } },
        spec: { template: { spec: { restartPolicy: 'Never', containers: [] } } },
      },
      ...spec,
    },
    status: { ...status, ...last },
  };
}

/** What a test says about a Job of the CronJob. */
export interface OwnJobFacts {
  readonly name?: string;
  readonly ended?: 'Complete' | 'Failed';
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** UID of the CronJob that controls it. */
  readonly owner?: string;
}

/** A Job of default/tick that runs. */
export function ownJob(facts: OwnJobFacts = {}): Job {
  const { name = 'tick-1', ended, startedAt, endedAt, owner = 'uid-tick' } = facts;
  const conditions = ended === undefined ? [] : [{ type: ended, status: 'True' }];
  const status: JobStatus = {
    conditions,
    ...(startedAt === undefined ? {} : { startTime: timeText(startedAt) }),
    ...(endedAt === undefined ? {} : { completionTime: timeText(endedAt) }),
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion: '3',
      creationTimestamp: timeText(TEN),
      ownerReferences: [controllerReference({ name: 'tick', uid: owner }, CRON_JOBS)],
    },
    spec: { template: {} },
    status,
  };
}

/** What status.active says about a Job. */
export function activeOf(name: string) {
  return { kind: 'Job', apiVersion: 'batch/v1', namespace: 'default', name, uid: `uid-${name}` };
}
