/** Resource quantities as flag values: read by upstream's rules, written in its canonical form. */
import { quantityNanos } from '../../api/quantity.ts';
import { ValueError } from './number.ts';

const EXPRESSION = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$';
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)/;
const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const NANO = 1_000_000_000n;

/** Throws ValueError with upstream's text if the text is no quantity. */
export function checkQuantity(text: string): void {
  if (quantityNanos(text) !== undefined) return;
  throw new ValueError(
    NUMBER.test(text) && !/\s/.test(text)
      ? "unable to parse quantity's suffix"
      : `quantities must match the regular expression '${EXPRESSION}'`,
  );
}

function scaled(value: bigint, step: bigint, suffixes: readonly string[]): string {
  let rest = value;
  let at = 0;
  while (rest !== 0n && rest % step === 0n && at < suffixes.length - 1) {
    rest /= step;
    at += 1;
  }
  return rest === 0n ? '0' : `${rest}${suffixes[at]}`;
}

function exponential(nanos: bigint): string {
  const digits = scaled(nanos, 1_000n, DECIMAL_SUFFIXES);
  const suffix = /[a-zA-Z]*$/.exec(digits)?.[0] ?? '';
  const exponent = 3 * (DECIMAL_SUFFIXES.indexOf(suffix) - DECIMAL_SUFFIXES.indexOf(''));
  const mantissa = digits.slice(0, digits.length - suffix.length);
  return exponent === 0 ? mantissa : `${mantissa}e${exponent}`;
}

/** The canonical form: "2048Ki" is "2Mi", "1500000" is "1500k". */
export function canonicalQuantity(text: string): string {
  const nanos = quantityNanos(text) ?? 0n;
  if (text.endsWith('i') && nanos % NANO === 0n) {
    return scaled(nanos / NANO, 1_024n, BINARY_SUFFIXES);
  }
  if (/[eE][+-]?\d+$/.test(text)) return exponential(nanos);
  return scaled(nanos, 1_000n, DECIMAL_SUFFIXES);
}
