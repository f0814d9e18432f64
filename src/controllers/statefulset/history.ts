/** The revisions of a StatefulSet: those it runs, new ones, and those nobody needs any more. */
import { isAlreadyExists, isNotFound } from '../../api/errors.ts';
import { revisionHash } from '../../api/hash.ts';
import { STATEFUL_SETS } from '../../api/resource.ts';
import type { ControllerRevision, StatefulSet } from '../../api/types/index.ts';
import {
  byRevision,
  highestRevision,
  holdsData,
  restoresTemplate,
} from '../_kit/revisions/compare.ts';
import { type NewRevision, newRevision } from '../_kit/revisions/create.ts';
import { restoredTemplate, STATEFUL_NUMBERS, templateData } from '../_kit/revisions/data.ts';
import { attempt } from '../_kit/steps.ts';
import { act, type RevisionView, type Steps } from './actions.ts';
import { type Member, templateOf } from './members.ts';

const HASH_LABEL = 'controller.kubernetes.io/hash';
const NAME_PREFIX_CHARACTERS_MAX = 223;
const HISTORY_LIMIT_DEFAULT = 10;

/** The two revisions that matter, and how often a new name was found taken. */
export interface Revisions {
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
  readonly collisionCount: number;
}

/** "<set>-<hash>", the set's part cut so that the whole fits. */
export function revisionName(set: string, hash: string): string {
  return `${set.slice(0, NAME_PREFIX_CHARACTERS_MAX)}-${hash}`;
}

/** The revision of the set's template, before its name is known to be free. */
export function proposedRevision(
  set: StatefulSet,
  data: string,
  revision: number,
  collisionCount: number,
): NewRevision {
  const hash = revisionHash(data, collisionCount);
  return newRevision({
    owner: set,
    ownerResource: STATEFUL_SETS,
    name: revisionName(set.metadata.name, hash),
    labels: { ...templateOf(set).metadata?.labels, [HASH_LABEL]: hash },
    data,
    revision,
  });
}

/**
 * Finds the revision that the set asks for: the newest if it is that already, an older one raised
 * to be the newest, or a new one. The current one is that of the status, or the same.
 */
export function* syncRevisions(
  set: StatefulSet,
  revisions: readonly ControllerRevision[],
  semantic: boolean,
): Steps<Revisions> {
  const sorted = [...revisions].sort(byRevision);
  const data = templateData(templateOf(set), STATEFUL_NUMBERS);
  const newest = sorted.at(-1);
  const equal = sorted.findLast((revision) => holdsData(revision, data));
  let collisionCount = set.status?.collisionCount ?? 0;
  let update: ControllerRevision;
  if (newest !== undefined && holdsData(newest, data)) {
    update = newest;
  } else if (equal !== undefined) {
    update = yield* raise(equal, highestRevision(sorted) + 1);
  } else if (newest !== undefined && semantic && restoresTemplate(newest, templateOf(set))) {
    update = newest;
  } else {
    const created = yield* create(set, data, highestRevision(sorted) + 1, collisionCount);
    update = created.revision;
    collisionCount = created.collisionCount;
  }
  const name = set.status?.currentRevision;
  const current = sorted.find((revision) => revision.metadata.name === name) ?? update;
  return { current, update, collisionCount };
}

function* raise(revision: ControllerRevision, to: number): Steps<ControllerRevision> {
  const { name } = revision.metadata;
  const because = `the template is that of ${name} again: ${revision.revision} becomes ${to}`;
  return (yield { kind: 'renumberRevision', revision, to, because }) as ControllerRevision;
}

/** Creates a revision; a name that holds other data makes the next try hash differently. */
function* create(
  set: StatefulSet,
  data: string,
  number: number,
  firstCount: number,
): Steps<{ readonly revision: ControllerRevision; readonly collisionCount: number }> {
  const proposed = proposedRevision(set, data, number, firstCount);
  for (let count = firstCount; ; count++) {
    const name = revisionName(set.metadata.name, revisionHash(data, count));
    const metadata = { ...proposed.metadata, name };
    const because = `no revision holds the template: creating ${name}, number ${number}`;
    try {
      const revision = { ...proposed, metadata };
      const stored = (yield { kind: 'createRevision', revision, because }) as ControllerRevision;
      return { revision: stored, collisionCount: count };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const taken = (yield { kind: 'readRevision', name }) as ControllerRevision;
      if (holdsData(taken, data)) return { revision: taken, collisionCount: count };
    }
  }
}

/**
 * The template that a revision stands for: the set's own if it holds that, digit by digit, else the
 * one it puts back.
 */
export function viewOf(revision: ControllerRevision, set: StatefulSet): RevisionView {
  const own = templateOf(set);
  const same = holdsData(revision, templateData(own, STATEFUL_NUMBERS));
  return {
    name: revision.metadata.name,
    template: same ? own : restoredTemplate(revision, own),
  };
}

/** Deletes the lowest of those revisions that no pod and no status needs, beyond the limit. */
export function* truncateHistory(
  set: StatefulSet,
  pods: readonly Member[],
  revisions: readonly ControllerRevision[],
  inUse: readonly string[],
): Steps<void> {
  const limit = set.spec?.revisionHistoryLimit ?? HISTORY_LIMIT_DEFAULT;
  const live = new Set([...inUse, ...pods.map(({ revision }) => revision)]);
  const unused = revisions.filter(({ metadata }) => !live.has(metadata.name)).sort(byRevision);
  if (limit < 0 || unused.length <= limit) return;
  for (const revision of unused.slice(0, unused.length - limit)) {
    const because = `${unused.length} revisions are not in use, ${limit} are kept`;
    const { error } = yield* attempt(act({ kind: 'deleteRevision', revision, because }));
    if (error !== undefined && !isNotFound(error)) throw error;
  }
}
