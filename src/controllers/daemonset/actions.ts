/**
 * What a sync of a DaemonSet asks for, one step after another. The answers are stored objects, or
 * what the caches hold; refusals of the server are thrown at the steps.
 */
import type {
  ControllerRevision,
  DaemonSet,
  DaemonSetStatus,
  KubeObject,
} from '../../api/types/index.ts';
import type { NewRevision } from '../_kit/revisions/create.ts';
import type { StepsOf } from '../_kit/steps.ts';
import type { FailedPod } from './backoff.ts';
import type { NodeFacts, Placement } from './placement.ts';
import type { DaemonPod } from './pod.ts';

/** An event about the DaemonSet. */
export interface DaemonSetEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

interface Because {
  readonly because: string;
}

/** A pod to be made for a node, or to be deleted, and why. */
export interface NodeCreation extends Because {
  readonly node: string;
}

export interface PodDeletion extends Because {
  readonly pod: DaemonPod;
}

export type Action =
  /** The pods it controls, adopting and releasing done, on a known node. */
  | { readonly kind: 'listPods' }
  /** True if everything that was created or deleted before has been seen. */
  | { readonly kind: 'expectationsMet' }
  | {
      readonly kind: 'syncPods';
      readonly create: readonly NodeCreation[];
      readonly remove: readonly PodDeletion[];
      /** Hash of the revision that new pods are of. */
      readonly hash: string;
    }
  | ({ readonly kind: 'relabelPod'; readonly pod: DaemonPod; readonly hash: string } & Because)
  /** A failed pod of this node is deleted now; the next one has to wait. */
  | { readonly kind: 'rememberFailure'; readonly node: string; readonly backoffMs: number }
  | ({ readonly kind: 'createRevision'; readonly revision: NewRevision } & Because)
  /** Changes number or hash label of a stored revision. */
  | ({
      readonly kind: 'patchRevision';
      readonly revision: ControllerRevision;
      readonly patch: { readonly revision: number } | { readonly hash: string };
    } & Because)
  | ({ readonly kind: 'deleteRevision'; readonly revision: ControllerRevision } & Because)
  /** From the server, not the cache. */
  | { readonly kind: 'fetchRevision'; readonly name: string }
  | { readonly kind: 'fetchSet' }
  /** Writes the status over this object, which was read from the server. */
  | ({ readonly kind: 'bumpCollisions'; readonly set: DaemonSet; readonly to: number } & Because)
  /** Sets these fields, the others stay. */
  | ({ readonly kind: 'updateStatus'; readonly status: DaemonSetStatus } & Because)
  | { readonly kind: 'event'; readonly event: DaemonSetEvent }
  | ({ readonly kind: 'again'; readonly delayMs: number } & Because)
  | ({ readonly kind: 'note' } & Because);

/** What a step may be answered with. */
export type Answer = KubeObject | readonly DaemonPod[] | boolean | undefined;

/** Steps that end in a T. */
export type Steps<T> = StepsOf<Action, Answer, T>;

/** What a sync knows of its set and the nodes. */
export interface Knowledge {
  readonly set: DaemonSet;
  readonly nodes: readonly NodeFacts[];
  /** What the set wants of each node, by name. */
  readonly placements: ReadonlyMap<string, Placement>;
  /** Wall time, milliseconds. */
  readonly now: number;
  /** What is remembered of a failed pod on this node. */
  failedOn(node: string): FailedPod | undefined;
}

/** The pods as the caches show them now. */
export function* listPods(): Steps<readonly DaemonPod[]> {
  return (yield { kind: 'listPods' }) as readonly DaemonPod[];
}

/** Whether earlier creations and deletions have all been seen. */
export function* expectationsMet(): Steps<boolean> {
  return (yield { kind: 'expectationsMet' }) as boolean;
}

/** Asks for something whose answer doesn't matter. */
export function* act(action: Action): Steps<void> {
  yield action;
}
