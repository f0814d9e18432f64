/** Resource quantities ("500m", "1Gi", "2e3"), compared by value as the API server does. */

const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d+))?$/;
const DECIMAL_EXPONENTS: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_PREFIXES = 'KMGTPE';
const NANO_DIGITS = 9;
/** No real quantity comes near; it keeps "1e999999999" from becoming a number of that length. */
const EXPONENT_MAX = 1_000;
const BINARY_MAX = (2n ** 63n - 1n) * 10n ** BigInt(NANO_DIGITS);

function divideAwayFromZero(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

/**
 * The quantity in billionths, or undefined if the text is none. What is finer than a billionth is
 * rounded away from zero; binary ones are capped at 2^63-1, as upstream does.
 */
export function quantityNanos(text: string | number): bigint | undefined {
  const match = QUANTITY.exec(String(text));
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', suffix = '', exponentText = '0'] = match;
  if (whole === '' && fraction === '') return undefined;
  const binary = suffix.length === 2;
  const exponent = binary ? 0 : (DECIMAL_EXPONENTS[suffix] ?? Number(exponentText));
  if (Math.abs(exponent) > EXPONENT_MAX) return undefined;
  const shift = exponent - fraction.length + NANO_DIGITS;
  let value = BigInt(whole + fraction);
  if (binary) value *= 1024n ** BigInt(BINARY_PREFIXES.indexOf(suffix[0] ?? '') + 1);
  value =
    shift >= 0 ? value * 10n ** BigInt(shift) : divideAwayFromZero(value, 10n ** BigInt(-shift));
  if (binary && value > BINARY_MAX) value = BINARY_MAX;
  return sign === '-' ? -value : value;
}

/** True if both mean the same amount; texts that are no quantities must be the same text. */
export function quantitiesEqual(a: string | number, b: string | number): boolean {
  if (a === b) return true;
  const left = quantityNanos(a);
  return left !== undefined && left === quantityNanos(b);
}
