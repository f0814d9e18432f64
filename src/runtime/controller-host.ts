/** One controller while this process leads: its context, queues, workers and records. */
import type { Counter } from 'prom-client';
import { type Resource, resourceId } from '../api/resource.ts';
import type { KubeClient } from '../kube/types.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  ControllerMemory,
  ControllerMemoryOptions,
  EventRecorder,
  ExactCreates,
  Expectations,
  PodControl,
  QueueOptions,
  WorkQueue,
} from './controller.ts';
import { type Countdowns, createCountdowns } from './countdown.ts';
import { EventMemory } from './event-memory.ts';
import { createExactCreates } from './exact-create.ts';
import { createExpectations, type RememberedExpectations } from './expectations.ts';
import { Intents } from './intents.ts';
import type { Logger } from './log.ts';
import type { Lead, ManagerDeps } from './manager.ts';
import { createMemory } from './memory.ts';
import { createOwnWrites, type OwnWrites, skipsFamily } from './own-writes.ts';
import { createPodControl } from './pod-control.ts';
import { createLimiter } from './queue/limiter.ts';
import type { QueueMetrics } from './queue/metrics.ts';
import type { QueueSummary } from './queue/summary.ts';
import type { FrameworkQueue } from './queue/types.ts';
import { storedWork } from './queue/work-rows.ts';
import { createWorkQueue } from './queue/workqueue.ts';
import type { DebugPage, HealthCheck } from './status.ts';
import { runWorker } from './worker.ts';

/** Builds and runs one controller for one lead. */
export class ControllerHost {
  readonly #definition: ControllerDefinition;
  readonly #deps: ManagerDeps;
  readonly #lead: Lead;
  readonly #signal: AbortSignal;
  readonly #client: KubeClient;
  readonly #log: Logger;
  readonly #queues: FrameworkQueue[] = [];
  readonly #ownWrites: OwnWrites;
  readonly #events: EventMemory;
  readonly intents: Intents;
  /** Forget what was taken over only until the caches have caught up. */
  readonly #atFence: (() => void)[] = [];
  #skips: Counter<'group' | 'resource'> | undefined;
  #expectations: RememberedExpectations | undefined;
  #controller: Controller | undefined;
  #workers: Promise<void> = Promise.resolve();
  readonly #queueMetrics: QueueMetrics;

