/**
 * Runs the controllers while this process leads: builds them, queues what was left, starts their
 * workers once the caches are as new as the server, and stops them in order.
 */
import { PODS, type Resource, resourceId } from '../api/resource.ts';
import type { ClientFactory, TokenSigner } from '../kube/types.ts';
import type { Clock } from './clock.ts';
import { CommitBarrier } from './commit-barrier.ts';
import type { ControllerDefinition, ControllerFlags, DiscoveryResult } from './controller.ts';
import { ControllerHost, type SharedParts } from './controller-host.ts';
import type { Informers } from './informer/set.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { IntentRow, StorePort } from './ports.ts';
import { createQueueMetrics } from './queue/metrics.ts';
import type { Random } from './random.ts';
import type { HealthCheck } from './status.ts';
import { isOwnTerm, type OwnTerms } from './term.ts';
import { watchWallClock } from './wall-clock.ts';
import type { WatchedTime } from './watched-time.ts';

/** The term in which controllers last ran, on caches as new as the server or bridged to it. */
const FACT_TERM = 'manager.term';

export interface ManagerDeps {
  /** The controllers to run, already chosen by --controllers and gates. */
  readonly definitions: readonly ControllerDefinition[];
  readonly factory: ClientFactory;
  readonly informers: Informers;
  readonly store: StorePort;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** QPS and burst of an ordinary client. */
  readonly qps: number;
  readonly burst: number;
  readonly useAccounts: boolean;
  /** Told when a lead begins and ends. */
  readonly watched: WatchedTime;
  /** Longest downtime that remembered countdowns still count. */
  readonly downtimeCountedMs: number;
  /** --controller-start-interval, milliseconds. */
  readonly startIntervalMs: number;
  /** --controller-shutdown-timeout, milliseconds; 0: wait for ever. */
  readonly stopTimeoutMs: number;
  /** PEM of --root-ca-file, "" without that flag. */
  readonly rootCaPem: string;
  readonly tokenSigner: TokenSigner | undefined;
  flagsOf(controller: string): ControllerFlags;
  gate(name: string): boolean;
  discovery(): Promise<DiscoveryResult>;
}

/** One lead: from the moment the Lease is held until it is lost or given back. */
export interface Lead extends OwnTerms {
  /** Nobody else led since what is remembered was written. */
  readonly followsOwn: boolean;
  /** The process that died here held the Lease a moment ago, on this boot, with this file. */
  readonly seamless: boolean;
}

/** Controllers of the process; `lead` and `stopLeading` alternate. */
export class Manager {
  readonly #deps: ManagerDeps;
  readonly #shared: SharedParts;
  #hosts: ControllerHost[] = [];
  #stop: AbortController | undefined;
  #running: Promise<void> | undefined;
  #hasLed = false;

