/** Runs tasks with a bounded number at a time, first come first served. */
export class Pool {
  #running = 0;
  readonly #waiting: (() => Promise<void>)[] = [];

  constructor(private readonly limit: number) {}

  /** Runs `task` when there is room; settles as it does. */
  run<T>(task: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push(() => task().then(resolve, reject));
      this.#next();
    });
  }

  /** Drops what has not started; those promises stay pending. */
  clear(): void {
    this.#waiting.length = 0;
  }

  #next(): void {
    if (this.#running >= this.limit) return;
    const task = this.#waiting.shift();
    if (!task) return;
    this.#running += 1;
    task().finally(() => {
      this.#running -= 1;
      this.#next();
    });
  }
}

/** Maps with at most `limit` calls in flight; results in the order of the items. */
export async function mapBounded<T, R>(
  items: readonly T[],
  limit: number,
  call: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const pool = new Pool(limit);
  return Promise.all(items.map((item, index) => pool.run(() => call(item, index))));
}
