/** Evictions that wait, remembered as how much of their time has passed. */
import type { Taint } from '../../api/types/index.ts';
import type { ControllerContext, ControllerMemory } from '../../runtime/controller.ts';
import { COUNTDOWN_TEXT, type Countdown } from '../../runtime/countdown.ts';
import type { Pending } from './decide.ts';

interface Waiting {
  readonly uid: string;
  readonly since: Countdown;
  readonly delayMs: number;
  /** The taints the node had, as `taintId` names them. */
  readonly taints: readonly string[];
  /** Taken over from an earlier process and not looked at since. */
  readonly takenOver: boolean;
}

type Stored = Pick<Waiting, 'since' | 'delayMs' | 'taints'>;

const TEXT = {
  encode: ({ since, delayMs, taints }: Stored): string =>
    JSON.stringify({ since, delayMs, taints }),
  /** Throws for a text that is no such row. */
  decode(text: string): Stored {
    const { since, delayMs, taints } = JSON.parse(text) as Partial<Stored>;
    if (typeof delayMs !== 'number' || !Array.isArray(taints)) {
      throw new Error(`no pending eviction: ${text}`);
    }
    return { since: COUNTDOWN_TEXT.decode(JSON.stringify(since)), delayMs, taints };
  },
};

/** All evictions that wait, by "namespace/name" of the pod. */
export class PendingEvictions {
  readonly #countdowns: ControllerContext['countdowns'];
  readonly #memory: ControllerMemory<Stored>;
  readonly #waiting = new Map<string, Waiting>();

  /** Takes over what is remembered; its clocks go on from here. */
  constructor(context: Pick<ControllerContext, 'countdowns' | 'memory'>) {
    this.#countdowns = context.countdowns;
    this.#memory = context.memory('evictions', TEXT);
    for (const { key, subjectUid: uid, value } of this.#memory.all()) {
      const since = this.#countdowns.observe(value.since);
      this.#set(key, { ...value, uid, since, takenOver: true });
    }
  }

  keys(): IterableIterator<string> {
    return this.#waiting.keys();
  }

  has(key: string): boolean {
    return this.#waiting.has(key);
  }

  /** What waits for this pod, seen beside the taints that its node has now. */
  get(key: string, taints: readonly Taint[] | undefined): Pending | undefined {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return undefined;
    const { uid, since, delayMs, takenOver } = waiting;
    const isLeft = (taint: Taint): boolean => waiting.taints.includes(taintId(taint));
    const outlived = takenOver && taints !== undefined && taints.length > 0 && !taints.some(isLeft);
    return { uid, leftMs: delayMs - this.#countdowns.elapsed(since), outlived };
  }

  start(key: string, uid: string, delayMs: number, taints: readonly Taint[]): void {
    const since = this.#countdowns.start();
    this.#set(key, { uid, since, delayMs, taints: taints.map(taintId), takenOver: false });
  }

  /** It goes on under the taints that the node has now. */
  keep(key: string, taints: readonly Taint[]): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    const ids = taints.map(taintId);
    const isSame =
      ids.length === waiting.taints.length && ids.every((id, at) => id === waiting.taints[at]);
    const since = this.#countdowns.observe(waiting.since);
    if (isSame) this.#waiting.set(key, { ...waiting, takenOver: false });
    else this.#set(key, { ...waiting, since, taints: ids, takenOver: false });
  }

  forget(key: string): void {
    if (this.#waiting.delete(key)) this.#memory.delete(key);
  }

  #set(key: string, waiting: Waiting): void {
    this.#waiting.set(key, waiting);
    this.#memory.set(key, waiting.uid, waiting);
  }
}

/** Tells a taint from one that was taken off and put on again. */
function taintId({ key, value = '', effect, timeAdded = '' }: Taint): string {
  return `${key}=${value}:${effect}@${timeAdded}`;
}
