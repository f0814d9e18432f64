/** Lists of ready things by priority: highest first, inside a priority first come, first served. */

/** What can wait in Lanes, in one lane at a time. */
export interface Waiting {
  /** Change it only while in no lane. */
  priority: number;
  /** Neighbours in the lane. Kept by the lanes. */
  before: this | undefined;
  after: this | undefined;
}

interface Lane<T> {
  readonly priority: number;
  head: T | undefined;
  tail: T | undefined;
}

/** Adding, removing and taking cost the same however many wait (few priorities are assumed). */
export class Lanes<T extends Waiting> {
  /** Highest priority first; a lane stays once it was used. */
  readonly #lanes: Lane<T>[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(item: T): void {
    const lane = this.#lane(item.priority);
    item.before = lane.tail;
    item.after = undefined;
    if (lane.tail) lane.tail.after = item;
    else lane.head = item;
    lane.tail = item;
    this.#size++;
  }

  /** Takes an item that is in its lane out of it. */
  remove(item: T): void {
    const lane = this.#lane(item.priority);
    if (item.before) item.before.after = item.after;
    else lane.head = item.after;
    if (item.after) item.after.before = item.before;
    else lane.tail = item.before;
    item.before = undefined;
    item.after = undefined;
    this.#size--;
  }

  /** Takes the next one; undefined if there is none. */
  shift(): T | undefined {
    const item = this.#lanes.find(({ head }) => head !== undefined)?.head;
    if (item !== undefined) this.remove(item);
    return item;
  }

  /** In the order in which they would be taken. */
  *[Symbol.iterator](): Generator<T> {
    for (const lane of this.#lanes) {
      for (let item = lane.head; item !== undefined; item = item.after) yield item;
    }
  }

  #lane(priority: number): Lane<T> {
    const at = this.#lanes.findIndex((lane) => lane.priority <= priority);
    const known = this.#lanes[at];
    if (known?.priority === priority) return known;
    const lane: Lane<T> = { priority, head: undefined, tail: undefined };
    this.#lanes.splice(at < 0 ? this.#lanes.length : at, 0, lane);
    return lane;
  }
}
