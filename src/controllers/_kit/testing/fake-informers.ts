/** Informers in memory for controller tests: put and remove objects, and handlers hear of it. */
import { keyOf } from '../../../api/meta.ts';
import { podRecordFields } from '../../../api/pod.ts';
import { recordFields } from '../../../api/record.ts';
import { PODS, type Resource, resourceId } from '../../../api/resource.ts';
import type { KubeObject, Pod } from '../../../api/types/index.ts';
import type {
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
    if (object === undefined && this.#records.has(key)) throw new Error(`${key} is lost`);
    return object;
  }

  record(key: string): R | undefined {
    return this.#records.get(key);
  }

  list(namespace: string): readonly R[] {
    return this.#where((record) => namespace === '' || record.namespace === namespace);
  }

  controlledBy(uid: string): readonly R[] {
    return this.#where((record) => record.controller?.uid === uid);
  }

  orphans(namespace: string): readonly R[] {
    return this.#where((one) => one.controller === undefined && one.namespace === namespace);
  }

  byIndex(index: string, value: string): readonly R[] {
    return this.#where((record) => (record as Readonly<Record<string, unknown>>)[index] === value);
  }

  addHandler(handler: Handler<R>): void {
    for (const record of this.#records.values()) handler.add?.(record, true);
    this.#handlers.push(handler);
  }

  caughtUp(): boolean {
    return true;
  }

  resourceVersion(): string {
    return '1';
  }

  #where(wanted: (record: R) => boolean): readonly R[] {
    return [...this.#records.values()].filter(wanted);
  }
}

/** All informers of a test; asking twice gives the same one. */
export class FakeInformers implements InformerSet {
  readonly #pods = new FakeInformer<Pod, PodRecord>(PODS, podRecordFields);
  readonly #others = new Map<string, unknown>();

  pods(): FakeInformer<Pod, PodRecord> {
    return this.#pods;
  }

  of<T extends KubeObject>(resource: Resource): FakeInformer<T> {
    const id = resourceId(resource);
    const known = this.#others.get(id) as FakeInformer<T> | undefined;
    const informer = known ?? new FakeInformer<T>(resource, recordFields);
    this.#others.set(id, informer);
    return informer;
  }
}
