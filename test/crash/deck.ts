/** Cards drawn by lot so that each kind comes as often as it should. */
import type { Random } from '../../src/runtime/random.ts';

/**
 * A shuffled deck, shuffled anew when it is used up: what comes when is left to chance, but each kind
 * comes as often as its weight says in every `size` draws.
 */
export class Deck<Kind extends string> {
  readonly #random: Random;
  readonly #cards: readonly Kind[];
  #left: Kind[] = [];

  constructor(random: Random, weights: Readonly<Record<Kind, number>>) {
    this.#random = random;
    const kinds = Object.entries(weights) as [Kind, number][];
    this.#cards = kinds.flatMap(([kind, weight]) => Array<Kind>(weight).fill(kind));
  }

  get size(): number {
    return this.#cards.length;
  }

  draw(): Kind {
    if (this.#left.length === 0) this.#left = [...this.#cards];
    const at = Math.floor(this.#random.next() * this.#left.length);
    return this.#left.splice(at, 1)[0]!;
  }
}