  constructor(deps: ManagerDeps) {
    this.#deps = deps;
    const { clock, store } = deps;
    const log = deps.log.named('store');
    const barrier = new CommitBarrier(clock, () => {
      if (store.commit()) return;
      deps.watched.unsaved();
      log.v(1).info('The commit barrier could not reach the disk; going on from memory');
    });
    this.#shared = { queueMetrics: createQueueMetrics(deps.metrics), barrier };
    store.beforeCommit(() => {
      for (const host of this.#hosts) host.saveEvents();
    });
  }

  /** Builds and starts all controllers; resolves when their workers run, or when stopped. */
  async lead(lead: Lead): Promise<void> {
    const stop = new AbortController();
    this.#stop = stop;
    this.#running = this.#start(lead, stop.signal);
    await this.#running;
  }

  /** Stops the workers: syncs under way may finish within a bound, nothing new begins. */
  async stopLeading(): Promise<void> {
    if (this.#stop === undefined) return;
    this.#deps.watched.end();
    for (const host of this.#hosts) host.shutDownQueues();
    const ended = Promise.all(this.#hosts.map((host) => host.ended()));
    const { stopTimeoutMs, clock } = this.#deps;
    const bound = stopTimeoutMs > 0 ? [clock.sleep(stopTimeoutMs, this.#stop.signal)] : [];
    await Promise.race([ended, ...bound]);
    for (const host of this.#hosts) host.saveEvents(true);
    this.#stop.abort();
    this.#stop = undefined;
    this.#deps.informers.removeHandlers();
    this.#hosts = [];
    await this.#running?.catch(() => undefined);
  }

  /** Stops at once, without waiting for syncs: the Lease is lost and no write may follow. */
  abandon(): void {
    this.#stop?.abort();
    this.#deps.watched.end();
    for (const host of this.#hosts) host.shutDownQueues();
  }

  /** One check per built controller, in alphabetical order. */
  healthChecks(): readonly HealthCheck[] {
    return this.#hosts.map((host) => host.healthCheck());
  }

  /** True from the begin of `lead` to `stopLeading`. */
  get leading(): boolean {
    return this.#stop !== undefined;
  }

  /** The controllers that were built, while leading. */
  hosts(): readonly ControllerHost[] {
    return this.#hosts;
  }

  async #start(lead: Lead, signal: AbortSignal): Promise<void> {
    const { informers, log, clock, random } = this.#deps;
    const startedAt = clock.monotonic();
    const isSeamless = lead.seamless && this.#deps.watched.justWatched;
    if (!lead.followsOwn) this.#forget();
    else if (!isSeamless) this.#deps.store.ownWrites.clear();
    const resources = this.#deps.definitions.flatMap((definition) => definition.watches);
    const bridged = isSeamless && this.#hasRunSince(lead);
    const seamless = bridged && (await informers.resumable(resources, signal));
    if (!seamless) informers.expectCatchUp();
    await informers.synced(resources, signal);
    if (!seamless) await informers.caughtUp(resources, signal);
    if (signal.aborted) return;
    const steady = seamless || (await this.#isSteady(lead, resources, signal));
    if (signal.aborted) return;
    this.#hasLed = true;
    this.#deps.watched.begin(steady);
    const granted = { ...lead, seamless };
    this.#hosts = this.#deps.definitions
      .map((each) => new ControllerHost(each, this.#deps, this.#shared, granted, signal))
      .filter((host) => host.build());
    this.#deps.store.facts.set(FACT_TERM, String(lead.term));
    this.#watchIntents();
    this.#watchWallClock(signal);
    log.info('Controllers start', {
      controllers: this.#hosts.length,
      term: lead.term,
      seamless,
      afterMs: Math.round(clock.monotonic() - startedAt),
    });
    for (const host of this.#hosts) void this.#startHost(host, signal, random.next());
    if (seamless) void this.#dropRemembered(resources, signal);
  }

  async #startHost(host: ControllerHost, signal: AbortSignal, jitter: number): Promise<void> {
    const { startIntervalMs, clock, log } = this.#deps;
    if (startIntervalMs > 0) await clock.sleep(startIntervalMs * (1 + jitter), signal);
    if (signal.aborted) return;
    try {
      await host.run();
    } catch (error) {
      log.error('A controller ended with an error', error, { controller: host.name });
    }
  }

  /** What the dead process expected is visible, or an open intent, once the caches are caught up. */
  async #dropRemembered(resources: readonly Resource[], signal: AbortSignal): Promise<void> {
    await this.#deps.informers.caughtUp(resources, signal);
    if (signal.aborted) return;
    for (const host of this.#hosts) host.dropRestoredExpectations();
    this.#deps.log.v(1).info('All caches have caught up');
  }

  /**
   * True if the API server was not restarted since our own process before this one: all its watches
   * could be resumed. Within one process nobody knows what the server did while the Lease was lost.
   */
  async #isSteady(
    lead: Lead,
    resources: readonly Resource[],
    signal: AbortSignal,
  ): Promise<boolean> {
    if (this.#hasLed || !lead.followsOwn) return false;
    return await this.#deps.informers.resumable(resources, signal);
  }

  /**
   * What is remembered bridges the lag of a cache only from a moment on at which it had caught up.
   * Where somebody else led and our process after that died before its controllers ran, none has.
   */
  #hasRunSince(lead: Lead): boolean {
    const ran = this.#deps.store.facts.get(FACT_TERM);
    return ran !== undefined && isOwnTerm(Number(ran), lead);
  }

  /** Somebody else led since: what was remembered says nothing any more. */
  #forget(): void {
    const { work, memory, intents, expectations, ownWrites } = this.#deps.store;
    for (const table of [work, memory, intents, expectations, ownWrites]) table.clear();
  }

  #watchWallClock(signal: AbortSignal): void {
    const { clock, log } = this.#deps;
    watchWallClock(clock, signal, (byMs) => {
      log.info('The wall clock was set: what waits for a time is looked at', { byMs });
      for (const host of this.#hosts) host.endDelays();
    });
  }

  #watchIntents(): void {
    const intents = this.#hosts.map((host) => host.intents);
    const resource = resourceId(PODS);
    const watchesPods = this.#deps.definitions.some((definition) =>
      definition.watches.some((watched) => resourceId(watched) === resource),
    );
    if (!watchesPods) return;
    const pods = this.#deps.informers.pods();
    pods.addHandler({
      add: (pod) => {
        for (const open of intents) open.created(resource, pod.namespace, pod.name);
        if (pod.deleting) for (const open of intents) open.gone(pod.uid);
      },
      update: (pod) => {
        if (pod.deleting) for (const open of intents) open.gone(pod.uid);
      },
      delete: (pod) => {
        for (const open of intents) open.gone(pod.uid);
      },
    });
    // A victim that went before the handler was there is in no event to come.
    const holds = ({ resource: of, namespace, name, uid }: IntentRow): boolean =>
      of !== resource || pods.lister.record(`${namespace}/${name}`)?.uid === uid;
    for (const open of intents) open.settleGone(holds);
  }
}
