/**
 * What a controller waits to see in its cache before it may count its pods again, remembered across
 * restarts. Semantics are upstream's ControllerExpectations with UID-tracked deletions.
 */
import type { Clock, Timer } from './clock.ts';
import type { Expectations } from './controller.ts';
import { EXPECTATION_TIMEOUT_MS } from './limits.ts';
import type { ExpectationRow, RowTable } from './ports.ts';
import { isOwnTerm, type OwnTerms } from './term.ts';

export interface ExpectationsOptions extends OwnTerms {
  readonly controller: string;
  readonly store: RowTable<ExpectationRow>;
  readonly clock: Clock;
  /**
   * Told of each key whose expectations ran out unseen: a pod that was created and deleted between
   * two looks at the server is in no event, and no event may follow that would wake its owner.
   */
  readonly expired?: (key: string) => void;
  /** Ends `expired`. */
  readonly signal?: AbortSignal;
}

/** The expectations of one controller, as the framework handles them. */
export interface RememberedExpectations extends Expectations {
  /**
   * Takes over what former processes were waiting for (with a whole timeout again: nobody watched
   * meanwhile); rows from before another one led are deleted.
   */
  restore(): void;
  /**
   * Forgets what was restored: all that had arrived is visible now. What was set since stays. Gives
   * the keys that waited for it: they must be synced again.
   */
  dropRestored(): string[];
  /** Forgets everything, also what is only in the store; e.g. when the server was rewound. */
  clear(): void;
  /** Everything awaited, for people. */
  list(): readonly ExpectationRow[];
}

interface Awaited {
  readonly ownerUid: string;
  adds: number;
  readonly deleteKeys: Set<string>;
  readonly setAt: number;
  /** Monotonic time from which it no longer counts. */
  readonly expiresAt: number;
  readonly restored: boolean;
}

class Book implements RememberedExpectations {
  readonly #options: ExpectationsOptions;
  readonly #awaited = new Map<string, Awaited>();
  #timer: Timer | undefined;

  constructor(options: ExpectationsOptions) {
    this.#options = options;
  }

  expect(key: string, ownerUid: string, adds: number, deleteKeys: readonly string[]): void {
    const setAt = this.#options.clock.now();
    this.#set(key, { ownerUid, adds, deleteKeys: new Set(deleteKeys), setAt, restored: false });
  }

  creationObserved(key: string): void {
    const awaited = this.#awaited.get(key);
    if (awaited === undefined || awaited.adds <= 0) return;
    awaited.adds--;
    this.#save(key, awaited);
  }

  deletionObserved(key: string, podKey: string): void {
    const awaited = this.#awaited.get(key);
    if (awaited?.deleteKeys.delete(podKey)) this.#save(key, awaited);
  }

  satisfied(key: string, ownerUid?: string): boolean {
    const awaited = this.#awaited.get(key);
    if (awaited === undefined) return true;
    const sameOwner = ownerUid === undefined || ownerUid === awaited.ownerUid;
    if (sameOwner && this.#options.clock.monotonic() <= awaited.expiresAt) return false;
    this.#drop(key, awaited);
    return true;
  }

  forget(key: string): void {
    const awaited = this.#awaited.get(key);
    if (awaited !== undefined) this.#drop(key, awaited);
  }

  restore(): void {
    const { controller, store } = this.#options;
    for (const row of store.all()) {
      if (row.controller !== controller) continue;
      if (!isOwnTerm(row.term, this.#options)) {
        store.delete(row);
        continue;
      }
      const { ownerUid, adds, setAt } = row;
      const deleteKeys = new Set(row.deleteKeys);
      this.#set(row.key, { ownerUid, adds, deleteKeys, setAt, restored: true });
    }
  }

  dropRestored(): string[] {
    const waiting = [...this.#awaited].filter(([, { restored }]) => restored);
    for (const [key, awaited] of waiting) this.#drop(key, awaited);
    return waiting.map(([key]) => key);
  }

  clear(): void {
    const { controller, store } = this.#options;
    this.#awaited.clear();
    for (const row of store.all()) if (row.controller === controller) store.delete(row);
  }

  list(): readonly ExpectationRow[] {
    return Array.from(this.#awaited, ([key, awaited]) => this.#row(key, awaited));
  }

  #set(key: string, fields: Omit<Awaited, 'expiresAt'>): void {
    const expiresAt = this.#options.clock.monotonic() + EXPECTATION_TIMEOUT_MS;
    const awaited = { ...fields, expiresAt };
    this.#awaited.set(key, awaited);
    this.#save(key, awaited);
    this.#watchExpiry();
  }

  /** One timer for all: it goes off when the first of what is awaited now has run out. */
  #watchExpiry(): void {
    const { clock, expired, signal } = this.#options;
    if (this.#timer !== undefined || expired === undefined || signal?.aborted) return;
    let first = Number.POSITIVE_INFINITY;
    for (const { expiresAt } of this.#awaited.values()) first = Math.min(first, expiresAt);
    if (first === Number.POSITIVE_INFINITY) return;
    const expire = (): void => {
      this.#timer = undefined;
      if (signal?.aborted) return;
      const over = [...this.#awaited].filter(([, one]) => one.expiresAt < clock.monotonic());
      for (const [key, awaited] of over) {
        this.#drop(key, awaited);
        expired(key);
      }
      this.#watchExpiry();
    };
    this.#timer = clock.after(first + 1 - clock.monotonic(), expire, { background: true });
  }

  #save(key: string, awaited: Awaited): void {
    if (awaited.adds > 0 || awaited.deleteKeys.size > 0) {
      this.#options.store.put(this.#row(key, awaited));
    } else this.#drop(key, awaited);
  }

  #drop(key: string, awaited: Awaited): void {
    this.#awaited.delete(key);
    this.#options.store.delete(this.#row(key, awaited));
  }

  #row(key: string, { ownerUid, adds, deleteKeys, setAt }: Awaited): ExpectationRow {
    const { controller, term } = this.#options;
    const deletes = deleteKeys.size;
    return { controller, key, ownerUid, adds, deletes, deleteKeys: [...deleteKeys], term, setAt };
  }
}

/** The expectations of one controller in one term; empty until `restore`. */
export function createExpectations(options: ExpectationsOptions): RememberedExpectations {
  return new Book(options);
}
