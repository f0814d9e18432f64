/** One field of a cron expression, such as "1-5/2,MON": which values it stands for. */
import { quote } from './go-quote.ts';
import { parseInt64 } from './integer.ts';

/** Values that a field may take, and names for them. */
export interface FieldBounds {
  readonly min: number;
  readonly max: number;
  readonly names?: Readonly<Record<string, number>>;
}

/** The values a field stands for. */
export interface FieldSet {
  readonly values: ReadonlySet<number>;
  /** It was written with a star (or "?"), and without steps of two or more. */
  readonly star: boolean;
}

const UINT64_MAX = 2n ** 64n - 1n;

export const MINUTES: FieldBounds = { min: 0, max: 59 };
export const HOURS: FieldBounds = { min: 0, max: 23 };
export const DAYS_OF_MONTH: FieldBounds = { min: 1, max: 31 };
export const MONTHS: FieldBounds = {
  min: 1,
  max: 12,
  names: named('jan feb mar apr may jun jul aug sep oct nov dec', 1),
};
export const DAYS_OF_WEEK: FieldBounds = {
  min: 0,
  max: 6,
  names: named('sun mon tue wed thu fri sat', 0),
};

/** What is wrong with a field, in the words of robfig/cron. */
export class CronFieldError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CronFieldError';
  }
}

function named(names: string, from: number): Readonly<Record<string, number>> {
  return Object.fromEntries(names.split(' ').map((name, index) => [name, index + from]));
}

/** All values, as a star gives them. */
export function every(bounds: FieldBounds): FieldSet {
  return { values: steps(bounds.min, bounds.max, 1n), star: true };
}

/** One value. */
export function only(value: number): FieldSet {
  return { values: new Set([value]), star: false };
}

/**
 * Reads a field: ranges with commas between them, each a value, "a-b" or a star, with "/step"
 * behind it. A value with a step runs to the maximum. Nothing between commas is no error: a field
 * may stand for no value at all. Throws CronFieldError.
 */
export function parseField(text: string, bounds: FieldBounds): FieldSet {
  const values = new Set<number>();
  let star = false;
  for (const range of text.split(',').filter((part) => part !== '')) {
    const read = parseRange(range, bounds);
    for (const value of read.values) values.add(value);
    star ||= read.star;
  }
  return { values, star };
}

function parseRange(text: string, bounds: FieldBounds): FieldSet {
  const [range = '', stepText, ...tooMuch] = text.split('/');
  const [low = '', high, ...more] = range.split('-');
  const starred = low === '*' || low === '?';
  const start = starred ? BigInt(bounds.min) : readValue(low, bounds);
  if (!starred && more.length > 0) throw new CronFieldError(`too many hyphens: ${text}`);
  let end = start;
  if (starred) end = BigInt(bounds.max);
  else if (high !== undefined) end = readValue(high, bounds);
  if (tooMuch.length > 0) throw new CronFieldError(`too many slashes: ${text}`);
  const step = stepText === undefined ? 1n : readNumber(stepText);
  if (stepText !== undefined && high === undefined) end = BigInt(bounds.max);
  check(text, bounds, start, end, step);
  return { values: steps(Number(start), Number(end), step), star: starred && step <= 1n };
}

function check(text: string, bounds: FieldBounds, start: bigint, end: bigint, step: bigint): void {
  const { min, max } = bounds;
  const fault = (what: string): CronFieldError => new CronFieldError(`${what}: ${text}`);
  if (start < BigInt(min)) throw fault(`beginning of range (${start}) below minimum (${min})`);
  if (end > BigInt(max)) throw fault(`end of range (${end}) above maximum (${max})`);
  if (start > end) throw fault(`beginning of range (${start}) beyond end of range (${end})`);
  if (step === 0n) throw fault('step of range should be a positive number');
}

function steps(start: number, end: number, step: bigint): ReadonlySet<number> {
  const values = new Set<number>();
  for (let value = BigInt(start); value <= BigInt(end); value += step) values.add(Number(value));
  return values;
}

function readValue(text: string, { names }: FieldBounds): bigint {
  const name = text.toLowerCase();
  const value = names !== undefined && Object.hasOwn(names, name) ? names[name] : undefined;
  return value === undefined ? readNumber(text) : BigInt(value);
}

/** Go finds out that a number is too long before it sees what comes behind the digits. */
function tooLong(text: string): boolean {
  const [, digits = '', rest = ''] = /^[+-]?(\d*)(.*)$/s.exec(text) ?? [];
  return digits !== '' && (rest === '' || BigInt(digits) > UINT64_MAX);
}

function readNumber(text: string): bigint {
  const value = parseInt64(text);
  if (value === undefined) {
    const why = tooLong(text) ? 'value out of range' : 'invalid syntax';
    const cause = `strconv.Atoi: parsing ${quote(text)}: ${why}`;
    throw new CronFieldError(`failed to parse int from ${text}: ${cause}`);
  }
  if (value < 0n) throw new CronFieldError(`negative number (${value}) not allowed: ${text}`);
  return value;
}
