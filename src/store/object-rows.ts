/** Object rows and resume points: the batch first, then the disk. */
import { parseJson, stringifyJson } from '../api/json.ts';
import type { KubeObject } from '../api/types/index.ts';
import { SCAN_PAGE_ROWS } from '../runtime/limits.ts';
import type { ObjectHead, ObjectRow, ObjectRows, ResumePoint } from '../runtime/ports.ts';
import type { Batch } from './batch.ts';
import { compareKeys, mergeByKey } from './merge.ts';
import { holdsSecretData } from './redact.ts';
import { assertComplete, type Statements } from './statements.ts';
import type { TornResources } from './torn.ts';

/** What the tables need of the store they belong to. */
export interface StoreAccess {
  batch(): Batch;
  /** Reads from the disk; a disk that fails is replaced and read again. */
  readDisk<T>(read: (statements: Statements) => T): T;
  /** Something was put or deleted. */
  changed(): void;
}

/** Resources that must never be stored: they change all the time and nobody resumes them. */
const NEVER_STORED: ReadonlySet<string> = new Set([
  'leases.coordination.k8s.io',
  'events',
  'events.events.k8s.io',
]);
const SECRETS = 'secrets';

type Redact = (resource: string, object: KubeObject) => KubeObject;

/** The store's ObjectRows. */
export class StoredObjects implements ObjectRows {
  readonly #access: StoreAccess;
  readonly #torn: TornResources;
  readonly #redact: Redact;

  constructor(access: StoreAccess, torn: TornResources, redact: Redact) {
    this.#access = access;
    this.#torn = torn;
    this.#redact = redact;
  }

  put(row: ObjectRow): void {
    if (NEVER_STORED.has(row.resource)) {
      throw new Error(`${row.resource} must not be stored (key ${row.key})`);
    }
    assertComplete('objects', row);
    this.#access.batch().layer(row.resource).set(row.key, this.#withoutSecrets(row));
    this.#access.changed();
  }

  /** Whoever puts a Secret should have redacted it; a mistake there must not reach the disk. */
  #withoutSecrets(row: ObjectRow): ObjectRow {
    if (row.resource !== SECRETS) return row;
    const object = parseJson<KubeObject>(row.json);
    if (!holdsSecretData(object)) return row;
    return { ...row, json: stringifyJson(this.#redact(SECRETS, object)) };
  }

  delete(resource: string, key: string): void {
    const batch = this.#access.batch();
    const layer = batch.layer(resource);
    const mayBeOnDisk =
      !batch.hidesDisk(resource) &&
      (!layer.rows.has(key) || this.#access.readDisk((disk) => disk.objects.has(resource, key)));
    if (mayBeOnDisk) layer.set(key, undefined);
    else layer.remove(key);
    this.#access.changed();
  }

  get(resource: string, key: string): ObjectRow | undefined {
    const batch = this.#access.batch();
    const layer = batch.objects.get(resource);
    if (layer?.rows.has(key)) return layer.rows.get(key);
    if (batch.hidesDisk(resource)) return undefined;
    return this.#access.readDisk((disk) => disk.objects.get(resource, key));
  }

  scan(resource: string): Iterable<ObjectRow> {
    return mergeByKey(
      this.#pages(resource, (disk, after) => disk.objects.page(resource, after, SCAN_PAGE_ROWS)),
      this.#pending(resource),
    );
  }

  heads(resource: string): Iterable<ObjectHead> {
    return mergeByKey<ObjectHead>(
      this.#pages(resource, (disk, after) => disk.objects.heads(resource, after, SCAN_PAGE_ROWS)),
      this.#pending(resource),
    );
  }

  #pending(resource: string): [string, ObjectRow | undefined][] {
    const rows = this.#access.batch().objects.get(resource)?.rows ?? [];
    return [...rows].sort(([a], [b]) => compareKeys(a, b));
  }

  /** Page by page, so that no statement is open while the caller looks at a row. */
  *#pages<Row extends { readonly key: string }>(
    resource: string,
    readPage: (disk: Statements, after: string) => Row[],
  ): Iterable<Row> {
    let after = '';
    while (!this.#access.batch().hidesDisk(resource)) {
      const page = this.#access.readDisk((disk) => readPage(disk, after));
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < SCAN_PAGE_ROWS) return;
      after = last.key;
    }
  }

  resumePoint(resource: string): ResumePoint | undefined {
    const batch = this.#access.batch();
    const pending = batch.objects.get(resource)?.point;
    if (pending !== undefined) return pending;
    if (batch.hidesDisk(resource)) return undefined;
    return this.#access.readDisk((disk) => disk.points.find(resource));
  }

  setResumePoint(point: ResumePoint): void {
    if (!this.#torn.acceptsPoint(point.resource)) return;
    this.#access.batch().layer(point.resource).point = point;
    this.#torn.pointed(point.resource);
    this.#access.changed();
  }

  drop(resource: string): void {
    this.#access.batch().layer(resource).drop();
    this.#torn.dropped(resource);
    this.#access.changed();
  }

  torn(resource: string): boolean {
    return this.#torn.has(resource);
  }
}
