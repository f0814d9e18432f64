/** The annotations that tie a Deployment and its ReplicaSets together: revisions and sizes. */
import { parseInt64 } from '../../api/integer.ts';
import type { StringMap } from '../../api/meta.ts';
import type { Deployment, ReplicaSet } from '../../api/types/index.ts';
import { maxSurgeOf, wantedOf } from './sizes.ts';

export const REVISION = 'deployment.kubernetes.io/revision';
export const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';
export const ROLLBACK_TO = 'deprecated.deployment.rollback.to';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Annotations that neither travel from the Deployment to its ReplicaSets nor back. */
const OWN: ReadonlySet<string> = new Set([
  LAST_APPLIED,
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  ROLLBACK_TO,
]);

const REVISION_HISTORY_CHARACTERS_MAX = 2_000;
const INT32_MAX = 2 ** 31 - 1;
const DIGITS = /^\d+$/;

/** Revision of a ReplicaSet: 0 without the annotation, undefined if it can't be read. */
export function revisionOf(replicaSet: ReplicaSet): bigint | undefined {
  const text = replicaSet.metadata.annotations?.[REVISION];
  return text === undefined ? 0n : parseInt64(text);
}

/** Highest revision, unreadable ones left out; 0 if there is none. */
export function maxRevision(replicaSets: readonly ReplicaSet[]): bigint {
  let max = 0n;
  for (const replicaSet of replicaSets) {
    const revision = revisionOf(replicaSet);
    if (revision !== undefined && revision > max) max = revision;
  }
  return max;
}

/** Second-highest revision; 0 if there is none. */
export function lastRevision(replicaSets: readonly ReplicaSet[]): bigint {
  let max = 0n;
  let second = 0n;
  for (const replicaSet of replicaSets) {
    const revision = revisionOf(replicaSet);
    if (revision === undefined) continue;
    if (revision >= max) {
      second = max;
      max = revision;
    } else if (revision > second) {
      second = revision;
    }
  }
  return second;
}

function sizeAnnotation(replicaSet: ReplicaSet, name: string): number | undefined {
  const text = replicaSet.metadata.annotations?.[name];
  if (text === undefined || !DIGITS.test(text)) return undefined;
  const value = Number(text);
  return value > INT32_MAX ? undefined : value;
}

/** desired-replicas, undefined if it is missing or no number from 0 to the highest int32. */
export function desiredReplicasOf(replicaSet: ReplicaSet): number | undefined {
  return sizeAnnotation(replicaSet, DESIRED_REPLICAS);
}

/** max-replicas, undefined if it is missing or no number from 0 to the highest int32. */
export function maxReplicasOf(replicaSet: ReplicaSet): number | undefined {
  return sizeAnnotation(replicaSet, MAX_REPLICAS);
}

/** What the two size annotations of every scaled ReplicaSet say: wanted, and wanted plus surge. */
export function sizeAnnotationsFor(deployment: Deployment): StringMap {
  const wanted = wantedOf(deployment);
  return {
    [DESIRED_REPLICAS]: String(wanted),
    [MAX_REPLICAS]: String(wanted + maxSurgeOf(deployment)),
  };
}

/** True if one of the two size annotations is missing or says something else. */
export function sizeAnnotationsDiffer(replicaSet: ReplicaSet, deployment: Deployment): boolean {
  const annotations = replicaSet.metadata.annotations ?? {};
  return Object.entries(sizeAnnotationsFor(deployment)).some(
    ([name, value]) => annotations[name] !== value,
  );
}

/** The history with one more revision, the oldest dropped to stay within `max` characters. */
export function extendHistory(history: string, revision: string, max: number): string {
  const revisions = history.split(',');
  if (revisions[0] === '') return revision;
  let length = history.length + revision.length + 1;
  let from = 0;
  while (length > max && from < revisions.length) {
    length -= (revisions[from] ?? '').length + 1;
    from++;
  }
  return length <= max ? [...revisions.slice(from), revision].join(',') : history;
}

/**
 * Annotations of the new ReplicaSet: the Deployment's copied over, and `revision` if that is higher
 * than its own; a number it had before joins the history. An unreadable revision stays, and then
 * nothing counts as changed.
 */
export function newReplicaSetAnnotations(
  deployment: Deployment,
  annotations: StringMap,
  revision: bigint,
  historyMax: number = REVISION_HISTORY_CHARACTERS_MAX,
): { readonly annotations: StringMap; readonly changed: boolean } {
  const next: Record<string, string> = { ...annotations };
  let changed = false;
  for (const [name, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (OWN.has(name) || next[name] === value) continue;
    next[name] = value;
    changed = true;
  }
  const before = annotations[REVISION];
  const own = before === undefined || before === '' ? 0n : parseInt64(before);
  if (own === undefined) return { annotations: next, changed: false };
  if (own < revision) {
    next[REVISION] = String(revision);
    changed = true;
    if (before !== undefined) {
      next[REVISION_HISTORY] = extendHistory(next[REVISION_HISTORY] ?? '', before, historyMax);
    }
  }
  return { annotations: next, changed };
}

/**
 * Annotations of a Deployment that is rolled back to this ReplicaSet: its own kept, the rollback
 * request dropped, all others replaced by the ReplicaSet's.
 */
export function rolledBackAnnotations(deployment: Deployment, replicaSet: ReplicaSet): StringMap {
  const own = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) =>
    OWN.has(name),
  );
  const taken = Object.entries(replicaSet.metadata.annotations ?? {}).filter(
    ([name]) => !OWN.has(name),
  );
  return withoutRollback(Object.fromEntries([...own, ...taken]));
}

/** The annotations without the rollback request. */
export function withoutRollback(annotations: StringMap): StringMap {
  const { [ROLLBACK_TO]: _, ...rest } = annotations;
  return rest;
}

/** The revision to roll back to (0: the last one), undefined if no number is asked for. */
export function rollbackRevisionOf(deployment: Deployment): bigint | undefined {
  return parseInt64(deployment.metadata.annotations?.[ROLLBACK_TO] ?? '');
}
