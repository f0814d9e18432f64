/** Resource quantities ("500m", "1Gi", "2e3"): compared, added, written as the API server does. */

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

const NANOS_PER_MILLI = 1_000_000n;
const INT64_MAX = 2n ** 63n - 1n;

/** The quantity in thousandths, rounded away from zero, at most what 64 bits hold. */
export function quantityMilli(text: string | number): bigint | undefined {
  const nanos = quantityNanos(text);
  if (nanos === undefined) return undefined;
  const magnitude = divideAwayFromZero(nanos < 0n ? -nanos : nanos, NANOS_PER_MILLI);
  const bounded = magnitude > INT64_MAX ? INT64_MAX : magnitude;
  return nanos < 0n ? -bounded : bounded;
}

/** The text of so many thousandths as the API server would store it. */
export function milliText(milli: bigint, format: QuantityFormat): string {
  return quantityText({ nanos: milli * NANOS_PER_MILLI, format });
}

/** True if both mean the same amount; texts that are no quantities must be the same text. */
export function quantitiesEqual(a: string | number, b: string | number): boolean {
  if (a === b) return true;
  const left = quantityNanos(a);
  return left !== undefined && left === quantityNanos(b);
}

/** How a quantity likes to be written: with Ki, Mi, ..., with k, M, ..., or with an exponent. */
export type QuantityFormat = 'binary' | 'decimal' | 'exponent';

/** An amount to calculate with; it remembers how it was written. */
export interface Quantity {
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

const NANOS = 10n ** BigInt(NANO_DIGITS);
const DECIMAL_PREFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];

/** No amount at all. */
export const ZERO: Quantity = Object.freeze({ nanos: 0n, format: 'decimal' });

/** A whole number as a quantity. */
export function quantityOf(count: number | bigint): Quantity {
  return { nanos: BigInt(count) * NANOS, format: 'decimal' };
}

/** The quantity of a text, undefined if it is none. */
export function parseQuantity(text: string | number): Quantity | undefined {
  const nanos = quantityNanos(text);
  if (nanos === undefined) return undefined;
  const [, , , , suffix = '', exponent] = QUANTITY.exec(String(text)) ?? [];
  if (exponent !== undefined) return { nanos, format: 'exponent' };
  return { nanos, format: suffix.length === 2 ? 'binary' : 'decimal' };
}

/** The sum, written as the first one unless that is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

/** So many times the quantity. */
export function timesQuantity(quantity: Quantity, times: number): Quantity {
  return { nanos: quantity.nanos * BigInt(times), format: quantity.format };
}

/** What is left of `a`, also if that is below zero; written as `a` unless that is zero. */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos - b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

/** The next whole number away from zero. */
export function roundUpQuantity({ nanos, format }: Quantity): Quantity {
  const magnitude = nanos < 0n ? -nanos : nanos;
  const whole = divideAwayFromZero(magnitude, NANOS) * NANOS;
  return { nanos: nanos < 0n ? -whole : whole, format };
}

/** The text that the API server would store: the shortest without a fraction. */
export function quantityText({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0';
  const isWhole = nanos % NANOS === 0n;
  const magnitude = (nanos < 0n ? -nanos : nanos) / NANOS;
  if (format === 'binary' && isWhole && magnitude >= 1024n) return binaryText(nanos / NANOS);
  let power = 0;
  let mantissa = nanos;
  const last = DECIMAL_PREFIXES.length - 1;
  while (mantissa % 1000n === 0n && (power < last || format === 'exponent')) {
    mantissa /= 1000n;
    power++;
  }
  if (format !== 'exponent') return `${mantissa}${DECIMAL_PREFIXES[power]}`;
  const exponent = 3 * power - NANO_DIGITS;
  return exponent === 0 ? String(mantissa) : `${mantissa}e${exponent}`;
}

function binaryText(whole: bigint): string {
  let power = 0;
  let mantissa = whole;
  while (mantissa % 1024n === 0n && power < BINARY_PREFIXES.length) {
    mantissa /= 1024n;
    power++;
  }
  return power === 0 ? String(mantissa) : `${mantissa}${BINARY_PREFIXES[power - 1]}i`;
}
