/** The sync of a StatefulSet, step by step in upstream's order. */
import type { ControllerRevision, StatefulSet } from '../../api/types/index.ts';
import { attempt } from '../_kit/steps.ts';
import { act, type Knowledge, type Steps } from './actions.ts';
import { type Revisions, syncRevisions, truncateHistory, viewOf } from './history.ts';
import type { Member } from './members.ts';
import { type PodsOutcome, type StatefulSetConfig, syncPods } from './pods.ts';
import { maxUnavailableOf } from './rolling.ts';
import { availabilityWish, changesOf, completed } from './status.ts';

export type { StatefulSetConfig } from './pods.ts';

/** What a decision looks at. */
export interface Observed {
  readonly set: StatefulSet;
  /** Its pods, adopting and releasing done; announced deletions count as going. */
  readonly pods: readonly Member[];
  /** Its revisions and the matching orphans, which are adopted. */
  readonly revisions: readonly ControllerRevision[];
}

/**
 * One sync. `now` is wall time in milliseconds. Whatever comes of the pods, the status is written
 * and the history cut; then the first refusal of the server is thrown.
 */
export function* decide(observed: Observed, now: number, config: StatefulSetConfig): Steps<void> {
  const { set, pods, revisions } = observed;
  const found = yield* attempt(syncRevisions(set, revisions, config.semanticRevisions));
  const inUse: string[] = [];
  let failure: Error | undefined = found.error;
  if (found.value !== undefined) {
    const { current, update } = found.value;
    inUse.push(current.metadata.name, update.metadata.name);
    failure = (yield* attempt(work(observed, found.value, now, config))).error;
  }
  const cut = yield* attempt(truncateHistory(set, pods, revisions, inUse));
  const error = failure ?? cut.error;
  if (error !== undefined) throw error;
}

function* work(
  { set, pods }: Observed,
  revisions: Revisions,
  now: number,
  config: StatefulSetConfig,
): Steps<void> {
  const current = viewOf(revisions.current, set);
  const update = viewOf(revisions.update, set);
  const known: Knowledge = { set, current, update, now };
  const outcome = yield* syncPods(known, pods, config, revisions.collisionCount);
  const written = yield* attempt(writeStatus(known, outcome, config));
  const error = outcome.error ?? written.error;
  if (error !== undefined) throw error;
  const wish = availabilityWish(known, pods, outcome.status);
  if (wish !== undefined) yield* act({ kind: 'again', ...wish });
}

function* writeStatus(
  { set }: Knowledge,
  { status: found, unavailable }: PodsOutcome,
  config: StatefulSetConfig,
): Steps<void> {
  const status = completed(set, found);
  if (config.maxUnavailable) {
    yield { kind: 'measure', maxUnavailable: maxUnavailableOf(set), unavailable };
  }
  const changes = changesOf(set.status, status);
  if (changes.length > 0) yield { kind: 'updateStatus', status, because: changes.join(', ') };
}
