/** Waiting for a state that changes step by step. */

/** Those who wait until something holds; `wake` makes them look again. */
export class Waiters {
  readonly #wakes = new Set<() => void>();

  /** Resolves once `test` holds, rechecked at every `wake`; also when the signal aborts. */
  async until(test: () => boolean, signal: AbortSignal): Promise<void> {
    while (!test() && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#wakes.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#wakes.add(wake);
        signal.addEventListener('abort', wake);
      });
    }
  }

  wake(): void {
    for (const wake of [...this.#wakes]) wake();
  }
}
