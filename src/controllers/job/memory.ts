/** What the job controller remembers beyond a restart. Losing it gives upstream's behaviour. */
import type { ControllerContext, ControllerMemory } from '../../runtime/controller.ts';
import { type Backoff, NO_BACKOFF } from './backoff.ts';

/** The backoffs of Jobs with failed pods. */
export class Backoffs {
  readonly #memory: ControllerMemory<Backoff>;

  constructor(context: Pick<ControllerContext, 'memory'>) {
    this.#memory = context.memory<Backoff>('backoff', {
      encode: (backoff) => JSON.stringify(backoff),
      decode: (text) => backoffOf(JSON.parse(text)),
    });
  }

  /**
   * The backoff of a Job at `now` (ms). A failure that seems to lie in the future is one of now:
   * the clock was put back, and the Job must not wait for it to get there again.
   */
  get(key: string, uid: string, now: number): Backoff {
    const known = this.#memory.get(key, uid);
    if (known === undefined || known.lastFailureAt <= now) return known ?? NO_BACKOFF;
    const put = { ...known, lastFailureAt: now };
    this.#memory.set(key, uid, put);
    return put;
  }

  set(key: string, uid: string, backoff: Backoff): void {
    if (backoff.failures === 0) this.forget(key);
    else this.#memory.set(key, uid, backoff);
  }

  forget(key: string): void {
    this.#memory.delete(key);
  }
}

function backoffOf(value: unknown): Backoff {
  const { failures, lastFailureAt } = value as Backoff;
  if (!Number.isInteger(failures) || !Number.isFinite(lastFailureAt)) {
    throw new Error('a backoff is a count and a time');
  }
  return { failures, lastFailureAt };
}

/** Something about a Job that holds until the caches show it; nothing but that it is so. */
const FACT = { encode: () => 'true', decode: () => true, holds: 'fence' } as const;

/** Jobs whose terminal condition was written and isn't in the cache yet. */
export class JustFinished {
  readonly #memory: ControllerMemory<boolean>;

  constructor(context: Pick<ControllerContext, 'memory'>) {
    this.#memory = context.memory<boolean>('just-finished', FACT);
  }

  has(key: string, uid: string): boolean {
    return this.#memory.get(key, uid) === true;
  }

  add(key: string, uid: string): void {
    this.#memory.set(key, uid, true);
  }

  forget(key: string): void {
    this.#memory.delete(key);
  }
}

/** Pods that look as if they had to be counted. */
export interface Awaited {
  /** UIDs of pods that are counted, or need not be. */
  readonly untracked: ReadonlySet<string>;
  /** How many of them the process before may not have got to; the caches will tell. */
  readonly unsure: number;
}

const NOTHING_AWAITED: Awaited = { untracked: new Set(), unsure: 0 };

/**
 * Pods whose finalizer was removed and whose cached object still has it. A process that died may
 * have announced removals that it never sent: of those, the ones that the Job's status still holds
 * are to be sent again, and the others were counted before.
 */
export class AwaitedRemovals {
  /** By pod UID; its subject is the Job. */
  readonly #memory: ControllerMemory<boolean>;
  readonly #byJob = new Map<string, Set<string>>();
  /** Announced by the process before. */
  readonly #inherited = new Set<string>();

  constructor(context: Pick<ControllerContext, 'memory'>) {
    this.#memory = context.memory<boolean>('finalizers', FACT);
    for (const { key, subjectUid } of this.#memory.all()) {
      this.#ofJob(subjectUid).add(key);
      this.#inherited.add(key);
    }
  }

  /** The pods of a Job; `held`: UIDs that its status holds for counting. */
  of(jobUid: string, held: ReadonlySet<string>): Awaited {
    const awaited = this.#byJob.get(jobUid);
    if (awaited === undefined) return NOTHING_AWAITED;
    const still = [...awaited].filter((uid) => this.#memory.get(uid, jobUid) === true);
    const untracked = still.filter((uid) => !this.#inherited.has(uid) || !held.has(uid));
    const unsure = untracked.filter((uid) => this.#inherited.has(uid)).length;
    return { untracked: new Set(untracked), unsure };
  }

  expect(jobUid: string, podUids: readonly string[]): void {
    const awaited = this.#ofJob(jobUid);
    for (const uid of podUids) {
      awaited.add(uid);
      this.#inherited.delete(uid);
      this.#memory.set(uid, jobUid, true);
    }
  }

  /** The pod is gone or without its finalizer, or the removal failed. */
  observed(jobUid: string, podUid: string): void {
    const awaited = this.#byJob.get(jobUid);
    if (!awaited?.delete(podUid)) return;
    this.#inherited.delete(podUid);
    if (awaited.size === 0) this.#byJob.delete(jobUid);
    this.#memory.delete(podUid);
  }

  /** The Job is gone. */
  forget(jobUid: string): void {
    for (const uid of [...(this.#byJob.get(jobUid) ?? [])]) this.observed(jobUid, uid);
  }

  #ofJob(jobUid: string): Set<string> {
    const known = this.#byJob.get(jobUid);
    if (known !== undefined) return known;
    const made = new Set<string>();
    this.#byJob.set(jobUid, made);
    return made;
  }
}
