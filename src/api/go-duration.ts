/** Go durations as text: what time.ParseDuration takes and says, and what String writes. */

const MICROSECOND = 1_000n;
const MILLISECOND = 1_000_000n;
const SECOND = 1_000_000_000n;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;
/** Greatest magnitude; only a negative duration may reach it. */
const LIMIT = 1n << 63n;

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: MICROSECOND,
  µs: MICROSECOND,
  μs: MICROSECOND,
  ms: MILLISECOND,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
};
const STEP = /^(\d*)(?:(\.)(\d*))?([^.\d]*)/;
const FRACTION_DIGITS_MAX = 18;
const ASCII_END = 0x80;

/** A duration in nanoseconds, or what is wrong with its text in Go's words. */
export type ParsedDuration =
  | { readonly nanoseconds: bigint; readonly problem?: undefined }
  | { readonly problem: string };

function quoteBytes(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const parts = Array.from(bytes, (byte) => {
    if (byte >= ASCII_END || byte < ' '.charCodeAt(0)) {
      return `\\x${byte.toString(16).padStart(2, '0')}`;
    }
    const character = String.fromCharCode(byte);
    return character === '"' || character === '\\' ? `\\${character}` : character;
  });
  return `"${parts.join('')}"`;
}

function fault(what: string, text: string): ParsedDuration {
  return { problem: `time: ${what} duration ${quoteBytes(text)}` };
}

/** Go multiplies fractions in floating point; the same steps give the same nanoseconds. */
function fractionOf(digits: string, unit: bigint): bigint {
  const kept = digits.slice(0, FRACTION_DIGITS_MAX);
  if (kept === '') return 0n;
  return BigInt(Math.trunc(Number(kept) * (Number(unit) / 10 ** kept.length)));
}

/** Go's time.ParseDuration: "1h2m3.5s", signed, with a unit to every number but a lone 0. */
export function parseGoDuration(text: string): ParsedDuration {
  const negative = text.startsWith('-');
  let rest = negative || text.startsWith('+') ? text.slice(1) : text;
  if (rest === '0') return { nanoseconds: 0n };
  if (rest === '') return fault('invalid', text);
  let total = 0n;
  while (rest !== '') {
    if (!/^[.\d]/.test(rest)) return fault('invalid', text);
    const [step = '', whole = '', , fraction = '', name = ''] = STEP.exec(rest) ?? [];
    if (whole === '' && fraction === '') return fault('invalid', text);
    if (BigInt(whole || '0') > LIMIT) return fault('invalid', text);
    if (name === '') return fault('missing unit in', text);
    const unit = Object.hasOwn(UNITS, name) ? UNITS[name] : undefined;
    if (unit === undefined) return fault(`unknown unit ${quoteBytes(name)} in`, text);
    total += BigInt(whole || '0') * unit + fractionOf(fraction, unit);
    if (total > LIMIT) return fault('invalid', text);
    rest = rest.slice(step.length);
  }
  if (!negative && total === LIMIT) return fault('invalid', text);
  return { nanoseconds: negative ? -total : total };
}

function withFraction(nanoseconds: bigint, unit: bigint): string {
  const digits = String(unit).length - 1;
  const fraction = String(nanoseconds % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  const whole = nanoseconds / unit;
  return digits === 0 || fraction === '' ? String(whole) : `${whole}.${fraction}`;
}

/** Go's Duration.String: "0s", "1.5ms", "1h2m3.5s". */
export function formatGoDuration(nanoseconds: bigint): string {
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const sign = nanoseconds < 0n ? '-' : '';
  if (size === 0n) return '0s';
  if (size < MICROSECOND) return `${sign}${size}ns`;
  if (size < MILLISECOND) return `${sign}${withFraction(size, MICROSECOND)}µs`;
  if (size < SECOND) return `${sign}${withFraction(size, MILLISECOND)}ms`;
  const hours = size / HOUR;
  const minutes = (size % HOUR) / MINUTE;
  const seconds = `${withFraction(size % MINUTE, SECOND)}s`;
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0n ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}
