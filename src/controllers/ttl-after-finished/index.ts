/**
 * ttl-after-finished-controller: deletes Jobs some time after they finished, if they say so.
 * `decide.ts` says when.
 */
import { isNotFound } from '../../api/errors.ts';
import { JOBS } from '../../api/resource.ts';
import type { Job } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  SyncRun,
} from '../../runtime/controller.ts';
import type { JobRecord } from '../../runtime/informer/types.ts';
import { exponentialBuckets } from '../../runtime/metrics.ts';
import { type Decision, decide, finishedInFuture } from './decide.ts';

const NAME = 'ttl-after-finished-controller';
const WORKERS_FLAG = 'concurrent-ttl-after-finished-syncs';

/** The passport of the TTL controller for Jobs. */
export const ttlAfterFinishedController: ControllerDefinition = {
  name: NAME,
  aliases: ['ttl-after-finished'],
  gates: [],
  enabledByDefault: true,
  account: NAME,
  watches: [JOBS],
  writes: ['jobs delete'],
  flags: [WORKERS_FLAG],
  build,
};

function build(context: ControllerContext): Controller {
  const { informers, flags, clock, log, metrics } = context;
  const jobs = informers.of<Job, JobRecord>(JOBS);
  const queue = context.queue('ttl_jobs_to_delete');
  const durations = metrics.histogram(
    'ttl_after_finished_controller_job_deletion_duration_seconds',
    'The time it took to delete the job since it became eligible for deletion',
    [],
    exponentialBuckets(0.1, 2, 14),
  );
  const look = ({ key, deleting, finished }: JobRecord): void => {
    if (!deleting && finished !== '') queue.add(key);
  };
  jobs.addHandler({ add: look, update: look });

  /** The decision to delete the Job, undefined if it is not due; it comes again when it is. */
  const dueNow = (job: Job, run: SyncRun): Extract<Decision, { do: 'delete' }> | undefined => {
    const decision = decide(job, run.now);
    if (decision.do !== 'nothing' && finishedInFuture(job, run.now)) {
      log.warning('A Job finished in the future: clocks differ, it is kept until then', {
        job: `${job.metadata.namespace}/${job.metadata.name}`,
      });
    }
    if (decision.do === 'complain') throw new Error(decision.problem);
    if (decision.do === 'wait') run.again(decision.waitMs, decision.because);
    return decision.do === 'delete' ? decision : undefined;
  };

  const reconcile = async (key: string, run: SyncRun): Promise<void> => {
    const cached = jobs.lister.get(key);
    if (cached === undefined || dueNow(cached, run) === undefined) return;
    // The TTL may have been changed meanwhile: only what the server has now counts.
    const job = await unlessGone(run.client.get<Job>(JOBS, placeOf(cached)));
    const due = job && dueNow(job, run);
    if (job === undefined || due === undefined) return;
    const { uid } = job.metadata;
    const options = { uid, propagationPolicy: 'Foreground', because: due.because } as const;
    const deleted = await unlessGone(
      run.client.delete(JOBS, placeOf(job), options).then(() => true),
    );
    if (deleted) durations.observe((clock.now() - due.expiredAt) / 1_000);
  };
  const workers = Number(flags[WORKERS_FLAG]);
  return { queues: [{ queue, workers, announcesNothing: true, reconcile }] };
}

function placeOf({ metadata }: Job): { readonly namespace: string; readonly name: string } {
  return { namespace: metadata.namespace ?? '', name: metadata.name };
}

async function unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
