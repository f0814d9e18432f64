/**
 * Places for the watches of followed resources. With more resources than places (hundreds of
 * CustomResourceDefinitions) each watch gives its place up after a turn, and goes on from where it
 * was when its next turn comes.
 */
import type { Clock } from '../clock.ts';

/** A place that was taken. */
export interface Turn {
  /** Aborts when the turn is over because others wait. */
  readonly over: AbortSignal;
  /** Gives the place back. */
  end(): void;
}

interface Holder {
  readonly since: number;
  readonly asked: AbortController;
  pressed: boolean;
}

/** Hands out places in the order in which they were asked for. */
export class WatchTurns {
  readonly #clock: Clock;
  readonly #places: number;
  readonly #turnMs: number;
  readonly #holders = new Set<Holder>();
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock, places: number, turnMs: number) {
    this.#clock = clock;
    this.#places = places;
    this.#turnMs = turnMs;
  }

  /** Resolves with a place, or with undefined when the signal aborts first. */
  async take(signal: AbortSignal): Promise<Turn | undefined> {
    if (signal.aborted) return undefined;
    if (this.#holders.size < this.#places) return this.#begin();
    this.#press();
    return await new Promise<Turn | undefined>((resolve) => {
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(this.#begin());
      };
      const giveUp = (): void => {
        this.#waiting.delete(begin);
        resolve(undefined);
      };
      this.#waiting.add(begin);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  #begin(): Turn {
    const asked = new AbortController();
    const holder: Holder = { since: this.#clock.monotonic(), asked, pressed: false };
    this.#holders.add(holder);
    return { over: asked.signal, end: () => this.#end(holder) };
  }

  /** Asks the one who has held a place longest to give it up once its turn is over. */
  #press(): void {
    for (const holder of this.#holders) {
      if (holder.pressed) continue;
      holder.pressed = true;
      const leftMs = holder.since + this.#turnMs - this.#clock.monotonic();
      this.#clock.after(leftMs, () => holder.asked.abort(), { background: true });
      return;
    }
  }

  /** The place goes straight to who has waited longest. */
  #end(holder: Holder): void {
    if (!this.#holders.delete(holder)) return;
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#waiting.delete(next);
    next();
  }
}
