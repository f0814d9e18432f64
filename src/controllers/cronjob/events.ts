/** The events of the cronjob controller, one function a reason. */
import { quote } from '../../api/go-quote.ts';
import { rfc1123Text } from '../../api/zone.ts';
import type { CronEvent } from './actions.ts';

const TIME_ZONE_HELP =
  'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details';

function normal(reason: string, message: string): CronEvent {
  return { type: 'Normal', reason, message };
}

function warning(reason: string, message: string): CronEvent {
  return { type: 'Warning', reason, message };
}

/** A Job was started. */
export function created(job: string): CronEvent {
  return normal('SuccessfulCreate', `Created job ${job}`);
}

/** A Job could not be started. */
export function createFailed(error: Error): CronEvent {
  return warning('FailedCreate', `Error creating job: ${error.message}`);
}

/** A Job was deleted, as too old or to be replaced. */
export function deleted(job: string): CronEvent {
  return normal('SuccessfulDelete', `Deleted job ${job}`);
}

/** A Job could not be deleted. */
export function deleteFailed(error: Error): CronEvent {
  return warning('FailedDelete', `Deleted job: ${error.message}`);
}

/** A Job that is to be replaced could not be read. */
export function getFailed(error: Error): CronEvent {
  return warning('FailedGet', `Get job: ${error.message}`);
}

/** An active Job has ended. */
export function sawCompleted(job: string, condition: string): CronEvent {
  return normal('SawCompletedJob', `Saw completed job: ${job}, condition: ${condition}`);
}

/** A Job runs that the status doesn't know. */
export function unexpectedJob(job: string): CronEvent {
  return warning('UnexpectedJob', `Saw a job that the controller did not create or forgot: ${job}`);
}

/** An active Job is gone. */
export function missingJob(job: string): CronEvent {
  return normal('MissingJob', `Active job went missing: ${job}`);
}

/** Nothing is started because the Job before still runs. */
export function alreadyActive(): CronEvent {
  return normal(
    'JobAlreadyActive',
    'Not starting job because prior execution is running and concurrency policy is Forbid',
  );
}

/** A time to start passed too long ago; milliseconds since the epoch. */
export function missedSchedule(at: number): CronEvent {
  return warning('MissSchedule', `Missed scheduled time to start a job: ${rfc1123Text(at)}`);
}

/** More than a hundred times were missed; the latest is started all the same. */
export function tooManyMissed(): CronEvent {
  return warning(
    'TooManyMissedTimes',
    'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
  );
}

/** spec.timeZone is none. */
export function unknownTimeZone(zone: string, problem: string): CronEvent {
  return warning('UnknownTimeZone', `invalid timeZone: ${quote(zone)}: ${problem}`);
}

/** spec.schedule is none, seen by a sync. */
export function unparseable(schedule: string, problem: string): CronEvent {
  return warning('UnparseableSchedule', `unparseable schedule: ${quote(schedule)} : ${problem}`);
}

/** spec.schedule is none, seen when it was changed. */
export function unparseableChange(schedule: string): CronEvent {
  return warning('UnParseableCronJobSchedule', `unparseable schedule for cronjob: ${schedule}`);
}

/** spec.schedule never comes, or always. */
export function invalidSchedule(schedule: string, problem: string): CronEvent {
  return warning('InvalidSchedule', `invalid schedule: ${schedule} : ${problem}`);
}

/** spec.schedule names a time zone itself. */
export function unsupportedSchedule(schedule: string): CronEvent {
  const what = `CRON_TZ or TZ used in schedule ${quote(schedule)} is not officially supported`;
  return warning('UnsupportedSchedule', `${what}, see ${TIME_ZONE_HELP}`);
}
