/** The events of the StatefulSet controller. */
import type { StatefulSetEvent } from './actions.ts';

/** What was done to a pod or a claim. */
export type Verb = 'Create' | 'Update' | 'Delete';

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A pod was created, updated or deleted, or that failed with `error`. */
export function podEvent(verb: Verb, pod: string, set: string, error?: unknown): StatefulSetEvent {
  const what = `${verb} Pod ${pod} in StatefulSet ${set}`;
  return error === undefined
    ? { type: 'Normal', reason: `Successful${verb}`, message: `${what} successful` }
    : {
        type: 'Warning',
        reason: `Failed${verb}`,
        message: `${what} failed error: ${messageOf(error)}`,
      };
}

/** A claim of a pod was created, or that failed with `error`. */
export function claimEvent(
  claim: string,
  pod: string,
  set: string,
  error?: unknown,
): StatefulSetEvent {
  return error === undefined
    ? {
        type: 'Normal',
        reason: 'SuccessfulCreate',
        message: `Create Claim ${claim} Pod ${pod} in StatefulSet ${set} success`,
      }
    : {
        type: 'Warning',
        reason: 'FailedCreate',
        message:
          `Create Claim ${claim} for Pod ${pod} in StatefulSet ${set} ` +
          `failed error: ${messageOf(error)}`,
      };
}

/** Somebody else controls a claim that the policy is about. The misspelling is upstream's. */
export function conflictingController(claim: string): StatefulSetEvent {
  return {
    type: 'Warning',
    reason: 'ConflictingController',
    message:
      `PersistentVolumeClaim ${claim} has a conflicting OwnerReference that acts as a manging ` +
      'controller, the retention policy is ignored for this claim',
  };
}
