/** What a work queue offers the framework, and what it tells whoever remembers or looks. */
import type { WorkQueue } from '../controller.ts';
import type { WorkRow } from '../ports.ts';
import type { QueueSummary } from './summary.ts';

/** Priorities: what just happened goes before what is only looked over after a start. */
export const PRIORITY_NORMAL = 0;
export const PRIORITY_LOW = -100;

/** Everything that is worth remembering about one key. */
export interface WorkState {
  readonly key: string;
  /** Ready, being processed, or to be processed again. */
  readonly dirty: boolean;
  /** Dirty because something changed, not only because a delay ended or all is looked over. */
  readonly changed: boolean;
  readonly failures: number;
  /** Wall time of the next delayed add, milliseconds; 0: none. */
  readonly dueAt: number;
  /** Last error of a failing key, "" if none. */
  readonly error: string;
  /** Why it is due again, "" if nobody said. */
  readonly because: string;
}

/** Is told each state of a key that differs from the last one told. */
export interface WorkLog {
  put(state: WorkState): void;
  /** Nothing is left to do about this key and nothing to remember. */
  drop(key: string): void;
}

/** The queue as it stands, for people. Times in milliseconds. */
export interface QueueSnapshot {
  readonly name: string;
  readonly ready: readonly { key: string; priority: number; waitedMs: number }[];
  readonly processing: readonly { key: string; runningMs: number; again: boolean }[];
  readonly waiting: readonly (WorkState & { inMs: number })[];
}

/** The queue as the framework sees it. */
export interface FrameworkQueue extends WorkQueue {
  /** The next key, for this caller alone until `done`; undefined once the queue is shut down. */
  take(): Promise<string | undefined>;
  /** The key is no longer processed; if it was added meanwhile it comes again. */
  done(key: string): void;
  /** Says why a key fails; told with its next state and forgotten with its failures. */
  noteError(key: string, error: string): void;
  /** Keys ready to be taken. */
  depth(): number;
  /** Takes over remembered rows of this queue: failure counts, remaining delays, dirty keys. */
  restore(rows: readonly WorkRow[]): void;
  /** How often a key has failed since its history began or, if that is later, was restored. */
  tries(key: string): number;
  /**
   * While on, `add` means "look it over": low priority, and a failing key keeps waiting out its
   * delay. For the adds that handlers get for stored objects at the start of a lead.
   */
  lookOver(on: boolean): void;
  /**
   * Keys that wait for a time are due now, behind all others: the wall clock was set, and their
   * time may be another. A failing key keeps waiting out its delay.
   */
  endDelays(): void;
  /** Ends all takes at once with undefined; what is left stays in the log. Adds are ignored. */
  shutdown(): void;
  snapshot(): QueueSnapshot;
  /** As the snapshot, but in numbers, however many keys there are. */
  summary(): QueueSummary;
}
