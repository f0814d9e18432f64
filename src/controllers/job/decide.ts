/** The sync of a Job, step by step in upstream's order. */
import { timeText } from '../../api/time.ts';
import { deletePods, type JobEvent, type Steps } from './actions.ts';
import { type ConditionText, ensureCondition, SUSPENDED } from './conditions.ts';
import { type Observed, type Sync, takeStock } from './counts.ts';
import { resumed, suspended } from './events.ts';
import { manage } from './manage.ts';
import { completionsOf, isSuspended } from './spec.ts';
import { track } from './track.ts';
import { completed, verdictOf } from './verdict.ts';

export interface JobConfig {
  /** Gate MutableSchedulingDirectivesForSuspendedJobs: suspending takes the start time back. */
  readonly clearStartTime: boolean;
}

/**
 * One sync of a Job that has not ended. `now` is wall time in milliseconds. Throws what the API
 * server answered to a write that failed, once the status says what was done nevertheless.
 */
export function* decide(observed: Observed, now: number, config: JobConfig): Steps<void> {
  const sync = takeStock(observed, now);
  yield { kind: 'doing', action: 'reconciling' };
  sync.finish = yield* verdictOf(sync);
  const { conditions } = sync.status;
  const problem = yield* sync.finish === undefined ? goOn(sync, config) : stop(sync);
  const { activeCount, readyCount, terminating, status } = sync;
  const before = sync.job.status;
  const changed =
    status.conditions !== conditions ||
    activeCount !== (before?.active ?? 0) ||
    readyCount !== before?.ready ||
    terminating !== before?.terminating;
  Object.assign(status, { active: activeCount, ready: readyCount, terminating });
  yield* track(sync, changed);
  if (problem !== undefined) throw problem;
}

/** The Job ends: its active pods go. It can't be declared ended while some may be left. */
function* stop(sync: Sync): Steps<unknown> {
  const { active, satisfied, finish } = sync;
  const because = `the Job ends: ${finish?.message}`;
  const deleted =
    active.length === 0
      ? { count: 0, ready: 0 }
      : yield* deletePods(
          'stopPods',
          active.map((pod) => ({ pod, because })),
        );
  if (deleted.count !== active.length || !satisfied) {
    yield {
      kind: 'note',
      because: 'pods that are active or not seen yet keep the Job from ending',
    };
    sync.finish = undefined;
  }
  sync.activeCount -= deleted.count;
  sync.terminating += deleted.count;
  sync.readyCount -= deleted.ready;
  return deleted.error;
}

/** The Job goes on, unless it has all successes it asked for. */
function* goOn(sync: Sync, config: JobConfig): Steps<unknown> {
  const { job, satisfied } = sync;
  const managed = satisfied && job.metadata.deletionTimestamp === undefined;
  if (!satisfied) {
    const because = 'pods created or deleted before are not all seen yet: only the status is kept';
    yield { kind: 'note', because };
  }
  const problem = managed ? yield* manage(sync) : undefined;
  if (isComplete(sync)) sync.finish = completed(sync.now);
  else if (managed) yield* noteSuspension(sync, config);
  return problem;
}

function isComplete({ job, succeeded, activeCount }: Sync): boolean {
  return activeCount === 0 && succeeded >= (completionsOf(job) ?? 1);
}

/** Says in the status, and in an event, that the Job was suspended or goes on. */
function* noteSuspension(sync: Sync, { clearStartTime }: JobConfig): Steps<void> {
  const { status, now } = sync;
  if (isSuspended(sync.job)) {
    const changed = setCondition(sync, 'True', 'JobSuspended', suspended());
    if (!changed) return;
    yield { kind: 'event', event: suspended() };
    if (clearStartTime) status.startTime = undefined;
    return;
  }
  if (!setCondition(sync, 'False', 'JobResumed', resumed())) return;
  yield { kind: 'event', event: resumed() };
  // Also if it was started before: the deadline counts the time without a break only.
  status.startTime = timeText(now);
}

function setCondition(
  { status, now }: Sync,
  value: 'True' | 'False',
  reason: string,
  { message }: JobEvent,
): boolean {
  const before = status.conditions ?? [];
  const text: ConditionText = { type: SUSPENDED, status: value, reason, message };
  const after = ensureCondition(before, text, now);
  if (after === before) return false;
  status.conditions = after;
  return true;
}
