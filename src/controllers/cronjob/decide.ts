/** The sync of a CronJob, step by step in upstream's order. */

import { dueTime, namesZone, scheduleOf, untilNext } from '../../api/cronjob.ts';
import { isAlreadyExists, isNamespaceTerminating } from '../../api/errors.ts';
import { controllerOf } from '../../api/meta.ts';
import { apiVersionOf, JOBS } from '../../api/resource.ts';
import { secondsMs, timeMs, timeText } from '../../api/time.ts';
import type { Job } from '../../api/types/index.ts';
import type { Zones } from '../../api/zone.ts';
import { answerOf, StepError } from '../_kit/steps.ts';
import { attempt, type NewJob, type Observed, readJob, type Steps, type Sync } from './actions.ts';
import {
  alreadyActive,
  created,
  createFailed,
  getFailed,
  invalidSchedule,
  missedSchedule,
  tooManyMissed,
  unknownTimeZone,
  unparseable,
  unsupportedSchedule,
} from './events.ts';
import { isActive, remove, repairStatus, trimHistory } from './jobs.ts';
import { jobFor, jobName } from './new-job.ts';

export interface CronConfig {
  readonly zones: Zones;
}

const SECOND_MS = 1_000;
/** More missed times than this are warned of. */
const MISSED_MAX = 100;

/** When to look again; undefined: only if something changes. */
type Again = { readonly delayMs: number; readonly because: string } | undefined;

/**
 * One sync. `now` is wall time in milliseconds. Throws what the API server answered, once the
 * status says what was done nevertheless.
 */
export function* decide(observed: Observed, now: number, config: CronConfig): Steps<void> {
  const { status } = observed.cronJob;
  const sync: Sync = { ...observed, status: { ...status }, now, changes: [], removed: new Set() };
  yield* trimHistory(sync);
  const outcome = yield* attempt(run(sync, config));
  if (sync.changes.length > 0) {
    const cronJob = { ...sync.cronJob, status: sync.status };
    yield { kind: 'writeStatus', cronJob, because: sync.changes.join('; ') };
  }
  if (outcome.error !== undefined) throw outcome.error;
  if (outcome.value !== undefined) yield { kind: 'again', ...outcome.value };
}

/** Repairs the status, then starts a Job if a time is due. */
function* run(sync: Sync, { zones }: CronConfig): Steps<Again> {
  yield* repairStatus(sync);
  const { cronJob, now } = sync;
  const { schedule = '', timeZone, suspend } = cronJob.spec ?? {};
  if (cronJob.metadata.deletionTimestamp !== undefined) return undefined;
  const zone = zones.find(timeZone ?? '');
  if (zone.problem !== undefined) {
    yield { kind: 'event', event: unknownTimeZone(timeZone ?? '', zone.problem) };
    return undefined;
  }
  if (suspend) return undefined;
  if (namesZone(schedule)) yield { kind: 'event', event: unsupportedSchedule(schedule) };
  const parsed = scheduleOf(cronJob, zones);
  if (parsed.problem !== undefined) {
    yield { kind: 'event', event: unparseable(schedule, parsed.problem) };
    return undefined;
  }
  const due = dueTime(cronJob, now, parsed.schedule);
  if (due.problem !== undefined) {
    yield { kind: 'event', event: invalidSchedule(schedule, due.problem) };
    return undefined;
  }
  if (due.at !== undefined) {
    if (due.missed > MISSED_MAX) yield { kind: 'event', event: tooManyMissed() };
    const wants = yield* wantsToStart(sync, due.at);
    if (wants && !(yield* start(sync, due.at, jobFor(sync.cronJob, due.at, zone.zone)))) {
      return undefined;
    }
  }
  const { cronJob: current, status } = sync;
  const delayMs = untilNext({ ...current, status }, now, parsed.schedule);
  return { delayMs, because: `the next scheduled time is ${timeText(now + delayMs)}` };
}

/** False if the time is skipped: too late, done already, or a Job runs and none may run beside. */
function* wantsToStart(sync: Sync, at: number): Steps<boolean> {
  const { cronJob, status, now } = sync;
  const { name, namespace } = cronJob.metadata;
  const { startingDeadlineSeconds: deadline, concurrencyPolicy } = cronJob.spec ?? {};
  if (deadline !== undefined && at + secondsMs(deadline) < now) {
    yield { kind: 'event', event: missedSchedule(at) };
    return false;
  }
  const active = status.active ?? [];
  const isThere = active.some(
    (reference) => reference.name === jobName(name, at) && reference.namespace === namespace,
  );
  const { lastScheduleTime } = status;
  if (isThere || (lastScheduleTime !== undefined && timeMs(lastScheduleTime) === at)) return false;
  if (concurrencyPolicy === 'Forbid' && active.length > 0) {
    yield { kind: 'event', event: alreadyActive() };
    return false;
  }
  if (concurrencyPolicy === 'Replace') yield* replaceActive(sync, at);
  return true;
}

/** Deletes the Jobs that still run. Throws if one can't be deleted: two must not run together. */
function* replaceActive(sync: Sync, at: number): Steps<void> {
  const because = `Replace: the Job of ${timeText(at)} takes its place`;
  for (const { name = '' } of sync.status.active ?? []) {
    const { value: job, error } = yield* attempt(readJob(name));
    if (error !== undefined) {
      yield { kind: 'event', event: getFailed(error) };
      throw error;
    }
    if (yield* remove(sync, job, because)) continue;
    const { namespace } = sync.cronJob.metadata;
    throw new StepError(`could not replace job ${namespace}/${name}`);
  }
}

/** Creates the Job of a time and enters it into the status; false if there is nothing to await. */
function* start(sync: Sync, at: number, body: NewJob): Steps<boolean> {
  const because = `scheduled for ${timeText(at)}`;
  const { value, error } = yield* attempt(create(body, because));
  let job = value;
  if (error !== undefined) {
    const answer = answerOf(error);
    if (isNamespaceTerminating(answer)) throw error;
    if (!isAlreadyExists(answer)) {
      yield { kind: 'event', event: createFailed(error) };
      throw error;
    }
    // Somebody created it: we, before a crash or a refused status, or somebody else.
    job = yield* readJob(body.metadata.name);
    const owner = controllerOf(job)?.uid;
    if (owner !== sync.cronJob.metadata.uid || isActive(sync, job.metadata.uid)) return false;
  } else if (job !== undefined) {
    const seconds = (timeMs(job.metadata.creationTimestamp) - at) / SECOND_MS;
    yield { kind: 'skew', seconds };
    yield { kind: 'event', event: created(job.metadata.name) };
  }
  if (job === undefined) return false;
  const { name, namespace, uid, resourceVersion } = job.metadata;
  const reference = { apiVersion: apiVersionOf(JOBS), kind: JOBS.kind };
  const active = { ...reference, namespace, name, uid, resourceVersion };
  sync.status.active = [...(sync.status.active ?? []), active];
  sync.status.lastScheduleTime = timeText(at);
  sync.changes.push(`started ${name} for ${timeText(at)}`);
  return true;
}

function* create(job: NewJob, because: string): Steps<Job> {
  return (yield { kind: 'createJob', job, because }) as Job;
}
