/** Nodes of one zone that wait for their NoExecute taint, and how fast they may get it. */

/** Tokens that come evenly, one at most; a rate of 0 gives the first one only. */
export class TaintLimiter {
  readonly perSecond: number;
  readonly #monotonic: () => number;
  #tokens: number;
  #at: number;

  /** `tokens` (0 to 1) are there at the beginning. */
  constructor(perSecond: number, monotonic: () => number, tokens = 1) {
    this.perSecond = perSecond;
    this.#monotonic = monotonic;
    this.#tokens = tokens;
    this.#at = monotonic();
  }

  tryTake(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Milliseconds until a token is there; Infinity: never. */
  waitMs(): number {
    this.#fill();
    if (this.#tokens >= 1) return 0;
    return this.perSecond > 0 ? ((1 - this.#tokens) / this.perSecond) * 1_000 : Infinity;
  }

  #fill(): void {
    const now = this.#monotonic();
    const fresh = ((now - this.#at) / 1_000) * this.perSecond;
    this.#tokens = Math.min(1, this.#tokens + Math.max(0, fresh));
    this.#at = now;
  }
}

/** A node in the queue. */
export interface Waiting {
  readonly name: string;
  readonly uid: string;
}

interface Place extends Waiting {
  readonly processAt: number;
}

/**
 * A node is queued once until it is removed, also when its turn has come and gone: what has its
 * taint is not tainted again.
 */
export class ZoneQueue {
  readonly #monotonic: () => number;
  readonly #places = new Map<string, Place>();
  readonly #known = new Set<string>();
  limiter: TaintLimiter;

  constructor(limiter: TaintLimiter, monotonic: () => number) {
    this.limiter = limiter;
    this.#monotonic = monotonic;
  }

  /** Those that wait, first first. */
  waiting(): Place[] {
    return [...this.#places.values()].sort((a, b) => a.processAt - b.processAt);
  }

  get size(): number {
    return this.#places.size;
  }

  /** False if it is known already. */
  add({ name, uid }: Waiting): boolean {
    if (this.#known.has(name)) return false;
    this.#known.add(name);
    this.#places.set(name, { name, uid, processAt: this.#monotonic() });
    return true;
  }

  /** It has what it would wait for. */
  settle(name: string): void {
    this.#known.add(name);
    this.#places.delete(name);
  }

  /** It may be queued again; true if it was known. */
  remove(name: string): boolean {
    this.#places.delete(name);
    return this.#known.delete(name);
  }

  /** The turn of this one failed: it comes again, behind the others, no sooner than in `waitMs`. */
  postpone(name: string, waitMs: number): void {
    const place = this.#places.get(name);
    if (place === undefined) return;
    this.#places.delete(name);
    this.#places.set(name, { ...place, processAt: this.#monotonic() + waitMs + 1e-6 });
  }

  /**
   * The first one, if a token is there and its time has come; a token is used either way, as
   * upstream does.
   */
  take(): Waiting | undefined {
    const [first] = this.waiting();
    if (first === undefined || !this.limiter.tryTake()) return undefined;
    return first.processAt > this.#monotonic() ? undefined : first;
  }

  /** Another rate, if it is another; who waits for a token still waits. */
  swap(perSecond: number): void {
    if (this.limiter.perSecond === perSecond) return;
    const tokens = this.limiter.tryTake() && perSecond > 0 ? 1 : 0;
    this.limiter = new TaintLimiter(perSecond, this.#monotonic, tokens);
  }
}
