/** Everything that the page at `/` shows: plain data, bounded, read when asked. Times in ms. */
import type { ReflectorStatus } from './informer/reflector-types.ts';
import type { JournalRow, StoreHealth } from './ports.ts';
import type { FailingKey, QueueSummary } from './queue/summary.ts';

/** Who leads, as this process sees it. */
export interface LeaseView {
  readonly identity: string;
  readonly state: 'leading' | 'standby' | 'stopped';
  /** "namespace/name", "" without election. */
  readonly lease: string;
  readonly holder: string;
  readonly holderSince: number;
  readonly since: number;
  readonly term: number;
  readonly how?: string;
  readonly renewedAgoMs?: number;
}

/** An object that has a page of its own. */
export interface ObjectLink {
  readonly resource: string;
  readonly key: string;
}

/** One queue of a controller. */
export interface QueueView extends Omit<QueueSummary, 'worst'> {
  readonly controller: string;
}

/** A failing key, and the object it is about if it is about one. */
export interface FailingView extends FailingKey {
  readonly controller: string;
  readonly queue: string;
  readonly object: ObjectLink | undefined;
}

/** A reconcile that wrote something or failed. */
export interface SyncView extends JournalRow {
  readonly object: ObjectLink | undefined;
}

/** Rows of which there may be more than are shown. */
export interface Some<T> {
  readonly rows: readonly T[];
  readonly total: number;
}

/** The process at one moment. */
export interface Overview {
  readonly now: number;
  readonly startedAt: number;
  readonly version: string;
  readonly lease: LeaseView;
  readonly queues: readonly QueueView[];
  readonly failing: Some<FailingView>;
  readonly watches: Some<ReflectorStatus>;
  readonly store: StoreHealth;
  /** Newest first. */
  readonly journal: readonly SyncView[];
  /** Why the journal can't be shown, "" if it can. */
  readonly journalProblem: string;
}
