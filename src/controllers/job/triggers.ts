/** From informer events to queue keys, and expectations lowered by what is seen. */
import { keyOf, sameController, sameMap } from '../../api/meta.ts';
import { isTerminal } from '../../api/pod.ts';
import { JOBS } from '../../api/resource.ts';
import type { Job } from '../../api/types/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Expectations, WorkQueue } from '../../runtime/controller.ts';
import type { Handler, JobRecord, PodRecord } from '../../runtime/informer/types.ts';
import { Adopters } from '../_kit/adopters.ts';
import type { AwaitedRemovals, Backoffs, JustFinished } from './memory.ts';
import type { JobMetrics } from './metrics.ts';
import type { JobCaches } from './observe.ts';
import { managedByOther } from './spec.ts';

/** What the handlers work with. */
export interface TriggerDeps {
  readonly caches: JobCaches;
  readonly queue: WorkQueue;
  /** Keys of pods whose finalizer may have to go. */
  readonly orphans: WorkQueue;
  readonly expectations: Expectations;
  readonly backoffs: Backoffs;
  readonly finished: JustFinished;
  readonly removals: AwaitedRemovals;
  readonly metrics: JobMetrics;
  readonly clock: Clock;
}

/** Changes of pods and of a Job's status are waited for this long, so that one sync sees many. */
const BATCH_MS = 1_000;
const BATCH_BECAUSE = 'its pods or its status changed; more may follow';

/** Handlers of Jobs and of pods. */
export class JobTriggers {
  readonly #deps: TriggerDeps;
  readonly #adopters: Adopters<Job, JobRecord>;

  constructor(deps: TriggerDeps) {
    this.#deps = deps;
    this.#adopters = new Adopters(deps.caches.jobs, ({ spec }) => spec?.selector, true);
  }

  /** New, changed and deleted Jobs are queued at once, Jobs whose status changed a little later. */
  jobs(): Handler<JobRecord> {
    return {
      add: (job) => this.#jobAdded(job),
      update: (job, previous) => {
        if (job.uid === previous.uid) this.#jobUpdated(job, previous);
        else {
          this.#jobGone(previous);
          this.#jobAdded(job);
        }
      },
      delete: (job) => this.#jobGone(job),
    };
  }

  /** Pod events queue the pod's Job, or those that would adopt it. */
  pods(): Handler<PodRecord> {
    return {
      add: (pod, initial) => this.#podAdded(pod, initial),
      update: (pod, previous) => this.#podUpdated(pod, previous),
      delete: (pod) => {
        this.#countEnded(pod, undefined);
        this.#podGone(pod, true);
      },
    };
  }

