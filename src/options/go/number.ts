/** Numbers and booleans as Go's strconv reads and writes them, with its error texts. */
import { quote } from './quote.ts';

/** A value that could not be read; the message is Go's. */
export class ValueError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ValueError';
  }
}

const TRUE_TEXTS = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE_TEXTS = ['0', 'f', 'F', 'false', 'FALSE', 'False'];
const PREFIXED = /^0[xXbBoO]./;
const BASES: Readonly<Record<string, bigint>> = { x: 16n, b: 2n, o: 8n };
const DECIMAL_FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const HEX_FLOAT = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)$/;
const NAMED_FLOAT = /^([+-]?)(?:(inf(?:inity)?)|(nan))$/i;
const FLOAT32_DIGITS_MAX = 9;
const PLAIN_EXPONENT_MIN = -4;
const PLAIN_EXPONENT_END = 6;

function syntaxError(call: string, text: string): ValueError {
  return new ValueError(`strconv.${call}: parsing ${quote(text)}: invalid syntax`);
}

function rangeError(call: string, text: string): ValueError {
  return new ValueError(`strconv.${call}: parsing ${quote(text)}: value out of range`);
}

/** Go's strconv.ParseBool. */
export function parseBool(text: string): boolean {
  if (TRUE_TEXTS.includes(text)) return true;
  if (FALSE_TEXTS.includes(text)) return false;
  throw syntaxError('ParseBool', text);
}

/** Underscores may only stand between digits, or between a base prefix and a digit. */
function underscoresFit(text: string): boolean {
  const unsigned = text.replace(/^[+-]/, '');
  const digits = unsigned.replace(/^0[xXbBoO]/, '0');
  return /^0[xX]/.test(unsigned)
    ? !/(?:^|[^0-9a-fA-F])_|_(?:$|[^0-9a-fA-F])/.test(digits)
    : !/(?:^|\D)_|_(?:$|\D)/.test(digits);
}

function digitsOf(text: string, base: 0 | 10): { base: bigint; digits: string } {
  if (base === 10) return { base: 10n, digits: text };
  if (PREFIXED.test(text)) {
    return { base: BASES[text.charAt(1).toLowerCase()] ?? 10n, digits: text.slice(2) };
  }
  return text.startsWith('0') ? { base: 8n, digits: text.slice(1) } : { base: 10n, digits: text };
}

/** Reads digits left to right, so that of two faults the same one is named as in Go. */
function parseMagnitude(call: string, whole: string, text: string, base: 0 | 10, max: bigint) {
  if (text === '') throw syntaxError(call, whole);
  const { base: radix, digits } = digitsOf(text, base);
  let value = 0n;
  for (const character of digits) {
    if (character === '_' && base === 0) continue;
    const digit = /^[0-9a-z]$/i.test(character) ? BigInt(Number.parseInt(character, 36)) : radix;
    if (digit >= radix) throw syntaxError(call, whole);
    value = value * radix + digit;
    if (value > max) throw rangeError(call, whole);
  }
  if (digits.includes('_') && !underscoresFit(text)) throw syntaxError(call, whole);
  return value;
}

/** Go's strconv.ParseInt with base 0 (0x, 0o, 0b and 0 prefixes); `bits` is 32 or 64. */
export function parseInteger(text: string, bits: 32 | 64): number {
  const negative = text.startsWith('-');
  const unsigned = negative || text.startsWith('+') ? text.slice(1) : text;
  const limit = 1n << BigInt(bits - 1);
  const all = (1n << BigInt(bits)) - 1n;
  const value = parseMagnitude('ParseInt', text, unsigned, 0, all);
  if (value > (negative ? limit : limit - 1n)) throw rangeError('ParseInt', text);
  return Number(negative ? -value : value);
}

/** Go's strconv.ParseUint in base 10 with 31 bits, which klog's verbosity fits. */
export function parseUint31(text: string): number {
  return Number(parseMagnitude('ParseUint', text, text, 10, (1n << 31n) - 1n));
}

function hexFloat(match: RegExpExecArray): number {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = BigInt(`0x0${whole}${fraction}`);
  const value = Number(digits) * 2 ** (Number(exponent) - 4 * fraction.length);
  return sign === '-' ? -value : value;
}

function readFloat(text: string): number | undefined {
  const named = NAMED_FLOAT.exec(text);
  if (named !== null) {
    if (named[3] !== undefined) return named[1] === '' ? Number.NaN : undefined;
    return named[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  if (text.includes('_') && !underscoresFit(text)) return undefined;
  const plain = text.replaceAll('_', '');
  if (DECIMAL_FLOAT.test(plain)) return Number(plain);
  const hex = HEX_FLOAT.exec(plain);
  return hex === null || `${hex[2]}${hex[3]}` === '' ? undefined : hexFloat(hex);
}

/** The decimal number with the fewest digits that a 32-bit float can't tell from `value`. */
function shortest32(value: number): number {
  if (value === 0) return value;
  for (let digits = 1; digits < FLOAT32_DIGITS_MAX; digits += 1) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === value) return candidate;
  }
  return Number(value.toPrecision(FLOAT32_DIGITS_MAX));
}

/**
 * Go's strconv.ParseFloat. A 32-bit result comes back as the shortest decimal that means the same
 * 32-bit float ("0.55" is 0.55), which is what people wrote and what /configz shows.
 */
export function parseFloating(text: string, bits: 32 | 64): number {
  const value = readFloat(text);
  if (value === undefined) throw syntaxError('ParseFloat', text);
  const rounded = bits === 32 ? Math.fround(value) : value;
  if (!Number.isFinite(rounded) && !NAMED_FLOAT.test(text)) throw rangeError('ParseFloat', text);
  return bits === 32 && Number.isFinite(rounded) ? shortest32(rounded) : rounded;
}

/** Go's strconv.FormatFloat(value, 'g', -1): "0.1", "1e-07", "1.6777216e+07", "+Inf". */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  if (exponent >= PLAIN_EXPONENT_MIN && exponent < PLAIN_EXPONENT_END) return String(value);
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
}
