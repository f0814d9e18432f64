/** What happened, in order: its digest tells runs apart, its last lines tell how a failure came. */
import { createHash } from 'node:crypto';

const KEPT = 4_000;

export class Trace {
  readonly #hash = createHash('sha256');
  readonly #lines: string[] = [];
  #count = 0;

  add(atMs: number, what: string): void {
    const line = `${(atMs / 1e3).toFixed(3)} ${what}`;
    this.#hash.update(line);
    this.#lines[this.#count++ % KEPT] = line;
  }

  digest(): string {
    return this.#hash.copy().digest('hex').slice(0, 16);
  }

  /** The last lines, oldest first. */
  last(count: number): string[] {
    const from = Math.max(0, this.#count - Math.min(count, KEPT));
    return Array.from({ length: this.#count - from }, (_, at) => this.#lines[(from + at) % KEPT]!);
  }
}
