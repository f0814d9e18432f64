/** How much is written: rows by table since the start, bytes and commits of the last hour. */
import type { Clock } from '../runtime/clock.ts';
import {
  STORE_RATE_STEPS,
  STORE_RATE_WINDOW_MS,
  WRITES_NOTED_INTERVAL_MS,
} from '../runtime/limits.ts';
import { RateMeter } from '../runtime/rate.ts';
import type { Batch } from './batch.ts';

/** Name of the fact that tells a reader of the file what its last writer counted. */
export const FACT_WRITES = 'store.writes';

/** What one process wrote into the file, as it noted it last. Times are wall times, ms. */
export interface NotedWrites {
  readonly since: number;
  readonly until: number;
  readonly commits: number;
  /** Bytes of the log and of what was copied into the database. */
  readonly bytes: number;
  /** Rows put or deleted, by table. */
  readonly rows: Readonly<Record<string, number>>;
}

/** Names of the tables as the file has them, by their names in a batch. */
const TABLE_NAMES = { ownWrites: 'own_writes' } as const;

/** Counts what one process writes. */
export class WriteCounts {
  readonly #clock: Clock;
  readonly #bytes: RateMeter;
  readonly #commits: RateMeter;
  readonly #rows = new Map<string, number>();
  readonly #since: number;
  #allBytes = 0;
  #allCommits = 0;
  #notedAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
    this.#notedAt = clock.monotonic();
    this.#bytes = new RateMeter(clock, STORE_RATE_WINDOW_MS, STORE_RATE_STEPS);
    this.#commits = new RateMeter(clock, STORE_RATE_WINDOW_MS, STORE_RATE_STEPS);
  }

  get commits(): number {
    return this.#allCommits;
  }

  get bytes(): number {
    return this.#allBytes;
  }

  /** A batch has been committed. */
  committed(batch: Batch): void {
    this.#allCommits++;
    this.#commits.add();
    let objects = 0;
    let points = 0;
    for (const layer of batch.objects.values()) {
      objects += layer.rows.size;
      points += layer.point === undefined ? 0 : 1;
    }
    this.#count('objects', objects);
    this.#count('resume_points', points);
    this.#count('journal', batch.journal.length);
    for (const [table, layer] of Object.entries(batch.tables)) {
      const name = table === 'ownWrites' ? TABLE_NAMES.ownWrites : table;
      this.#count(name, layer.rows.size);
    }
  }

  /** Bytes went to the disk. */
  wrote(bytes: number): void {
    this.#allBytes += bytes;
    this.#bytes.add(bytes);
  }

  lastHour(): { readonly bytesLastHour: number; readonly commitsLastHour: number } {
    return { bytesLastHour: this.#bytes.sum(), commitsLastHour: this.#commits.sum() };
  }

  /**
   * The counts as the text of a fact, when it is time to note them again or `now` is asked for;
   * they travel with a commit and are never the reason for one.
   */
  toNote(now: boolean): string | undefined {
    const at = this.#clock.monotonic();
    if (!now && at - this.#notedAt < WRITES_NOTED_INTERVAL_MS) return undefined;
    this.#notedAt = at;
    const noted: NotedWrites = {
      since: this.#since,
      until: this.#clock.now(),
      commits: this.#allCommits,
      bytes: this.#allBytes,
      rows: Object.fromEntries(this.#rows),
    };
    return JSON.stringify(noted);
  }

  #count(table: string, rows: number): void {
    if (rows > 0) this.#rows.set(table, (this.#rows.get(table) ?? 0) + rows);
  }
}

/** Reads the fact; undefined if there is none, or none that can be read. */
export function notedWrites(text: string | undefined): NotedWrites | undefined {
  if (text === undefined) return undefined;
  try {
    const noted = JSON.parse(text) as NotedWrites;
    return typeof noted.since === 'number' && typeof noted.rows === 'object' ? noted : undefined;
  } catch {
    return undefined;
  }
}
