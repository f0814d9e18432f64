/** Which auto-generated tokens nobody uses any more: they are marked first and deleted later. */
import type { CachedSecret } from '../../api/secret.ts';
import { timeMs } from '../../api/time.ts';

const DAY_MS = 86_400_000;
const DATE_LENGTH = 10;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** The day on which the API server last saw the token; without it, it never did. */
const LAST_USED = 'kubernetes.io/legacy-token-last-used';

/** Label with the day from which the token counts as unused; the API server refuses it then. */
export const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since';

/** What time says, for all tokens of a round. */
export interface Round {
  /** Now, milliseconds since the epoch. */
  readonly now: number;
  /** How long a token has to be unused, milliseconds. */
  readonly periodMs: number;
}

/** What is done about a token. */
export type Decision =
  | { readonly do: 'keep' }
  /** A date that can't be read. */
  | { readonly do: 'complain'; readonly problem: string }
  | { readonly do: 'mark'; readonly since: string; readonly because: string }
  | { readonly do: 'delete'; readonly because: string };

const KEEP: Decision = Object.freeze({ do: 'keep' });

/** The day of a time, in UTC: "2026-11-30". `ms` since the epoch. */
export function dateText(ms: number): string {
  return new Date(ms).toISOString().slice(0, DATE_LENGTH);
}

/** Milliseconds since the epoch at which a day begins in UTC; undefined if the text is no day. */
export function dateMs(text: string): number | undefined {
  if (!DATE.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(ms) || dateText(ms) !== text ? undefined : ms;
}

/**
 * True once the API server has noted the use of tokens for the whole period, counted from the end
 * of the day on which it began. `since` in milliseconds.
 */
export function trackedLongEnough(since: number, { now, periodMs }: Round): boolean {
  return now >= since + DAY_MS + periodMs;
}

/**
 * Whether a token is old and unused enough to look who holds it: not going, created before the
 * period began, and last used on an earlier day than that.
 */
export function isUnused(
  { metadata }: Pick<CachedSecret, 'metadata'>,
  round: Round,
): boolean | { readonly problem: string } {
  const from = round.now - round.periodMs;
  if (timeMs(metadata.creationTimestamp) >= from) return false;
  if (metadata.deletionTimestamp !== undefined) return false;
  const lastUsed = metadata.labels?.[LAST_USED];
  if (lastUsed === undefined) return true;
  if (dateMs(lastUsed) === undefined) return { problem: `${LAST_USED}="${lastUsed}" is no date` };
  return lastUsed < dateText(from);
}

/** What is known of a token that is unused. */
export interface Observed {
  readonly secret: Pick<CachedSecret, 'metadata'>;
  /** Its account is there and has it in its list: somebody made it, not a person. */
  readonly generated: boolean;
  /** A pod names it. */
  readonly mounted: boolean;
}

/** An unused token is marked with today's day; one that has been marked for a period goes. */
export function decide({ secret, generated, mounted }: Observed, round: Round): Decision {
  const unused = isUnused(secret, round);
  if (typeof unused === 'object') return { do: 'complain', ...unused };
  if (!unused || !generated || mounted) return KEEP;
  const { labels = {}, creationTimestamp } = secret.metadata;
  const lastUsed = labels[LAST_USED] ?? 'never';
  const told = `created at ${creationTimestamp}, last used: ${lastUsed}, named by no pod`;
  const since = labels[INVALID_SINCE] ?? '';
  if (dateMs(since) === undefined) {
    return { do: 'mark', since: dateText(round.now), because: told };
  }
  if (since >= dateText(round.now - round.periodMs)) return KEEP;
  return { do: 'delete', because: `${told}, invalid since ${since}` };
}
