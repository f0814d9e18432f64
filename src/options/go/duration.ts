/** Go durations: whole nanoseconds, written as "1h2m3.5s". */
import { parseGoDuration } from '../../api/go-duration.ts';
import { ValueError } from './number.ts';

const MICROSECOND = 1_000n;
const MILLISECOND = 1_000_000n;
const SECOND = 1_000_000_000n;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;

/** Go's time.ParseDuration, in nanoseconds. Throws ValueError with Go's text. */
export function parseDuration(text: string): bigint {
  const parsed = parseGoDuration(text);
  if (parsed.problem !== undefined) throw new ValueError(parsed.problem);
  return parsed.nanoseconds;
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
export function formatDuration(nanoseconds: bigint): string {
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

/** Milliseconds, with what is finer as a fraction. */
export function durationMs(nanoseconds: bigint): number {
  return Number(nanoseconds) / Number(MILLISECOND);
}
