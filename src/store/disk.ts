/** The main thread's connection to the database: reads, and writing a whole batch at once. */
import type { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import {
  JOURNAL_BYTES_MAX,
  JOURNAL_ROWS_MAX,
  JOURNAL_TEXT_MAX,
  JOURNAL_TRIM_ROWS,
  JOURNAL_WRITES_MAX,
  VACUUM_PAGES_MAX,
} from '../runtime/limits.ts';
import type { JournalRow } from '../runtime/ports.ts';
import type { Batch, SmallTable, TableLayer } from './batch.ts';
import { closeConnection, IN_MEMORY, openConnection, rollBack } from './connection.ts';
import { migrate } from './migrate.ts';
import { prepareStatements, type Statements } from './statements.ts';

/** A database the store reads from and writes to. Every method may throw SQLite's errors. */
export class Disk {
  readonly client: Database;
  readonly read: Statements;
  /** Path of the file, or ":memory:". */
  readonly path: string;
  readonly #inode: number;
  /** New rows since the journal was trimmed; what earlier processes left is trimmed at once. */
  #journalRows = JOURNAL_TRIM_ROWS;

  private constructor(client: Database, path: string) {
    this.client = client;
    this.path = path;
    this.#inode = inodeOf(path);
    this.read = prepareStatements(client);
  }

  /** Connects to a file that the helper has prepared. Never waits for a lock. */
  static open(path: string): Disk {
    const client = openConnection(path, 0);
    try {
      return new Disk(client, path);
    } catch (error) {
      closeConnection(client);
      throw error;
    }
  }

  /** A database in memory, for when there is no usable disk. `now` in ms. */
  static inMemory(now: number): Disk {
    const client = openConnection(IN_MEMORY, 0);
    migrate(client, now);
    return new Disk(client, IN_MEMORY);
  }

  get isFile(): boolean {
    return this.path !== IN_MEMORY;
  }

  /**
   * Writes everything in one transaction. False, and nothing is written, if `held` says so once the
   * write lock is ours. Throws if it failed; then nothing is written either.
   */
  write(batch: Batch, held: () => boolean): boolean {
    return this.#transaction(held, () => {
      this.#writeObjects(batch);
      for (const table of Object.keys(batch.tables) as SmallTable[]) {
        this.#writeTable(batch, table);
      }
      this.#writeJournal(batch);
    });
  }

  #transaction(held: () => boolean, body: () => void): boolean {
    this.client.run('BEGIN IMMEDIATE');
    try {
      if (held()) {
        rollBack(this.client);
        return false;
      }
      body();
      this.client.run('COMMIT');
      return true;
    } catch (error) {
      rollBack(this.client);
      throw error;
    }
  }

  #writeObjects(batch: Batch): void {
    const { objects, points } = this.read;
    if (batch.objectsCleared) {
      objects.clear();
      points.clear();
    }
    for (const [resource, layer] of batch.objects) {
      if (layer.dropped) {
        objects.drop(resource);
        points.delete({ resource, resourceVersion: '', observedAt: 0 });
      }
      for (const [key, row] of layer.rows) {
        if (row === undefined) objects.delete(resource, key);
        else objects.put(row);
      }
      if (layer.point !== undefined) points.put(layer.point);
    }
  }

  #writeTable<T extends SmallTable>(batch: Batch, table: T): void {
    const statements = this.read.small[table];
    const layer: TableLayer<Parameters<typeof statements.put>[0]> = batch.tables[table];
    if (layer.cleared) statements.clear();
    for (const { row, deleted } of layer.rows.values()) {
      if (deleted) statements.delete(row);
      else statements.put(row);
    }
  }

  #writeJournal(batch: Batch): void {
    const { journal } = this.read;
    if (batch.journalCutoff > 0) journal.keepSince(batch.journalCutoff);
    if (batch.journal.length === 0) return;
    for (const row of batch.journal) journal.add(bounded(row));
    this.#journalRows += batch.journal.length;
    if (this.#journalRows < JOURNAL_TRIM_ROWS) return;
    this.#journalRows = 0;
    journal.keepNewest(JOURNAL_ROWS_MAX - JOURNAL_TRIM_ROWS);
    journal.keepBytes(JOURNAL_BYTES_MAX);
  }

  /** False if somebody deleted or replaced the file: what is written then is lost. */
  stillThere(): boolean {
    return !this.isFile || inodeOf(this.path) === this.#inode;
  }

  /** Size of the database file, bytes; 0 in memory. */
  databaseBytes(): number {
    return this.isFile ? sizeOf(this.path) : 0;
  }

  /** Size of the WAL, bytes; 0 in memory. */
  walBytes(): number {
    return this.isFile ? sizeOf(`${this.path}-wal`) : 0;
  }

  pageBytes(): number {
    return this.#pragma('page_size');
  }

  /**
   * Gives some free pages back to the file system if many are free; true if it did. `held` as for
   * `write`.
   */
  vacuumStep(held: () => boolean): boolean {
    const free = this.#pragma('freelist_count');
    if (free <= VACUUM_PAGES_MAX || free * 4 < this.#pragma('page_count')) return false;
    return this.#transaction(held, () => {
      // The pragma frees one page a step, so it must be stepped to its end.
      this.client.query(`PRAGMA incremental_vacuum(${VACUUM_PAGES_MAX})`).all();
    });
  }

  #pragma(name: string): number {
    const row = this.client.query<Record<string, number>, []>(`PRAGMA ${name}`).get();
    return row?.[name] ?? 0;
  }

  close(): void {
    closeConnection(this.client);
  }
}

function inodeOf(path: string): number {
  return path === IN_MEMORY ? 0 : (statSync(path, { throwIfNoEntry: false })?.ino ?? 0);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function cut(text: string): string {
  return text.length <= JOURNAL_TEXT_MAX ? text : `${text.slice(0, JOURNAL_TEXT_MAX)}…`;
}

function bounded(row: JournalRow): JournalRow {
  const writes = row.writes.slice(0, JOURNAL_WRITES_MAX).map((write) => ({
    ...write,
    because: cut(write.because),
    outcome: cut(write.outcome),
  }));
  return { ...row, error: cut(row.error), because: cut(row.because), writes };
}
