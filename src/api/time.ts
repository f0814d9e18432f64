/** Times as the API writes them (RFC 3339, whole seconds, UTC) and as numbers. */

/** Milliseconds since the epoch of an RFC 3339 time; 0, Go's zero time, if absent or unreadable. */
export function timeMs(text: string | undefined): number {
  if (text === undefined) return 0;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? 0 : ms;
}

/** A time as metav1.Time writes it: UTC, whole seconds, fractions cut off. `ms` since the epoch. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
