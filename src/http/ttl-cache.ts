/** A small cache whose entries live for a given time; the oldest goes when it is full. */
import type { Clock } from '../runtime/clock.ts';

/** Values by key with a time to live in milliseconds each, at most `entriesMax` of them. */
export class TtlCache<V> {
  readonly #clock: Clock;
  readonly #entriesMax: number;
  readonly #entries = new Map<string, { value: V; expiresAt: number }>();

  constructor(clock: Clock, entriesMax: number) {
    this.#clock = clock;
    this.#entriesMax = entriesMax;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAt > this.#clock.monotonic()) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: V, ttlMs: number): void {
    this.#entries.delete(key);
    if (ttlMs <= 0) return;
    const oldest = this.#entries.keys().next();
    if (this.#entries.size >= this.#entriesMax && oldest.done !== true) {
      this.#entries.delete(oldest.value);
    }
    this.#entries.set(key, { value, expiresAt: this.#clock.monotonic() + ttlMs });
  }
}
