/** The state file on disk: making it ready for use, and moving one aside that can't be used. */
import type { Database } from 'bun:sqlite';
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs';
import { DATABASE_BUSY_WAIT_MS } from '../runtime/limits.ts';
import {
  closeConnection,
  describeError,
  inTransaction,
  isUnusableContent,
  openConnection,
  UnusableContent,
} from './connection.ts';
import { migrate } from './migrate.ts';

/** How a file is to be opened. */
export interface PrepareOptions {
  readonly path: string;
  /** Id of this boot of the machine, "" if unknown. */
  readonly bootId: string;
  /** Wall time, ms. */
  readonly now: number;
  /** Move what is there aside first, because of this. */
  readonly setAside?: string;
}

export interface PreparedFile {
  readonly client: Database;
  /** "resumed", "created" or "set aside: <why>". */
  readonly opened: string;
  /** The pages were checked now, so no later check is needed. */
  readonly checked: boolean;
}

const FACT_BOOT = 'store.boot_id';
const FACT_OPENED = 'store.opened_at';
const FACT_WAL = 'store.wal_generation';

/**
 * Moves a state file with its -wal and -shm to "<path>.aside*"; what stood there before is deleted.
 * No connection of this process may be open on it.
 */
export function moveAside(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) {
    rmSync(`${path}.aside${suffix}`, { force: true });
  }
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, `${path}.aside${suffix}`);
  }
}

/** First complaint of SQLite's quick check, or undefined if there is none. Reads every page. */
export function quickCheck(client: Database): string | undefined {
  const row = client.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').get();
  return row === null || row.quick_check === 'ok' ? undefined : row.quick_check;
}

/** Writes one row, so that a new WAL gets its first frame (and its header's fsync) here. */
export function writeFirstFrame(client: Database): void {
  inTransaction(client, () => {
    client.run(
      `INSERT INTO facts VALUES (?, '1')
       ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1`,
      [FACT_WAL],
    );
  });
}

function fact(client: Database, name: string): string | undefined {
  const table = client.query("SELECT 1 FROM sqlite_schema WHERE name = 'facts'").get();
  if (table === null) return undefined;
  const statement = client.query<{ value: string }, [string]>(
    'SELECT value FROM facts WHERE name = ?',
  );
  return statement.get(name)?.value;
}

function recordOpening(client: Database, options: PrepareOptions): void {
  inTransaction(client, () => {
    for (const [name, value] of [
      [FACT_BOOT, options.bootId],
      [FACT_OPENED, String(options.now)],
    ] as const) {
      client.run(
        'INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        [name, value],
      );
    }
  });
}

function useWal(client: Database): void {
  client.run('PRAGMA auto_vacuum = INCREMENTAL');
  const mode = client.query<{ journal_mode: string }, []>('PRAGMA journal_mode = WAL').get();
  if (mode?.journal_mode !== 'wal') {
    throw new Error(
      `write-ahead logging is not possible here (journal mode ${mode?.journal_mode})`,
    );
  }
}

function openAndCheck(options: PrepareOptions): PreparedFile {
  const client = openConnection(options.path, DATABASE_BUSY_WAIT_MS);
  try {
    chmodSync(options.path, 0o600);
    useWal(client);
    const sameBoot = options.bootId !== '' && fact(client, FACT_BOOT) === options.bootId;
    const complaint = sameBoot ? undefined : quickCheck(client);
    if (complaint !== undefined) throw new UnusableContent(`corrupt: ${complaint}`);
    const created = migrate(client, options.now);
    recordOpening(client, options);
    return { client, opened: created ? 'created' : 'resumed', checked: !sameBoot };
  } catch (error) {
    closeConnection(client);
    throw error;
  }
}

/**
 * Opens a file that the store is using, for another helper after the first was lost. Throws where
 * that is not possible; the file stays where it is.
 */
export function attachStateFile(options: PrepareOptions): PreparedFile {
  return openAndCheck(options);
}

/**
 * Opens or creates the file, checks every page after a reboot, migrates it and writes the first
 * frame of its WAL. Content that can't be used is set aside and a new file made. Throws where not
 * even that is possible (read-only, full, locked by another process).
 */
export function prepareStateFile(options: PrepareOptions): PreparedFile {
  let why = options.setAside;
  if (why === undefined) {
    try {
      return openAndCheck(options);
    } catch (error) {
      if (!isUnusableContent(error)) throw error;
      why = error instanceof UnusableContent ? error.message : `corrupt: ${describeError(error)}`;
    }
  }
  moveAside(options.path);
  return { ...openAndCheck(options), opened: `set aside: ${why}` };
}
