/**
 * Which time this process has watched the cluster as its leader. Between two terms, while the
 * machine slept and while the process was frozen nobody watched, so that time is left out of every
 * countdown.
 */
import type { Clock, Timer } from './clock.ts';
import type { Watch } from './countdown.ts';
import {
  SEAMLESS_DOWNTIME_MAX_MS,
  STALL_COUNTED_MAX_MS,
  WATCHED_GAPS_MAX,
  WATCHED_MARK_INTERVAL_MS,
} from './limits.ts';

/** A stretch of monotonic time. */
interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Where it is kept until when this process has watched; lost with the boot of the machine. */
export interface WatchedMark {
  /** Until when the process before has watched, monotonic; undefined: not known on this boot. */
  read(): number | undefined;
  /** undefined: takes the mark away. Never throws: without a mark the next process counts less. */
  write(until: number | undefined): void;
}

export interface WatchedTimeOptions {
  readonly clock: Clock;
  readonly bootId: string;
  readonly mark: WatchedMark;
  /** Longest downtime between two terms that still counts. */
  readonly downtimeMaxMs: number;
  /** True if all that was seen and done is in the state file, or is about to be. */
  saved(): boolean;
}

/** The watch of one process over all its terms; `begin` and `end` alternate. */
export class WatchedTime implements Watch {
  readonly clock: Clock;
  readonly bootId: string;
  readonly formerUntil: number | undefined;
  readonly #mark: WatchedMark;
  readonly #downtimeMaxMs: number;
  readonly #saved: () => boolean;
  #gaps: Gap[] = [];
  #since: number | undefined;
  #serverSteady = false;
  #lookedAt = 0;
  #timer: Timer | undefined;

  constructor({ clock, bootId, mark, downtimeMaxMs, saved }: WatchedTimeOptions) {
    this.clock = clock;
    this.bootId = bootId;
    this.#mark = mark;
    this.#downtimeMaxMs = downtimeMaxMs;
    this.#saved = saved;
    this.formerUntil = mark.read();
  }

  /** When the first term began; before it, now. */
  get since(): number {
    return this.#since ?? this.clock.monotonic();
  }

  get serverSteady(): boolean {
    return this.#serverSteady;
  }

  /**
   * True if somebody on this boot watched until a moment ago: caches that were kept then lag behind
   * the server by no more than a watch may.
   */
  get justWatched(): boolean {
    const until = this.#since === undefined ? this.formerUntil : this.#lookedAt;
    return until !== undefined && this.clock.monotonic() - until <= SEAMLESS_DOWNTIME_MAX_MS;
  }

  /** A term begins. `serverSteady`: the API server was there all the time since the last one. */
  begin(serverSteady: boolean): void {
    const now = this.clock.monotonic();
    if (this.#since === undefined) {
      this.#since = now;
      this.#serverSteady = serverSteady;
    } else if (!serverSteady || now - this.#lookedAt > this.#downtimeMaxMs) {
      this.#miss(this.#lookedAt, now);
    }
    this.#lookedAt = now;
    this.#timer?.cancel();
    this.#tick();
  }

  /** The term is over; the time from here to the next one was not watched. */
  end(): void {
    if (this.#timer === undefined) return;
    this.#look();
    this.#timer.cancel();
    this.#timer = undefined;
    this.#note();
  }

  /**
   * What is done from here on is not in the state file: should this process die, the next one must
   * wait for its caches. Holds until `saved` is true again.
   */
  unsaved(): void {
    this.#mark.write(undefined);
  }

  /** Milliseconds since `from` that nobody watched. */
  unwatched(from: number): number {
    if (this.#timer !== undefined) this.#look();
    let missed = 0;
    for (const gap of this.#gaps) missed += Math.max(0, gap.to - Math.max(gap.from, from));
    return missed;
  }

  #tick(): void {
    this.#look();
    this.#note();
    const tick = (): void => this.#tick();
    this.#timer = this.clock.after(WATCHED_MARK_INTERVAL_MS, tick, { background: true });
  }

  #note(): void {
    this.#mark.write(this.#saved() ? this.#lookedAt : undefined);
  }

  #look(): void {
    const now = this.clock.monotonic();
    if (now - this.#lookedAt > STALL_COUNTED_MAX_MS) this.#miss(this.#lookedAt, now);
    this.#lookedAt = now;
  }

  /** Beyond the bound the oldest two become one, with what was watched between them. */
  #miss(from: number, to: number): void {
    this.#gaps.push({ from, to });
    const [first, second, ...rest] = this.#gaps;
    if (this.#gaps.length <= WATCHED_GAPS_MAX || first === undefined || second === undefined)
      return;
    this.#gaps = [{ from: first.from, to: second.to }, ...rest];
  }
}
