/** How each cache came to be, noted for who reads the state file. */
import type { FactTable } from '../ports.ts';
import type { SyncHow } from './reflector-types.ts';

/** Name of the fact: JSON, resource to how. */
export const FACT_HOW = 'informers.how';

/** Remembers what it noted last: it is asked at each commit, and hardly anything changes. */
export class NotedHow {
  readonly #facts: Pick<FactTable, 'set'>;
  #noted: ReadonlyMap<string, SyncHow> = new Map();

  constructor(facts: Pick<FactTable, 'set'>) {
    this.#facts = facts;
  }

  /** Notes how these caches, which are all there are, came to be. */
  note(caches: Iterable<{ readonly id: string; readonly how: SyncHow }>): void {
    let count = 0;
    let isKnown = true;
    for (const { id, how } of caches) {
      count++;
      isKnown &&= this.#noted.get(id) === how;
    }
    if (isKnown && count === this.#noted.size) return;
    this.#noted = new Map(Array.from(caches, ({ id, how }) => [id, how]));
    this.#facts.set(FACT_HOW, JSON.stringify(Object.fromEntries(this.#noted)));
  }
}
