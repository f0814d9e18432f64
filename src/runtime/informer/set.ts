/** All informers of the process: one per resource, fed as long as the process lives. */
import { PODS, type Resource, resourceId } from '../../api/resource.ts';
import type { KubeObject, Pod } from '../../api/types/index.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Clock } from '../clock.ts';
import { findOne } from '../find-one.ts';
import { FOLLOWED_WATCH_TURN_MS, FOLLOWED_WATCHES_MAX } from '../limits.ts';
import type { Logger } from '../log.ts';
import type { ObjectRows, StorePort } from '../ports.ts';
import type { Random } from '../random.ts';
import { aggregatedGroupVersions } from './aggregated.ts';
import { ResourceCache } from './cache.ts';
import { Follower, type Following, type FollowMode } from './follow.ts';
import { bystander, createHistoryCheck, type HistoryCheck } from './history.ts';
import { CachedInformer } from './informer.ts';
import { NotedHow } from './noted-how.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorMetrics } from './reflector-metrics.ts';
import type { ReflectorDeps, ReflectorStatus } from './reflector-types.ts';
import { TieBook, withTies } from './ties.ts';
import {
  metadataTraits,
  plainTraits,
  podTraits,
  type Redact,
  type ResourceTraits,
} from './traits.ts';
import type { FollowedResources, Informer, InformerSet, ObjectRecord, PodRecord } from './types.ts';
import { isNeverStored, UNSTORED } from './unstored.ts';
import { startUpkeep } from './upkeep.ts';
import { WatchTurns } from './watch-turns.ts';

export interface InformerSetDeps {
  readonly client: KubeClient;
  readonly store: StorePort;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: ReflectorMetrics;
  readonly redact: Redact;
  /** --state-verify-interval, milliseconds; 0: never. */
  readonly verifyIntervalMs: number;
  /** The server was restarted or replaced: controllers must wait until all is compared. */
  replaced(because: string): void;
  dropDerived(because: string): void;
}

type AnyInformer = CachedInformer<KubeObject, ObjectRecord>;

/** What every reflector shares from `start` on. */
interface Started {
  readonly signal: AbortSignal;
  readonly history: HistoryCheck;
  readonly turns: WatchTurns;
}

/** Nobody follows anything. */
const NONE_FOLLOWED: FollowedResources = {
  list: () => [],
  onLook: () => undefined,
  serving: () => undefined,
};

/**
 * Makes, starts and shows the informers. Fixed resources are named before `start`; those that
 * discovery finds come and go while running.
 */
export class Informers implements InformerSet {
  readonly #deps: InformerSetDeps;
  readonly #informers = new Map<string, AnyInformer>();
  readonly #ends = new Map<string, AbortController>();
  readonly #running = new Set<Promise<void>>();
  readonly #follower: Follower | undefined;
  readonly #book: TieBook | undefined;
  readonly #notedHow: NotedHow;
  #started: Started | undefined;

  constructor(deps: InformerSetDeps, resources: readonly Resource[], following?: Following) {
    this.#deps = deps;
    this.#notedHow = new NotedHow(deps.store.facts);
    this.#book = following?.ties ? new TieBook() : undefined;
    for (const resource of resources) this.#create(resource, 'whole', this.#rowsOf(resource));
    if (following !== undefined) this.#follower = this.#makeFollower(following);
  }

  get followed(): FollowedResources {
    return this.#follower ?? NONE_FOLLOWED;
  }

  pods(): Informer<Pod, PodRecord> {
    return this.#get(PODS) as unknown as Informer<Pod, PodRecord>;
  }

  of<T extends KubeObject, R extends ObjectRecord = ObjectRecord>(
    resource: Resource,
  ): Informer<T, R> {
    return this.#get(resource) as unknown as Informer<T, R>;
  }

