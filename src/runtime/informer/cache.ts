/**
 * The cache of one resource: records and indexes in memory, whole objects as rows on disk behind a
 * bounded LRU. Reads always give the newest state that was applied.
 */

import { parseJson, stringifyJson } from '../../api/json.ts';
import { apiVersionOf, type Resource, resourceId } from '../../api/resource.ts';
import type { KubeObject } from '../../api/types/index.ts';
import { compareVersions } from '../../api/version.ts';
import {
  HELD_BACK_OBJECTS_MAX,
  OBJECT_CACHE_BYTES_MAX,
  OBJECT_CACHE_ENTRIES_MAX,
} from '../limits.ts';
import { Lru } from '../lru.ts';
import type { ObjectRows } from '../ports.ts';
import { type IndexedBy, RecordIndex } from './index-map.ts';
import { LabelGroups } from './label-groups.ts';
import { PARTIAL, type ResourceTraits } from './traits.ts';
import type { Lister, ObjectRecord } from './types.ts';

/** The record is known but the disk lost the whole object; the worker fetches it and tries again. */
export class ObjectUnavailable extends Error {
  readonly resource: Resource;
  readonly key: string;
  constructor(resource: Resource, key: string) {
    super(`${resourceId(resource)} ${key} is known but its stored object is missing`);
    this.name = 'ObjectUnavailable';
    this.resource = resource;
    this.key = key;
  }
}

/** What applying one object did. */
export type Change<R> =
  | { readonly kind: 'add'; readonly record: R }
  | { readonly kind: 'update'; readonly record: R; readonly previous: R }
  | { readonly kind: 'delete'; readonly record: R; readonly stale: boolean };

/** Records, indexes and whole objects of one resource. */
export class ResourceCache<T extends KubeObject, R extends ObjectRecord> implements Lister<T, R> {
  readonly resource: Resource;
  readonly #id: string;
  readonly #rows: ObjectRows;
  readonly #traits: ResourceTraits<T, R>;
  readonly #records = new Map<string, R>();
  readonly #index: RecordIndex<R>;
  readonly #groups: LabelGroups<R> | undefined;
  readonly #objects = new Lru<string, T>(OBJECT_CACHE_ENTRIES_MAX, OBJECT_CACHE_BYTES_MAX);
  /** Newest objects whose change is not worth a row of its own yet (heartbeats). */
  readonly #unwritten = new Map<string, T>();
  #rowChanges = 0;

  constructor(resource: Resource, rows: ObjectRows, traits: ResourceTraits<T, R>) {
    this.resource = resource;
    this.#id = resourceId(resource);
    this.#rows = rows;
    this.#traits = traits;
    this.#index = new RecordIndex(traits.indexes, indexedBy(traits));
    this.#groups = traits.groupedByLabels ? new LabelGroups() : undefined;
  }

  /** Only metadata of its objects is known. */
  get metadataOnly(): boolean {
    return this.#traits.metadataOnly ?? false;
  }

  /** Moves whenever a row was put or deleted; what is held back doesn't move it. */
  get rowChanges(): number {
    return this.#rowChanges;
  }

  get size(): number {
    return this.#records.size;
  }

  /**
   * Fills records and indexes from the stored rows; the cache must be empty. False if whole objects
   * are needed and a row has only metadata: then `reset` must follow.
   */
  load(): boolean {
    for (const row of this.#rows.scan(this.#id)) {
      const object = parseJson<T>(row.json);
      if (object.kind === PARTIAL.kind && !this.metadataOnly) return false;
      this.#remember(this.#traits.record(object));
    }
    return true;
  }

  /**
   * Applies an object as seen on the server. Undefined if that version is known, or is older than
   * what is known and the server's history is `trusted` to go only forward.
   */
  apply(incoming: T, trusted = true): Change<R> | undefined {
    const record = this.#traits.record(incoming);
    const previous = this.#records.get(record.key);
    if (previous?.uid === record.uid) {
      const order = compareVersions(record.resourceVersion, previous.resourceVersion);
      if (order === 0 || (order < 0 && trusted)) return undefined;
    }
    this.#write(record, incoming, previous);
    this.#remember(record, previous);
    if (previous === undefined) return { kind: 'add', record };
    return { kind: 'update', record, previous };
  }