  #jobAdded({ key, managedBy }: JobRecord): void {
    const other = managedByOther(managedBy);
    if (other !== undefined) this.#deps.metrics.managedByOther(other);
    this.#deps.queue.add(key);
  }

  #jobUpdated(job: JobRecord, previous: JobRecord): void {
    const { queue, clock, finished, backoffs, removals } = this.#deps;
    const { key, deadlineMs, startedAt } = job;
    if (job.finished !== '') {
      finished.forget(key);
      backoffs.forget(key);
      // Nobody counts its pods any more, so nobody asks.
      removals.forget(job.uid);
      // All finalizers are gone by now; should one be left, nobody else would remove it.
      this.#queueOrphansOf(job);
      return;
    }
    if (job.generation === previous.generation) queue.addAfter(key, BATCH_MS, BATCH_BECAUSE);
    else queue.add(key);
    if (startedAt === 0 || deadlineMs === undefined || deadlineMs === previous.deadlineMs) return;
    const left = startedAt + deadlineMs - clock.now();
    queue.addAfter(key, left, `its deadline was set to ${deadlineMs / 1_000} s`);
  }

  #jobGone(job: JobRecord): void {
    const { queue, finished, backoffs, removals } = this.#deps;
    finished.forget(job.key);
    backoffs.forget(job.key);
    removals.forget(job.uid);
    this.#queueOrphansOf(job);
    queue.add(job.key);
  }

  #queueOrphansOf({ uid }: JobRecord): void {
    const { caches, orphans } = this.#deps;
    for (const { job, key } of caches.pods.controlledBy(uid)) if (job?.tracked) orphans.add(key);
  }

  #podAdded(pod: PodRecord, initial: boolean): void {
    this.#countEnded(undefined, pod);
    if (pod.deleting) {
      this.#podGone(pod, false);
      return;
    }
    if (pod.controller === undefined) {
      this.#queueOrphan(pod);
      // At the start every Job is queued anyway.
      if (!initial) this.#queueAdopters(pod);
      return;
    }
    const job = this.#jobOf(pod);
    if (job === undefined) return;
    if (job.finished !== '') this.#queueOrphan(pod);
    if (initial) return;
    this.#deps.expectations.creationObserved(job.key);
    this.#queueSoon(job.key);
  }

  #podUpdated(pod: PodRecord, previous: PodRecord): void {
    if (pod.uid !== previous.uid) {
      this.#countEnded(previous, undefined);
      this.#podGone(previous, true);
      this.#podAdded(pod, false);
      return;
    }
    this.#countEnded(previous, pod);
    if (pod.deleting) {
      this.#podGone(pod, false);
      return;
    }
    const moved = !sameController(pod.controller, previous.controller);
    if (moved) this.#queueOwner(previous, pod);
    if (pod.controller !== undefined) {
      this.#queueOwner(pod, pod);
      return;
    }
    this.#queueOrphan(pod);
    if (moved || !sameMap(pod.labels, previous.labels)) this.#queueAdopters(pod);
  }

  /** Queues the Job that controls (or controlled) a pod, as the pod is `now`. */
  #queueOwner(pod: PodRecord, now: PodRecord): void {
    const job = this.#jobOf(pod);
    if (job === undefined) return;
    if (!now.job?.tracked) this.#deps.removals.observed(job.uid, now.uid);
    else if (job.finished !== '') this.#queueOrphan(now);
    this.#queueSoon(job.key);
  }

  /** A pod that is going counts as deleted; `final` once it is gone. */
  #podGone(pod: PodRecord, final: boolean): void {
    const { expectations, removals } = this.#deps;
    const job = this.#jobOf(pod);
    if (job === undefined || job.finished !== '') {
      if (!final) this.#queueOrphan(pod);
      return;
    }
    expectations.deletionObserved(job.key, pod.key);
    if (final || !pod.job?.tracked) removals.observed(job.uid, pod.uid);
    this.#queueSoon(job.key);
  }

  #queueSoon(key: string): void {
    this.#deps.queue.addAfter(key, BATCH_MS, BATCH_BECAUSE);
  }

  /**
   * Also for a pod of a Job that has ended, which upstream leaves alone until it is deleted: it was
   * created by a call without an answer, and nobody else would remove its finalizer.
   */
  #queueOrphan(pod: PodRecord): void {
    if (pod.job?.tracked) this.#deps.orphans.add(pod.key);
  }

  #queueAdopters(pod: PodRecord): void {
    // A Job that has ended adopts nothing any more.
    const keys = this.#adopters.of(pod, ({ finished }) => finished === '');
    for (const key of keys) this.#queueSoon(key);
  }

  #countEnded(before: PodRecord | undefined, after: PodRecord | undefined): void {
    const was = before !== undefined && isEndedAndTracked(before);
    const is = after !== undefined && isEndedAndTracked(after);
    if (was !== is) this.#deps.metrics.endedWithFinalizer(is ? 'add' : 'delete');
  }

  /** The cached Job that a pod's controller reference means: kind, name and UID. */
  #jobOf({ controller, namespace }: PodRecord): JobRecord | undefined {
    if (controller?.kind !== JOBS.kind) return undefined;
    const job = this.#deps.caches.jobs.record(keyOf({ namespace, name: controller.name }));
    return job?.uid === controller.uid ? job : undefined;
  }
}

function isEndedAndTracked(pod: PodRecord): boolean {
  return isTerminal(pod) && pod.job?.tracked === true;
}