  /** Loads what is stored, then lists and watches until the signal aborts. */
  start(signal: AbortSignal): void {
    const { store, clock, random } = this.#deps;
    const history = createHistoryCheck({
      client: this.#deps.client,
      facts: store.facts,
      log: this.#deps.log,
      resources: () => [
        ...[...this.#informers.keys()].filter((id) => this.#resumed(id)),
        ...(this.#follower?.remembered() ?? []),
      ],
      vital: (id) => this.#informers.has(id) && !this.#ends.has(id),
      replaced: (because) => this.#deps.replaced(because),
      dropDerived: (because) => this.#deps.dropDerived(because),
    });
    const turns = new WatchTurns(clock, FOLLOWED_WATCHES_MAX, FOLLOWED_WATCH_TURN_MS);
    this.#started = { signal, history, turns };
    for (const informer of this.#informers.values()) {
      const rows = this.#rowsOf(informer.resource);
      const reflector = this.#attach(informer, { ...this.#deps, rows, history });
      this.#run(reflector.run(signal));
    }
    store.beforeCommit(() => this.#saveProgress());
    startUpkeep({
      clock,
      random,
      signal,
      verifyIntervalMs: this.#deps.verifyIntervalMs,
      reflectors: () => this.#reflectors(),
      diskWell: () => this.#diskWell(),
    });
    if (this.#follower !== undefined) this.#run(this.#follower.run(signal));
  }

  /** Resolves when all reflectors have ended after the abort. */
  async stopped(): Promise<void> {
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

  /** True if the caches are of the history that the server has now, as far as is known. */
  trusted(): boolean {
    return this.#started?.history.trusted() ?? false;
  }

  /**
   * True if every named cache was resumed and the server's history is the one it knows. Those that
   * are never stored are read anew in any case, and lag behind nothing.
   */
  async resumable(resources: readonly Resource[], signal: AbortSignal): Promise<boolean> {
    const history = this.#started?.history;
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
      if (isNeverStored(resourceId(resource))) return true;
      const resumed = this.#get(resource).reflector.how === 'resumed';
      return resumed && !history.mustCompare(resourceId(resource));
    });
  }

  /** A lead begins: every cache must be checked against the server once more. */
  expectCatchUp(): void {
    for (const informer of this.#informers.values()) informer.reflector.expectCatchUp();
  }

  /** The lead has ended: no controller hears of changes any more. */
  removeHandlers(): void {
    for (const informer of this.#informers.values()) informer.removeHandlers();
    this.#follower?.removeListeners();
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
    return [...this.#reflectors()].map((reflector) => reflector.status());
  }

  /**
   * Throws away what is stored of a resource; if it is followed it is listed anew, and the cache
   * stays in use meanwhile. Resolves when that is done, or when the signal aborts.
   */
  async forget(id: string, signal: AbortSignal): Promise<void> {
    const informer = this.#informers.get(id);
    if (informer?.started && !isNeverStored(id)) await informer.reflector.forget(signal);
    else this.#deps.store.objects.drop(id);
  }

  /** True if a resource's cache has this key. */
  holds(resource: string, key: string): boolean {
    return this.#informers.get(resource)?.cache.record(key) !== undefined;
  }

  /** Cached objects that name this UID as an owner, at most `limit`. */
  dependentsOf(uid: string, limit: number): { resource: string; key: string }[] {
    const found: { resource: string; key: string }[] = [];
    for (const { resource, cache } of this.#informers.values()) {
      const owned = this.#book === undefined ? cache.controlledBy(uid) : cache.all();
      for (const { key, controller, ties } of owned) {
        if (found.length >= limit) return found;
        if (controller?.uid === uid || ties?.owners.some((owner) => owner.uid === uid)) {
          found.push({ resource: resourceId(resource), key });
        }
      }
    }
    return found;
  }

  #rowsOf(resource: Resource): ObjectRows {
    return isNeverStored(resourceId(resource)) ? UNSTORED : this.#deps.store.objects;
  }

  #resumed(id: string): boolean {
    return this.#informers.get(id)?.reflector.how !== 'none';
  }

  #create(resource: Resource, mode: FollowMode, rows: ObjectRows): AnyInformer {
    const id = resourceId(resource);
    const known = this.#informers.get(id);
    if (known !== undefined) return known;
    const cache = new ResourceCache(resource, rows, this.#traits(resource, mode));
    const informer: AnyInformer = new CachedInformer(cache, this.#deps.log);
    this.#informers.set(id, informer);
    if (mode === 'whole') this.#deps.metrics.followed(resource);
    return informer;
  }

  #traits(resource: Resource, mode: FollowMode): ResourceTraits<KubeObject, ObjectRecord> {
    const { redact } = this.#deps;
    const arePods = mode === 'whole' && resourceId(resource) === resourceId(PODS);
    const traits = arePods
      ? (podTraits(redact) as unknown as ResourceTraits<KubeObject, ObjectRecord>)
      : mode === 'whole'
        ? plainTraits<KubeObject>(resource, redact)
        : metadataTraits();
    return this.#book === undefined ? traits : withTies(traits, this.#book);
  }

  #attach(
    informer: AnyInformer,
    deps: Omit<ReflectorDeps, 'resumable' | 'diskWell'> & { readonly resumable?: boolean },
  ): Reflector<KubeObject, ObjectRecord> {
    const diskWell = (): boolean => this.#diskWell();
    const whole = { resumable: true, diskWell, ...deps };
    const reflector = new Reflector(informer.cache, whole, (changes) => informer.publish(changes));
    informer.attach(reflector);
    reflector.loadStored();
    return reflector;
  }

  #run(work: Promise<void>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  #makeFollower(following: Following): Follower {
    const { clock, log, store, client } = this.#deps;
    return new Follower({
      clock,
      log,
      facts: store.facts,
      following,
      host: {
        find: (id) => this.#informers.get(id),
        add: (resource, mode, resumable) => this.#follow(resource, mode, resumable),
        remove: (id) => this.#drop(id),
        dropRows: (id) => this.#dropRows(id),
        aggregated: () => aggregatedGroupVersions(client, this.#begun.signal),
      },
    });
  }

  #follow(resource: Resource, mode: FollowMode, resumable: boolean): AnyInformer {
    const id = resourceId(resource);
    const { signal, turns } = this.#begun;
    const hasFixed = this.#informers.size > this.#ends.size;
    const history = hasFixed ? bystander(this.#begun.history) : this.#begun.history;
    const isStored = resumable && !isNeverStored(id);
    if (!isStored) this.#dropRows(id);
    const rows = isStored ? this.#deps.store.objects : UNSTORED;
    const informer = this.#create(resource, mode, rows);
    const end = new AbortController();
    this.#ends.set(id, end);
    const reflector = this.#attach(informer, { ...this.#deps, rows, history, resumable, turns });
    this.#run(reflector.run(AbortSignal.any([signal, end.signal])));
    return informer;
  }

  #drop(id: string): void {
    this.#ends.get(id)?.abort();
    this.#ends.delete(id);
    this.#informers.delete(id);
    this.#dropRows(id);
  }

  #dropRows(id: string): void {
    if (!isNeverStored(id)) this.#deps.store.objects.drop(id);
    this.#started?.history.compared(id);
  }

  get #begun(): Started {
    if (this.#started === undefined) throw new Error('the informers have not been started');
    return this.#started;
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
    const reflectors = [...this.#reflectors()];
    for (const reflector of reflectors) reflector.saveProgress();
    this.#notedHow.note(reflectors);
  }

  *#reflectors(): Iterable<Reflector<KubeObject, ObjectRecord>> {
    for (const informer of this.#informers.values()) {
      if (informer.started) yield informer.reflector;
    }
  }

  #diskWell(): boolean {
    return this.#deps.store.health().problem === '';
  }
}
