/**
 * What a sync of a StatefulSet asks for, one step after another, and what it knows. The answers
 * are stored objects, or what the caches hold; refusals of the server are thrown at the steps.
 */
import type {
  ControllerRevision,
  KubeObject,
  PersistentVolumeClaim,
  Pod,
  PodTemplateSpec,
  StatefulSet,
  StatefulSetStatus,
} from '../../api/types/index.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';
import type { NewRevision } from '../_kit/revisions/create.ts';
import type { StepsOf } from '../_kit/steps.ts';
import type { Member } from './members.ts';
import type { NewClaim } from './pod.ts';

/** An event about the StatefulSet. */
export interface StatefulSetEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

interface Because {
  readonly because: string;
}

export type Action =
  /** From the cache; the answer may be undefined. `live`: from the server, gone is an error. */
  | { readonly kind: 'readPod' | 'readClaim'; readonly name: string; readonly live?: boolean }
  | ({ readonly kind: 'createPod'; readonly pod: Member } & Because)
  | ({ readonly kind: 'updatePod'; readonly pod: Pod } & Because)
  | ({ readonly kind: 'deletePod'; readonly record: PodRecord } & Because)
  | ({ readonly kind: 'createClaim'; readonly claim: NewClaim } & Because)
  | ({ readonly kind: 'updateClaim'; readonly claim: PersistentVolumeClaim } & Because)
  | ({ readonly kind: 'createRevision'; readonly revision: NewRevision } & Because)
  | { readonly kind: 'readRevision'; readonly name: string }
  | ({
      readonly kind: 'renumberRevision';
      readonly revision: ControllerRevision;
      readonly to: number;
    } & Because)
  | ({ readonly kind: 'deleteRevision'; readonly revision: ControllerRevision } & Because)
  | ({ readonly kind: 'updateStatus'; readonly status: StatefulSetStatus } & Because)
  /** Runs steps side by side in growing batches; the first batch with an error is the last. */
  | { readonly kind: 'sideBySide'; readonly steps: readonly Steps<unknown>[] }
  | { readonly kind: 'event'; readonly event: StatefulSetEvent }
  /** For the metrics of gate MaxUnavailableStatefulSet. */
  | { readonly kind: 'measure'; readonly maxUnavailable: number; readonly unavailable?: number }
  | ({ readonly kind: 'again'; readonly delayMs: number } & Because)
  | ({ readonly kind: 'note' } & Because);

/** Steps that end in a T. */
export type Steps<T> = StepsOf<Action, KubeObject | undefined, T>;

/** What a sync knows of its set. */
export interface Knowledge {
  readonly set: StatefulSet;
  /** The revisions that pods are made from, and the templates they stand for. */
  readonly current: RevisionView;
  readonly update: RevisionView;
  /** Wall time, milliseconds. */
  readonly now: number;
}

/** A revision and the template that it puts into the set. */
export interface RevisionView {
  readonly name: string;
  readonly template: PodTemplateSpec;
}

/** The cached pod of this name, or undefined. */
export function* readPod(name: string): Steps<Pod | undefined> {
  return (yield { kind: 'readPod', name }) as Pod | undefined;
}

/** The stored pod of this name, read from the server. Throws if it is gone. */
export function* fetchPod(name: string): Steps<Pod> {
  return (yield { kind: 'readPod', name, live: true }) as Pod;
}

/** The cached claim of this name, or undefined. */
export function* readClaim(name: string): Steps<PersistentVolumeClaim | undefined> {
  return (yield { kind: 'readClaim', name }) as PersistentVolumeClaim | undefined;
}

/** Asks for something whose answer doesn't matter. */
export function* act(action: Action): Steps<void> {
  yield action;
}

/** Shows an event. */
export function* emit(event: StatefulSetEvent): Steps<void> {
  yield { kind: 'event', event };
}

/** A sentence about this sync, for the journal. */
export function* note(because: string): Steps<void> {
  yield { kind: 'note', because };
}
