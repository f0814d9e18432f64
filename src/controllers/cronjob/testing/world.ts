/** A CronJob under the whole controller: a server in memory, watches that lag, calls that fail. */
import { ApiError, TransportError } from '../../../api/errors.ts';
import { keyOf } from '../../../api/meta.ts';
import { CRON_JOBS, JOBS, type Resource, resourceId } from '../../../api/resource.ts';
import { timeText } from '../../../api/time.ts';
import type { CronJob, Job, KubeObject } from '../../../api/types/index.ts';
import type { ObjectRef } from '../../../kube/types.ts';
import type { BecauseOptions, SyncClient, SyncRun } from '../../../runtime/controller.ts';
import type { JobRecord } from '../../../runtime/informer/types.ts';
import { fakeContext } from '../../_kit/testing/fake-context.ts';
import { refusal } from '../../_kit/testing/fake-run.ts';
import { cronJobController } from '../index.ts';

interface Change {
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly gone: boolean;
}

/** A cluster with one CronJob. */
export class CronWorld {
  cronJob: CronJob;
  readonly jobs = new Map<string, Job>();
  /** Scheduled times of all Jobs that were ever created, by their annotation. */
  readonly started: string[] = [];
  readonly faults: ('unsent' | 'lost')[] = [];
  readonly #changes: Change[] = [];
  readonly #applied = new Map<string, KubeObject>();
  now: number;
  #fakes;
  #reconcile: (key: string, run: SyncRun) => Promise<void>;
  #version = 100;

  constructor(cronJob: CronJob, now: number) {
    this.now = now;
    this.cronJob = cronJob;
    this.#change(CRON_JOBS, cronJob);
    [this.#fakes, this.#reconcile] = this.#start();
  }

  get running(): readonly Job[] {
    return [...this.jobs.values()].filter(({ status }) => status?.completionTime === undefined);
  }

  /** The process dies; the next one has what the caches had. */
  restart(): void {
    [this.#fakes, this.#reconcile] = this.#start();
  }

  /** Delivers the oldest changes. */
  deliver(count: number): void {
    for (const { resource, object, gone } of this.#changes.splice(0, count)) {
      const informer = this.#fakes.informers.of<KubeObject>(resource);
      const id = `${resourceId(resource)} ${keyOf(object.metadata)}`;
      if (gone) this.#applied.delete(id);
      else this.#applied.set(id, object);
      if (gone) informer.remove(object);
      else informer.put(object);
    }
  }

  /** Syncs; gives what the sync threw. */
  async sync(): Promise<unknown> {
    try {
      await this.#reconcile(keyOf(this.cronJob.metadata), this.#run());
      return undefined;
    } catch (error) {
      return error;
    }
  }

  edit(spec: Partial<NonNullable<CronJob['spec']>>): void {
    const before = this.cronJob.spec ?? { schedule: '', jobTemplate: {} };
    this.#storeCron({ ...this.cronJob, spec: { ...before, ...spec } });
  }

  /** A Job that runs comes to its end. */
  end(at: number, type: 'Complete' | 'Failed'): void {
    const { running } = this;
    const job = running[at % Math.max(1, running.length)];
    if (job === undefined) return;
    const completionTime = timeText(this.now);
    this.#storeJob({ ...job, status: { completionTime, conditions: [{ type, status: 'True' }] } });
  }

  #start() {
    const fakes = fakeContext({ now: this.now, flags: { 'concurrent-cron-job-syncs': 1 } });
    for (const [id, object] of this.#applied) {
      const resource = id.startsWith(resourceId(JOBS)) ? JOBS : CRON_JOBS;
      fakes.informers.of<KubeObject, JobRecord>(resource).put(object);
    }
    const [queue] = cronJobController.build(fakes.context)?.queues ?? [];
    if (queue === undefined) throw new Error('a queue is needed');
    return [fakes, queue.reconcile] as const;
  }

  #run(): SyncRun {
    const client = {
      get: async (resource: Resource, at: ObjectRef) => this.#get(resource, at),
      create: (_: Resource, __: object, body: Job) => this.#call(() => this.#create(body)),
      update: (_: Resource, __: object, body: CronJob) => this.#call(() => this.#update(body)),
      delete: (_: Resource, at: ObjectRef, options: BecauseOptions & { uid: string }) =>
        this.#call(() => this.#delete(at, options.uid)),
    };
    return {
      client: client as unknown as SyncClient,
      signal: new AbortController().signal,
      now: this.now,
      again: () => {},
      note: () => {},
      barrier: async () => {},
    };
  }

  async #call<T>(write: () => T): Promise<T> {
    const fault = this.faults.shift();
    if (fault === 'unsent') throw new TransportError('refused');
    const result = write();
    if (fault === 'lost') throw new TransportError('reset');
    return result;
  }

  #get(resource: Resource, at: ObjectRef): KubeObject {
    const found = resource === CRON_JOBS ? this.cronJob : this.jobs.get(keyOf(at));
    if (found === undefined) throw refusal(404, 'NotFound');
    return found;
  }

  #create(body: Job): Job {
    if (this.jobs.has(keyOf(body.metadata))) throw refusal(409, 'AlreadyExists');
    const key = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
    this.started.push(body.metadata.annotations?.[key] ?? '');
    const uid = `uid-${this.started.length}`;
    return this.#storeJob({
      ...body,
      metadata: { ...body.metadata, uid, creationTimestamp: timeText(this.now) },
    });
  }

  #update(body: CronJob): CronJob {
    if (body.metadata.resourceVersion !== this.cronJob.metadata.resourceVersion) {
      throw refusal(409, 'Conflict');
    }
    return this.#storeCron({ ...this.cronJob, status: body.status });
  }

  #delete(at: ObjectRef, uid: string): void {
    const job = this.jobs.get(keyOf(at));
    if (job === undefined) throw refusal(404, 'NotFound');
    if (job.metadata.uid !== uid) throw new ApiError(409, 'Conflict');
    this.jobs.delete(keyOf(at));
    this.#changes.push({ resource: JOBS, object: job, gone: true });
  }

  #storeCron(cronJob: CronJob): CronJob {
    this.cronJob = this.#change(CRON_JOBS, cronJob);
    return this.cronJob;
  }

  #storeJob(job: Job): Job {
    const stored = this.#change(JOBS, job);
    this.jobs.set(keyOf(stored.metadata), stored);
    return stored;
  }

  #change<T extends KubeObject>(resource: Resource, object: T): T {
    const resourceVersion = String(++this.#version);
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion } };
    this.#changes.push({ resource, object: stored, gone: false });
    return stored;
  }
}
