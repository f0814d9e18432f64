/**
 * The whole controller with the framework's own parts (pod control, intents, expectations, own
 * writes, memory) over a server in memory: watches that lag, calls that fail, processes that die.
 */
import { keyOf } from '../../../api/meta.ts';
import { JOBS, PODS, type Resource, resourceId } from '../../../api/resource.ts';
import type { Job, KubeObject, Pod } from '../../../api/types/index.ts';
import type { ObjectRef, PatchKind } from '../../../kube/types.ts';
import type {
  BecauseOptions,
  ControllerContext,
  ControllerMemoryOptions,
  QueueDefinition,
  SyncClient,
  SyncRun,
} from '../../../runtime/controller.ts';
import { createExpectations } from '../../../runtime/expectations.ts';
import type { JobRecord } from '../../../runtime/informer/types.ts';
import { Intents } from '../../../runtime/intents.ts';
import { createMemory, type Memory } from '../../../runtime/memory.ts';
import { createOwnWrites, type OwnWrites } from '../../../runtime/own-writes.ts';
import { createPodControl } from '../../../runtime/pod-control.ts';
import { type Random, seededRandom } from '../../../runtime/random.ts';
import { memoryStore } from '../../../runtime/testing/memory-store.ts';
import { type FakeContext, fakeContext } from '../../_kit/testing/fake-context.ts';
import { jobController } from '../index.ts';
import { NOW } from './build.ts';
import { JobServer, mustFind } from './server.ts';

const NAME = 'job-controller';
const FLAGS = { 'concurrent-job-syncs': 1 };

/** One process that leads. */
interface Process {
  readonly fakes: FakeContext;
  readonly ownWrites: OwnWrites;
  readonly versions: Map<string, string>;
  readonly jobs: QueueDefinition;
  readonly orphans: QueueDefinition;
  /** What is forgotten once the caches have caught up. */
  readonly atFence: (() => void)[];
}

/** A Job, its server, and the process that looks after it. */
export class JobWorld {
  readonly server: JobServer;
  readonly #store = memoryStore();
  readonly #random: Random;
  #term = 1;
  #process: Process;
  #jobsApplied: Job[] = [];
  readonly #podsApplied = new Map<string, Pod>();
  /** Because sentences of all writes so far. */
  readonly reasons: string[] = [];

  constructor(job: Job, options: { readonly seed?: number; readonly gatesOff?: string[] } = {}) {
    this.server = new JobServer(job, NOW);
    this.#random = seededRandom(options.seed ?? 1);
    this.#gatesOff = options.gatesOff ?? [];
    this.#process = this.#start(false);
  }

  readonly #gatesOff: string[];

  get key(): string {
    return keyOf(this.server.job.metadata);
  }

  get events(): readonly string[] {
    return this.#process.fakes.events.events.map(({ reason }) => reason);
  }

  /** Delivers the oldest changes of a watch. */
  deliver(which: 'jobs' | 'pods', count: number): void {
    const { informers } = this.#process.fakes;
    if (which === 'jobs') {
      for (const { object } of this.server.jobChanges.splice(0, count)) {
        this.#jobsApplied = [object];
        informers.of<Job, JobRecord>(JOBS).put(object);
        this.#process.versions.set(resourceId(JOBS), object.metadata.resourceVersion);
      }
      return;
    }
    for (const { object, deleted } of this.server.podChanges.splice(0, count)) {
      this.#applyPod(object, deleted);
      if (deleted) informers.pods().remove(object);
      else informers.pods().put(object);
      this.#process.versions.set(resourceId(PODS), object.metadata.resourceVersion);
    }
  }