  constructor(
    definition: ControllerDefinition,
    deps: ManagerDeps,
    queueMetrics: QueueMetrics,
    lead: Lead,
    signal: AbortSignal,
  ) {
    this.#queueMetrics = queueMetrics;
    this.#definition = definition;
    this.#deps = deps;
    this.#lead = lead;
    this.#signal = signal;
    this.#log = deps.log.named(definition.name);
    const times = definition.limits ?? { qps: 1, burst: 1 };
    this.#client = deps.factory.client(definition.account, {
      qps: deps.qps * times.qps,
      burst: deps.burst * times.burst,
      ...(deps.useAccounts && !definition.rootClient ? { account: definition.account } : {}),
    });
    const { store, clock, random } = deps;
    const { term } = lead;
    const controller = definition.name;
    this.intents = new Intents({
      controller,
      table: store.intents,
      clock,
      term,
      signal,
      newId: () => random.uuid(),
    });
    this.#ownWrites = createOwnWrites({
      controller,
      store: store.ownWrites,
      term,
      skipped: ({ resource }) => this.#countSkip(resource),
    });
    if (lead.seamless) this.#ownWrites.restore();
    else this.#ownWrites.clear();
    this.#events = new EventMemory({ controller, store: store.memory, clock, term });
  }

  get name(): string {
    return this.#definition.name;
  }

  /** Builds the controller and its queues; false if it is disabled by its configuration. */
  build(): boolean {
    this.#controller = this.#definition.build(this.#context());
    // Stored objects were looked over; from here on an add means that something happened.
    for (const queue of this.#queues) queue.lookOver(false);
    if (this.#controller === undefined) {
      this.#log.info('Skipping the controller: its configuration disables it');
      return false;
    }
    return true;
  }

  /** Starts the workers; resolves when they have ended. */
  async run(): Promise<void> {
    const controller = this.#controller;
    if (controller === undefined) return;
    await controller.start?.(this.#signal);
    const workers = controller.queues.flatMap((definition) => {
      const taking = this.#queues.find((queue) => queue === definition.queue);
      if (taking === undefined)
        throw new Error(`${this.name}: a queue was not made by its context`);
      // As a new process of KCM, this one gives no key up for the failures of another.
      if (definition.retriesMax !== undefined) taking.forgetAll();
      return Array.from({ length: definition.workers }, () =>
        runWorker({
          controller: this.name,
          definition,
          taking,
          client: this.#client,
          clock: this.#deps.clock,
          log: this.#log,
          signal: this.#signal,
          commit: () => {
            if (!definition.announcesNothing) this.#commit();
          },
          mayWrite: () => this.#deps.informers.trusted(),
          recordWrite: (key, uid, resource, version) =>
            this.#ownWrites.record(key, uid, resource, version),
          heal: (error) => this.#deps.informers.heal(error.resource, error.key, this.#signal),
          journal: (row) => this.#deps.store.journal(row),
        }),
      );
    });
    this.#workers = Promise.all(workers).then(() => undefined);
    await this.#workers;
  }

  /** The wall clock was set: keys that wait for a time are looked at. */
  endDelays(): void {
    for (const queue of this.#queues) queue.endDelays();
  }

  shutDownQueues(): void {
    for (const queue of this.#queues) queue.shutdown();
  }

  /** Resolves when the syncs under way have ended and their events are sent. */
  async ended(): Promise<void> {
    await this.#workers;
    await this.#events.settled();
  }

  /** Remembers what the event recorders counted; `now` regardless of how long ago it was saved. */
  saveEvents(now = false): void {
    this.#events.save(now);
  }

  /** The caches have caught up: what only bridged their lag is forgotten. */
  dropRestoredExpectations(): void {
    const queue = this.#controller?.queues[0]?.queue;
    for (const key of this.#expectations?.dropRestored() ?? []) queue?.add(key);
    for (const forget of this.#atFence) forget();
  }

  healthCheck(): HealthCheck {
    return this.#controller?.health ?? { name: this.name, check: () => undefined };
  }

  debug(path: string, query: URLSearchParams): DebugPage | undefined {
    return this.#controller?.debug?.(path, query);
  }

  queueSnapshots(): object[] {
    return this.#queues.map((queue) => ({ controller: this.name, ...queue.snapshot() }));
  }

  queueSummaries(): QueueSummary[] {
    return this.#queues.map((queue) => queue.summary());
  }

  /** As upstream's `<controller>_stale_sync_skips_total`. */
  #countSkip(resource: string): void {
    const [plural = '', ...group] = resource.split('.');
    if (this.#skips === undefined) {
      const { name, help } = skipsFamily(this.name, this.#definition.watches[0]?.kind ?? '');
      this.#skips = this.#deps.metrics.counter(name, help, ['group', 'resource']);
    }
    this.#skips.inc({ group: group.join('.'), resource: plural });
  }

  #commit(): void {
    if (!this.#deps.store.commit()) {
      this.#deps.watched.unsaved();
      this.#log.v(1).info('The commit barrier could not reach the disk; going on from memory');
    }
  }

  #context(): ControllerContext {
    const deps = this.#deps;
    return {
      name: this.name,
      informers: deps.informers,
      flags: deps.flagsOf(this.name),
      gate: deps.gate,
      clock: deps.clock,
      random: deps.random,
      log: this.#log,
      metrics: deps.metrics,
      client: this.#client,
      queue: (name, options) => this.#queue(name, options),
      events: (component) => this.#recorder(component),
      expectations: () => this.#expectationsOf(),
      memory: (what, options) => this.#memory(what, options),
      countdowns: this.#countdowns(),
      caughtUp: (ownerKey, ownerUid) =>
        this.#ownWrites.caughtUp(ownerKey, ownerUid, (id) => deps.informers.versionOf(id)),
      podControl: (events, { guard }) => this.#podControl(events, guard),
      exactCreates: (resource) => this.#exactCreates(resource),
      caPem: deps.factory.caPem,
      rootCaPem: deps.rootCaPem === '' ? deps.factory.caPem : deps.rootCaPem,
      tokenSigner: deps.tokenSigner,
      discovery: deps.discovery,
    };
  }

  #queue(name: string, options: QueueOptions = {}): WorkQueue {
    const { clock, store } = this.#deps;
    const { term } = this.#lead;
    const { storedAs = name, ...limits } = options;
    const work = storedWork({ queue: storedAs, table: store.work, clock, term });
    const limiter = createLimiter(limits, clock);
    const metrics = this.#queueMetrics;
    const queue = createWorkQueue({ name, id: storedAs, clock, limiter, metrics, log: work.log });
    queue.restore(work.load());
    queue.lookOver(true);
    this.#queues.push(queue);
    return queue;
  }

  #recorder(component: string): EventRecorder {
    const { clock, random } = this.#deps;
    const client = this.#client;
    return this.#events.recorder({
      component,
      client,
      clock,
      random,
      log: this.#log,
      signal: this.#signal,
    });
  }

  #expectationsOf(): Expectations {
    const { store, clock } = this.#deps;
    const { term } = this.#lead;
    const made = createExpectations({
      controller: this.name,
      store: store.expectations,
      clock,
      term,
      expired: (key) => this.#controller?.queues[0]?.queue.add(key),
      signal: this.#signal,
    });
    if (this.#lead.seamless) made.restore();
    else made.clear();
    this.#expectations = made;
    return {
      expect: (key, uid, adds, deleteKeys) => made.expect(key, uid, adds, deleteKeys),
      creationObserved: (key) => made.creationObserved(key),
      deletionObserved: (key, podKey) => made.deletionObserved(key, podKey),
      satisfied: (key, ownerUid) => made.satisfied(key, ownerUid),
      forget: (key) => {
        made.forget(key);
        this.#ownWrites.forget(key);
      },
    };
  }

  #memory<T>(what: string, options: ControllerMemoryOptions<T>): ControllerMemory<T> {
    const { store, clock } = this.#deps;
    const memory = createMemory<T>({
      controller: `${this.name}/${what}`,
      store: store.memory,
      clock,
      term: this.#lead.term,
      encode: options.encode,
      decode: options.decode,
    });
    if (options.holds !== 'fence') memory.restore();
    else if (!this.#lead.seamless) memory.clear();
    else {
      memory.restore();
      this.#atFence.push(() => memory.dropRestored());
    }
    return memory;
  }

  #exactCreates(resource: Resource): ExactCreates {
    const { informers, random } = this.#deps;
    const id = resourceId(resource);
    informers.of(resource).addHandler({
      add: ({ namespace, name }) => this.intents.created(id, namespace, name),
    });
    return createExactCreates({ intents: this.intents, random });
  }

  #countdowns(): Countdowns {
    const { watched, downtimeCountedMs } = this.#deps;
    return createCountdowns(watched, downtimeCountedMs);
  }

  #podControl(events: EventRecorder, guard: boolean): PodControl {
    return createPodControl({ intents: this.intents, events, random: this.#deps.random, guard });
  }
}
