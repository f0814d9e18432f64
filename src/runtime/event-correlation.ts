/**
 * What becomes of an event before it is sent: repeats are counted, similar ones combined, floods
 * cut off. The rules are those of client-go's event correlator; no clock, no I/O.
 */
import type { ObjectReference } from '../api/types/index.ts';
import { EVENT_CACHE_ENTRIES_MAX, EVENT_REMEMBERED_MAX } from './limits.ts';
import { Lru } from './lru.ts';

/** Distinct messages of one reason from which on they are combined. */
const COMBINE_FROM = 10;
/** Silence after which the messages of a reason are counted anew. */
const COMBINE_SILENCE_MS = 10 * 60_000;
const COMBINED_PREFIX = '(combined from similar events): ';
/** Events about one object and type: so many at once, then one per five minutes. */
const SPAM_BURST = 25;
const SPAM_REFILL_MS = 5 * 60_000;

/** An event on its way: as reported, or as it is to be written. Times in wall milliseconds. */
export interface EventDraft {
  readonly namespace: string;
  readonly name: string;
  readonly about: ObjectReference;
  readonly component: string;
  /** Whether reportingComponent is set; upstream's combined events lack it. */
  readonly reported: boolean;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly firstAt: number;
  readonly lastAt: number;
  /** Above 1 the event exists already and is patched. */
  readonly count: number;
}

interface Seen {
  readonly count: number;
  readonly firstAt: number;
  readonly name: string;
}

interface Group {
  readonly messages: ReadonlySet<string>;
  /** Monotonic time of the last event. */
  readonly lastAt: number;
}

interface Bucket {
  readonly tokens: number;
  /** Monotonic time at which `tokens` was right. */
  readonly countedAt: number;
}

/** What a recorder knows of the events so far. */
export interface Correlation {
  readonly seen: Lru<string, Seen>;
  readonly groups: Lru<string, Group>;
  readonly buckets: Lru<string, Bucket>;
}

/** When an event is looked at, and a number in [0, 1) for a choice that follows no pattern. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
  readonly draw: number;
}

/** Knowledge about events as plain data, newest first; ages instead of times. */
export interface RememberedEvents {
  readonly seen: readonly (readonly [key: string, Seen])[];
  readonly groups: readonly (readonly [key: string, messages: readonly string[], idleMs: number])[];
  readonly buckets: readonly (readonly [key: string, tokens: number])[];
}

/** A state that knows nothing, or what another process remembered. */
export function createCorrelation(monotonicMs = 0, remembered?: RememberedEvents): Correlation {
  const state: Correlation = {
    seen: new Lru(EVENT_CACHE_ENTRIES_MAX),
    groups: new Lru(EVENT_CACHE_ENTRIES_MAX),
    buckets: new Lru(EVENT_CACHE_ENTRIES_MAX),
  };
  for (const [key, seen] of remembered?.seen.toReversed() ?? []) state.seen.set(key, seen);
  for (const [key, messages, idleMs] of remembered?.groups.toReversed() ?? []) {
    state.groups.set(key, { messages: new Set(messages), lastAt: monotonicMs - idleMs });
  }
  for (const [key, tokens] of remembered?.buckets.toReversed() ?? []) {
    state.buckets.set(key, { tokens, countedAt: monotonicMs });
  }
  return state;
}

function newest<V>(lru: Lru<string, V>): (readonly [string, V])[] {
  return [...lru.newestFirst().take(EVENT_REMEMBERED_MAX)];
}

/** What the next process should know, bounded by EVENT_REMEMBERED_MAX entries of each kind. */
export function rememberCorrelation(state: Correlation, monotonicMs: number): RememberedEvents {
  return {
    seen: newest(state.seen),
    groups: newest(state.groups).map(
      ([key, { messages, lastAt }]) => [key, [...messages], monotonicMs - lastAt] as const,
    ),
    buckets: newest(state.buckets).map(
      ([key, bucket]) => [key, refilled(bucket, monotonicMs)] as const,
    ),
  };
}

function keyOf(event: EventDraft, ...more: readonly string[]): string {
  const { kind = '', namespace = '', name = '', uid = '', apiVersion = '' } = event.about;
  return [event.component, kind, namespace, name, uid, apiVersion, event.type, ...more].join('\0');
}

function refilled({ tokens, countedAt }: Bucket, monotonicMs: number): number {
  return Math.min(SPAM_BURST, tokens + (monotonicMs - countedAt) / SPAM_REFILL_MS);
}

/** The event or, from the tenth distinct message on, the combined one; and its counting key. */
function combine(state: Correlation, event: EventDraft, at: Moment): [EventDraft, key: string] {
  const groupKey = keyOf(event, event.reason);
  const known = state.groups.get(groupKey);
  const fresh = known === undefined || at.monotonicMs - known.lastAt > COMBINE_SILENCE_MS;
  const messages = new Set(fresh ? [] : known.messages).add(event.message);
  const combined = messages.size >= COMBINE_FROM;
  if (combined) messages.delete([...messages][Math.floor(at.draw * messages.size)] ?? '');
  state.groups.set(groupKey, { messages, lastAt: at.monotonicMs });
  if (!combined) {
    return [event, keyOf(event, event.reason, event.about.fieldPath ?? '', event.message)];
  }
  const message = COMBINED_PREFIX + event.message;
  const { wallMs } = at;
  return [{ ...event, message, reported: false, firstAt: wallMs, lastAt: wallMs }, groupKey];
}

/** An event seen before takes the name and first time of the stored one, and counts one more. */
function count(state: Correlation, event: EventDraft, key: string): EventDraft {
  const before = state.seen.get(key);
  const counted =
    before === undefined
      ? event
      : { ...event, name: before.name, firstAt: before.firstAt, count: before.count + 1 };
  const { count, firstAt, name } = counted;
  state.seen.set(key, { count, firstAt, name });
  return counted;
}

function tooMany(state: Correlation, event: EventDraft, at: Moment): boolean {
  const key = keyOf(event);
  const bucket = state.buckets.get(key) ?? { tokens: SPAM_BURST, countedAt: at.monotonicMs };
  const tokens = refilled(bucket, at.monotonicMs);
  const spent = tokens >= 1 ? tokens - 1 : tokens;
  state.buckets.set(key, { tokens: spent, countedAt: at.monotonicMs });
  return tokens < 1;
}

/**
 * The event to write (a patch if its count is above 1), or undefined if it is to be dropped; it is
 * counted even then. Changes `state`, by nothing but its arguments.
 */
export function correlate(
  state: Correlation,
  event: EventDraft,
  at: Moment,
): EventDraft | undefined {
  const [combined, key] = combine(state, event, at);
  const counted = count(state, combined, key);
  return tooMany(state, counted, at) ? undefined : counted;
}
