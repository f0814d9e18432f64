/** Times as the API writes them (RFC 3339, whole seconds, UTC) and as numbers. */

/** Go's longest duration, 292 years. */
export const LONGEST_MS = 9_223_372_036_854;

/** Milliseconds since the epoch of an RFC 3339 time; 0, Go's zero time, if absent or unreadable. */
export function timeMs(text: string | undefined): number {
  if (text === undefined) return 0;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? 0 : ms;
}

/**
 * Milliseconds of a number of seconds as the API holds it: a 64-bit integer, which beyond 2^53
 * arrives as BigInt. What is longer than Go's longest duration is as long as that; Go wraps around.
 */
export function secondsMs(seconds: number | bigint): number {
  return Math.max(-LONGEST_MS, Math.min(LONGEST_MS, Number(seconds) * 1_000));
}

/** A time as metav1.Time writes it: UTC, whole seconds, fractions cut off. `ms` since the epoch. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
