/**
 * cronjob-controller: starts a Job at each scheduled time of a CronJob and keeps the last few.
 * Start with `decide.ts`: a sync from its first step to its last; `schedule.ts` says which time is
 * due.
 */
import { apiVersionOf, CRON_JOBS, JOBS } from '../../api/resource.ts';
import type { CronJob, Job } from '../../api/types/index.ts';
import { openZones } from '../../api/zone.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  SyncRun,
} from '../../runtime/controller.ts';
import type { JobRecord, Lister } from '../../runtime/informer/types.ts';
import { type ActPorts, act } from './act.ts';
import { type CronConfig, decide } from './decide.ts';
import { creationSkew } from './metrics.ts';
import { CronTriggers } from './triggers.ts';

const NAME = 'cronjob-controller';
const WORKERS_FLAG = 'concurrent-cron-job-syncs';
/** A sync that would not see the last one's writes waits for this, or for the next event. */
const LAG_DELAY_MS = 1_000;

/** The passport of the cronjob controller. */
export const cronJobController: ControllerDefinition = {
  name: NAME,
  aliases: ['cronjob'],
  gates: [],
  enabledByDefault: true,
  account: NAME,
  watches: [CRON_JOBS, JOBS],
  writes: ['jobs create/delete', 'cronjobs/status update', 'events create/patch'],
  flags: [WORKERS_FLAG],
  build,
};

interface CronCaches {
  readonly cronJobs: Lister<CronJob>;
  readonly jobs: Lister<Job, JobRecord>;
}

interface CronDeps extends ActPorts {
  readonly caches: CronCaches;
  readonly config: CronConfig;
  caughtUp(key: string, uid: string): boolean;
}

function build(context: ControllerContext): Controller {
  const cronJobs = context.informers.of<CronJob>(CRON_JOBS);
  const jobs = context.informers.of<Job, JobRecord>(JOBS);
  const queue = context.queue('cronjob');
  const events = context.events(NAME);
  // Without a zone of its own a CronJob runs by the clock on the wall of this process.
  const zones = openZones(new Intl.DateTimeFormat().resolvedOptions().timeZone);
  const deps: CronDeps = {
    caches: { cronJobs: cronJobs.lister, jobs: jobs.lister },
    config: { zones },
    events,
    skew: creationSkew(context.metrics),
    caughtUp: (key, uid) => context.caughtUp(key, uid),
  };
  const { clock } = context;
  const triggers = new CronTriggers({ cronJobs: cronJobs.lister, queue, events, zones, clock });
  cronJobs.addHandler(triggers.cronJobs());
  jobs.addHandler(triggers.jobs());
  return {
    queues: [
      {
        queue,
        workers: Number(context.flags[WORKERS_FLAG]),
        reconcile: (key, run) => reconcile(deps, key, run),
      },
    ],
  };
}

async function reconcile(deps: CronDeps, key: string, run: SyncRun): Promise<void> {
  const { caches, config, caughtUp } = deps;
  const uid = caches.cronJobs.record(key)?.uid;
  // Without the CronJob this forgets what was written for it.
  if (!caughtUp(key, uid ?? '')) {
    run.again(LAG_DELAY_MS, 'the caches have not reached the last write made for it');
    return;
  }
  const cached = caches.cronJobs.get(key);
  if (cached === undefined) return;
  const cronJob = { ...cached, apiVersion: apiVersionOf(CRON_JOBS), kind: CRON_JOBS.kind };
  const jobs = jobsOf(caches, cronJob);
  await act(deps, run, cronJob, decide({ cronJob, jobs }, run.now, config));
}

/** Jobs whose controller has the name of the CronJob; upstream looks at nothing more either. */
function jobsOf({ jobs }: CronCaches, { metadata }: CronJob): readonly Job[] {
  const { name, namespace = '' } = metadata;
  const found: Job[] = [];
  for (const { key, controller } of jobs.list(namespace)) {
    const job = controller?.name === name ? jobs.get(key) : undefined;
    if (job !== undefined) found.push(job);
  }
  return found;
}