  /** Applies a deletion seen on the server; only the object with that UID goes. */
  remove(incoming: KubeObject): Change<R> | undefined {
    const key = keyOf(incoming);
    const known = this.#records.get(key);
    if (known === undefined || known.uid !== incoming.metadata.uid) return undefined;
    this.#forget(known);
    return { kind: 'delete', record: this.#traits.record(incoming as T), stale: false };
  }

  /** Drops an object whose deletion was not seen; the handlers get a tombstone. */
  evict(key: string): Change<R> | undefined {
    const known = this.#records.get(key);
    if (known === undefined) return undefined;
    this.#forget(known);
    return { kind: 'delete', record: known, stale: true };
  }

  /** Empties the cache and its rows, without tombstones: nothing has read it yet. */
  reset(): void {
    this.#records.clear();
    this.#index.clear();
    this.#groups?.clear();
    this.#objects.clear();
    this.#unwritten.clear();
    this.#rows.drop(this.#id);
  }

  /** Puts rows that were held back, so that a resume point may be stored after them. */
  writeHeldBack(): void {
    for (const [key, object] of this.#unwritten) this.#putRow(key, object);
    this.#unwritten.clear();
  }

  /** Puts the row of an object that is known in this version, because the disk may lack it. */
  rewrite(object: T): void {
    const known = this.#records.get(keyOf(object));
    if (known?.resourceVersion === object.metadata.resourceVersion) {
      this.#putRow(known.key, this.#lean(object));
    }
  }

  /** Keeps an object that was fetched because the disk had lost it; false if it is another one. */
  heal(object: T): boolean {
    const known = this.#records.get(keyOf(object));
    if (known?.uid !== object.metadata.uid) return false;
    const lean = this.#lean(object);
    this.#objects.set(known.key, lean, stringifyJson(lean).length);
    return true;
  }

  get(key: string): T | undefined {
    const record = this.#records.get(key);
    if (record === undefined) return undefined;
    const held = this.#unwritten.get(key) ?? this.#objects.get(key);
    if (held !== undefined) return held;
    const row = this.#rows.get(this.#id, key);
    if (row === undefined || row.uid !== record.uid)
      throw new ObjectUnavailable(this.resource, key);
    const object = parseJson<T>(row.json);
    this.#objects.set(key, object, row.json.length);
    return object;
  }

  record(key: string): R | undefined {
    return this.#records.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#records.keys();
  }

  all(): IterableIterator<R> {
    return this.#records.values();
  }

  list(namespace: string): readonly R[] {
    if (namespace === '') return [...this.#records.values()];
    return this.#groups?.selected(namespace, () => true) ?? this.#index.inNamespace(namespace);
  }

  selected(namespace: string, matches: (labels: R['labels']) => boolean): readonly R[] {
    return (
      this.#groups?.selected(namespace, matches) ??
      this.list(namespace).filter(({ labels }) => matches(labels))
    );
  }

  controlledBy(uid: string): readonly R[] {
    return this.#index.controlledBy(uid);
  }

  orphans(namespace: string): readonly R[] {
    return this.#index.orphans(namespace);
  }

  byIndex(index: string, value: string): readonly R[] {
    return this.#index.by(index, value);
  }

  #write(record: R, incoming: T, previous: R | undefined): void {
    const object = this.#lean(incoming);
    if (previous?.uid === record.uid && this.#mayWait(record, object, previous)) {
      this.#unwritten.set(record.key, object);
      this.#objects.delete(record.key);
      return;
    }
    this.#unwritten.delete(record.key);
    const bytes = this.#putRow(record.key, object);
    if (this.#objects.has(record.key) || !this.#traits.bulky) {
      this.#objects.set(record.key, object, bytes);
    }
  }

  /** True if the change needs no row of its own now. */
  #mayWait(record: R, object: T, previous: R): boolean {
    const { sameButVersion, onlyHeartbeat } = this.#traits;
    const isFull = this.#unwritten.size >= HELD_BACK_OBJECTS_MAX;
    if (isFull && !this.#unwritten.has(record.key)) return false;
    if (sameButVersion?.(previous, record)) return true;
    if (onlyHeartbeat === undefined) return false;
    const before = this.#unwritten.get(record.key) ?? this.#known(record.key);
    return before !== undefined && onlyHeartbeat(before, object);
  }

  #known(key: string): T | undefined {
    const held = this.#objects.get(key);
    if (held !== undefined) return held;
    const row = this.#rows.get(this.#id, key);
    return row === undefined ? undefined : parseJson<T>(row.json);
  }

  /** Gives the size of its JSON. */
  #putRow(key: string, object: T): number {
    const { uid, resourceVersion } = object.metadata;
    const json = stringifyJson(object);
    this.#rowChanges++;
    this.#rows.put({ resource: this.#id, key, uid, resourceVersion, json });
    return json.length;
  }

  /** As stored: without what must not reach the disk, with the kind that list items lack. */
  #lean(object: T): T {
    const lean = this.#traits.lean(object);
    if (lean.kind !== undefined) return lean;
    return { apiVersion: apiVersionOf(this.resource), kind: this.resource.kind, ...lean };
  }

  #remember(record: R, previous?: R): void {
    if (previous !== undefined) {
      this.#index.remove(previous);
      this.#groups?.remove(previous);
    }
    this.#records.set(record.key, record);
    this.#index.add(record);
    this.#groups?.add(record);
  }

  #forget(record: R): void {
    this.#records.delete(record.key);
    this.#index.remove(record);
    this.#groups?.remove(record);
    this.#objects.delete(record.key);
    this.#unwritten.delete(record.key);
    this.#rowChanges++;
    this.#rows.delete(this.#id, record.key);
  }
}

function indexedBy<T extends KubeObject, R extends ObjectRecord>(
  traits: ResourceTraits<T, R>,
): IndexedBy {
  if (traits.metadataOnly) return 'namespace';
  return traits.groupedByLabels ? 'owner' : 'all';
}

/** The cache key of an object: "namespace/name", or "name" if it is cluster-scoped. */
export function keyOf(object: KubeObject): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}
