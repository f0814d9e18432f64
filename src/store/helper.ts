/** What the helper thread is asked, and the port through which the store asks it. */
import {
  attachStateFile,
  type PreparedFile,
  type PrepareOptions,
  prepareStateFile,
} from './state-file.ts';
import { type CheckpointResult, WalKeeper } from './wal-keeper.ts';

/** One job of the helper; after `prepare` or `attach` it keeps the file open for the others. */
export type HelperJob =
  | ({ readonly kind: 'prepare' } & PrepareOptions)
  /** As `prepare`, for a file that the store has open: never sets it aside. */
  | ({ readonly kind: 'attach' } & PrepareOptions)
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'truncate' }
  | { readonly kind: 'quick-check' }
  | { readonly kind: 'close' };

export interface HelperResults {
  readonly prepare: { readonly opened: string; readonly checked: boolean };
  readonly attach: { readonly opened: string; readonly checked: boolean };
  readonly checkpoint: CheckpointResult;
  readonly truncate: CheckpointResult;
  /** First complaint about the pages, "" if there is none. */
  readonly 'quick-check': { readonly complaint: string };
  readonly close: Record<string, never>;
}

/** The helper as the store sees it: jobs are done one after the other, off the main thread. */
export interface Helper {
  /** Rejects with the job's error, or if the helper is gone. */
  ask<J extends HelperJob>(job: J): Promise<HelperResults[J['kind']]>;
  /** False once it was lost: every job is rejected then. */
  alive(): boolean;
  /** True while the main thread must not begin to write. */
  holding(): boolean;
  /** Waits at most `ms` for `holding` to end; false if it goes on. Blocks the caller. */
  waitWhileHolding(ms: number): boolean;
  /** Ends the helper after the jobs it was asked; nothing may be asked afterwards. */
  end(): void;
}

/** Makes a helper; called again after one was lost. */
export type StartHelper = () => Helper;

/** Does the jobs, in whatever thread it is made. `hold` tells the main thread to wait. */
export class HelperCore {
  readonly #hold: (on: boolean) => void;
  #keeper: WalKeeper | undefined;

  constructor(hold: (on: boolean) => void) {
    this.#hold = hold;
  }

  /** Does one job now. Throws what SQLite or the file system throws. */
  do(job: HelperJob): HelperResults[HelperJob['kind']] {
    if (job.kind === 'prepare' || job.kind === 'attach') this.#close();
    switch (job.kind) {
      case 'prepare':
        return this.#open(prepareStateFile(job), job.path);
      case 'attach':
        return this.#open(attachStateFile(job), job.path);
      case 'checkpoint':
        return this.#prepared().checkpoint();
      case 'truncate':
        return this.#prepared().truncate();
      case 'quick-check':
        return { complaint: this.#prepared().quickCheck() };
      case 'close':
        this.#close();
        return {};
    }
  }

  #open(file: PreparedFile, path: string): HelperResults['prepare'] {
    this.#keeper = new WalKeeper(file.client, path, this.#hold);
    return { opened: file.opened, checked: file.checked };
  }

  #prepared(): WalKeeper {
    if (this.#keeper === undefined) throw new Error('no state file is open in the helper');
    return this.#keeper;
  }

  #close(): void {
    const keeper = this.#keeper;
    this.#keeper = undefined;
    keeper?.close();
  }
}

/** A helper without a thread, for simulations and tools: jobs run in the caller's event loop. */
export function inlineHelper(): Helper {
  let held = false;
  const core = new HelperCore((on) => {
    held = on;
  });
  return {
    ask: async <J extends HelperJob>(job: J) => {
      await Promise.resolve();
      return core.do(job) as HelperResults[J['kind']];
    },
    alive: () => true,
    holding: () => held,
    waitWhileHolding: () => !held,
    end: () => undefined,
  };
}
