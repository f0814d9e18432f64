/** Carries the steps of a sync out, one by one, and hands each answer back to the decision. */
import { keyOf } from '../../api/meta.ts';
import { apiVersionOf, CRON_JOBS, JOBS } from '../../api/resource.ts';
import type { CronJob, Job } from '../../api/types/index.ts';
import type { BecauseOptions, EventRecorder, SyncRun } from '../../runtime/controller.ts';
import { referenceTo } from '../../runtime/pod-control.ts';
import { carryOutSteps } from '../_kit/steps.ts';
import type { Action, Steps } from './actions.ts';
import type { CreationSkew } from './metrics.ts';

/** The ports that acting goes through. */
export interface ActPorts {
  readonly events: EventRecorder;
  readonly skew: CreationSkew;
}

/** Runs a decision about a CronJob to its end. Throws what makes the sync fail. */
export async function act(
  ports: ActPorts,
  run: SyncRun,
  cronJob: CronJob,
  steps: Steps<void>,
): Promise<void> {
  await carryOutSteps(steps, (action) => carryOut(ports, run, cronJob, action));
}

async function carryOut(
  { events, skew }: ActPorts,
  run: SyncRun,
  cronJob: CronJob,
  action: Action,
): Promise<CronJob | Job | undefined> {
  const { namespace, name, uid } = cronJob.metadata;
  const options = (because: string): BecauseOptions => {
    const guard = { ownerKey: keyOf(cronJob.metadata), ownerUid: uid };
    return { because, guard };
  };
  switch (action.kind) {
    case 'readJob':
      return await run.client.get<Job>(JOBS, { namespace, name: action.name });
    case 'readCronJob':
      return await run.client.get<CronJob>(CRON_JOBS, { namespace, name });
    case 'createJob':
      return await run.client.create<Job>(JOBS, { namespace }, action.job, options(action.because));
    case 'deleteJob':
      await deleteJob(run, action.job, action.because);
      return undefined;
    case 'writeStatus': {
      const body = { ...action.cronJob, apiVersion: apiVersionOf(CRON_JOBS), kind: CRON_JOBS.kind };
      const at = { namespace, name, subresource: 'status' };
      return await run.client.update<CronJob>(CRON_JOBS, at, body, options(action.because));
    }
    case 'event': {
      const { type, reason, message } = action.event;
      events.event(referenceTo(cronJob), type, reason, message);
      return undefined;
    }
    case 'skew':
      skew(action.seconds);
      return undefined;
    case 'again':
      run.again(action.delayMs, action.because);
      return undefined;
  }
}

async function deleteJob(run: SyncRun, job: Job, because: string): Promise<void> {
  const { namespace, name, uid } = job.metadata;
  const propagationPolicy = 'Background';
  await run.client.delete(JOBS, { namespace, name }, { because, uid, propagationPolicy });
}
