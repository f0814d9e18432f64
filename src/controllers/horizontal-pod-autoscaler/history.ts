/**
 * What an autoscaler recommended and did: what windows and rates look back on. Pure. Times are
 * milliseconds of a clock that only goes forward and counts only time that was watched.
 */

/** A number of replicas, and when it was recommended last. */
export interface Recommendation {
  readonly replicas: number;
  readonly at: number;
}

/** How many replicas were added or removed, and when. */
export interface ScaleEvent {
  readonly change: number;
  readonly at: number;
}

/** A rescale that was announced; whether it took effect is seen by the next scale that is read. */
export interface PendingScale {
  readonly from: number;
  readonly to: number;
  readonly at: number;
  /** Longest period, in seconds, of the policies that count it. */
  readonly longestSeconds: number;
}

/** The past of one autoscaler. */
export interface History {
  /** Each number once, the latest last: a window holds a number if it holds its latest time. */
  readonly recommendations: readonly Recommendation[];
  readonly ups: readonly ScaleEvent[];
  readonly downs: readonly ScaleEvent[];
  readonly pending?: PendingScale;
}

/** Nothing has happened yet. */
export const NO_HISTORY: History = Object.freeze({ recommendations: [], ups: [], downs: [] });

/** With nothing recommended yet, the present size counts as recommended now. */
export function withInitial(history: History, replicas: number, now: number): History {
  if (history.recommendations.length > 0) return history;
  return { ...history, recommendations: [{ replicas, at: now }] };
}

/** Adds a recommendation; those older than `keepMs` are forgotten. */
export function withRecommendation(
  history: History,
  replicas: number,
  now: number,
  keepMs: number,
): History {
  const others = history.recommendations.filter(
    (one) => one.replicas !== replicas && one.at >= now - keepMs,
  );
  return { ...history, recommendations: [...others, { replicas, at: now }] };
}

/** Adds a change of size. Of the events older than all periods the last gives up its place. */
export function withScaleEvent(history: History, scaled: PendingScale): History {
  const { from, to, at, longestSeconds } = scaled;
  const event = { change: Math.abs(to - from), at };
  const { pending: _, ...rest } = history;
  const before = to > from ? history.ups : history.downs;
  const outdated = before.findLastIndex((one) => one.at < at - longestSeconds * 1_000);
  const after = outdated < 0 ? [...before, event] : before.with(outdated, event);
  return to > from ? { ...rest, ups: after } : { ...rest, downs: after };
}

/** A rescale is about to be sent. */
export function withPending(history: History, pending: PendingScale): History {
  return { ...history, pending };
}

/** It was refused, so it never happened. */
export function withoutPending(history: History): History {
  const { pending: _, ...rest } = history;
  return rest;
}

/** The target's size is read: an announced rescale counts if that is what it came to. */
export function settlePending(history: History, replicas: number): History {
  const { pending } = history;
  if (pending === undefined) return history;
  if (pending.to !== replicas) return withoutPending(history);
  return withScaleEvent(history, pending);
}

/** Replicas added or removed within so many seconds before `now`. */
export function changeWithin(
  events: readonly ScaleEvent[],
  periodSeconds: number,
  now: number,
): number {
  const cutoff = now - periodSeconds * 1_000;
  return events.reduce((sum, { change, at }) => (at > cutoff ? sum + change : sum), 0);
}
