/**
 * The work queue: keys that are dirty, each once, never one key at two workers, with delays,
 * priorities and a failure history. Semantics follow client-go's util/workqueue; on top of it each
 * change of a key's state is told to a WorkLog, so that work survives the process.
 */
import type { Clock, Timer } from '../clock.ts';
import { QUEUE_RATE_STEPS, QUEUE_RATE_WINDOW_MS } from '../limits.ts';
import type { WorkRow } from '../ports.ts';
import { RateMeter } from '../rate.ts';
import { DueHeap } from './due-heap.ts';
import { Lanes } from './lanes.ts';
import type { Limiter } from './limiter.ts';
import type { QueueMeter, QueueMetrics, RunningWork } from './metrics.ts';
import { failingOf, type QueueSummary } from './summary.ts';
import {
  type FrameworkQueue,
  PRIORITY_LOW,
  PRIORITY_NORMAL,
  type QueueSnapshot,
  type WorkLog,
  type WorkState,
} from './types.ts';

export interface WorkQueueOptions {
  /** "" for a queue without metrics. */
  readonly name: string;
  /** Tells it from other queues of its name; default: the name. */
  readonly id?: string;
  readonly clock: Clock;
  readonly limiter: Limiter;
  readonly metrics: QueueMetrics;
  readonly log?: WorkLog;
}

/** One key with anything to do about it; kept only as long as there is. */
interface Item {
  readonly key: string;
  priority: number;
  dirty: boolean;
  changed: boolean;
  processing: boolean;
  /** Monotonic times of getting dirty and of being taken. */
  addedAt: number;
  takenAt: number;
  error: string;
  because: string;
  dueAt: number;
  place: number;
  before: Item | undefined;
  after: Item | undefined;
}

const NO_LOG: WorkLog = { put: () => undefined, drop: () => undefined };

class Queue implements FrameworkQueue {
  readonly name: string;
  readonly #id: string;
  readonly #clock: Clock;
  readonly #limiter: Limiter;
  readonly #log: WorkLog;
  readonly #meter: QueueMeter;
  readonly #items = new Map<string, Item>();
  /** Failures of former processes: they count for how long a key waits, not for giving it up. */
  readonly #inherited = new Map<string, number>();
  readonly #ready = new Lanes<Item>();
  readonly #delayed = new DueHeap<Item>();
  readonly #running = new Set<Item>();
  readonly #takers: (() => void)[] = [];
  readonly #syncs: RateMeter;
  readonly #failed: RateMeter;
  #timer: { readonly dueAt: number; readonly timer: Timer } | undefined;
  #looksOver = false;
  #stopped = false;

  constructor(options: WorkQueueOptions) {
    this.name = options.name;
    this.#id = options.id ?? options.name;
    this.#clock = options.clock;
    this.#syncs = new RateMeter(options.clock, QUEUE_RATE_WINDOW_MS, QUEUE_RATE_STEPS);
    this.#failed = new RateMeter(options.clock, QUEUE_RATE_WINDOW_MS, QUEUE_RATE_STEPS);
    this.#limiter = options.limiter;
    this.#log = options.log ?? NO_LOG;
    this.#meter = options.metrics.meter(options, () => this.#runningWork());
  }

