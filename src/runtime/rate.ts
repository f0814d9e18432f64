/** Counting what happened within the last while, in memory that does not grow. */
import type { Clock } from './clock.ts';

/** Sums up what was counted within a window that ends now. */
export class RateMeter {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #stepMs: number;
  readonly #counts: number[];
  /** Number of the step that was counted into last. */
  #step: number;

  /** The window moves on by `windowMs / steps`, so a sum covers up to one step less than it. */
  constructor(clock: Pick<Clock, 'monotonic'>, windowMs: number, steps: number) {
    this.#clock = clock;
    this.#stepMs = windowMs / steps;
    this.#counts = new Array<number>(steps).fill(0);
    this.#step = this.#now();
  }

  add(amount = 1): void {
    this.#moveOn();
    const place = this.#step % this.#counts.length;
    this.#counts[place] = (this.#counts[place] ?? 0) + amount;
  }

  /** What was added within the window. */
  sum(): number {
    this.#moveOn();
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  #now(): number {
    return Math.floor(this.#clock.monotonic() / this.#stepMs);
  }

  #moveOn(): void {
    const now = this.#now();
    const passed = Math.min(now - this.#step, this.#counts.length);
    for (let back = 0; back < passed; back++) this.#counts[(now - back) % this.#counts.length] = 0;
    this.#step = now;
  }
}
