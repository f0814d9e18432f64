/** The claims of a pod: created before it, and owned as the retention policy asks. */
import { isAlreadyExists } from '../../api/errors.ts';
import type { PersistentVolumeClaim, StatefulSet } from '../../api/types/index.ts';
import { attempt, StepError, together } from '../_kit/steps.ts';
import { act, emit, readClaim, type Steps } from './actions.ts';
import { claimEvent, conflictingController } from './events.ts';
import type { Member } from './members.ts';
import { claimNames, newClaims } from './pod.ts';
import {
  hasOtherController,
  isOwnershipRight,
  isStaleClaim,
  withRightOwners,
} from './retention.ts';

/** Creates the claims that are missing. Throws what was refused, and for a claim that is going. */
export function* createClaims(set: StatefulSet, pod: Member): Steps<void> {
  const failures: Error[] = [];
  for (const claim of newClaims(set, pod.ordinal)) {
    const { name } = claim.metadata;
    const stored = yield* readClaim(name);
    if (stored !== undefined) {
      if (stored.metadata.deletionTimestamp !== undefined) {
        failures.push(new StepError(`pvc ${name} is being deleted`));
      }
      continue;
    }
    const because = `pod ${pod.name} needs claim ${name}, which is missing`;
    const { error } = yield* attempt(act({ kind: 'createClaim', claim, because }));
    if (error !== undefined) {
      failures.push(new StepError(`failed to create PVC ${name}: ${error.message}`, error));
    }
    if (!isAlreadyExists(error)) {
      yield* emit(claimEvent(name, pod.name, set.metadata.name, error));
    }
  }
  if (failures.length > 0) throw together(failures);
}

function* cachedClaims(set: StatefulSet, pod: Member): Steps<PersistentVolumeClaim[]> {
  const found: PersistentVolumeClaim[] = [];
  for (const name of claimNames(set, pod.ordinal).values()) {
    const claim = yield* readClaim(name);
    if (claim !== undefined) found.push(claim);
  }
  return found;
}

/** True if all claims that exist are owned as the policy asks. */
export function* areClaimsRight(set: StatefulSet, pod: Member): Steps<boolean> {
  const claims = yield* cachedClaims(set, pod);
  return claims.every((claim) => isOwnershipRight(claim, set, pod));
}

/** Gives the claims that exist the owners that the policy asks for. Throws the first refusal. */
export function* repairClaimOwners(set: StatefulSet, pod: Member): Steps<void> {
  for (const claim of yield* cachedClaims(set, pod)) {
    const { name } = claim.metadata;
    if (hasOtherController(claim, set, pod)) yield* emit(conflictingController(name));
    if (isOwnershipRight(claim, set, pod)) continue;
    const next = withRightOwners(claim, set, pod);
    const because = `owners of claim ${name} are not as the retention policy asks`;
    const { error } = yield* attempt(act({ kind: 'updateClaim', claim: next, because }));
    if (error === undefined) continue;
    const text = `could not update claim ${name} for delete policy ownerRefs: ${error.message}`;
    throw new StepError(text, error);
  }
}

/** Name of a claim that still belongs to a former pod, for which a new pod has to wait. */
export function* staleClaim(set: StatefulSet, pod: Member): Steps<string | undefined> {
  const claims = yield* cachedClaims(set, pod);
  return claims.find((claim) => isStaleClaim(claim, set, pod))?.metadata.name;
}
