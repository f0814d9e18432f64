/** All informers of the process: one per resource, fed as long as the process lives. */
import { PODS, type Resource, resourceId } from '../../api/resource.ts';
import type { KubeObject, Pod } from '../../api/types/index.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Clock, Timer } from '../clock.ts';
import { findOne } from '../find-one.ts';
import { PROGRESS_SAVE_INTERVAL_MS } from '../limits.ts';
import type { Logger } from '../log.ts';
import type { StorePort } from '../ports.ts';
import type { Random } from '../random.ts';
import { ResourceCache } from './cache.ts';
import { createHistoryCheck, type HistoryCheck } from './history.ts';
import { CachedInformer } from './informer.ts';
import { Reflector, type ReflectorStatus } from './reflector.ts';
import type { ReflectorMetrics } from './reflector-metrics.ts';
import { plainTraits, podTraits, type Redact, type ResourceTraits } from './traits.ts';
import type { Informer, InformerSet, ObjectRecord, PodRecord } from './types.ts';

export interface InformerSetDeps {
  readonly client: KubeClient;
  readonly store: StorePort;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: ReflectorMetrics;
  readonly redact: Redact;
  dropDerived(because: string): void;
}

type AnyInformer = CachedInformer<KubeObject, ObjectRecord>;

/** Makes, starts and shows the informers; resources must be named before `start`. */
export class Informers implements InformerSet {
  readonly #deps: InformerSetDeps;
  readonly #informers = new Map<string, AnyInformer>();
  readonly #running: Promise<void>[] = [];
  #timer: Timer | undefined;
  #history: HistoryCheck | undefined;

  constructor(deps: InformerSetDeps, resources: readonly Resource[]) {
    this.#deps = deps;
    for (const resource of resources) this.#create(resource);
  }

  pods(): Informer<Pod, PodRecord> {
    return this.#get(PODS) as unknown as Informer<Pod, PodRecord>;
  }

  of<T extends KubeObject>(resource: Resource): Informer<T> {
    return this.#get(resource) as unknown as Informer<T>;
  }

  /** Loads what is stored, then lists and watches until the signal aborts. */
  start(signal: AbortSignal): void {
    const { store, clock } = this.#deps;
    const history = createHistoryCheck({
      client: this.#deps.client,
      facts: store.facts,
      log: this.#deps.log,
      resources: () => [...this.#informers.keys()].filter((id) => this.#resumed(id)),
      dropDerived: (because) => this.#deps.dropDerived(because),
    });
    this.#history = history;
    for (const informer of this.#informers.values()) {
      const deps = { ...this.#deps, rows: store.objects, history };
      const reflector = new Reflector(informer.cache, deps, (changes) => informer.publish(changes));
      informer.attach(reflector);
      reflector.loadStored();
    }
    store.beforeCommit(() => this.#saveProgress());
    this.#saveLater(clock, signal);
    for (const informer of this.#informers.values()) {
      this.#running.push(informer.reflector.run(signal));
    }
  }

  /** Resolves when all reflectors have ended after the abort. */
  async stopped(): Promise<void> {
    this.#timer?.cancel();
    await Promise.all(this.#running);
    this.#saveProgress();
  }

  /** Resolves when every named resource holds a complete state of some moment. */
  async synced(resources: readonly Resource[], signal: AbortSignal): Promise<void> {
    await this.#until(resources, signal, (informer) => informer.reflector.synced);
  }

  /** Resolves when every named resource is as new as the server was when asked. */
  async caughtUp(resources: readonly Resource[], signal: AbortSignal): Promise<void> {
    await this.#until(resources, signal, (informer) => informer.reflector.caughtUp);
  }

  /** True if every named cache was resumed and the server's history is the one it knows. */
  async resumable(resources: readonly Resource[], signal: AbortSignal): Promise<boolean> {
    const history = this.#history;
    if (history === undefined) return false;
    try {
      await history.verified(signal);
    } catch (error) {
      this.#deps.log.warning('Could not ask for the identity of the API server', {
        error: error instanceof Error ? error.message : String(error),
      });
      return false;
    }
    return resources.every((resource) => {
      const resumed = this.#get(resource).reflector.how === 'resumed';
      return resumed && !history.mustCompare(resourceId(resource));
    });
  }

  /** A lead begins: every cache must be checked against the server once more. */
  expectCatchUp(): void {
    for (const informer of this.#informers.values()) informer.reflector.expectCatchUp();
  }

  removeHandlers(): void {
    for (const informer of this.#informers.values()) informer.removeHandlers();
  }

  /** Version up to which a resource's cache is complete, "" if it has none. */
  versionOf(resource: string): string {
    return this.#informers.get(resource)?.reflector.version ?? '';
  }

  /** Fetches an object whose row the disk lost and keeps it in memory. Throws if it is gone. */
  async heal(resource: Resource, key: string, signal: AbortSignal): Promise<void> {
    const informer = this.#get(resource);
    const slash = key.indexOf('/');
    const at =
      slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
    const object = await findOne<KubeObject>(this.#deps.client, resource, at, signal);
    if (object !== undefined && informer.cache.heal(object)) return;
    throw new Error(`${resourceId(resource)} ${key} is gone; the watch has not told yet`);
  }

  statuses(): ReflectorStatus[] {
    return [...this.#informers.values()].map((informer) => informer.reflector.status());
  }

  #resumed(id: string): boolean {
    return this.#informers.get(id)?.reflector.how !== 'none';
  }

  #create(resource: Resource): void {
    const id = resourceId(resource);
    if (this.#informers.has(id)) return;
    const { redact, store, log } = this.#deps;
    const traits = (id === resourceId(PODS)
      ? podTraits(redact)
      : plainTraits<KubeObject>(resource, redact)) as unknown as ResourceTraits<
      KubeObject,
      ObjectRecord
    >;
    const cache = new ResourceCache(resource, store.objects, traits);
    this.#informers.set(id, new CachedInformer(cache, log));
  }

  #get(resource: Resource): AnyInformer {
    const informer = this.#informers.get(resourceId(resource));
    if (informer === undefined) {
      throw new Error(`no informer for ${resourceId(resource)}: it is not among "watches"`);
    }
    return informer;
  }

  async #until(
    resources: readonly Resource[],
    signal: AbortSignal,
    test: (informer: AnyInformer) => boolean,
  ): Promise<void> {
    const waits = resources.map((resource) => {
      const informer = this.#get(resource);
      return informer.reflector.until(() => test(informer), signal);
    });
    await Promise.all(waits);
  }

  #saveProgress(): void {
    for (const informer of this.#informers.values()) informer.reflector.saveProgress();
  }

  #saveLater(clock: Clock, signal: AbortSignal): void {
    this.#timer = clock.after(
      PROGRESS_SAVE_INTERVAL_MS,
      () => {
        this.#saveProgress();
        if (!signal.aborted) this.#saveLater(clock, signal);
      },
      { background: true },
    );
  }
}
