/**
 * The store: a batch in memory over a database. Nothing is ever open across turns of the event
 * loop: a flush is one synchronous transaction, and a flush that fails leaves the batch as it was.
 */
import type { KubeObject } from '../api/types/index.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import {
  BATCH_BYTES_MAX,
  BATCH_DELAY_MS,
  BATCH_RETRY_MS_MAX,
  BATCH_RETRY_MS_MIN,
  BATCH_ROWS_MAX,
  BATCH_TORN_BYTES,
  COMMIT_HOLD_WAIT_MS,
  WAL_BYTES_MAX,
} from '../runtime/limits.ts';
import type { Logger } from '../runtime/log.ts';
import type { JournalRow, StoreHealth, StorePort } from '../runtime/ports.ts';
import { Batch } from './batch.ts';
import { describeError, isBusy, isCorrupt } from './connection.ts';
import type { Disk } from './disk.ts';
import type { Helper } from './helper.ts';
import { type StoreAccess, StoredObjects } from './object-rows.ts';
import { StoredFacts, StoredTable } from './row-table.ts';
import { assertComplete, type Statements } from './statements.ts';
import { TornResources } from './torn.ts';
import { FACT_WRITES, WriteCounts } from './write-counts.ts';

export interface StoreDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly redact: (resource: string, object: KubeObject) => KubeObject;
  /** Whether and how long to wait for the helper before writing. */
  readonly hold: Pick<Helper, 'holding' | 'waitWhileHolding'>;
  /** The file turned out to be unusable; gives what to go on with. Called at most once a file. */
  replaceDisk(failed: Disk, why: string): Disk;
  /** After each flush that wrote something. */
  flushed(): void;
  /** The store was closed; its connection is closed already. */
  closed(): void;
}

/** StorePort over SQLite. */
export class Store implements StorePort {
  readonly objects: StoredObjects;
  readonly intents: StoredTable<'intents'>;
  readonly expectations: StoredTable<'expectations'>;
  readonly ownWrites: StoredTable<'ownWrites'>;
  readonly work: StoredTable<'work'>;
  readonly memory: StoredTable<'memory'>;
  readonly facts: StoredFacts;
  readonly #deps: StoreDeps;
  readonly #torn = new TornResources();
  readonly #known = new Set<string>();
  #disk: Disk;
  #opened: string;
  #batch = new Batch();
  #timer: { readonly timer: Timer; readonly dueAt: number } | undefined;
  #problem = '';
  #checkpointProblem = '';
  #retryAt = 0;
  #retryDelayMs = 0;
  readonly #counts: WriteCounts;
  #commitErrors = 0;
  #walBytes = 0;
  #closed = false;
  #closing = false;
  readonly #hooks: (() => void)[] = [];
  #flushing = false;

