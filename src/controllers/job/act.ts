/** Carries the steps of a sync out, one by one, and hands each answer back to the decision. */
import { FencedError } from '../../api/errors.ts';
import { keyOf } from '../../api/meta.ts';
import { apiVersionOf, JOBS } from '../../api/resource.ts';
import type { Job } from '../../api/types/index.ts';
import type {
  BecauseOptions,
  EventRecorder,
  Expectations,
  PodControl,
  PodCreation,
  SyncRun,
} from '../../runtime/controller.ts';
import { JOB_FINALIZERS_AT_ONCE } from '../../runtime/limits.ts';
import { referenceTo } from '../../runtime/pod-control.ts';
import { carryOutSteps } from '../_kit/steps.ts';
import type {
  Action,
  Answer,
  Created,
  Deleted,
  JobPod,
  NewPod,
  Removed,
  Steps,
  SyncAction,
  Victim,
} from './actions.ts';
import { removeFinalizer } from './finalizer.ts';
import type { AwaitedRemovals, Backoffs, JustFinished } from './memory.ts';
import type { JobMetrics } from './metrics.ts';
import { slotOf } from './template.ts';

/** The ports that acting goes through. */
export interface ActPorts {
  readonly expectations: Expectations;
  readonly podControl: PodControl;
  readonly events: EventRecorder;
  readonly metrics: JobMetrics;
  readonly backoffs: Backoffs;
  readonly finished: JustFinished;
  readonly removals: AwaitedRemovals;
  /** Writes must be seen by the next sync of their Job. */
  readonly guard: boolean;
  /** True if the cache shows this very pod. */
  isCached(pod: Pick<JobPod, 'key' | 'uid'>): boolean;
}

/** Pods whose finalizer was to go, by what became of them. */
interface Released {
  readonly released: readonly Victim[];
  readonly gone: readonly Victim[];
  readonly refusals: readonly unknown[];
}

/** One sync being carried out. */
export class Acting {
  readonly #ports: ActPorts;
  readonly #run: SyncRun;
  readonly #job: Job;
  readonly #key: string;
  readonly #uid: string;
  /** What the sync was about, for its metrics. */
  action: SyncAction = 'reconciling';

  constructor(ports: ActPorts, run: SyncRun, job: Job) {
    this.#ports = ports;
    this.#run = run;
    this.#job = job;
    this.#key = keyOf(job.metadata);
    this.#uid = job.metadata.uid;
  }

  /** Runs a decision to its end. Throws what makes the sync fail. */
  async play(steps: Steps<void>): Promise<void> {
    await carryOutSteps(steps, (action) => this.#carryOut(action));
  }

  async #carryOut(action: Action): Promise<Answer> {
    switch (action.kind) {
      case 'createPods':
        return await this.#createPods(action.pods);
      case 'stopPods':
        return await this.#stopPods(action.pods);
      case 'dropPods':
        return await this.#dropPods(action.pods);
      case 'removeFinalizers':
        return await this.#removeFinalizers(action.pods, action.because);
      case 'writeStatus':
        return await this.#writeStatus(action.job, action.because);
      default:
        this.#note(action);
        return undefined;
    }
  }

