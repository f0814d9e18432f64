/**
 * One process per state directory: an empty SQLite file held by an exclusive lock, which the kernel
 * releases on any death. Neither this file nor the state file is ever opened in this process except
 * through SQLite: any other open and close would drop the locks of the whole process.
 */

import { Database } from 'bun:sqlite';
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { closeConnection, describeError, isBusy } from './connection.ts';
import { networkFileSystem } from './state-dir.ts';

/** Names of the lock and of the text beside it that says who holds it. */
export const LOCK_FILE = 'lock.db';
export const HOLDER_FILE = 'lock.holder';

/** Locks taken and not released: a connection that nobody refers to is closed with its lock. */
const taken = new Set<Database>();

/** Whether this process may use the directory alone. */
export type ProcessLock =
  | {
      readonly held: true;
      /** Names the lock file itself (device and inode): the same for whoever holds it next. */
      readonly id: string;
      release(): void;
    }
  | {
      readonly held: false;
      /** Who holds it, as that process named itself; "" if unknown. */
      readonly holder: string;
      readonly reason: 'locked' | 'unsupported';
      /** What the file system or SQLite answered. */
      readonly detail: string;
    };

/**
 * Takes the lock of a state directory, which must exist; `holder` is written beside it for people
 * who find it locked. "locked": another process has it. "unsupported": nobody can have it here
 * (network or read-only file system, damaged file), so nothing is known about other processes.
 */
export function takeProcessLock(dir: string, holder: string): ProcessLock {
  const holderPath = join(dir, HOLDER_FILE);
  let client: Database | undefined;
  try {
    const network = networkFileSystem(dir);
    if (network !== undefined)
      return unsupported(`${dir} is on a network file system (${network})`);
    const path = join(dir, LOCK_FILE);
    client = new Database(path, { create: true, readwrite: true });
    chmodSync(path, 0o600);
    lockExclusively(client);
    writeFileSync(holderPath, `${holder}\n`, { mode: 0o600 });
  } catch (error) {
    if (client !== undefined) closeConnection(client);
    if (!isBusy(error)) return unsupported(describeError(error));
    return {
      held: false,
      holder: readHolder(holderPath),
      reason: 'locked',
      detail: describeError(error),
    };
  }
  return { held: true, id: fileId(join(dir, LOCK_FILE)), release: releaser(client, holderPath) };
}

/** A stat opens nothing, so it drops no lock. */
function fileId(path: string): string {
  const { dev, ino } = statSync(path);
  return `${dev}:${ino}`;
}

function lockExclusively(client: Database): void {
  client.run('PRAGMA busy_timeout = 0');
  // A rollback journal, unlike a WAL, makes the lock exclude everybody. Nothing is ever written: the
  // file stays empty, so that there is nothing to sync and nothing to damage.
  client.run('PRAGMA journal_mode = MEMORY');
  client.run('BEGIN EXCLUSIVE');
}

function releaser(client: Database, holderPath: string): () => void {
  taken.add(client);
  return () => {
    if (!taken.delete(client)) return;
    rmSync(holderPath, { force: true });
    client.run('ROLLBACK');
    closeConnection(client);
  };
}

function unsupported(detail: string): ProcessLock {
  return { held: false, holder: '', reason: 'unsupported', detail };
}

function readHolder(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
