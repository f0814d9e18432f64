/** Go durations: whole nanoseconds. */
import { parseGoDuration } from '../../api/go-duration.ts';
import { ValueError } from './number.ts';

const MILLISECOND = 1_000_000n;

/** Go's time.ParseDuration, in nanoseconds. Throws ValueError with Go's text. */
export function parseDuration(text: string): bigint {
  const parsed = parseGoDuration(text);
  if (parsed.problem !== undefined) throw new ValueError(parsed.problem);
  return parsed.nanoseconds;
}

/** Milliseconds, with what is finer as a fraction. */
export function durationMs(nanoseconds: bigint): number {
  return Number(nanoseconds) / Number(MILLISECOND);
}
