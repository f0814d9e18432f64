/** One sync of a Job: observe, claim, decide, act. */
import { JOB_TRACKING_FINALIZER } from '../../api/job.ts';
import { keyOf } from '../../api/meta.ts';
import { apiVersionOf, JOBS, PODS } from '../../api/resource.ts';
import type { Job } from '../../api/types/index.ts';
import { carryOutClaims } from '../../runtime/claim.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SyncRun } from '../../runtime/controller.ts';
import { referenceTo } from '../../runtime/pod-control.ts';
import { StaleCache } from '../../runtime/requeue.ts';
import { wasCutOff } from '../_kit/cut-off.ts';
import { Acting, type ActPorts } from './act.ts';
import type { Observed } from './counts.ts';
import { decide, type JobConfig } from './decide.ts';
import { unknownCompletionMode } from './events.ts';
import type { FailureReader } from './facts.ts';
import { asJobPods, type JobCaches, observeClaims } from './observe.ts';
import { knowsCompletionMode, managedByOther } from './spec.ts';

const MS_PER_SECOND = 1_000;
/** Until the caches have caught up after a restart. */
const UNSURE_DELAY_MS = 1_000;

/** Everything a sync works with. */
export interface JobSyncDeps extends ActPorts {
  readonly caches: JobCaches;
  readonly failures: FailureReader;
  readonly config: JobConfig;
  readonly clock: Clock;
  caughtUp(ownerKey: string, ownerUid: string): boolean;
}

/** Syncs Jobs one key at a time; different keys may be under way together. */
export class JobSync {
  readonly #deps: JobSyncDeps;

  constructor(deps: JobSyncDeps) {
    this.#deps = deps;
  }

  /** Brings one Job's pods and status up to date. Throws what should be tried again. */
  async reconcile(key: string, run: SyncRun): Promise<void> {
    const { caches, guard, caughtUp, expectations, backoffs, finished } = this.#deps;
    const record = caches.jobs.record(key);
    if (record !== undefined && guard && !caughtUp(key, record.uid)) {
      throw new StaleCache(`the caches have not reached the last write made for ${key}`);
    }
    if (record === undefined || record.finished !== '') {
      expectations.forget(key);
      backoffs.forget(key);
      finished.forget(key);
      return;
    }
    const other = managedByOther(record.managedBy);
    if (other !== undefined) return run.note(`the Job is managed by ${other}`);
    if (finished.has(key, record.uid)) {
      return run.note('the Job has ended; the cache does not show it yet');
    }
    const cached = caches.jobs.get(key);
    if (cached === undefined) return;
    const job = { ...cached, apiVersion: apiVersionOf(JOBS), kind: JOBS.kind };
    if (!knowsCompletionMode(job)) return this.#refuse(job);
    await this.#sync(run, job);
  }

  #refuse(job: Job): void {
    const { type, reason, message } = unknownCompletionMode();
    this.#deps.events.event(referenceTo(job), type, reason, message);
  }

  async #sync(run: SyncRun, job: Job): Promise<void> {
    const { clock, config, metrics, caches, removals } = this.#deps;
    const { uid } = job.metadata;
    const startedAt = clock.monotonic();
    const acting = new Acting(this.#deps, run, job);
    const count = (failed: boolean): void => {
      const seconds = (clock.monotonic() - startedAt) / MS_PER_SECOND;
      metrics.synced(job, acting.action, failed, seconds);
    };
    try {
      const observed = await this.#observe(run, job);
      await acting.play(decide(observed, run.now, config));
      count(false);
    } catch (error) {
      if (!wasCutOff(run, error)) count(true);
      throw error;
    } finally {
      // Of a Job that went meanwhile nobody will tell that its pods were seen.
      if (caches.jobs.record(keyOf(job.metadata))?.uid !== uid) removals.forget(uid);
    }
  }

  async #observe(run: SyncRun, job: Job): Promise<Observed> {
    const { caches, expectations, podControl, removals, backoffs, failures, guard } = this.#deps;
    const key = keyOf(job.metadata);
    const { uid } = job.metadata;
    // Before the pods are looked at: what is seen between the two must not look like everything.
    const satisfied = expectations.satisfied(key, uid);
    const { owner, selectorText, claims } = observeClaims(caches, job);
    const pass = {
      owner,
      ownerResource: JOBS,
      resource: PODS,
      selectorText,
      guard,
      finalizers: [JOB_TRACKING_FINALIZER],
    };
    const pods = asJobPods(caches, await carryOutClaims(run, pass, claims));
    const { untracked, unsure } = removals.of(uid, heldUids(job));
    if (unsure > 0) {
      run.again(UNSURE_DELAY_MS, `${unsure} finalizers may or may not have been removed`);
    }
    return {
      job,
      pods,
      failures: failures.of(job, pods),
      untracked,
      announced: podControl.deleting(uid),
      satisfied,
      backoff: backoffs.get(key, uid, run.now),
    };
  }
}

/** UIDs of ended pods that the status holds until they are counted. */
function heldUids({ status }: Job): ReadonlySet<string> {
  const { succeeded = [], failed = [] } = status?.uncountedTerminatedPods ?? {};
  return new Set([...succeeded, ...failed]);
}