  /** Takes over `disk`; `opened` and `problem` are shown by `health`. */
  constructor(deps: StoreDeps, disk: Disk, opened: string, problem: string) {
    this.#deps = deps;
    this.#counts = new WriteCounts(deps.clock);
    this.#disk = disk;
    this.#opened = opened;
    this.#problem = problem;
    this.#walBytes = disk.walBytes();
    const access: StoreAccess = {
      batch: () => this.#batch,
      readDisk: (read) => this.#readDisk(read),
      changed: () => this.#changed(),
    };
    this.objects = new StoredObjects(access, this.#torn, deps.redact);
    this.intents = new StoredTable(access, 'intents');
    this.expectations = new StoredTable(access, 'expectations');
    this.ownWrites = new StoredTable(access, 'ownWrites');
    this.work = new StoredTable(access, 'work');
    this.memory = new StoredTable(access, 'memory');
    this.facts = new StoredFacts(access);
    const points = this.#readDisk((read) => read.points.all());
    for (const { resource } of points) this.#known.add(resource);
  }

  journal(row: JournalRow): void {
    assertComplete('journal', row);
    this.#batch.addToJournal(row);
    this.#changed();
  }

  beforeCommit(hook: () => void): void {
    this.#hooks.push(hook);
  }

  /**
   * Commit barrier. False means that a crash now would forget what was put since the last true one:
   * the disk is failing, or there is none. Waits at most COMMIT_HOLD_WAIT_MS, for the helper.
   */
  commit(): boolean {
    return this.#flushPatiently() && this.#disk.isFile;
  }

  forgetCluster(because: string): void {
    this.#deps.log.warning('Forgetting everything about the cluster', { because });
    this.#opened = `emptied: ${because}`;
    for (const resource of this.#torn.names()) this.#torn.dropped(resource);
    this.#batch.forgetCluster();
    this.journal({
      controller: 'holdfast',
      key: '',
      startedAt: this.#deps.clock.now(),
      durationMs: 0,
      outcome: 'ok',
      error: '',
      because: `forgot everything about the cluster: ${because}`,
      writes: [],
    });
  }

  health(): StoreHealth {
    return {
      problem: this.#problem === '' ? this.#checkpointProblem : this.#problem,
      opened: this.#opened,
      databaseBytes: this.#disk.databaseBytes(),
      walBytes: this.#disk.walBytes(),
      pendingRows: this.#batch.size(),
      pendingBytes: this.#batch.objectBytes(),
      commits: this.#counts.commits,
      commitErrors: this.#commitErrors,
      bytesWritten: this.#counts.bytes,
      ...this.#counts.lastHour(),
      tornResources: this.#torn.names(),
    };
  }

  close(): void {
    if (this.#closed) return;
    this.#closing = true;
    if (!this.commit() && this.#disk.isFile) {
      this.#deps.log.warning('Closing the state file without the last changes', {
        rows: this.#batch.size(),
        problem: this.#problem,
      });
    }
    this.#closed = true;
    this.#timer?.timer.cancel();
    this.#disk.close();
    this.#deps.closed();
  }

  /** The database in use now. */
  disk(): Disk {
    return this.#disk;
  }

  /** How many flushes have written something. */
  commits(): number {
    return this.#counts.commits;
  }

  /** Size of the WAL after the last flush, bytes. */
  walBytes(): number {
    return this.#walBytes;
  }

  /** Takes note of what the helper did; `problem` is "" when it went well. */
  noteCheckpoint(bytesCopied: number, problem: string): void {
    // A page with many frames is copied once, so there can't be more than the whole file.
    this.#counts.wrote(Math.min(bytesCopied, this.#disk.databaseBytes()));
    this.#checkpointProblem = problem;
    this.#walBytes = this.#disk.walBytes();
  }

  /** Deletes journal rows that started before `cutoff` (ms). Writes nothing if there are none. */
  trimJournal(cutoff: number): void {
    const oldest = this.#readDisk((disk) => disk.journal.oldest());
    if (oldest === undefined || oldest >= cutoff) return;
    this.#batch.journalCutoff = cutoff;
    this.#flush();
  }

  /** Gives some free pages back to the file system; true if more may follow. */
  vacuumStep(): boolean {
    try {
      return this.#disk.vacuumStep(this.#deps.hold.holding);
    } catch (error) {
      this.#deps.log.v(2).info('Free pages stay in the file', { error: describeError(error) });
      return false;
    }
  }

  /** Gives up the file: its content can't be trusted. Everything on it counts as torn. */
  abandonFile(why: string): void {
    if (!this.#disk.isFile) return;
    this.#deps.log.error('The state file is unusable; going on in memory', new Error(why));
    this.#problem = `the state file is unusable: ${why}`;
    this.#disk = this.#deps.replaceDisk(this.#disk, why);
    for (const table of this.#tables()) table.diskReplaced();
    this.#walBytes = 0;
    for (const layer of this.#batch.objects.values()) layer.point = undefined;
    for (const resource of this.#known) this.#torn.tear(resource);
    this.#retryAt = 0;
    this.#retryDelayMs = 0;
    this.#changed();
  }

  /** Goes on with a file that holds everything the database in memory held. */
  adoptFile(disk: Disk, opened: string): void {
    this.#disk.close();
    this.#disk = disk;
    for (const table of this.#tables()) table.diskReplaced();
    this.#opened = opened;
    this.#problem = '';
    this.#walBytes = disk.walBytes();
    this.#changed();
  }

  #readDisk<T>(read: (statements: Statements) => T): T {
    try {
      return read(this.#disk.read);
    } catch (error) {
      if (!this.#disk.isFile || this.#closed) throw error;
      this.abandonFile(describeError(error));
      return read(this.#disk.read);
    }
  }

  #changed(): void {
    const bytes = this.#batch.objectBytes();
    if (bytes > BATCH_TORN_BYTES && !this.#flushing) {
      if (this.#flushPatiently()) return;
      this.#tearBiggest(bytes);
    }
    const full = bytes >= BATCH_BYTES_MAX || this.#batch.size() >= BATCH_ROWS_MAX;
    this.#flushAfter(full ? 0 : BATCH_DELAY_MS);
  }

  #tearBiggest(bytes: number): void {
    let left = bytes;
    for (const resource of this.#batch.biggestResources()) {
      if (left <= BATCH_TORN_BYTES / 2) return;
      const layer = this.#batch.layer(resource);
      this.#deps.log.warning('More has changed than memory may hold; a resource is torn', {
        resource,
        bytes: layer.bytes,
        problem: this.#problem,
      });
      left -= layer.bytes;
      layer.drop();
      this.#torn.tear(resource);
    }
  }

  /** As long as something is pending, a timer is. */
  #flushAfter(delayMs: number): void {
    if (this.#closed) return;
    const now = this.#deps.clock.monotonic();
    const dueAt = Math.max(now + delayMs, this.#retryAt);
    if (this.#timer !== undefined && this.#timer.dueAt <= dueAt) return;
    this.#timer?.timer.cancel();
    const fire = () => {
      this.#timer = undefined;
      if (!this.#flush()) this.#flushAfter(BATCH_DELAY_MS);
    };
    this.#timer = { timer: this.#deps.clock.after(dueAt - now, fire, { background: true }), dueAt };
  }

  #flushPatiently(): boolean {
    if (this.#batch.isEmpty()) return true;
    return this.#deps.hold.waitWhileHolding(COMMIT_HOLD_WAIT_MS) && this.#flush();
  }

  /** Everything pending in one transaction; false if it isn't on disk afterwards. */
  #flush(): boolean {
    if (this.#batch.isEmpty()) return true;
    if (this.#closed || this.#flushing) return false;
    if (this.#deps.clock.monotonic() < this.#retryAt) return false;
    this.#flushing = true;
    try {
      for (const hook of this.#hooks) hook();
      this.#noteWrites();
      return this.#write();
    } finally {
      this.#flushing = false;
    }
  }

  #noteWrites(): void {
    const text = this.#counts.toNote(this.#closing);
    if (text !== undefined) this.facts.set(FACT_WRITES, text);
  }

  #write(): boolean {
    try {
      this.#checkWalBound();
      if (!this.#disk.write(this.#batch, this.#deps.hold.holding)) return false;
    } catch (error) {
      this.#failed(error);
      return false;
    }
    this.#succeeded();
    return true;
  }

  #checkWalBound(): void {
    if (this.#walBytes < WAL_BYTES_MAX) return;
    this.#walBytes = this.#disk.walBytes();
    if (this.#walBytes < WAL_BYTES_MAX) return;
    throw new Error(
      `the WAL is ${this.#walBytes} bytes long; some reader keeps it from being emptied`,
    );
  }

  #tables(): readonly { committed(): void; diskReplaced(): void }[] {
    return [this.intents, this.expectations, this.ownWrites, this.work, this.memory, this.facts];
  }

  #succeeded(): void {
    for (const resource of this.#batch.objects.keys()) this.#known.add(resource);
    for (const table of this.#tables()) table.committed();
    this.#counts.committed(this.#batch);
    this.#batch = new Batch();
    this.#torn.committed();
    if (this.#retryDelayMs > 0) {
      this.#deps.log.info('The state file can be written again', { problem: this.#problem });
      this.#problem = '';
    }
    this.#retryAt = 0;
    this.#retryDelayMs = 0;
    const walBytes = this.#disk.walBytes();
    this.#counts.wrote(walBytes >= this.#walBytes ? walBytes - this.#walBytes : walBytes);
    this.#walBytes = walBytes;
    this.#deps.flushed();
  }

  #failed(error: unknown): void {
    if (isBusy(error)) return;
    this.#commitErrors++;
    if (isCorrupt(error) && this.#disk.isFile) {
      this.abandonFile(describeError(error));
      return;
    }
    const first = this.#retryDelayMs === 0;
    this.#retryDelayMs = Math.min(
      Math.max(BATCH_RETRY_MS_MIN, this.#retryDelayMs * 2),
      BATCH_RETRY_MS_MAX,
    );
    this.#retryAt = this.#deps.clock.monotonic() + this.#retryDelayMs;
    this.#problem = `the state file can't be written: ${describeError(error)}`;
    if (first) {
      this.#deps.log.error("The state file can't be written; changes stay in memory", error, {
        rows: this.#batch.size(),
      });
    }
  }
}
