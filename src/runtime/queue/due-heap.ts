/** A binary heap of things that are due at some time; the earliest is first. */

/** What can sit in a DueHeap, in one at a time. */
export interface Due {
  /** When it is due, on the monotonic clock. Change it only through `DueHeap.put`. */
  dueAt: number;
  /** Its place in the heap; -1 while it is in none. Kept by the heap. */
  place: number;
}

/** Earliest-first heap; putting, moving and removing cost the logarithm of its size. */
export class DueHeap<T extends Due> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  first(): T | undefined {
    return this.#items[0];
  }

  /** Adds the item, or moves it if it is here already. */
  put(item: T, dueAt: number): void {
    item.dueAt = dueAt;
    if (item.place < 0) {
      item.place = this.#items.length;
      this.#items.push(item);
    }
    this.#settle(item);
  }

  /** Does nothing if the item isn't here. */
  remove(item: T): void {
    if (item.place < 0) return;
    const last = this.#items.pop();
    if (last !== undefined && last !== item) {
      this.#set(item.place, last);
      this.#settle(last);
    }
    item.place = -1;
  }

  #set(place: number, item: T): void {
    this.#items[place] = item;
    item.place = place;
  }

  #settle(item: T): void {
    this.#rise(item);
    this.#sink(item);
  }

  #rise(item: T): void {
    while (item.place > 0) {
      const place = item.place;
      const parentPlace = (place - 1) >> 1;
      const parent = this.#items[parentPlace];
      if (parent === undefined || parent.dueAt <= item.dueAt) return;
      this.#set(place, parent);
      this.#set(parentPlace, item);
    }
  }

  #sink(item: T): void {
    for (;;) {
      const place = item.place;
      const left = this.#items[2 * place + 1];
      const right = this.#items[2 * place + 2];
      const child =
        right !== undefined && left !== undefined && right.dueAt < left.dueAt ? right : left;
      if (child === undefined || child.dueAt >= item.dueAt) return;
      const childPlace = child.place;
      this.#set(place, child);
      this.#set(childPlace, item);
    }
  }
}
