/** Model time: one list of what happens when, and the clocks of the processes that live by it. */
import { type Clock, sleepOn, type Timer } from '../../src/runtime/clock.ts';

/** Wall time at which every run begins. */
export const START = Date.parse('2026-01-01T00:00:00Z');

/** Moments of model time in a millisecond: a delay of less would leave sums where they were. */
const TICKS = 1_024;

interface Entry {
  readonly dueAt: number;
  readonly turn: number;
  readonly fire: () => void;
  readonly life: Life | undefined;
  cancelled: boolean;
}

/** One process: when it is dead, nothing of it happens any more. */
export interface Life {
  dead: boolean;
}

/** A clock that a model process reads. Its wall can be set wrong. */
export interface ModelClock extends Clock {
  /** By how much the wall is wrong, milliseconds. */
  wallOffset: number;
}

/** Lets everything that waits on settled promises run. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** What happens next, in order of time and, at one moment, of planning. */
export class Timeline {
  /** Milliseconds since the run began. */
  now = 0;
  /** Things that have happened. */
  steps = 0;
  #turns = 0;
  readonly #heap: Entry[] = [];

  /** True wall time: what the API server and the nodes go by. */
  get wall(): number {
    return START + Math.floor(this.now);
  }

  after(delayMs: number, fire: () => void, life?: Life): Timer {
    const dueAt = Math.ceil((this.now + Math.max(0, delayMs)) * TICKS) / TICKS;
    const entry: Entry = { dueAt, turn: this.#turns++, fire, life, cancelled: false };
    this.#push(entry);
    return {
      cancel: () => {
        entry.cancelled = true;
      },
    };
  }

  /** The clock of a process; timers of a dead process never fire. */
  clock(life: Life, bootAt: number): ModelClock {
    const after = (delayMs: number, fire: () => void): Timer => this.after(delayMs, fire, life);
    const clock: ModelClock = {
      wallOffset: 0,
      now: () => Math.floor(this.wall + clock.wallOffset),
      monotonic: () => this.now - bootAt + 1_000,
      after,
      sleep: (delayMs, signal) => sleepOn({ after }, delayMs, signal),
    };
    return clock;
  }

  /** Goes on until `until`; `look` is called after each step and may throw. */
  async run(until: number, look: () => void): Promise<void> {
    await settle();
    for (let next = this.#heap[0]; next !== undefined && next.dueAt <= until; ) {
      this.#pop();
      if (!next.cancelled && next.life?.dead !== true) {
        this.now = Math.max(this.now, next.dueAt);
        this.steps++;
        next.fire();
        await settle();
        look();
      }
      next = this.#heap[0];
    }
    this.now = Math.max(this.now, until);
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.turn < b.turn);
}
