/** The commit barrier of all syncs: what reaches it in one turn of the event loop is one transaction. */
import type { Clock } from './clock.ts';

/** A transaction costs far more than its rows, and syncs that run side by side come in crowds. */
export class CommitBarrier {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #commit: () => void;
  #next: Promise<void> | undefined;

  /** `commit` brings everything that was put so far into the file. */
  constructor(clock: Pick<Clock, 'after'>, commit: () => void) {
    this.#clock = clock;
    this.#commit = commit;
  }

  /** Resolves when all that was put before this call has been committed. */
  reach(): Promise<void> {
    this.#next ??= new Promise((resolve, reject) => {
      this.#clock.after(0, () => {
        this.#next = undefined;
        try {
          this.#commit();
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    return this.#next;
  }
}
