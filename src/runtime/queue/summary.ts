/** A queue in short, for the page and for whoever asks: one pass over its keys, few of them named. */
import { OVERVIEW_FAILING_MAX } from '../limits.ts';
import type { WorkState } from './types.ts';

/** A key whose last sync failed. */
export interface FailingKey {
  readonly key: string;
  readonly failures: number;
  /** Wall time of the next try, ms; 0: now. */
  readonly dueAt: number;
  readonly error: string;
}

/** One queue in short. Times in milliseconds. */
export interface QueueSummary {
  readonly name: string;
  /** What tells it from other queues of its name. */
  readonly id: string;
  /** Keys that wait for a worker. */
  readonly depth: number;
  /** How long the oldest of them has waited; 0 without any. */
  readonly oldestMs: number;
  readonly processing: number;
  /** How long the longest sync under way has run; 0 without any. */
  readonly longestMs: number;
  /** Keys that wait for a time. */
  readonly delayed: number;
  readonly failing: number;
  /** Failing longest first, at most OVERVIEW_FAILING_MAX of them. */
  readonly worst: readonly FailingKey[];
  /** Syncs that ended within the last minute, and how many of them failed. */
  readonly syncsLastMinute: number;
  readonly failuresLastMinute: number;
}

/** The failing keys out of all, the most often failed first and bounded, and how many there are. */
export function failingOf(states: Iterable<WorkState>): Pick<QueueSummary, 'failing' | 'worst'> {
  const failing = [...states].filter(({ failures }) => failures > 0);
  const worst = failing
    .sort((a, b) => b.failures - a.failures || (a.key < b.key ? -1 : 1))
    .slice(0, OVERVIEW_FAILING_MAX)
    .map(({ key, failures, dueAt, error }) => ({ key, failures, dueAt, error }));
  return { failing: failing.length, worst };
}