  add(key: string, priority?: number): void {
    if (this.#stopped) return;
    if (!this.#looksOver) {
      this.#makeDirty(this.#item(key), priority ?? PRIORITY_NORMAL, true);
      return;
    }
    const known = this.#items.get(key);
    if (known !== undefined && known.place >= 0 && this.#limiter.failures(key) > 0) return;
    this.#makeDirty(known ?? this.#item(key), priority ?? PRIORITY_LOW, false);
  }

  addAfter(key: string, delayMs: number, because = ''): void {
    if (this.#stopped) return;
    this.#meter.retried();
    if (delayMs <= 0) {
      this.#makeDirty(this.#item(key), PRIORITY_NORMAL, true);
      return;
    }
    const item = this.#item(key);
    if (this.#delay(item, delayMs, because)) this.#log.put(this.#state(item));
  }

  addRateLimited(key: string): void {
    const delayMs = this.#limiter.when(key);
    if (this.#stopped) return;
    this.#meter.retried();
    const item = this.#item(key);
    if (delayMs > 0) this.#delay(item, delayMs, '');
    else this.#makeDirty(item, PRIORITY_NORMAL, true);
    this.#log.put(this.#state(item));
  }

  forget(key: string): void {
    const failed = this.#limiter.failures(key) > 0;
    this.#limiter.forget(key);
    this.#inherited.delete(key);
    const item = this.#items.get(key);
    if (item !== undefined) item.error = '';
    if (failed) this.#tell(key, item);
  }

  failures(key: string): number {
    return this.#limiter.failures(key);
  }

  tries(key: string): number {
    return this.#limiter.failures(key) - (this.#inherited.get(key) ?? 0);
  }

  noteError(key: string, error: string): void {
    this.#failed.add();
    const item = this.#items.get(key);
    if (item !== undefined) item.error = error;
  }

  async take(): Promise<string | undefined> {
    while (!this.#stopped) {
      const item = this.#ready.shift();
      if (item !== undefined) return this.#begin(item);
      // Woken in a later turn of the microtask queue, so adds made together are taken as one.
      await new Promise<void>((resolve) => this.#takers.push(resolve));
    }
    return undefined;
  }

  done(key: string): void {
    const item = this.#items.get(key);
    if (item === undefined || !item.processing) return;
    item.processing = false;
    this.#running.delete(item);
    this.#syncs.add();
    this.#meter.finished(this.#clock.monotonic() - item.takenAt);
    if (item.dirty) this.#enqueue(item);
    else this.#tell(key, item);
  }

  depth(): number {
    return this.#ready.size;
  }

  restore(rows: readonly WorkRow[]): void {
    const now = this.#clock.now();
    for (const row of rows) {
      this.#limiter.restore(row.key, row.failures);
      if (row.failures > 0) this.#inherited.set(row.key, row.failures);
      const item = this.#item(row.key);
      item.error = row.lastError;
      item.because = row.because;
      if (row.dirty) this.#makeDirty(item, PRIORITY_NORMAL, true);
      // A wall clock that jumped must neither end a delay that had hardly begun nor prolong it.
      const wholeMs = Math.max(0, row.dueAt - row.updatedAt);
      const leftMs = Math.min(Math.max(0, row.dueAt - now), wholeMs);
      if (leftMs > 0) this.#delay(item, leftMs, row.because);
      // One that fails and does not wait was under way: if its object went since, nobody adds it.
      else if (row.dueAt > 0 || (row.failures > 0 && !row.dirty)) {
        this.#makeDirty(item, PRIORITY_NORMAL, false);
      }
      this.#tell(row.key, item);
    }
  }

  lookOver(on: boolean): void {
    this.#looksOver = on;
  }

  endDelays(): void {
    for (const item of this.#items.values()) {
      if (item.place < 0 || this.#limiter.failures(item.key) > 0) continue;
      this.#delayed.remove(item);
      this.#makeDirty(item, PRIORITY_LOW, false);
    }
  }

  shutdown(): void {
    this.#stopped = true;
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    for (const wake of this.#takers.splice(0)) wake();
  }

  snapshot(): QueueSnapshot {
    const now = this.#clock.monotonic();
    const waiting = [...this.#items.values()]
      .filter(({ place }) => place >= 0)
      .sort((a, b) => a.dueAt - b.dueAt);
    return {
      name: this.name,
      ready: Array.from(this.#ready, ({ key, priority, addedAt }) => ({
        key,
        priority,
        waitedMs: now - addedAt,
      })),
      processing: Array.from(this.#running, ({ key, takenAt, dirty }) => ({
        key,
        runningMs: now - takenAt,
        again: dirty,
      })),
      waiting: waiting.map((item) => ({ ...this.#state(item), inMs: item.dueAt - now })),
    };
  }

  summary(): QueueSummary {
    const now = this.#clock.monotonic();
    let oldestMs = 0;
    for (const { addedAt } of this.#ready) oldestMs = Math.max(oldestMs, now - addedAt);
    return {
      name: this.name,
      id: this.#id,
      depth: this.#ready.size,
      oldestMs,
      processing: this.#running.size,
      longestMs: this.#runningWork().longestMs,
      delayed: this.#delayed.size,
      ...failingOf(this.#failing()),
      syncsLastMinute: this.#syncs.sum(),
      failuresLastMinute: this.#failed.sum(),
    };
  }

  *#failing(): Iterable<WorkState> {
    for (const item of this.#items.values()) {
      if (this.#limiter.failures(item.key) > 0) yield this.#state(item);
    }
  }

  #item(key: string): Item {
    const known = this.#items.get(key);
    if (known !== undefined) return known;
    const item: Item = {
      key,
      priority: PRIORITY_NORMAL,
      dirty: false,
      changed: false,
      processing: false,
      addedAt: 0,
      takenAt: 0,
      error: '',
      because: '',
      dueAt: 0,
      place: -1,
      before: undefined,
      after: undefined,
    };
    this.#items.set(key, item);
    return item;
  }

  #makeDirty(item: Item, priority: number, changed: boolean): void {
    const news = (!item.dirty && !item.processing) || (changed && !item.changed);
    if (item.dirty) {
      if (priority > item.priority) this.#promote(item, priority);
    } else {
      item.dirty = true;
      item.priority = priority;
      item.addedAt = this.#clock.monotonic();
      this.#meter.added();
      if (!item.processing) this.#enqueue(item);
    }
    if (!news) return;
    item.changed = changed;
    this.#log.put(this.#state(item));
  }

  #promote(item: Item, priority: number): void {
    if (!item.processing) this.#ready.remove(item);
    item.priority = priority;
    if (!item.processing) this.#ready.push(item);
  }

  #enqueue(item: Item): void {
    this.#ready.push(item);
    this.#takers.shift()?.();
  }

  #begin(item: Item): string {
    const now = this.#clock.monotonic();
    item.dirty = false;
    item.processing = true;
    item.takenAt = now;
    if (item.place < 0) item.because = '';
    this.#running.add(item);
    this.#meter.taken(now - item.addedAt);
    return item.key;
  }

  /** The earliest of several wishes wins; true if it is this one. */
  #delay(item: Item, delayMs: number, because: string): boolean {
    const dueAt = Math.ceil(this.#clock.monotonic() + delayMs);
    if (item.place >= 0 && item.dueAt <= dueAt) return false;
    item.because = because;
    this.#delayed.put(item, dueAt);
    this.#arm();
    return true;
  }

  #arm(): void {
    const first = this.#delayed.first();
    if (first === undefined || this.#stopped) return;
    if (this.#timer !== undefined && this.#timer.dueAt <= first.dueAt) return;
    this.#timer?.timer.cancel();
    const delayMs = first.dueAt - this.#clock.monotonic();
    const timer = this.#clock.after(delayMs, () => this.#delaysEnded(), { background: true });
    this.#timer = { dueAt: first.dueAt, timer };
  }

  #delaysEnded(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (
      let item = this.#delayed.first();
      item !== undefined && item.dueAt <= now;
      item = this.#delayed.first()
    ) {
      this.#delayed.remove(item);
      this.#makeDirty(item, PRIORITY_NORMAL, false);
    }
    this.#arm();
  }

  /** Tells the log where a key stands, and lets go of one with nothing left to do. */
  #tell(key: string, item: Item | undefined): void {
    const idle = item === undefined || (!item.dirty && !item.processing && item.place < 0);
    if (idle && this.#limiter.failures(key) === 0) {
      this.#items.delete(key);
      this.#log.drop(key);
      return;
    }
    this.#log.put(this.#state(item ?? this.#item(key)));
  }

  #state(item: Item): WorkState {
    const leftMs = item.dueAt - this.#clock.monotonic();
    return {
      key: item.key,
      dirty: item.dirty || item.processing,
      changed: item.changed,
      failures: this.#limiter.failures(item.key),
      dueAt: item.place < 0 ? 0 : Math.round(this.#clock.now() + leftMs),
      error: item.error,
      because: item.because,
    };
  }

  #runningWork(): RunningWork {
    const now = this.#clock.monotonic();
    let totalMs = 0;
    let longestMs = 0;
    for (const { takenAt } of this.#running) {
      totalMs += now - takenAt;
      longestMs = Math.max(longestMs, now - takenAt);
    }
    return { totalMs, longestMs };
  }
}

/**
 * Makes a queue. It has no bound but the number of distinct keys: each key is in it once, so it
 * can't outgrow the objects its controller watches.
 */
export function createWorkQueue(options: WorkQueueOptions): FrameworkQueue {
  return new Queue(options);
}
