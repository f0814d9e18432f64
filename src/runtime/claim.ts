/** Claiming: which dependents a controller keeps, adopts or releases, and the patches for it. */
import { FencedError, isInvalid, isNotFound } from '../api/errors.ts';
import { controllerReference, keyOf } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import type { KubeObject } from '../api/types/index.ts';
import type { SyncRun } from './controller.ts';
import type { ObjectRecord } from './informer/types.ts';

/** What claiming looks at in a candidate. */
export type Claimable = Pick<
  ObjectRecord,
  'namespace' | 'name' | 'uid' | 'labels' | 'controller' | 'deleting'
>;

/** The controller object that claims. */
export interface ClaimOwner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Its deletionTimestamp is set: it keeps what it has, and adopts or releases nothing. */
  readonly deleting: boolean;
}

/** Candidates by what is to be done with them; those that don't concern the owner are left out. */
export interface Claims<R extends Claimable> {
  readonly keep: readonly R[];
  readonly adopt: readonly R[];
  readonly release: readonly R[];
}

/**
 * Sorts candidates: owned by another controller is ignored; own and matching is kept; own and not
 * matching is released; a matching orphan in the owner's namespace is adopted unless it or the
 * owner is being deleted.
 */
export function decideClaims<R extends Claimable>(input: {
  readonly owner: ClaimOwner;
  readonly matches: (labels: R['labels']) => boolean;
  readonly candidates: Iterable<R>;
}): Claims<R> {
  const { owner, matches } = input;
  const keep: R[] = [];
  const adopt: R[] = [];
  const release: R[] = [];
  for (const candidate of input.candidates) {
    if (candidate.controller !== undefined) {
      if (candidate.controller.uid !== owner.uid) continue;
      if (matches(candidate.labels)) keep.push(candidate);
      else if (!owner.deleting) release.push(candidate);
    } else if (!owner.deleting && !candidate.deleting) {
      const near = owner.namespace === '' || owner.namespace === candidate.namespace;
      if (near && matches(candidate.labels)) adopt.push(candidate);
    }
  }
  return { keep, adopt, release };
}

/** How and for whom claims are carried out. */
export interface ClaimPass {
  readonly owner: ClaimOwner;
  readonly ownerResource: Resource;
  /** Resource of the candidates. */
  readonly resource: Resource;
  /** The selector as text, for the journal. */
  readonly selectorText: string;
  /** True if the owner's next sync must see its adoptions first (read-your-writes guard). */
  readonly guard: boolean;
  /** Finalizers that what is adopted gets, and what is released loses. */
  readonly finalizers?: readonly string[];
}

/**
 * Carries claims out and gives everything that is owned afterwards. Before the first adoption the
 * owner is read live: gone, replaced or being deleted, it may adopt nothing. A candidate that is
 * gone is left out; one that refuses its release has been released before. Other failures don't
 * stop the pass; they are thrown together at its end (one alone as it is). FencedError ends it at
 * once.
 */
export async function carryOutClaims<R extends Claimable>(
  run: SyncRun,
  pass: ClaimPass,
  claims: Claims<R>,
): Promise<readonly R[]> {
  const failures: unknown[] = [];
  const adopted: R[] = [];
  const refusal = claims.adopt.length > 0 ? await adoptionRefusal(run, pass) : undefined;
  for (const candidate of claims.adopt) {
    try {
      if (refusal !== undefined) throw cannotAdopt(pass, candidate, refusal);
      await adopt(run, pass, candidate);
      adopted.push(candidate);
    } catch (error) {
      if (error instanceof FencedError) throw error;
      if (!isNotFound(error)) failures.push(error);
    }
  }
  for (const candidate of claims.release) {
    try {
      await release(run, pass, candidate);
    } catch (error) {
      if (error instanceof FencedError) throw error;
      if (!isNotFound(error) && !isInvalid(error)) failures.push(error);
    }
  }
  if (failures.length > 0) throw together(failures);
  return adopted.length === 0 ? claims.keep : [...claims.keep, ...adopted];
}

/** Why the owner may not adopt, from a live read; undefined if it may. */
async function adoptionRefusal(run: SyncRun, pass: ClaimPass): Promise<Error | undefined> {
  const { owner, ownerResource } = pass;
  const key = keyOf(owner);
  let fresh: KubeObject;
  try {
    const at = { namespace: owner.namespace || undefined, name: owner.name };
    fresh = await run.client.get<KubeObject>(ownerResource, at);
  } catch (error) {
    return new Error(`can't recheck DeletionTimestamp: ${textOf(error)}`, { cause: error });
  }
  const { uid, deletionTimestamp } = fresh.metadata;
  if (uid !== owner.uid) {
    const gone = `original ${ownerResource.kind} ${key} is gone: got uid ${uid}, wanted ${owner.uid}`;
    return new Error(`can't recheck DeletionTimestamp: ${gone}`);
  }
  if (deletionTimestamp === undefined) return undefined;
  return new Error(`${key} has just been deleted at ${deletionTimestamp}`);
}

function cannotAdopt(pass: ClaimPass, candidate: Claimable, cause: Error): Error {
  const what = `${pass.resource.kind} ${keyOf(candidate)} (${candidate.uid})`;
  return new Error(`can't adopt ${what}: ${cause.message}`, { cause });
}

async function adopt(run: SyncRun, pass: ClaimPass, candidate: Claimable): Promise<void> {
  const { owner, ownerResource } = pass;
  const body = {
    metadata: {
      ownerReferences: [controllerReference(owner, ownerResource)],
      uid: candidate.uid,
      ...(pass.finalizers === undefined ? {} : { finalizers: pass.finalizers }),
    },
  };
  await run.client.patch(pass.resource, placeOf(candidate), 'strategic', body, {
    because:
      `${pass.resource.kind} ${candidate.name} has no controller and its labels match ` +
      `"${pass.selectorText}": adopting it`,
    guard: pass.guard ? { ownerKey: keyOf(owner), ownerUid: owner.uid } : undefined,
  });
}

async function release(run: SyncRun, pass: ClaimPass, candidate: Claimable): Promise<void> {
  const body = {
    metadata: {
      ownerReferences: [{ $patch: 'delete', uid: pass.owner.uid }],
      uid: candidate.uid,
      ...(pass.finalizers === undefined
        ? {}
        : { '$deleteFromPrimitiveList/finalizers': pass.finalizers }),
    },
  };
  await run.client.patch(pass.resource, placeOf(candidate), 'strategic', body, {
    because:
      `labels of ${pass.resource.kind} ${candidate.name} no longer match ` +
      `"${pass.selectorText}": releasing it`,
  });
}

function placeOf(candidate: Claimable): { namespace: string | undefined; name: string } {
  return { namespace: candidate.namespace || undefined, name: candidate.name };
}

function together(failures: readonly unknown[]): unknown {
  if (failures.length === 1) return failures[0];
  const texts = [...new Set(failures.map(textOf))];
  const message = texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`;
  return new AggregateError(failures, message);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
