/** What a sync of a Job asks for, one step after another, and what it is answered. */
import type { JobPodFields } from '../../api/job.ts';
import type { Job, PodTemplateSpec } from '../../api/types/index.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';
import type { StepsOf } from '../_kit/steps.ts';
import type { Backoff } from './backoff.ts';

/** A pod that the Job controls. */
export type JobPod = PodRecord & { readonly job: JobPodFields };

/** An event about the Job. */
export interface JobEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** A pod to be created. */
export interface NewPod {
  readonly template: PodTemplateSpec;
  readonly generateName: string;
  /** What it is for: its completion index, or one of many. */
  readonly slot: string;
  readonly because: string;
}

/** A pod to be deleted. */
export interface Victim {
  readonly pod: JobPod;
  readonly because: string;
}

/** What a sync was about; a label of its metrics. */
export type SyncAction = 'reconciling' | 'tracking' | 'pods_created' | 'pods_deleted';

/** Something to be counted in a metric. */
export type Count =
  | { readonly metric: 'podsFinished'; readonly result: Result; readonly by: number }
  | { readonly metric: 'indexesFinished'; readonly status: Result; readonly by: number }
  | { readonly metric: 'jobFinished'; readonly result: Result; readonly reason: string }
  | { readonly metric: 'policyAction'; readonly action: string; readonly by: number }
  | {
      readonly metric: 'podsCreated';
      readonly reason: string;
      readonly status: Result;
      readonly by: number;
    };
type Result = 'succeeded' | 'failed';

export type Action =
  /** Answered with `Created`. */
  | { readonly kind: 'createPods'; readonly pods: readonly NewPod[] }
  /** With finalizers kept: they are counted as failed. Answered with `Deleted`. */
  | { readonly kind: 'stopPods'; readonly pods: readonly Victim[] }
  /** Finalizers first, so that nobody counts them. Answered with `Deleted`. */
  | { readonly kind: 'dropPods'; readonly pods: readonly Victim[] }
  /** Answered with `Removed`. */
  | {
      readonly kind: 'removeFinalizers';
      readonly pods: readonly JobPod[];
      readonly because: string;
    }
  /** Answered with the stored Job; a refusal is thrown. */
  | { readonly kind: 'writeStatus'; readonly job: Job; readonly because: string }
  | { readonly kind: 'remember'; readonly backoff: Backoff }
  /** The terminal condition is written: no sync may follow until the cache shows it. */
  | { readonly kind: 'finished' }
  | { readonly kind: 'event'; readonly event: JobEvent }
  | { readonly kind: 'count'; readonly count: Count }
  | { readonly kind: 'doing'; readonly action: SyncAction }
  | { readonly kind: 'again'; readonly delayMs: number; readonly because: string }
  | { readonly kind: 'note'; readonly because: string };

/** What came of creating pods. */
export interface Created {
  /** Created, or refused because the namespace is going. */
  readonly count: number;
  /** How many of them were refused. */
  readonly refused: number;
  readonly failed: number;
  readonly error?: unknown;
}

/** What came of deleting pods. */
export interface Deleted {
  /** Deleted or gone before. */
  readonly count: number;
  /** Ready pods that were to go. */
  readonly ready: number;
  readonly error?: unknown;
}

/** What came of removing finalizers. */
export interface Removed {
  /** UIDs of pods without the finalizer now, or gone. */
  readonly uids: ReadonlySet<string>;
  readonly error?: unknown;
}

export type Answer = Created | Deleted | Removed | Job | undefined;

/** Steps that end in a T; a refusal of a status write is thrown at them. */
export type Steps<T> = StepsOf<Action, Answer, T>;

/** Creates pods. */
export function* createPods(pods: readonly NewPod[]): Steps<Created> {
  return (yield { kind: 'createPods', pods }) as Created;
}

/** Deletes pods, their finalizers kept (`stopPods`) or removed first (`dropPods`). */
export function* deletePods(
  kind: 'stopPods' | 'dropPods',
  pods: readonly Victim[],
): Steps<Deleted> {
  return (yield { kind, pods }) as Deleted;
}

/** Removes the tracking finalizer of pods. */
export function* removeFinalizers(pods: readonly JobPod[], because: string): Steps<Removed> {
  return (yield { kind: 'removeFinalizers', pods, because }) as Removed;
}

/** Writes the status and gives the stored Job. Throws what the API server answered. */
export function* writeStatus(job: Job, because: string): Steps<Job> {
  return (yield { kind: 'writeStatus', job, because }) as Job;
}
