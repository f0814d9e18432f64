/**
 * Looks after the state file: checkpoints through the helper, hourly housekeeping, the late page
 * check, and getting a file back after one was lost.
 */
import type { Clock, Timer } from '../runtime/clock.ts';
import {
  BATCH_DELAY_MS,
  CHECKPOINT_INTERVAL_MS,
  HOUSEKEEPING_INTERVAL_MS,
  JOURNAL_AGE_MAX_MS,
  QUICK_CHECK_DELAY_MS,
  REOPEN_DELAY_MS_MAX,
  REOPEN_DELAY_MS_MIN,
  WAL_BYTES_HIGH,
  WAL_BYTES_LOW,
  WAL_BYTES_STEP,
} from '../runtime/limits.ts';
import type { Logger } from '../runtime/log.ts';
import { describeError } from './connection.ts';
import { copyAll, salvage } from './copy.ts';
import { Disk } from './disk.ts';
import type { Helper, StartHelper } from './helper.ts';
import type { Store } from './store.ts';

export interface MaintenanceDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly startHelper: StartHelper;
  readonly path: string;
  readonly bootId: string;
  /** Makes the state directory if it isn't there. Throws where it can't. */
  makeDirectory(): void;
}

type Chore = 'checkpoint' | 'housekeeping' | 'quick-check' | 'reopen' | 'vacuum';

/** The store's housekeeper; `attend` starts it. */
export class Maintenance {
  readonly #deps: MaintenanceDeps;
  readonly #timers = new Map<Chore, Timer>();
  readonly #gone = Promise.withResolvers<void>();
  #helper: Helper;
  #store: Store | undefined;
  #checkpointing = false;
  #truncateNotBefore = 0;
  #walAtCheckpoint = 0;
  #commitsAtCheckpoint = 0;
  #reopenDelayMs = REOPEN_DELAY_MS_MIN;
  #lostBecause = 'the state file could not be used at the start';
  #closed = false;

  constructor(deps: MaintenanceDeps) {
    this.#deps = deps;
    this.#helper = deps.startHelper();
  }