  /** Delivers everything; then what only bridged the lag is forgotten, as after the fence. */
  catchUp(): void {
    this.deliver('jobs', Number.POSITIVE_INFINITY);
    this.deliver('pods', Number.POSITIVE_INFINITY);
    for (const id of [resourceId(JOBS), resourceId(PODS)]) {
      this.#process.versions.set(id, this.server.version);
    }
    for (const forget of this.#process.atFence.splice(0)) forget();
  }

  /** Time goes on, and the watches with it: they never lag by minutes. */
  async pass(ms: number): Promise<void> {
    this.deliver('jobs', Number.POSITIVE_INFINITY);
    this.deliver('pods', Number.POSITIVE_INFINITY);
    this.server.now += ms;
    await this.#process.fakes.clock.advance(ms);
  }

  /** Syncs the Job, and every pod in the orphan queue; what a sync throws is given. */
  async sync(): Promise<unknown> {
    const { jobs, orphans, fakes } = this.#process;
    const errors: unknown[] = [];
    for (const key of fakes.queues.get('job_orphan_pod')?.drain() ?? []) {
      errors.push(await this.#attempt(orphans, key));
    }
    errors.push(await this.#attempt(jobs, this.key));
    return errors.find((error) => error !== undefined);
  }

  /**
   * The process dies. A new one has what the caches had; seamless: it goes on at once, else it acts
   * only when it has caught up.
   */
  restart(seamless: boolean): void {
    this.#term++;
    this.#process = this.#start(seamless);
    if (!seamless) this.catchUp();
  }

  #start(seamless: boolean): Process {
    const fakes = fakeContext({ now: this.server.now, flags: FLAGS, gatesOff: this.#gatesOff });
    const informers = fakes.informers;
    informers.of<Job, JobRecord>(JOBS).put(...this.#jobsApplied);
    informers.pods().put(...this.#podsApplied.values());
    const store = this.#store;
    const { clock } = fakes;
    const terms = { term: this.#term, since: 0 };
    const controller = NAME;
    const ownWrites = createOwnWrites({ controller, store: store.ownWrites, ...terms });
    const expectations = createExpectations({
      controller,
      store: store.expectations,
      clock,
      ...terms,
    });
    const newId = () => this.#random.uuid();
    const intents = new Intents({ controller, table: store.intents, clock, ...terms, newId });
    if (seamless) ownWrites.restore();
    else ownWrites.clear();
    if (seamless) expectations.restore();
    else expectations.clear();
    const atFence: (() => void)[] = [() => expectations.dropRestored()];
    const versions = new Map<string, string>();
    const memory = <T>(what: string, options: ControllerMemoryOptions<T>) => {
      const made = this.#memory(what, options, fakes, seamless);
      if (options.holds === 'fence') atFence.push(() => made.dropRestored());
      return made;
    };
    const context: ControllerContext = {
      ...fakes.context,
      expectations: () => expectations,
      memory,
      caughtUp: (key, uid) => ownWrites.caughtUp(key, uid, (id) => versions.get(id) ?? ''),
      podControl: (events, { guard }) =>
        createPodControl({ intents, events, random: this.#random, guard }),
    };
    const built = jobController.build(context);
    const [jobs, orphans] = built?.queues ?? [];
    if (jobs === undefined || orphans === undefined) throw new Error('two queues are needed');
    informers.pods().addHandler({
      add: (pod) => intents.created(resourceId(PODS), pod.namespace, pod.name),
      update: (pod) => {
        if (pod.deleting) intents.gone(pod.uid);
      },
      delete: (pod) => intents.gone(pod.uid),
    });
    return { fakes, ownWrites, versions, jobs, orphans, atFence };
  }

  #memory<T>(
    what: string,
    { encode, decode, holds = 'lead' }: ControllerMemoryOptions<T>,
    { clock }: FakeContext,
    seamless: boolean,
  ): Memory<T> {
    const controller = `${NAME}/${what}`;
    const store = this.#store.memory;
    const terms = { term: this.#term, since: 0 };
    const made = createMemory({ controller, store, clock, ...terms, encode, decode });
    if (holds === 'lead' || seamless) made.restore();
    else made.clear();
    return made;
  }

  #applyPod(pod: Pod, deleted: boolean): void {
    if (deleted) this.#podsApplied.delete(keyOf(pod.metadata));
    else this.#podsApplied.set(keyOf(pod.metadata), pod);
  }

  async #attempt(queue: QueueDefinition, key: string): Promise<unknown> {
    try {
      await queue.reconcile(key, new WorldRun(this, this.server.now));
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** A write of the controller was answered. */
  wrote(options: BecauseOptions, resource: Resource, result: KubeObject): void {
    if (options.guard === undefined) return;
    const { ownerKey, ownerUid } = options.guard;
    const { resourceVersion } = result.metadata;
    this.#process.ownWrites.record(ownerKey, ownerUid, resourceId(resource), resourceVersion);
  }
}

/** A sync whose client is the world's server. */
class WorldRun implements SyncRun {
  readonly #world: JobWorld;
  readonly now: number;
  readonly signal = new AbortController().signal;

  constructor(world: JobWorld, now: number) {
    this.#world = world;
    this.now = now;
  }

  again(): void {}

  note(): void {}

  async barrier(): Promise<void> {}

  get client(): SyncClient {
    return this as unknown as SyncClient;
  }

  async get(resource: Resource, at: ObjectRef): Promise<KubeObject> {
    const { server } = this.#world;
    if (resource === JOBS) return server.job;
    return mustFind(server.pods.get(keyOf(at)));
  }

  async create(_: Resource, __: object, body: Pod, options: BecauseOptions): Promise<Pod> {
    return this.#write(PODS, options, (server) => server.create(body));
  }

  async update(_: Resource, __: object, body: Job, options: BecauseOptions): Promise<Job> {
    return this.#write(JOBS, options, (server) => server.updateStatus(body));
  }

  async patch(
    _: Resource,
    at: ObjectRef,
    __: PatchKind,
    body: object,
    options: BecauseOptions,
  ): Promise<Pod> {
    return this.#write(PODS, options, (server) => server.patch(keyOf(at), body));
  }

  async delete(
    _: Resource,
    at: ObjectRef,
    options: BecauseOptions & { readonly uid: string },
  ): Promise<void> {
    this.#world.reasons.push(options.because);
    await this.#world.server.call(() => this.#world.server.remove(keyOf(at), options.uid));
  }

  async #write<T extends KubeObject>(
    resource: Resource,
    options: BecauseOptions,
    write: (server: JobServer) => T,
  ): Promise<T> {
    const { server } = this.#world;
    this.#world.reasons.push(options.because);
    const result = await server.call(() => write(server));
    this.#world.wrote(options, resource, result);
    return result;
  }
}
