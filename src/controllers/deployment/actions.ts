/**
 * What a sync of a Deployment asks for, one step after another. Upstream's sync makes several
 * writes whose later steps look at the answers to earlier ones, so a decision here is a generator:
 * it yields an action and is handed the stored object, or the API server's error is thrown at it.
 * It does no I/O itself: the same observation and the same answers give the same actions.
 */
import { ApiError, TransportError } from '../../api/errors.ts';
import type { Deployment, KubeObject, ReplicaSet } from '../../api/types/index.ts';

/** An event about the Deployment. */
export interface DeploymentEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** A ReplicaSet that isn't stored yet: the body of the create call. */
export type NewReplicaSet = Pick<ReplicaSet, 'apiVersion' | 'kind' | 'spec'> & {
  readonly metadata: Pick<
    ReplicaSet['metadata'],
    'name' | 'namespace' | 'labels' | 'annotations' | 'ownerReferences'
  >;
};

export type Action =
  | {
      readonly kind: 'createReplicaSet';
      readonly replicaSet: NewReplicaSet;
      readonly because: string;
    }
  /** scaleReplicaSet: size and the two size annotations; updateReplicaSet: anything else of it. */
  | {
      readonly kind: 'scaleReplicaSet' | 'updateReplicaSet' | 'deleteReplicaSet';
      readonly replicaSet: ReplicaSet;
      readonly because: string;
    }
  /** updateDeployment: spec and annotations (rollback); updateStatus: status and annotations. */
  | {
      readonly kind: 'updateDeployment' | 'updateStatus';
      readonly deployment: Deployment;
      readonly because: string;
    }
  /** Reads a ReplicaSet of the same namespace from the cache; the answer may be undefined. */
  | { readonly kind: 'readReplicaSet'; readonly name: string }
  | { readonly kind: 'event'; readonly event: DeploymentEvent }
  | { readonly kind: 'again'; readonly delayMs: number; readonly because: string }
  | { readonly kind: 'note'; readonly because: string };

/** Steps that end in a T. */
export type Steps<T> = Generator<Action, T, KubeObject | undefined>;

/** What a sync knows; the answers to its own writes are folded in as it goes on. */
export interface Knowledge {
  deployment: Deployment;
  /** Those the Deployment controls. */
  replicaSets: readonly ReplicaSet[];
  /** UIDs of ReplicaSets that have a pod which is neither Succeeded nor Failed. */
  readonly running: ReadonlySet<string>;
  /** Wall time, milliseconds. */
  readonly now: number;
  /** Gate DeploymentReplicaSetTerminatingReplicas. */
  readonly terminatingReplicas: boolean;
}

/** The new ReplicaSet (its template is the Deployment's) and all others, oldest first. */
export interface Sets {
  readonly newRS: ReplicaSet | undefined;
  readonly oldRSs: readonly ReplicaSet[];
}

/** Old ones first, then the new one if there is one. */
export function allOf(sets: Sets): readonly ReplicaSet[] {
  return sets.newRS === undefined ? sets.oldRSs : [...sets.oldRSs, sets.newRS];
}

/** Writes a ReplicaSet and gives the stored one. */
export function* writeReplicaSet(
  kind: 'scaleReplicaSet' | 'updateReplicaSet',
  replicaSet: ReplicaSet,
  because: string,
): Steps<ReplicaSet> {
  return (yield { kind, replicaSet, because }) as ReplicaSet;
}

/** Writes status and annotations of the Deployment and goes on with the stored one. */
export function* writeStatus(
  known: Knowledge,
  deployment: Deployment,
  because: string,
): Steps<void> {
  known.deployment = (yield { kind: 'updateStatus', deployment, because }) as Deployment;
}

/** A single step whose answer doesn't matter. */
export function* step(action: Action): Steps<void> {
  yield action;
}

/** How steps ended whose failure must not end the sync. */
export type Outcome<T> =
  | { readonly value: T; readonly error?: undefined }
  | { readonly error: ApiError | TransportError };

/** Runs steps and gives their value or the server's error. Mistakes of our own are thrown on. */
export function* attempt<T>(steps: Steps<T>): Steps<Outcome<T>> {
  try {
    return { value: yield* steps };
  } catch (error) {
    if (error instanceof ApiError || error instanceof TransportError) return { error };
    throw error;
  }
}
