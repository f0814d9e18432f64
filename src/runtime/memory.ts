/**
 * What a controller remembers about its objects beyond a restart. Memory is only ever an input to
 * decisions: losing it gives upstream's behaviour, trusting it wrongly must be impossible, so every
 * value belongs to one UID and one line of terms.
 */
import type { Clock } from './clock.ts';
import { MEMORY_ROWS_MAX } from './limits.ts';
import type { MemoryRow, RowTable } from './ports.ts';
import { type Due, DueHeap } from './queue/due-heap.ts';
import { isOwnTerm, type OwnTerms } from './term.ts';

export interface MemoryOptions<T> extends OwnTerms {
  /** The controller, with "/what" behind it if it has several memories. */
  readonly controller: string;
  readonly store: RowTable<MemoryRow>;
  readonly clock: Clock;
  encode(value: T): string;
  /** Throws for a text it can't read; that row is dropped. */
  decode(text: string): T;
  /** Rows at most; beyond it the one set longest ago is dropped. Default MEMORY_ROWS_MAX. */
  readonly rowsMax?: number;
}

/** One remembered value. */
export interface Remembered<T> {
  readonly key: string;
  readonly subjectUid: string;
  readonly value: T;
}

export interface Memory<T> {
  /** The value set for this object; one set for a namesake with another UID is dropped. */
  get(key: string, subjectUid: string): T | undefined;
  /** Remembers a value, for `expiresInMs` of watched time or for as long as its object. */
  set(key: string, subjectUid: string, value: T, options?: { readonly expiresInMs?: number }): void;
  delete(key: string): void;
  /** Everything remembered, in the order in which it was set. */
  all(): Remembered<T>[];
  /**
   * Takes over the rows of our own terms, with their whole time to live again: the time between was
   * not watched. Rows from before another one led and unreadable ones are deleted.
   */
  restore(): { readonly kept: number; readonly dropped: number };
  /** Forgets what was restored and not set anew since. */
  dropRestored(): void;
  /** Forgets everything, also what is only in the store. */
  clear(): void;
}

interface Entry<T> extends Remembered<T>, Due {
  readonly row: MemoryRow;
  readonly restored: boolean;
}

interface Given<T> extends Remembered<T> {
  readonly text: string;
  readonly expiresInMs: number | undefined;
  readonly restored?: boolean;
}

class RowMemory<T> implements Memory<T> {
  readonly #options: MemoryOptions<T>;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #expiring = new DueHeap<Entry<T>>();

  constructor(options: MemoryOptions<T>) {
    this.#options = options;
  }

  get(key: string, subjectUid: string): T | undefined {
    this.#expire();
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.subjectUid === subjectUid) return entry.value;
    this.#drop(entry);
    return undefined;
  }

  set(key: string, subjectUid: string, value: T, options?: { expiresInMs?: number }): void {
    const text = this.#options.encode(value);
    this.#put({ key, subjectUid, value, text, expiresInMs: options?.expiresInMs });
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#drop(entry);
  }

  all(): Remembered<T>[] {
    this.#expire();
    return Array.from(this.#entries.values(), ({ key, subjectUid, value }) => ({
      key,
      subjectUid,
      value,
    }));
  }

  restore(): { kept: number; dropped: number } {
    const { controller, store } = this.#options;
    const rows = store.all().filter((row) => row.controller === controller);
    let kept = 0;
    for (const row of rows) {
      const value = isOwnTerm(row.term, this.#options) ? this.#read(row) : undefined;
      if (value === undefined) {
        store.delete(row);
        continue;
      }
      const expiresInMs = row.expiresAt > 0 ? row.expiresAt - row.updatedAt : undefined;
      const { key, subjectUid, value: text } = row;
      this.#put({ key, subjectUid, value: value.read, text, expiresInMs, restored: true });
      kept++;
    }
    return { kept, dropped: rows.length - kept };
  }

  dropRestored(): void {
    for (const entry of [...this.#entries.values()]) if (entry.restored) this.#drop(entry);
  }

  clear(): void {
    const { controller, store } = this.#options;
    for (const entry of this.#entries.values()) this.#forget(entry);
    for (const row of store.all()) if (row.controller === controller) store.delete(row);
  }

  #read(row: MemoryRow): { read: T } | undefined {
    try {
      return { read: this.#options.decode(row.value) };
    } catch {
      return undefined;
    }
  }

  #put(given: Given<T>): void {
    const { key, subjectUid, value, text, expiresInMs, restored = false } = given;
    const { controller, store, clock, term, rowsMax = MEMORY_ROWS_MAX } = this.#options;
    const now = clock.now();
    const expiresAt = expiresInMs === undefined ? 0 : now + expiresInMs;
    const row = { controller, key, subjectUid, value: text, term, expiresAt, updatedAt: now };
    this.#expire();
    const before = this.#entries.get(key);
    if (before !== undefined) this.#forget(before);
    const entry: Entry<T> = { key, subjectUid, value, row, restored, dueAt: 0, place: -1 };
    this.#entries.set(key, entry);
    if (expiresInMs !== undefined) this.#expiring.put(entry, clock.monotonic() + expiresInMs);
    store.put(row);
    for (const oldest of this.#entries.values()) {
      if (this.#entries.size <= rowsMax) break;
      this.#drop(oldest);
    }
  }

  #expire(): void {
    const now = this.#options.clock.monotonic();
    for (
      let first = this.#expiring.first();
      first !== undefined && first.dueAt <= now;
      first = this.#expiring.first()
    ) {
      this.#drop(first);
    }
  }

  #forget(entry: Entry<T>): void {
    this.#entries.delete(entry.key);
    this.#expiring.remove(entry);
  }

  #drop(entry: Entry<T>): void {
    this.#forget(entry);
    this.#options.store.delete(entry.row);
  }
}

/** The memory of one controller in one term; empty until `restore`. */
export function createMemory<T>(options: MemoryOptions<T>): Memory<T> {
  return new RowMemory(options);
}
