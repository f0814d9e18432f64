/** A bounded number of places, handed out in order: how many requests may be under way. */

/** Places for things that are under way at once. */
export class Lane {
  readonly #places: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(places: number) {
    this.#places = places;
  }

  /** True if whoever comes now has to wait. */
  get isFull(): boolean {
    return this.#taken >= this.#places;
  }

  /**
   * Resolves with a function that gives the place back (once; more calls do nothing), or with
   * undefined when `signal` aborts first.
   */
  async enter(signal?: AbortSignal): Promise<(() => void) | undefined> {
    if (signal?.aborted) return undefined;
    if (this.#taken < this.#places) this.#taken += 1;
    else if (!(await this.#queue(signal))) return undefined;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#leave();
    };
  }

  #queue(signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const enter = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve(true);
      };
      const giveUp = () => {
        this.#waiting.delete(enter);
        resolve(false);
      };
      this.#waiting.add(enter);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** The place goes straight to who has waited longest. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
