/** Opening SQLite connections to the state file, and telling SQLite's errors apart. */
import { Database, SQLiteError } from 'bun:sqlite';
import { WAL_BYTES_HIGH } from '../runtime/limits.ts';

/** Path that stands for a database in memory. */
export const IN_MEMORY = ':memory:';

/** The file holds something this version can't use; it must be set aside. */
export class UnusableContent extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'UnusableContent';
  }
}

/**
 * A connection for reading and writing. Commits are written without fsync and never checkpoint by
 * themselves. `busyWaitMs` is how long a locked database is waited for; 0 answers BUSY at once.
 */
export function openConnection(path: string, busyWaitMs: number): Database {
  const client = new Database(path, { create: true, readwrite: true });
  try {
    client.run(`PRAGMA busy_timeout = ${busyWaitMs}`);
    client.run('PRAGMA temp_store = MEMORY');
    client.run('PRAGMA synchronous = NORMAL');
    client.run('PRAGMA wal_autocheckpoint = 0');
    client.run(`PRAGMA journal_size_limit = ${WAL_BYTES_HIGH}`);
    return client;
  } catch (error) {
    client.close();
    throw error;
  }
}

/** Runs `body` in one immediate transaction; on an error nothing of it remains. */
export function inTransaction<T>(client: Database, body: () => T): T {
  client.run('BEGIN IMMEDIATE');
  try {
    const result = body();
    client.run('COMMIT');
    return result;
  } catch (error) {
    rollBack(client);
    throw error;
  }
}

/** Ends a transaction without its changes. A no-op where SQLite has rolled back by itself. */
export function rollBack(client: Database): void {
  if (client.inTransaction) client.run('ROLLBACK');
}

/** Closes a connection and releases its files at once, whatever statements are still around. */
export function closeConnection(client: Database): void {
  client.close(true);
}

/** Short text of an error: SQLite's code, where there is one, and its message. */
export function describeError(error: unknown): string {
  if (error instanceof SQLiteError) return `${error.code ?? 'SQLite error'}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string {
  return error instanceof SQLiteError ? (error.code ?? '') : '';
}

/** True if another connection holds the lock: trying again is all it takes. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error));
}

/** True if pages of the database are damaged. */
export function isCorrupt(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB|FORMAT|IOERR_CORRUPTFS)/.test(codeOf(error));
}

/** While opening: true if the content, not the disk, is at fault, so that a new file would work. */
export function isUnusableContent(error: unknown): boolean {
  if (error instanceof UnusableContent || isCorrupt(error)) return true;
  return /^SQLITE_(ERROR|SCHEMA|CONSTRAINT|MISMATCH)/.test(codeOf(error));
}
