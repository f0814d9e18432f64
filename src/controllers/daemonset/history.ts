/** The revisions of a DaemonSet: the current one, its doubles, and those nobody needs any more. */
import { isAlreadyExists, isNotFound } from '../../api/errors.ts';
import { templateHash } from '../../api/hash.ts';
import { DAEMON_SETS } from '../../api/resource.ts';
import type { ControllerRevision, DaemonSet } from '../../api/types/index.ts';
import {
  byRevision,
  highestRevision,
  holdsData,
  restoresTemplate,
} from '../_kit/revisions/compare.ts';
import { newRevision } from '../_kit/revisions/create.ts';
import { DAEMON_NUMBERS, templateData } from '../_kit/revisions/data.ts';
import { attempt, StepError } from '../_kit/steps.ts';
import { act, listPods, type Steps } from './actions.ts';
import { HASH_LABEL, templateOf } from './pod.ts';

const HISTORY_LIMIT_DEFAULT = 10;

/** What of the history the rest of a sync needs. */
export interface History {
  /** Hash of the current revision. */
  readonly hash: string;
  readonly old: readonly ControllerRevision[];
}

function hashOf({ metadata }: ControllerRevision): string {
  return metadata.labels?.[HASH_LABEL] ?? '';
}

/** Finds or makes the revision of the template, the highest by number, and the only one of it. */
export function* syncHistory(
  set: DaemonSet,
  stored: readonly ControllerRevision[],
): Steps<History> {
  const revisions: ControllerRevision[] = [];
  for (const revision of stored) revisions.push(yield* labeled(revision));
  const data = templateData(templateOf(set), DAEMON_NUMBERS);
  const equal = currentOnes(set, revisions, data);
  const old = revisions.filter((revision) => !equal.includes(revision));
  const number = highestRevision(old) + 1;
  if (equal.length === 0) return { hash: hashOf(yield* create(set, data, number)), old };
  const current = yield* keepOne(equal);
  if (current.revision < number) {
    const because = `the template is that of ${current.metadata.name} again: number ${number}`;
    const patch = { revision: number };
    yield* act({ kind: 'patchRevision', revision: current, patch, because });
  }
  return { hash: hashOf(current), old };
}

/** A revision without the hash label gets its own name as one. */
function* labeled(revision: ControllerRevision): Steps<ControllerRevision> {
  if (Object.hasOwn(revision.metadata.labels ?? {}, HASH_LABEL)) return revision;
  const { name } = revision.metadata;
  const because = `revision ${name} has no label ${HASH_LABEL}`;
  const patch = { hash: name };
  return (yield { kind: 'patchRevision', revision, patch, because }) as ControllerRevision;
}

/**
 * The revisions that hold the template. Where none does byte for byte, the newest counts if it
 * restores the same template: releases before 1.34 wrote other bytes, and a new revision would tell
 * of a change that nobody made.
 */
function currentOnes(
  set: DaemonSet,
  revisions: readonly ControllerRevision[],
  data: string,
): readonly ControllerRevision[] {
  const equal = revisions.filter((revision) => holdsData(revision, data));
  if (equal.length > 0) return equal;
  const newest = [...revisions].sort(byRevision).at(-1);
  return newest !== undefined && restoresTemplate(newest, templateOf(set)) ? [newest] : [];
}

/** Of several equal revisions the highest stays; pods of the others are labeled as its own. */
function* keepOne(equal: readonly ControllerRevision[]): Steps<ControllerRevision> {
  const kept = [...equal].sort(byRevision).at(-1);
  if (kept === undefined) throw new Error('no revision to keep: there is always one');
  if (equal.length === 1) return kept;
  const hash = hashOf(kept);
  for (const pod of yield* listPods()) {
    if (pod.record.labels[HASH_LABEL] === hash) continue;
    const because = `revisions with the same template become one: ${kept.metadata.name}`;
    yield* act({ kind: 'relabelPod', pod, hash, because });
  }
  for (const revision of equal) {
    if (revision === kept) continue;
    yield* remove(revision, `same template as ${kept.metadata.name}, which stays`);
  }
  return kept;
}

function* remove(revision: ControllerRevision, because: string): Steps<void> {
  const { error } = yield* attempt(act({ kind: 'deleteRevision', revision, because }));
  if (error !== undefined && !isNotFound(error)) throw error;
}

function* create(set: DaemonSet, data: string, number: number): Steps<ControllerRevision> {
  const template = templateOf(set);
  const hash = templateHash(template, set.status?.collisionCount);
  const revision = newRevision({
    owner: set,
    ownerResource: DAEMON_SETS,
    name: `${set.metadata.name}-${hash}`,
    labels: { ...template.metadata?.labels, [HASH_LABEL]: hash },
    data,
    revision: number,
  });
  const { name } = revision.metadata;
  const because = `no revision holds the template: creating ${name}, number ${number}`;
  try {
    return (yield { kind: 'createRevision', revision, because }) as ControllerRevision;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return yield* settleTakenName(set, name, data, error);
  }
}

/**
 * The name is taken: by this very revision, which the cache didn't show; or by another, and then
 * the collision count makes the next try hash differently.
 */
function* settleTakenName(
  set: DaemonSet,
  name: string,
  data: string,
  error: unknown,
): Steps<ControllerRevision> {
  const taken = (yield { kind: 'fetchRevision', name }) as ControllerRevision;
  if (holdsData(taken, data)) return taken;
  const live = (yield { kind: 'fetchSet' }) as DaemonSet;
  const [used, now] = [set.status?.collisionCount, live.status?.collisionCount];
  if (used !== now) {
    throw new StepError(
      `found a stale collision count (${used ?? 'none'}, expected ${now ?? 'none'}) of DaemonSet ` +
        `"${set.metadata.name}" while processing; will retry until it is updated`,
    );
  }
  const to = (now ?? 0) + 1;
  const because = `revision ${name} is another's: collision count ${to}`;
  yield* act({ kind: 'bumpCollisions', set: live, to, because });
  throw error;
}

/** Deletes the lowest old revisions beyond the limit, except those that pods are of. */
export function* cleanUpHistory(set: DaemonSet, old: readonly ControllerRevision[]): Steps<void> {
  const limit = set.spec?.revisionHistoryLimit ?? HISTORY_LIMIT_DEFAULT;
  let surplus = old.length - limit;
  if (surplus <= 0) return;
  const live = new Set<string>();
  for (const { record } of yield* listPods()) live.add(record.labels[HASH_LABEL] ?? '');
  for (const revision of [...old].sort(byRevision)) {
    if (surplus <= 0) break;
    const hash = hashOf(revision);
    if (hash !== '' && live.has(hash)) continue;
    yield* remove(revision, `${old.length} old revisions, ${limit} are kept`);
    surplus--;
  }
}
