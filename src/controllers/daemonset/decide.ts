/** The sync of a DaemonSet, step by step in upstream's order. */
import type { ControllerRevision, DaemonSet } from '../../api/types/index.ts';
import { attempt, StepError } from '../_kit/steps.ts';
import { act, expectationsMet, type Knowledge, listPods, type Steps } from './actions.ts';
import { selectingAll } from './events.ts';
import { cleanUpHistory, type History, syncHistory } from './history.ts';
import { manage } from './manage.ts';
import { minReadySecondsOf } from './pod.ts';
import { rollingUpdate } from './rolling.ts';
import { isRolling } from './sizes.ts';
import { countNodes, nextStatus } from './status.ts';

/** What a decision looks at. */
export interface Observed extends Knowledge {
  /** Those it controls, adopting and releasing done. */
  readonly revisions: readonly ControllerRevision[];
}

/** True if the selector would select every pod; such a set is left alone. */
export function selectsEverything({ spec }: DaemonSet): boolean {
  const selector = spec?.selector;
  return (
    selector !== undefined &&
    Object.keys(selector.matchLabels ?? {}).length === 0 &&
    (selector.matchExpressions ?? []).length === 0
  );
}

/** For a set that selects everything: says so, and nothing else. */
export function* refuseSelector(): Steps<void> {
  yield { kind: 'event', event: selectingAll() };
}

/**
 * One sync of a set that isn't being deleted. Whatever comes of the pods, the status is written;
 * then the first refusal of the server is thrown.
 */
export function* decide(observed: Observed): Steps<void> {
  const history = yield* wrapped(
    'failed to construct revisions of DaemonSet',
    syncHistory(observed.set, observed.revisions),
  );
  if (!(yield* expectationsMet())) {
    const because =
      'earlier creations or deletions are not all seen yet: only the status is written';
    yield* act({ kind: 'note', because });
    return yield* updateStatus(observed, history.hash, false);
  }
  const work = yield* attempt(updatePods(observed, history));
  const status = yield* attempt(updateStatus(observed, history.hash, true));
  const error = work.error ?? status.error;
  if (error !== undefined) throw error;
}

function* updatePods(known: Knowledge, { hash, old }: History): Steps<void> {
  yield* manage(known, hash);
  if (isRolling(known.set) && (yield* expectationsMet())) yield* rollingUpdate(known, hash);
  yield* wrapped('failed to clean up revisions of DaemonSet', cleanUpHistory(known.set, old));
}

/** Steps whose refusals are told with what they were about. */
function* wrapped<T>(what: string, steps: Steps<T>): Steps<T> {
  const { value, error } = yield* attempt(steps);
  if (error !== undefined) throw new StepError(`${what}: ${error.message}`, error);
  return value as T;
}

function* updateStatus(known: Knowledge, hash: string, worked: boolean): Steps<void> {
  const { set } = known;
  const counts = countNodes(known, yield* listPods(), hash);
  const { status, changes } = nextStatus(set, counts, worked);
  if (changes.length > 0) yield { kind: 'updateStatus', status, because: changes.join(', ') };
  const seconds = minReadySecondsOf(set);
  const waiting = counts.numberReady - counts.numberAvailable;
  if (seconds <= 0 || waiting === 0) return;
  const because = `${waiting} ready pods wait for minReadySeconds ${seconds}`;
  yield* act({ kind: 'again', delayMs: seconds * 1000, because });
}
