/**
 * What becomes of an object whose owners were looked up: kept, cut loose from owners that are gone,
 * or deleted. Pure; the facts are in `Facts`.
 */
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../api/owners.ts';
import type { ObjectMeta, OwnerReference } from '../../api/types/index.ts';
import { type Identity, shortText } from './identity.ts';

/** What a live read said about a reference. */
export type OwnerState =
  /** There, and not waiting for its dependents. */
  | 'solid'
  /** No such object, or another one of that name. */
  | 'dangling'
  /** Being deleted in the foreground. */
  | 'waiting';

/** A reference and what became of its owner. */
export interface Finding {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

/** Everything that decides. */
export interface Facts {
  readonly item: Identity;
  /** The object's finalizers as just read. */
  readonly finalizers: readonly string[];
  /** One for each of its references, as just read. */
  readonly findings: readonly Finding[];
  /** How many dependents the graph knows. */
  readonly dependents: number;
  /** A dependent that waits for its own dependents: there may be a circle. */
  readonly waitingDependent: Identity | undefined;
}

export type Propagation = 'Orphan' | 'Foreground' | 'Background';

/** One write, and why. */
export type Action =
  | { readonly do: 'drop references'; readonly owners: readonly string[]; readonly because: string }
  | { readonly do: 'unblock owners'; readonly because: string }
  | { readonly do: 'delete'; readonly policy: Propagation; readonly because: string };

/** What to write, in this order; nothing at all if the object may stay as it is. */
export function decide(facts: Facts): readonly Action[] {
  const { findings } = facts;
  const solid = those(findings, 'solid');
  const dangling = those(findings, 'dangling');
  const waiting = those(findings, 'waiting');
  if (findings.length === 0) return [];
  if (solid.length > 0) return dropUseless(facts, solid, [...dangling, ...waiting]);
  if (waiting.length > 0 && facts.dependents > 0) return deleteBeforeOwners(facts, waiting);
  return [deleteAsAsked(facts, dangling, waiting)];
}

/** What a live read of a reference's owner means. Undefined: not found. */
export function stateOf(reference: OwnerReference, owner: ObjectMeta | undefined): OwnerState {
  if (owner === undefined || owner.uid !== reference.uid) return 'dangling';
  const isGoing = owner.deletionTimestamp !== undefined;
  const waits = isGoing && (owner.finalizers ?? []).includes(FOREGROUND_FINALIZER);
  return waits ? 'waiting' : 'solid';
}

function those(findings: readonly Finding[], wanted: OwnerState): readonly OwnerReference[] {
  return findings.filter(({ state }) => state === wanted).map(({ reference }) => reference);
}

/** Waiting owners lose it as well: else they would wait for an object that stays. */
function dropUseless(
  { item }: Facts,
  solid: readonly OwnerReference[],
  useless: readonly OwnerReference[],
): readonly Action[] {
  if (useless.length === 0) return [];
  const owners = useless.map(({ uid }) => uid);
  const because =
    `${namesOf(solid)} still owns ${shortText(item)}; ` +
    `${namesOf(useless)} is gone or waits for its dependents`;
  return [{ do: 'drop references', owners, because }];
}

function deleteBeforeOwners(
  { item, findings, dependents, waitingDependent }: Facts,
  waiting: readonly OwnerReference[],
): readonly Action[] {
  const blocks = findings.some(({ reference }) => reference.blockOwnerDeletion === true);
  const unblock: readonly Action[] =
    waitingDependent === undefined || !blocks
      ? []
      : [
          {
            do: 'unblock owners',
            because: `${shortText(waitingDependent)} depends on it and waits too: maybe a circle`,
          },
        ];
  const because =
    `${namesOf(waiting)} waits for ${shortText(item)} to go, ` +
    `which has ${dependents} ${dependents === 1 ? 'dependent' : 'dependents'} of its own`;
  return [...unblock, { do: 'delete', policy: 'Foreground', because }];
}

function deleteAsAsked(
  { item, finalizers }: Facts,
  dangling: readonly OwnerReference[],
  waiting: readonly OwnerReference[],
): Action {
  const gone = dangling.length === 0 ? [] : [`${namesOf(dangling)} does not exist`];
  const waits = waiting.length === 0 ? [] : [`${namesOf(waiting)} waits for its dependents`];
  const because = `${shortText(item)} has no owner left: ${[...gone, ...waits].join(', ')}`;
  return { do: 'delete', policy: policyOf(finalizers), because };
}

/** A finalizer that is on the object already says how it is to be deleted. */
function policyOf(finalizers: readonly string[]): Propagation {
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'Orphan';
  return finalizers.includes(FOREGROUND_FINALIZER) ? 'Foreground' : 'Background';
}

function namesOf(references: readonly OwnerReference[]): string {
  return references.map(({ kind, name }) => `${kind} ${name}`).join(' and ');
}
