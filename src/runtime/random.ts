/** The only place that draws random numbers. Everything else is handed a Random. */

/** Randomness as the process sees it; replaced by a seeded one in simulations. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** `length` characters out of `alphabet`. */
  text(length: number, alphabet: string): string;
  /** A random UUID (version 4). */
  uuid(): string;
}
