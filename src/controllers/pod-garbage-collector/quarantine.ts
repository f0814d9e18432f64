/** Nodes that vanished are given time to turn up again before their pods go. */
import { isNotFound } from '../../api/errors.ts';
import { NODES } from '../../api/resource.ts';
import type {
  ControllerContext,
  ControllerMemory,
  SyncRun,
  WorkQueue,
} from '../../runtime/controller.ts';
import { COUNTDOWN_TEXT, type Countdown } from '../../runtime/countdown.ts';

/** How long a node must be missing before the server is asked about it. */
export const QUARANTINE_MS = 40_000;
/** A countdown that is so old belongs to a node that is no longer missed. */
const FORGOTTEN_AFTER_MS = 10 * 60_000;
/** A node that is gone has no UID that pods would know. */
const NO_UID = '';

/** Remembers since when nodes are missing, also beyond a restart. */
export class Quarantine {
  readonly #queue: WorkQueue;
  readonly #countdowns: ControllerContext['countdowns'];
  readonly #since: ControllerMemory<Countdown>;
  /** Nodes whose countdown this process has noted: time that passes is no reason for a write. */
  readonly #noted = new Set<string>();

  constructor(context: ControllerContext, queue: WorkQueue) {
    this.#queue = queue;
    this.#countdowns = context.countdowns;
    this.#since = context.memory('quarantine', COUNTDOWN_TEXT);
  }

  /** These nodes are missing now: those that are new begin to wait, all others are forgotten. */
  update(missing: ReadonlySet<string>): void {
    for (const { key } of this.#since.all()) if (!missing.has(key)) this.release(key);
    for (const node of missing) {
      const known = this.#since.get(node, NO_UID);
      if (known === undefined || !this.#noted.has(node)) {
        const now =
          known === undefined ? this.#countdowns.start() : this.#countdowns.observe(known);
        this.#since.set(node, NO_UID, now, { expiresInMs: FORGOTTEN_AFTER_MS });
        this.#noted.add(node);
      }
      const because = `node ${node} is missing: it may turn up again`;
      this.#queue.addAfter(node, this.leftMs(node), because);
    }
  }

  /** Milliseconds until the node has been missing long enough; 0 if it has. */
  leftMs(node: string): number {
    const since = this.#since.get(node, NO_UID);
    if (since === undefined) return QUARANTINE_MS;
    return Math.max(0, QUARANTINE_MS - this.#countdowns.elapsed(since));
  }

  /** Nothing is to wait for any more; should the node be missing again, it waits anew. */
  release(node: string): void {
    this.#since.delete(node);
    this.#noted.delete(node);
  }
}

/** True if the server, asked now, has the node. */
export async function nodeExists(run: SyncRun, name: string): Promise<boolean> {
  try {
    await run.client.get(NODES, { name }, { metadataOnly: true });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
