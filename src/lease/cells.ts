/**
 * The memory that the main thread and the candidate's thread share: until when this process may
 * write, and that the main thread is alive. Times are whole milliseconds of CLOCK_BOOTTIME (and of
 * the wall clock where said), for the other clocks of a thread start with the thread.
 */

const HELD_UNTIL = 0;
const HELD_UNTIL_WALL = 1;
const RENEWED_AT = 2;
const ALIVE_AT = 3;
const CELLS = 4;

/** One view of the shared memory; each thread has its own. */
export class Cells {
  readonly buffer: SharedArrayBuffer;
  readonly #cells: BigInt64Array;

  /** New cells, or another view of those in `buffer`. */
  constructor(buffer = new SharedArrayBuffer(CELLS * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#cells = new BigInt64Array(buffer);
  }

  /** Candidate: the Lease was renewed at `renewedAt` and holds until both moments. */
  hold(renewedAt: number, until: number, untilWall: number): void {
    this.#set(RENEWED_AT, renewedAt);
    this.#set(HELD_UNTIL_WALL, untilWall);
    this.#set(HELD_UNTIL, until);
  }

  /** Candidate: no writing any more. */
  drop(): void {
    this.#set(HELD_UNTIL, 0);
  }

  /** True while both clocks are before the moments until which the Lease holds. */
  held(mono: number, wall: number): boolean {
    return mono < this.#get(HELD_UNTIL) && wall < this.#get(HELD_UNTIL_WALL);
  }

  /** CLOCK_BOOTTIME from which the Lease holds no more; 0 if it doesn't. */
  heldUntil(): number {
    return this.#get(HELD_UNTIL);
  }

  /** CLOCK_BOOTTIME of the last renewal, 0 before the first. */
  renewedAt(): number {
    return this.#get(RENEWED_AT);
  }

  /** Main thread: I am not stuck. */
  beat(mono: number): void {
    this.#set(ALIVE_AT, mono);
  }

  /** CLOCK_BOOTTIME of the last beat. */
  aliveAt(): number {
    return this.#get(ALIVE_AT);
  }

  #set(cell: number, ms: number): void {
    Atomics.store(this.#cells, cell, BigInt(Math.floor(ms)));
  }

  #get(cell: number): number {
    return Number(Atomics.load(this.#cells, cell));
  }
}
