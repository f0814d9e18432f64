/**
 * job-controller: runs the pods of Jobs until enough of them have succeeded, and counts every ended
 * pod exactly once. Start with `decide.ts`: a sync from its first step to its last; `verdict.ts`
 * says when a Job ends, `manage.ts` which pods it gets, `track.ts` how its pods are counted.
 */
import { JOBS, PODS } from '../../api/resource.ts';
import type { Job } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
} from '../../runtime/controller.ts';
import type { JobRecord } from '../../runtime/informer/types.ts';
import { FailureReader } from './facts.ts';
import { AwaitedRemovals, Backoffs, JustFinished } from './memory.ts';
import { JobMetrics } from './metrics.ts';
import type { JobCaches } from './observe.ts';
import { syncOrphan } from './orphans.ts';
import { JobSync } from './sync.ts';
import { JobTriggers } from './triggers.ts';

const NAME = 'job-controller';
const WORKERS_FLAG = 'concurrent-job-syncs';
const LIMITER = { baseDelayMs: 1_000, maxDelayMs: 60_000, bucket: null };

/** The passport of the job controller. */
export const jobController: ControllerDefinition = {
  name: NAME,
  aliases: ['job'],
  gates: [],
  enabledByDefault: true,
  account: NAME,
  watches: [JOBS, PODS],
  writes: ['pods create/delete/patch', 'jobs/status update', 'events create/patch'],
  flags: [WORKERS_FLAG],
  build,
};

function build(context: ControllerContext): Controller {
  const jobs = context.informers.of<Job, JobRecord>(JOBS);
  const pods = context.informers.pods();
  const caches: JobCaches = { jobs: jobs.lister, pods: pods.lister };
  const queue = context.queue('job', LIMITER);
  const orphans = context.queue('job_orphan_pod', LIMITER);
  const events = context.events(NAME);
  const guard = context.gate('StaleControllerConsistencyJob');
  if (context.gate('WorkloadWithJob')) {
    context.log.warning('The feature gate WorkloadWithJob is on: Jobs get no Workloads from us');
  }
  const shared = {
    caches,
    expectations: context.expectations(),
    backoffs: new Backoffs(context),
    finished: new JustFinished(context),
    removals: new AwaitedRemovals(context),
    metrics: new JobMetrics(context.metrics),
    clock: context.clock,
  };
  const sync = new JobSync({
    ...shared,
    events,
    guard,
    podControl: context.podControl(events, { guard }),
    failures: new FailureReader(pods.lister),
    config: { clearStartTime: context.gate('MutableSchedulingDirectivesForSuspendedJobs') },
    caughtUp: (key, uid) => context.caughtUp(key, uid),
    isCached: ({ key, uid }) => pods.lister.record(key)?.uid === uid,
  });
  const triggers = new JobTriggers({ ...shared, queue, orphans });
  jobs.addHandler(triggers.jobs());
  pods.addHandler(triggers.pods());
  const workers = Number(context.flags[WORKERS_FLAG]);
  return {
    queues: [
      { queue, workers, reconcile: (key, run) => sync.reconcile(key, run) },
      { queue: orphans, workers, reconcile: (key, run) => syncOrphan(caches, key, run) },
    ],
  };
}