  #note(action: Exclude<Action, { pods: unknown } | { job: unknown }>): void {
    const { events, backoffs, finished, metrics } = this.#ports;
    switch (action.kind) {
      case 'remember':
        backoffs.set(this.#key, this.#uid, action.backoff);
        break;
      case 'finished':
        finished.add(this.#key, this.#uid);
        break;
      case 'event': {
        const { type, reason, message } = action.event;
        events.event(referenceTo(this.#job), type, reason, message);
        break;
      }
      case 'count':
        metrics.count(this.#job, action.count);
        break;
      case 'doing':
        this.action = action.action;
        break;
      case 'again':
        this.#run.again(action.delayMs, action.because);
        break;
      case 'note':
        this.#run.note(action.because);
        break;
    }
  }

  async #createPods(pods: readonly NewPod[]): Promise<Created> {
    const { expectations, podControl } = this.#ports;
    const { name, namespace = '' } = this.#job.metadata;
    const owner = { apiVersion: apiVersionOf(JOBS), kind: JOBS.kind, name, uid: this.#uid };
    const creations: PodCreation[] = pods.map((pod) => ({
      ...pod,
      namespace,
      owner,
      ofSlot: (found) => slotOf(found) === pod.slot,
    }));
    expectations.expect(this.#key, this.#uid, pods.length, []);
    const result = await podControl.createPods(this.#run, this.#job, this.#key, creations);
    for (const _ of result.notDone) expectations.creationObserved(this.#key);
    const { done: count, refused = 0, failed = 0, error } = result;
    throwIfFenced(error);
    return { count, refused, failed, error };
  }

  async #stopPods(victims: readonly Victim[]): Promise<Deleted> {
    const { failed, error } = await this.#delete(victims);
    throwIfFenced(error);
    const ready = victims.filter(({ pod }) => pod.ready).length;
    return { count: victims.length - failed, ready, error };
  }

  async #dropPods(victims: readonly Victim[]): Promise<Deleted> {
    const { expectations } = this.#ports;
    const podKeys = victims.map(({ pod }) => pod.key);
    expectations.expect(this.#key, this.#uid, 0, podKeys);
    await this.#run.barrier();
    const errors: unknown[] = [];
    let ready = 0;
    let failed = 0;
    // A few at a time: a crash in between leaves few running pods that nobody would count.
    for (let from = 0; from < victims.length; from += JOB_FINALIZERS_AT_ONCE) {
      const some = victims.slice(from, from + JOB_FINALIZERS_AT_ONCE);
      const { released, gone, refusals } = await this.#release(errors.some(isFenced) ? [] : some);
      const result = await this.#delete(released);
      const staying = some.filter((victim) => !released.includes(victim));
      for (const podKey of [...staying.map(({ pod }) => pod.key), ...result.notDone]) {
        expectations.deletionObserved(this.#key, podKey);
      }
      // Of one that is gone upstream goes on counting that it was ready, beside no active pod.
      ready += [...released, ...gone].filter(({ pod }) => pod.ready).length;
      failed += refusals.length + result.failed;
      errors.push(...refusals, ...(result.error === undefined ? [] : [result.error]));
    }
    errors.forEach(throwIfFenced);
    return { count: victims.length - failed, ready, error: errors[0] };
  }

  /**
   * Takes the finalizers off pods that go uncounted; gives those that are there without it, and
   * those that are gone. One that has changed keeps it: it may have ended well, and then has to be
   * counted.
   */
  async #release(victims: readonly Victim[]): Promise<Released> {
    const released: Victim[] = [];
    const gone: Victim[] = [];
    const refusals: unknown[] = [];
    const release = async (victim: Victim): Promise<void> => {
      const { pod, because } = victim;
      try {
        const options = this.#options(because);
        const isThere =
          !pod.job.tracked || (await removeFinalizer(this.#run, pod, options, pod.resourceVersion));
        (isThere ? released : gone).push(victim);
      } catch (error) {
        refusals.push(error);
      }
    };
    await Promise.all(victims.map(release));
    return { released, gone, refusals };
  }

  async #delete(victims: readonly Victim[]) {
    if (victims.length === 0) return { failed: 0, notDone: [], error: undefined };
    const pods = victims.map(({ pod, because }) => ({ record: pod, because }));
    const result = await this.#ports.podControl.deletePods(this.#run, this.#job, pods);
    const { failed = 0, notDone, error } = result;
    return { failed, notDone, error };
  }

  async #removeFinalizers(pods: readonly JobPod[], because: string): Promise<Removed> {
    const { removals } = this.#ports;
    const waiting = [...pods];
    const uids = new Set<string>();
    const errors: unknown[] = [];
    removals.expect(
      this.#uid,
      waiting.map(({ uid }) => uid),
    );
    await this.#run.barrier();
    const worker = async (): Promise<void> => {
      for (let pod = waiting.shift(); pod !== undefined; pod = waiting.shift()) {
        let awaited = false;
        try {
          const found = await removeFinalizer(this.#run, pod, this.#options(because));
          uids.add(pod.uid);
          // A pod that is gone is still to be seen gone: until then it looks as if it had to be
          // counted, also after it was. Upstream doesn't wait for that.
          awaited = found || this.#ports.isCached(pod);
        } catch (error) {
          errors.push(error);
        }
        if (!awaited) removals.observed(this.#uid, pod.uid);
      }
    };
    await Promise.all(Array.from({ length: JOB_FINALIZERS_AT_ONCE }, worker));
    errors.forEach(throwIfFenced);
    return { uids, error: errors[0] };
  }

  async #writeStatus(job: Job, because: string): Promise<Job> {
    const { namespace, name } = job.metadata;
    const at = { namespace, name, subresource: 'status' };
    const body = { ...job, apiVersion: apiVersionOf(JOBS), kind: JOBS.kind };
    const options = { ...this.#options(because), metadataOnly: true };
    const { metadata } = await this.#run.client.update<Job>(JOBS, at, body, options);
    return { ...job, metadata };
  }

  #options(because: string): BecauseOptions {
    if (!this.#ports.guard) return { because };
    return { because, guard: { ownerKey: this.#key, ownerUid: this.#uid } };
  }
}

function isFenced(error: unknown): boolean {
  return error instanceof FencedError;
}

/** Without the Lease nothing more may be written: the sync ends here. */
function throwIfFenced(error: unknown): void {
  if (isFenced(error)) throw error;
}
