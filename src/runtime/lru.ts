/** A small map with a bound: the entry used longest ago goes first. */

interface Node<K, V> {
  readonly key: K;
  value: V;
  bytes: number;
  older: Node<K, V> | undefined;
  newer: Node<K, V> | undefined;
}

/**
 * Least-recently-used map. Every operation takes constant time (a JavaScript Map alone doesn't
 * give that: finding its first key gets slow after many deletions at its front).
 */
export class Lru<K, V> {
  readonly #entriesMax: number;
  readonly #bytesMax: number;
  readonly #nodes = new Map<K, Node<K, V>>();
  #oldest: Node<K, V> | undefined;
  #newest: Node<K, V> | undefined;
  #bytes = 0;

  /** `bytesMax` bounds the sum of the sizes given to `set`. */
  constructor(entriesMax: number, bytesMax = Number.POSITIVE_INFINITY) {
    this.#entriesMax = entriesMax;
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** Sum of the sizes of all entries. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The value, which becomes the newest; undefined if absent. */
  get(key: K): V | undefined {
    const node = this.#nodes.get(key);
    if (node === undefined) return undefined;
    this.#unlink(node);
    this.#append(node);
    return node.value;
  }

  has(key: K): boolean {
    return this.#nodes.has(key);
  }

  /** Puts the newest entry and drops old ones past the limits; one too big alone isn't kept. */
  set(key: K, value: V, bytes = 0): void {
    this.delete(key);
    const node: Node<K, V> = { key, value, bytes, older: undefined, newer: undefined };
    this.#nodes.set(key, node);
    this.#append(node);
    this.#bytes += bytes;
    while (this.#oldest && this.#overfull()) this.delete(this.#oldest.key);
  }

  /** True if the entry was there. */
  delete(key: K): boolean {
    const node = this.#nodes.get(key);
    if (node === undefined) return false;
    this.#nodes.delete(key);
    this.#unlink(node);
    this.#bytes -= node.bytes;
    return true;
  }

  clear(): void {
    this.#nodes.clear();
    this.#oldest = undefined;
    this.#newest = undefined;
    this.#bytes = 0;
  }

  /** Entries from the newest to the oldest; don't write meanwhile. */
  *newestFirst(): Generator<readonly [K, V]> {
    for (let node = this.#newest; node !== undefined; node = node.older) {
      yield [node.key, node.value];
    }
  }

  #overfull(): boolean {
    return this.#nodes.size > this.#entriesMax || this.#bytes > this.#bytesMax;
  }

  #append(node: Node<K, V>): void {
    node.older = this.#newest;
    node.newer = undefined;
    if (this.#newest) this.#newest.newer = node;
    else this.#oldest = node;
    this.#newest = node;
  }

  #unlink(node: Node<K, V>): void {
    if (node.older) node.older.newer = node.newer;
    else this.#oldest = node.newer;
    if (node.newer) node.newer.older = node.older;
    else this.#newest = node.older;
  }
}
