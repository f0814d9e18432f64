/**
 * The store of a model process: the real one, with SQLite in a folder in memory. What is modelled is
 * death: nothing of a dead process reaches the file, and a power cut brings an older file back.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Logger } from '../../src/runtime/log.ts';
import type { JournalRow, StorePort } from '../../src/runtime/ports.ts';
import type { Random } from '../../src/runtime/random.ts';
import {
  type Helper,
  inlineHelper,
  type OpenedStore,
  openStore,
  STATE_FILE,
} from '../../src/store/index.ts';
import type { Life } from './timeline.ts';

/** The store as the simulation needs it beyond its port. */
interface Inner extends StorePort {
  disk(): { readonly client: { serialize(): Uint8Array }; close(): void };
}

export interface DiskOptions {
  readonly dir: string;
  readonly runtimeDir: string;
  readonly bootId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly life: Life;
  /** Called at each commit barrier: just before and just after what was put is in the file. */
  atBarrier(when: 'before' | 'after'): void;
  /** Called with each reconcile that is journaled. */
  journaled(row: JournalRow): void;
}

export class ModelDisk {
  readonly opened: OpenedStore;
  readonly #inner: Inner;
  readonly #helpers: readonly Helper[];
  #closed = false;

  private constructor(opened: OpenedStore, helpers: readonly Helper[], options: DiskOptions) {
    this.#inner = opened.store as Inner;
    this.#helpers = helpers;
    this.opened = { ...opened, store: mortal(opened.store, options) };
  }

  static async open(options: DiskOptions): Promise<ModelDisk> {
    const { dir, runtimeDir } = options;
    for (const folder of [dir, runtimeDir]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    const helpers: Helper[] = [];
    const startHelper = (): Helper => {
      const helper = inlineHelper();
      helpers.push(helper);
      return helper;
    };
    return new ModelDisk(await openStore({ ...options, startHelper }), helpers, options);
  }

  /** The file as it is now. */
  snapshot(): Uint8Array {
    return this.#inner.disk().client.serialize();
  }

  get store(): StorePort {
    return this.#inner;
  }

  /** Lets the file go as a process that dies does: what was not committed is lost. */
  async die(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#inner.disk().close();
    for (const helper of this.#helpers) {
      await helper.ask({ kind: 'close' }).catch(() => undefined);
      helper.end();
    }
  }

  /** The process has closed it in order. */
  closed(): void {
    this.#closed = true;
  }
}

/** The power was cut: the file is what it was at an earlier moment. */
export function restoreFile(dir: string, snapshot: Uint8Array | undefined): void {
  for (const ending of ['', '-wal', '-shm'])
    rmSync(join(dir, STATE_FILE + ending), { force: true });
  if (snapshot !== undefined) writeFileSync(join(dir, STATE_FILE), snapshot);
}

/** The same store until its process dies; the process may die at a barrier. */
function mortal(store: StorePort, { life, atBarrier, journaled }: DiskOptions): StorePort {
  return {
    objects: store.objects,
    intents: store.intents,
    expectations: store.expectations,
    ownWrites: store.ownWrites,
    work: store.work,
    memory: store.memory,
    facts: store.facts,
    journal: (row) => {
      journaled(row);
      store.journal(row);
    },
    beforeCommit: (hook) => store.beforeCommit(hook),
    commit: () => {
      if (life.dead) return false;
      atBarrier('before');
      if (life.dead) return false;
      const done = store.commit();
      atBarrier('after');
      return done;
    },
    forgetCluster: (because) => store.forgetCluster(because),
    health: () => store.health(),
    close: () => store.close(),
  };
}
