/** Times and sizes as people read them: ages in two units, moments in UTC, bytes. */
import { timeText } from '../api/time.ts';

const STEPS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** A duration in its two largest units: "3s", "5m10s", "2d4h"; "0s" below a second. */
export function durationText(ms: number): string {
  let rest = Math.max(0, ms);
  const parts: string[] = [];
  for (const [unit, size] of STEPS) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count}${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
    rest -= count * size;
  }
  return parts.join('') || '0s';
}

/** How long ago a moment was; "" for none (0). */
export function ageText(at: number, now: number): string {
  return at === 0 ? '' : durationText(now - at);
}

/** When something is due: "now", "in 5s". */
export function dueText(at: number, now: number): string {
  return at <= now ? 'now' : `in ${durationText(at - now)}`;
}

/** A moment in UTC, "" for none (0). */
export function momentText(at: number): string {
  return at === 0 ? '' : timeText(at);
}

const UNITS: Readonly<Record<string, number>> = Object.fromEntries(STEPS);

/** Milliseconds of "90s", "10m", "1h30m", "2d"; undefined if the text is no duration. */
export function parseAge(text: string): number | undefined {
  if (!/^(?:\d+[dhms])+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+)([dhms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0),
    0,
  );
}

/** Size in bytes, KiB or MiB. */
export function bytesText(bytes: number): string {
  const step = 1024;
  if (bytes < step) return `${bytes} B`;
  if (bytes < step * step) return `${(bytes / step).toFixed(1)} KiB`;
  return `${(bytes / step / step).toFixed(1)} MiB`;
}
