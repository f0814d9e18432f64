/** Indexes over records: by namespace, by controller UID, orphans, and a resource's own ones. */
import type { ObjectRecord } from './types.ts';

/** Gives the values under which a record is found in a named index. */
export type IndexFunction<R> = (record: R) => readonly string[];

/** 'namespace': no buckets by controller and of orphans; 'owner': none by namespace. */
export type IndexedBy = 'all' | 'namespace' | 'owner';

const NONE: readonly never[] = [];

/** Buckets of records; each lookup is one map access. */
export class RecordIndex<R extends ObjectRecord> {
  readonly #extra: ReadonlyArray<readonly [string, IndexFunction<R>]>;
  readonly #by: IndexedBy;
  readonly #buckets = new Map<string, Map<string, R>>();

  constructor(extra: Readonly<Record<string, IndexFunction<R>>>, by: IndexedBy = 'all') {
    this.#extra = Object.entries(extra);
    this.#by = by;
  }

  add(record: R): void {
    for (const bucket of this.#bucketsOf(record)) {
      const records = this.#buckets.get(bucket);
      if (records === undefined) this.#buckets.set(bucket, new Map([[record.key, record]]));
      else records.set(record.key, record);
    }
  }

  remove(record: R): void {
    for (const bucket of this.#bucketsOf(record)) {
      const records = this.#buckets.get(bucket);
      if (records === undefined) continue;
      records.delete(record.key);
      if (records.size === 0) this.#buckets.delete(bucket);
    }
  }

  clear(): void {
    this.#buckets.clear();
  }

  inNamespace(namespace: string): readonly R[] {
    return this.#read(`n/${namespace}`);
  }

  controlledBy(uid: string): readonly R[] {
    return this.#read(`c/${uid}`);
  }

  orphans(namespace: string): readonly R[] {
    return this.#read(`o/${namespace}`);
  }

  by(index: string, value: string): readonly R[] {
    return this.#read(`x/${index}/${value}`);
  }

  #read(bucket: string): readonly R[] {
    const records = this.#buckets.get(bucket);
    return records === undefined ? NONE : [...records.values()];
  }

  #bucketsOf(record: R): string[] {
    const owner = record.controller;
    const buckets: string[] = [];
    if (this.#by !== 'namespace') {
      buckets.push(owner === undefined ? `o/${record.namespace}` : `c/${owner.uid}`);
    }
    if (this.#by !== 'owner' && record.namespace !== '') buckets.push(`n/${record.namespace}`);
    for (const [name, values] of this.#extra) {
      for (const value of values(record)) buckets.push(`x/${name}/${value}`);
    }
    return buckets;
  }
}
