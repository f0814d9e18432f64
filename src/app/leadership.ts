/** Ties the election to the controllers: caches are fed always, controllers run while leading. */
import { type Discovery, discover } from '../kube/index.ts';
import type { ClientFactory } from '../kube/types.ts';
import { type Elector, readMachine, type Lead as Term } from '../lease/index.ts';
import type { Clock } from '../runtime/clock.ts';
import { settleClusterIdentity } from '../runtime/cluster.ts';
import { createReflectorMetrics } from '../runtime/informer/reflector-metrics.ts';
import { Informers } from '../runtime/informer/set.ts';
import type { Logger } from '../runtime/log.ts';
import { Manager } from '../runtime/manager.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import { WatchedTime } from '../runtime/watched-time.ts';
import type { OpenedStore } from '../store/index.ts';
import type { RunConfig } from './config.ts';
import { followingOf } from './following.ts';
import { watchedFile } from './watched-file.ts';

export interface LeadershipDeps {
  readonly config: RunConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly opened: OpenedStore;
  readonly elector: Elector;
  /** Clients for reads; never fenced. */
  readonly open: ClientFactory;
  /** Clients for the controllers' writes. */
  readonly fenced: ClientFactory;
}

/** One after the other: what a term's begin or end asks for never overlaps. */
export class Leadership {
  readonly informers: Informers;
  readonly manager: Manager;
  readonly #deps: LeadershipDeps;
  readonly #stop = new AbortController();
  #ready: Promise<void> = Promise.resolve();
  #turn: Promise<void> = Promise.resolve();
  #term: Term | undefined;
  #startingAnew = false;

  constructor(deps: LeadershipDeps) {
    this.#deps = deps;
    const { config, opened, open, fenced, metrics } = deps;
    const { store } = opened;
    const { bootId } = readMachine();
    const resources = config.definitions.flatMap((definition) => definition.watches);
    this.informers = new Informers(
      {
        ...deps,
        store,
        client: open.client('informers', { qps: -1 }),
        metrics: createReflectorMetrics(metrics),
        verifyIntervalMs: config.state.verifyIntervalMs,
        redact: (resource, object) => opened.redact(resource, object),
        replaced: (because) => this.#startAnew(because),
        dropDerived: (because) => this.#rewound(because),
      },
      resources,
      followingOf(config, () => this.#discover()),
    );
    this.manager = new Manager({
      ...deps,
      ...config,
      store,
      factory: fenced,
      informers: this.informers,
      qps: config.client.qps,
      burst: config.client.burst,
      watched: new WatchedTime({
        clock: deps.clock,
        bootId,
        mark: watchedFile(config, bootId),
        downtimeMaxMs: config.state.downtimeCountedMs,
        saved: () => store.health().problem === '',
      }),
      downtimeCountedMs: config.state.downtimeCountedMs,
      useAccounts: config.client.useServiceAccountCredentials,
      discovery: () => this.#discover(),
    });
  }

  /** Begins to follow the API server, and to lead when the elector says so. */
  start(): void {
    const { elector } = this.#deps;
    this.#ready = this.#follow();
    elector.onLead((term) => {
      this.#term = term;
      this.#queue(() => this.#lead(term, this.#seamless(term)));
    });
    elector.onLost(async (because) => {
      this.#deps.log.warning('The Lease is lost; standing by', { because });
      this.#term = undefined;
      this.manager.abandon();
      await this.#queue(() => this.manager.stopLeading());
    });
  }

  /** Finishes syncs under way (bounded), then lets the caches go. */
  async stop(): Promise<void> {
    await this.manager.stopLeading();
    this.#stop.abort();
    await this.#turn;
    await this.informers.stopped();
  }

  /** Throws away what is stored of a resource; resolves when it was listed anew. */
  async forget(resource: string): Promise<void> {
    await this.#ready;
    await this.informers.forget(resource, this.#stop.signal);
  }

  /**
   * Throws away all that is stored but the journal and the announcements without an answer, which
   * keep anything from being made twice. Controllers that run finish their syncs, and start again
   * when every cache has caught up. Resolves when all was listed anew.
   */
  async forgetAll(resources: readonly string[]): Promise<void> {
    await this.#ready;
    let listing: Promise<unknown> = Promise.resolve();
    await this.#queue(async () => {
      const term = this.#term;
      await this.manager.stopLeading();
      const { work, memory, expectations, ownWrites } = this.#deps.opened.store;
      for (const table of [work, memory, expectations, ownWrites]) table.clear();
      listing = Promise.all(resources.map((resource) => this.forget(resource)));
      if (term === undefined || this.#term !== term || this.#stop.signal.aborted) return;
      await this.manager.lead({ ...term, followsOwn: true, seamless: false });
    });
    await listing;
  }

  async #follow(): Promise<void> {
    const { open, opened, clock, log } = this.#deps;
    const { signal } = this.#stop;
    const client = open.client('cluster-identity');
    const identity = { client, store: opened.store, caHash: open.caHash, clock, log };
    await settleClusterIdentity(identity, signal);
    if (!signal.aborted) this.informers.start(signal);
  }

  /** The dead process held this Lease a moment ago and its file is the one we opened. */
  #seamless(term: Term): boolean {
    return (
      term.how === 'instant' && term.followsOwn && this.#deps.opened.store.health().problem === ''
    );
  }

  async #lead(term: Term, seamless: boolean): Promise<void> {
    await this.#ready;
    if (this.#term !== term || this.#stop.signal.aborted) return;
    await this.manager.lead({ ...term, seamless });
  }

  /** The history of the server went back: what was derived from it goes. */
  #rewound(because: string): void {
    const { intents, expectations, ownWrites } = this.#deps.opened.store;
    for (const table of [intents, expectations, ownWrites]) table.clear();
    this.#startAnew(because);
  }

  /** Stops the controllers at once; they start again when the caches are as new as the server. */
  #startAnew(because: string): void {
    const term = this.#term;
    if (term === undefined || !this.manager.leading || this.#startingAnew) return;
    this.#startingAnew = true;
    this.#deps.log.info('Starting the controllers anew', { because });
    this.manager.abandon();
    void this.#queue(async () => {
      await this.manager.stopLeading();
      this.#startingAnew = false;
      await this.#lead(term, false);
    });
  }

  #queue(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work).catch((error: unknown) => {
      this.#deps.log.error('Changing leadership failed', error);
    });
    return this.#turn;
  }

  #discover(): Promise<Discovery> {
    const client = this.#deps.open.client('discovery', { qps: 20, burst: 200 });
    return discover(client, { signal: this.#stop.signal });
  }
}
