/** Informers in memory for controller tests: put and remove objects, and handlers hear of it. */
import { keyOf } from '../../../api/meta.ts';
import { podRecordFields } from '../../../api/pod.ts';
import { projectionOf } from '../../../api/projection.ts';
import { recordFields } from '../../../api/record.ts';
import { apiVersionOf, PODS, type Resource, resourceId } from '../../../api/resource.ts';
import type { KubeObject, Pod } from '../../../api/types/index.ts';
import type { ServedResource } from '../../../runtime/controller.ts';
import { ObjectUnavailable } from '../../../runtime/informer/cache.ts';
import { indexesOf } from '../../../runtime/informer/indexes.ts';
import { TieBook } from '../../../runtime/informer/ties.ts';
import type {
  DiscoveryLook,
  Followed,
  FollowedResources,
  Handler,
  Informer,
  InformerSet,
  Lister,
  ObjectRecord,
  PodRecord,
} from '../../../runtime/informer/types.ts';

/** One resource's informer and lister over a map of whole objects. */
export class FakeInformer<T extends KubeObject, R extends ObjectRecord = ObjectRecord>
  implements Informer<T, R>, Lister<T, R>
{
  readonly resource: Resource;
  readonly #toRecord: (object: T) => R;
  readonly #objects = new Map<string, T>();
  readonly #records = new Map<string, R>();
  readonly #handlers: Handler<R>[] = [];
  /** False: the cache has not read everything yet. */
  complete = true;

  constructor(resource: Resource, toRecord: (object: T) => R) {
    this.resource = resource;
    this.#toRecord = toRecord;
  }

  get lister(): Lister<T, R> {
    return this;
  }

  /** Stores objects as a watch would deliver them: handlers hear add or update. */
  put(...objects: readonly T[]): void {
    for (const object of objects) {
      const record = this.#toRecord(object);
      const previous = this.#records.get(record.key);
      this.#objects.set(record.key, object);
      this.#records.set(record.key, record);
      for (const handler of this.#handlers) {
        if (previous === undefined) handler.add?.(record, false);
        else handler.update?.(record, previous);
      }
    }
  }

  /** Removes an object: handlers hear delete, as a tombstone if `stale`. */
  remove(object: T, stale = false): void {
    const key = keyOf(object.metadata);
    const record = this.#records.get(key);
    this.#objects.delete(key);
    this.#records.delete(key);
    if (record === undefined) return;
    for (const handler of this.#handlers) handler.delete?.(record, stale);
  }

  /** Loses the whole object but not its record, as a failing disk does: `get` throws. */
  lose(object: T): void {
    this.#objects.delete(keyOf(object.metadata));
  }

  get(key: string): T | undefined {
    const object = this.#objects.get(key);
    if (object === undefined && this.#records.has(key)) {
      throw new ObjectUnavailable(this.resource, key);
    }
    return object;
  }

  record(key: string): R | undefined {
    return this.#records.get(key);
  }

  list(namespace: string): readonly R[] {
    return this.#where((record) => namespace === '' || record.namespace === namespace);
  }

  selected(namespace: string, matches: (labels: R['labels']) => boolean): readonly R[] {
    return this.list(namespace).filter(({ labels }) => matches(labels));
  }

  controlledBy(uid: string): readonly R[] {
    return this.#where((record) => record.controller?.uid === uid);
  }

  orphans(namespace: string): readonly R[] {
    return this.#where((one) => one.controller === undefined && one.namespace === namespace);
  }

  byIndex(index: string, value: string): readonly R[] {
    const valuesOf = indexesOf(this.resource)[index];
    return this.#where((record) =>
      valuesOf === undefined
        ? (record as Readonly<Record<string, unknown>>)[index] === value
        : valuesOf(record).includes(value),
    );
  }

  addHandler(handler: Handler<R>): void {
    for (const record of this.#records.values()) handler.add?.(record, true);
    this.#handlers.push(handler);
  }

  synced(): boolean {
    return this.complete;
  }

  caughtUp(): boolean {
    return this.complete;
  }

  resourceVersion(): string {
    return '1';
  }

  #where(wanted: (record: R) => boolean): readonly R[] {
    return [...this.#records.values()].filter(wanted);
  }
}

interface FakeFollow extends Followed {
  readonly informer: FakeInformer<KubeObject>;
}

/** Resources that a test says are served; their records carry ties. */
export class FakeFollowed implements FollowedResources {
  readonly #book = new TieBook();
  readonly #listeners: ((look: DiscoveryLook) => void)[] = [];
  #all: readonly FakeFollow[] = [];
  /** Kinds that are served but not followed. */
  readonly others: ServedResource[] = [];

  list(): readonly FakeFollow[] {
    return this.#all;
  }

  onLook(listener: (look: DiscoveryLook) => void): void {
    this.#listeners.push(listener);
  }

  serving(apiVersion: string, kind: string): ServedResource | undefined {
    const all = [...this.#all.map(({ resource }) => resource), ...this.others];
    return all.find((one) => apiVersionOf(one) === apiVersion && one.kind === kind);
  }

  /** The server serves this from now on; gives its informer. Listeners hear of it at `look`. */
  serve(resource: ServedResource): FakeInformer<KubeObject> {
    const known = this.#all.find((one) => resourceId(one.resource) === resourceId(resource));
    if (known !== undefined) return known.informer;
    const toRecord = (object: KubeObject) => this.#book.tie(recordFields(object), object);
    const informer = new FakeInformer<KubeObject>(resource, toRecord);
    this.#all = [...this.#all, { resource, informer }];
    return informer;
  }

  /** The server serves a resource that has an informer already. */
  add(resource: ServedResource, informer: unknown): void {
    this.#all = [...this.#all, { resource, informer: informer as FakeInformer<KubeObject> }];
  }

  /** Listeners hear of a look at the server; what is removed is no longer served. */
  look(look: Partial<DiscoveryLook> = {}): void {
    const { added = [], removed = [], learned = 'all', problem = '' } = look;
    this.#all = this.#all.filter((one) => !removed.includes(one));
    for (const listener of this.#listeners) listener({ added, removed, learned, problem });
  }
}

/** All informers of a test; asking twice gives the same one. */
export class FakeInformers implements InformerSet {
  readonly followed = new FakeFollowed();
  readonly #pods = new FakeInformer<Pod, PodRecord>(PODS, podRecordFields);
  readonly #others = new Map<string, unknown>();

  pods(): FakeInformer<Pod, PodRecord> {
    return this.#pods;
  }

  of<T extends KubeObject, R extends ObjectRecord = ObjectRecord>(
    resource: Resource,
  ): FakeInformer<T, R> {
    const id = resourceId(resource);
    const known = this.#others.get(id) as FakeInformer<T, R> | undefined;
    const toRecord = projectionOf(resource) as unknown as (object: T) => R;
    const informer = known ?? new FakeInformer<T, R>(resource, toRecord);
    this.#others.set(id, informer);
    return informer;
  }
}
