/**
 * What was put or deleted and has not reached the disk yet, in plain memory. Changes of one key
 * coalesce, the last one wins.
 */
import { JOURNAL_PENDING_MAX } from '../runtime/limits.ts';
import type {
  ExpectationRow,
  IntentRow,
  JournalRow,
  MemoryRow,
  ObjectRow,
  OwnWriteRow,
  ResumePoint,
  WorkRow,
} from '../runtime/ports.ts';

/** Bytes that an entry costs beside its texts, roughly. */
const ENTRY_BYTES = 128;

/** Pending changes of one resource. `undefined` as a row means deleted. */
export class ObjectLayer {
  readonly rows = new Map<string, ObjectRow | undefined>();
  point: ResumePoint | undefined;
  /** What the disk holds of this resource goes first; reads must not see it. */
  dropped = false;
  bytes = 0;

  set(key: string, row: ObjectRow | undefined): void {
    this.remove(key);
    this.rows.set(key, row);
    this.bytes += costOf(key, row);
  }

  /** Forgets the pending change itself. */
  remove(key: string): void {
    if (!this.rows.has(key)) return;
    this.bytes -= costOf(key, this.rows.get(key));
    this.rows.delete(key);
  }

  /** Everything of the resource goes, on disk and here. */
  drop(): void {
    this.rows.clear();
    this.bytes = 0;
    this.point = undefined;
    this.dropped = true;
  }
}

function costOf(key: string, row: ObjectRow | undefined): number {
  return ENTRY_BYTES + key.length + (row === undefined ? 0 : row.json.length + row.uid.length);
}

/** Pending changes of one small table. */
export class TableLayer<Row> {
  readonly rows = new Map<string, { readonly row: Row; readonly deleted: boolean }>();
  /** What the disk holds of this table goes first. */
  cleared = false;

  clear(): void {
    this.rows.clear();
    this.cleared = true;
  }
}

/** A name and its value; the shape of facts as rows. */
export interface FactRow {
  readonly name: string;
  readonly value: string;
}

/** The small tables and their rows. */
export interface SmallTables {
  readonly intents: IntentRow;
  readonly expectations: ExpectationRow;
  readonly ownWrites: OwnWriteRow;
  readonly work: WorkRow;
  readonly memory: MemoryRow;
  readonly facts: FactRow;
}

export type SmallTable = keyof SmallTables;

type Layers = { readonly [T in SmallTable]: TableLayer<SmallTables[T]> };

/** All pending changes. Replaced by a new one after each successful flush. */
export class Batch {
  readonly objects = new Map<string, ObjectLayer>();
  /** Every object and resume point on disk goes first. */
  objectsCleared = false;
  readonly tables: Layers = {
    intents: new TableLayer(),
    expectations: new TableLayer(),
    ownWrites: new TableLayer(),
    work: new TableLayer(),
    memory: new TableLayer(),
    facts: new TableLayer(),
  };
  journal: JournalRow[] = [];
  /** Journal rows that started before this time (ms) go. */
  journalCutoff = 0;

  layer(resource: string): ObjectLayer {
    let layer = this.objects.get(resource);
    if (layer === undefined) {
      layer = new ObjectLayer();
      this.objects.set(resource, layer);
    }
    return layer;
  }

  /** True if reads of this resource must not look at the disk. */
  hidesDisk(resource: string): boolean {
    return this.objectsCleared || (this.objects.get(resource)?.dropped ?? false);
  }

  addToJournal(row: JournalRow): void {
    if (this.journal.length >= JOURNAL_PENDING_MAX) this.journal.shift();
    this.journal.push(row);
  }

  /** Forgets objects, points and what is derived from them; facts and the journal stay. */
  forgetCluster(): void {
    this.objects.clear();
    this.objectsCleared = true;
    for (const table of ['intents', 'expectations', 'ownWrites', 'work', 'memory'] as const) {
      this.tables[table].clear();
    }
  }

  objectBytes(): number {
    let bytes = 0;
    for (const layer of this.objects.values()) bytes += layer.bytes;
    return bytes;
  }

  /** Rows that the next flush writes or deletes. */
  size(): number {
    let rows = this.journal.length;
    for (const layer of this.objects.values()) {
      rows += layer.rows.size + (layer.point === undefined ? 0 : 1);
    }
    for (const layer of Object.values(this.tables)) rows += layer.rows.size;
    return rows;
  }

  isEmpty(): boolean {
    if (this.objectsCleared || this.journalCutoff > 0 || this.journal.length > 0) return false;
    for (const layer of this.objects.values()) {
      if (layer.dropped || layer.point !== undefined || layer.rows.size > 0) return false;
    }
    return Object.values(this.tables).every((layer) => !layer.cleared && layer.rows.size === 0);
  }

  /** Resources with pending rows, the most bytes first. */
  biggestResources(): string[] {
    const sized = [...this.objects].filter(([, layer]) => layer.bytes > 0);
    return sized.sort(([, a], [, b]) => b.bytes - a.bytes).map(([resource]) => resource);
  }
}
