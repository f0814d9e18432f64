/** Whole numbers as text, read as Go reads them. */

const INTEGER = /^[+-]?\d+$/;
const INT64_MAX = 2n ** 63n - 1n;

/** A signed 64-bit number in decimal, or undefined if the text is none (Go's ParseInt). */
export function parseInt64(text: string): bigint | undefined {
  if (!INTEGER.test(text)) return undefined;
  const negative = text.startsWith('-');
  const digits = BigInt(text.replace(/^[+-]/, ''));
  if (digits > (negative ? INT64_MAX + 1n : INT64_MAX)) return undefined;
  return negative ? -digits : digits;
}