  /** Resolves once the helper has let go of the file after the store was closed. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  holding = (): boolean => this.#helper.holding();

  waitWhileHolding = (ms: number): boolean => this.#helper.waitWhileHolding(ms);

  /** Has the file made ready and connects to it. Throws (rejects) if there is no usable disk. */
  async openFile(setAside?: string): Promise<{ disk: Disk; opened: string; checked: boolean }> {
    this.#deps.makeDirectory();
    if (!this.#helper.alive()) this.#helper = this.#deps.startHelper();
    const options = { ...this.#fileOptions(), ...(setAside === undefined ? {} : { setAside }) };
    const prepared = await this.#helper.ask({ kind: 'prepare', ...options });
    return { disk: Disk.open(this.#deps.path), ...prepared };
  }

  #fileOptions() {
    return { path: this.#deps.path, bootId: this.#deps.bootId, now: this.#deps.clock.now() };
  }

  /** Starts looking after a store. `checked`: its pages were checked at opening. */
  attend(store: Store, checked: boolean): void {
    this.#store = store;
    this.#after('housekeeping', HOUSEKEEPING_INTERVAL_MS, () => this.#housekeeping());
    if (store.disk().isFile) this.#attendFile(checked);
    else this.#reopenLater(this.#lostBecause);
  }

  #attendFile(checked: boolean): void {
    this.#walAtCheckpoint = 0;
    this.#after('checkpoint', CHECKPOINT_INTERVAL_MS, () => this.#tick());
    if (!checked) {
      this.#after('quick-check', QUICK_CHECK_DELAY_MS, () => void this.#quickCheck());
    }
  }

  /** The store wrote something: a long WAL doesn't wait for the timer. */
  flushed(): void {
    const walBytes = this.#store?.walBytes() ?? 0;
    if (walBytes >= WAL_BYTES_HIGH && this.#deps.clock.monotonic() >= this.#truncateNotBefore) {
      void this.#checkpoint('truncate');
    } else if (walBytes - this.#walAtCheckpoint >= WAL_BYTES_STEP) {
      void this.#checkpoint('checkpoint');
    }
  }

  /** A database in memory with what can be saved of the failed one; a new file comes later. */
  replaceDisk(failed: Disk, why: string): Disk {
    const memory = Disk.inMemory(this.#deps.clock.now());
    const lost = salvage(failed, memory);
    if (lost.length > 0) this.#deps.log.warning('Parts of the state are lost', { tables: lost });
    try {
      failed.close();
    } catch (error) {
      this.#deps.log.warning('The failed state file does not close', {
        error: describeError(error),
      });
    }
    this.#cancel('checkpoint');
    this.#cancel('quick-check');
    this.#reopenLater(why);
    return memory;
  }

  /** The store is closed: the helper copies the WAL once more and ends. */
  closed(): void {
    this.#closed = true;
    for (const timer of this.#timers.values()) timer.cancel();
    const end = () => {
      this.#helper.end();
      this.#gone.resolve();
    };
    this.#helper.ask({ kind: 'close' }).then(end, (error: unknown) => {
      this.#deps.log.warning('The helper could not close the state file', {
        error: describeError(error),
      });
      end();
    });
  }

  #after(chore: Chore, delayMs: number, work: () => void): void {
    this.#cancel(chore);
    if (this.#closed) return;
    this.#timers.set(chore, this.#deps.clock.after(delayMs, work, { background: true }));
  }

  #cancel(chore: Chore): void {
    this.#timers.get(chore)?.cancel();
    this.#timers.delete(chore);
  }

  #tick(): void {
    const store = this.#store;
    if (store === undefined) return;
    if (!store.disk().stillThere()) {
      store.abandonFile('somebody deleted or replaced it');
      return;
    }
    if (store.disk().walBytes() >= WAL_BYTES_HIGH) void this.#checkpoint('truncate');
    else if (store.commits() !== this.#commitsAtCheckpoint) void this.#checkpoint('checkpoint');
    this.#after('checkpoint', CHECKPOINT_INTERVAL_MS, () => this.#tick());
  }

  async #checkpoint(kind: 'checkpoint' | 'truncate'): Promise<void> {
    const store = this.#store;
    if (store === undefined || this.#checkpointing || this.#closed || !store.disk().isFile) return;
    this.#checkpointing = true;
    const commits = store.commits();
    this.#walAtCheckpoint = store.walBytes();
    const pageBytes = store.disk().pageBytes();
    try {
      if (!this.#helper.alive()) await this.#restartHelper();
      const result = await this.#helper.ask({ kind });
      if (this.#closed) return;
      this.#commitsAtCheckpoint = commits;
      store.noteCheckpoint(result.copiedFrames * pageBytes, '');
      if (kind === 'truncate') this.#truncated(result.blocked);
    } catch (error) {
      if (!this.#closed) this.#checkpointFailed(store, error);
    } finally {
      this.#checkpointing = false;
    }
  }

  #truncated(blocked: boolean): void {
    this.#walAtCheckpoint = this.#store?.walBytes() ?? 0;
    if (!blocked) return;
    this.#truncateNotBefore = this.#deps.clock.monotonic() + CHECKPOINT_INTERVAL_MS;
    this.#deps.log.v(2).info('Some reader keeps the WAL from being emptied', {
      bytes: this.#walAtCheckpoint,
    });
  }

  #checkpointFailed(store: Store, error: unknown): void {
    const problem = `checkpoint failed: ${describeError(error)}`;
    if (store.health().problem === '') {
      this.#deps.log.error('The WAL could not be copied to the database', error);
    }
    store.noteCheckpoint(0, problem);
    this.#truncateNotBefore = this.#deps.clock.monotonic() + CHECKPOINT_INTERVAL_MS;
  }

  async #restartHelper(): Promise<void> {
    this.#deps.log.warning('Starting another helper thread for the state file');
    this.#helper = this.#deps.startHelper();
    await this.#helper.ask({ kind: 'attach', ...this.#fileOptions() });
  }

  async #quickCheck(): Promise<void> {
    try {
      const { complaint } = await this.#helper.ask({ kind: 'quick-check' });
      if (complaint !== '' && !this.#closed) this.#store?.abandonFile(`corrupt: ${complaint}`);
    } catch (error) {
      this.#deps.log.warning('The state file could not be checked', {
        error: describeError(error),
      });
    }
  }

  #housekeeping(): void {
    const store = this.#store;
    if (store === undefined) return;
    store.trimJournal(this.#deps.clock.now() - JOURNAL_AGE_MAX_MS);
    this.#vacuum(store, false);
    this.#after('housekeeping', HOUSEKEEPING_INTERVAL_MS, () => this.#housekeeping());
  }

  /** In small steps, to spare the event loop; the file shrinks when the WAL is emptied. */
  #vacuum(store: Store, shrunk: boolean): void {
    if (store.vacuumStep()) {
      this.#after('vacuum', BATCH_DELAY_MS, () => this.#vacuum(store, true));
    } else if (shrunk || store.disk().walBytes() >= WAL_BYTES_LOW) {
      void this.#checkpoint('truncate');
    }
  }

  #reopenLater(why: string): void {
    this.#lostBecause = why;
    this.#after('reopen', this.#reopenDelayMs, () => void this.#reopen());
  }

  async #reopen(): Promise<void> {
    const store = this.#store;
    if (store === undefined) return;
    try {
      const { disk, opened } = await this.openFile(this.#lostBecause);
      if (this.#closed) {
        disk.close();
        return;
      }
      this.#moveInto(store, disk, opened);
    } catch (error) {
      if (this.#closed) return;
      this.#reopenDelayMs = Math.min(this.#reopenDelayMs * 2, REOPEN_DELAY_MS_MAX);
      this.#deps.log.v(2).info('Still no usable state file', { error: describeError(error) });
      this.#reopenLater(this.#lostBecause);
    }
  }

  #moveInto(store: Store, disk: Disk, opened: string): void {
    try {
      copyAll(store.disk(), disk);
    } catch (error) {
      disk.close();
      throw error;
    }
    store.adoptFile(disk, opened);
    this.#reopenDelayMs = REOPEN_DELAY_MS_MIN;
    this.#deps.log.info('The state is on disk again', { file: this.#deps.path, opened });
    this.#attendFile(true);
  }
}
