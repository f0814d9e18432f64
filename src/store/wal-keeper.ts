/**
 * Everything that calls fsync: checkpoints, and the first write of each new WAL. Runs in the helper
 * thread.
 *
 * SQLite starts the WAL anew, and syncs its header on whoever writes next, as soon as all of it has
 * been copied to the database and nobody reads it. So a reader of our own, the pin, is kept open in
 * the WAL: the main thread can only append. The pin is let go for a moment when the WAL is
 * truncated; meanwhile `hold` keeps the main thread from writing.
 */
import type { Database } from 'bun:sqlite';
import { WAL_RESTART_WAIT_MS } from '../runtime/limits.ts';
import { closeConnection, isBusy, openConnection, rollBack } from './connection.ts';
import { quickCheck, writeFirstFrame } from './state-file.ts';

/** What a checkpoint did. */
export interface CheckpointResult {
  /** Frames now in the WAL. */
  readonly walFrames: number;
  /** Frames copied to the database by this call, an upper bound of the pages it wrote. */
  readonly copiedFrames: number;
  /** A truncation was asked for and a reader prevented it. */
  readonly blocked: boolean;
}

interface CheckpointRow {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

/**
 * Checkpoints one state file. `writer` is a connection whose last write has put a frame into the
 * WAL; it belongs to the keeper from now on. `hold(true)` must keep the main thread from writing.
 */
export class WalKeeper {
  readonly #writer: Database;
  readonly #pin: Database;
  readonly #hold: (on: boolean) => void;
  #seenVersion = -1;
  #copied = 0;

  constructor(writer: Database, path: string, hold: (on: boolean) => void) {
    this.#writer = writer;
    this.#writer.run(`PRAGMA busy_timeout = ${WAL_RESTART_WAIT_MS}`);
    this.#pin = openConnection(path, WAL_RESTART_WAIT_MS);
    this.#hold = hold;
    this.#setPin();
  }

  #setPin(): void {
    rollBack(this.#pin);
    this.#pin.run('BEGIN');
    this.#pin.query('SELECT rootpage FROM sqlite_schema LIMIT 1').get();
  }

  #run(mode: 'PASSIVE' | 'TRUNCATE' | 'NOOP'): CheckpointRow {
    const row = this.#writer.query<CheckpointRow, []>(`PRAGMA wal_checkpoint(${mode})`).get();
    return row ?? { busy: 1, log: 0, checkpointed: 0 };
  }

  #dataVersion(): number {
    const row = this.#writer.query<{ data_version: number }, []>('PRAGMA data_version').get();
    return row?.data_version ?? -1;
  }

  /** Copies the WAL to the database. Nothing was written since the last time: does nothing. */
  checkpoint(): CheckpointResult {
    const version = this.#dataVersion();
    if (version === this.#seenVersion) {
      return { walFrames: this.#run('NOOP').log, copiedFrames: 0, blocked: false };
    }
    // Frames wait that aren't copied yet, so the WAL can't start anew while the pin moves.
    this.#setPin();
    const row = this.#run('PASSIVE');
    this.#seenVersion = row.checkpointed >= row.log ? version : -1;
    const copiedFrames = Math.max(0, row.checkpointed - this.#copied);
    this.#copied = row.checkpointed;
    return { walFrames: row.log, copiedFrames, blocked: row.busy !== 0 };
  }

  /** Copies the WAL, empties it, and writes the first frame of the new one. */
  truncate(): CheckpointResult {
    const copied = this.checkpoint();
    this.#hold(true);
    try {
      return this.#waitForWriter() ? this.#startAnew(copied) : { ...copied, blocked: true };
    } finally {
      this.#hold(false);
    }
  }

  /**
   * Waits until nobody is writing; false if it takes too long. A transaction that began before the
   * hold may still start the WAL anew, so the pin must stay until it has ended.
   */
  #waitForWriter(): boolean {
    try {
      this.#writer.run('BEGIN IMMEDIATE');
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
    this.#writer.run('ROLLBACK');
    return true;
  }

  #startAnew({ copiedFrames }: CheckpointResult): CheckpointResult {
    this.#seenVersion = -1;
    try {
      rollBack(this.#pin);
      const blocked = this.#run('TRUNCATE').busy !== 0;
      // Also when blocked: the WAL may be copied whole, and the next writer would start it anew.
      writeFirstFrame(this.#writer);
      if (!blocked) this.#copied = 0;
      return { walFrames: this.#run('NOOP').log, copiedFrames, blocked };
    } finally {
      this.#setPin();
    }
  }

  /** First complaint about the pages of the file, or "". */
  quickCheck(): string {
    return quickCheck(this.#writer) ?? '';
  }

  /** Lets go of the file; the last connection to go copies the WAL and removes it. */
  close(): void {
    closeConnection(this.#pin);
    closeConnection(this.#writer);
  }
}
