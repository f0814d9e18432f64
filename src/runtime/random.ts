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

function drawText(next: () => number, length: number, alphabet: string): string {
  let text = '';
  for (let i = 0; i < length; i++) text += alphabet.charAt(Math.floor(next() * alphabet.length));
  return text;
}

/** The runtime's own generator; UUIDs come from the system's secure one. Not for secrets. */
export function systemRandom(): Random {
  return {
    next: () => Math.random(),
    text: (length, alphabet) => drawText(Math.random, length, alphabet),
    uuid: () => crypto.randomUUID(),
  };
}

/** 32 random bits a call, from a counter that is mixed well ("mulberry32"). */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** The same numbers, texts and UUIDs for the same seed, on every machine. */
export function seededRandom(seed: number): Random {
  const bits = mulberry32(seed);
  const next = () => (bits() * 2 ** 21 + (bits() >>> 11)) / 2 ** 53;
  return {
    next,
    text: (length, alphabet) => drawText(next, length, alphabet),
    uuid: () => {
      const hex = drawText(next, 32, '0123456789abcdef');
      const variant = '89ab'.charAt(Math.floor(next() * 4));
      return [
        hex.slice(0, 8),
        hex.slice(8, 12),
        `4${hex.slice(13, 16)}`,
        `${variant}${hex.slice(17, 20)}`,
        hex.slice(20),
      ].join('-');
    },
  };
}
