/** What a sync of a CronJob asks for, one step after another, and what it is answered. */
import type { CronJob, CronJobStatus, Job } from '../../api/types/index.ts';
import { attempt as attemptSteps, type OutcomeOf, type StepsOf } from '../_kit/steps.ts';

/** An event about the CronJob. */
export interface CronEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** A Job that isn't stored yet: the body of the create call. */
export type NewJob = Pick<Job, 'apiVersion' | 'kind' | 'spec'> & {
  readonly metadata: Pick<
    Job['metadata'],
    'name' | 'namespace' | 'labels' | 'annotations' | 'ownerReferences'
  >;
};

export type Action =
  /** Read live; answered with the Job. */
  | { readonly kind: 'readJob'; readonly name: string }
  /** Read live; answered with the CronJob. */
  | { readonly kind: 'readCronJob' }
  /** Answered with the stored Job. */
  | { readonly kind: 'createJob'; readonly job: NewJob; readonly because: string }
  | { readonly kind: 'deleteJob'; readonly job: Job; readonly because: string }
  | { readonly kind: 'writeStatus'; readonly cronJob: CronJob; readonly because: string }
  | { readonly kind: 'event'; readonly event: CronEvent }
  /** A Job was created so many seconds after its time. */
  | { readonly kind: 'skew'; readonly seconds: number }
  | { readonly kind: 'again'; readonly delayMs: number; readonly because: string };

/** Steps that end in a T; what the API server refuses is thrown at them. */
export type Steps<T> = StepsOf<Action, CronJob | Job | undefined, T>;

/** Runs steps and gives their value or the server's error. */
export function attempt<T>(steps: Steps<T>): Steps<OutcomeOf<T>> {
  return attemptSteps(steps);
}

/** What a decision looks at. */
export interface Observed {
  readonly cronJob: CronJob;
  /** Jobs of its namespace whose controller has its name. */
  readonly jobs: readonly Job[];
}

/** A status that is being worked on. */
export type Draft = { -readonly [K in keyof CronJobStatus]: CronJobStatus[K] };

/** One sync; it folds what it does into the status. */
export interface Sync extends Observed {
  cronJob: CronJob;
  status: Draft;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What was changed in the status, in words; empty: nothing is to be written. */
  readonly changes: string[];
  /** UIDs that left the list of active Jobs in this sync. */
  readonly removed: Set<string>;
}

/** Takes a Job off the list of active ones. */
export function forgetActive(sync: Sync, uid: string): void {
  sync.removed.add(uid);
  sync.status.active = (sync.status.active ?? []).filter((reference) => reference.uid !== uid);
}

/** Reads the CronJob live. */
export function* readCronJob(): Steps<CronJob> {
  return (yield { kind: 'readCronJob' }) as CronJob;
}

/** Reads a Job live. */
export function* readJob(name: string): Steps<Job> {
  return (yield { kind: 'readJob', name }) as Job;
}
