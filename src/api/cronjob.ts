/**
 * The times of a CronJob: which one is due, and when the next comes (upstream's
 * mostRecentScheduleTime).
 */
import { type CronSchedule, type ParsedCron, parseCron } from './cron.ts';
import { LONGEST_MS, secondsMs, timeMs } from './time.ts';
import type { CronJob } from './types/index.ts';
import type { Zones } from './zone.ts';

/** What is read of a CronJob to know its times. */
export type Scheduled = Pick<CronJob, 'metadata' | 'spec' | 'status'>;

/** The time that is due. */
export interface DueTime {
  /** Milliseconds since the epoch; undefined if none is due. */
  readonly at: number | undefined;
  /** About how many times were missed up to now, that one included. */
  readonly missed: number;
  /** The schedule makes no sense. */
  readonly problem?: string;
}

interface Recent extends DueTime {
  /** From when on times are looked for. */
  readonly earliest: number;
}

const SECOND_MS = 1_000;
/** Slack for clocks that differ a little: a CronJob is looked at this long after its time. */
const SLACK_MS = 100;
const TOO_CLOSE = 'time difference between two schedules is less than 1 second';

/** True if the schedule names its time zone itself; spec.timeZone is not used then. */
export function namesZone(schedule: string): boolean {
  return schedule.includes('TZ');
}

/** Reads the schedule in spec.timeZone, or in the zone it names itself, or in the process's. */
export function scheduleOf({ spec }: Scheduled, zones: Zones): ParsedCron {
  const { schedule = '', timeZone } = spec ?? {};
  const usesZone = timeZone !== undefined && !namesZone(schedule);
  const known = usesZone && zones.find(timeZone).problem === undefined;
  return parseCron(known ? `TZ=${timeZone} ${schedule}` : schedule, zones);
}

/**
 * The latest scheduled time up to `now` since the last one that was started, since the creation, or
 * since the deadline for starting late, whichever is later.
 */
export function dueTime(cronJob: Scheduled, now: number, schedule: CronSchedule): DueTime {
  return recentTime(cronJob, now, schedule, true);
}

/** The latest time up to `now` that no Job was started for, whatever the reason; else undefined. */
export function missedTime(
  cronJob: Scheduled,
  now: number,
  schedule: CronSchedule,
): number | undefined {
  return recentTime(cronJob, now, schedule, false).at;
}

/** Milliseconds until the CronJob is to be looked at again; 0 or less: at once. */
export function untilNext(cronJob: Scheduled, now: number, schedule: CronSchedule): number {
  const { at, missed, earliest, problem } = recentTime(cronJob, now, schedule, false);
  const fromNow = problem !== undefined || (at === undefined && missed > 0);
  const from = fromNow ? now : (at ?? earliest);
  return schedule.next(from) + SLACK_MS - now;
}

function recentTime(
  { metadata, spec, status }: Scheduled,
  now: number,
  schedule: CronSchedule,
  withDeadline: boolean,
): Recent {
  const { lastScheduleTime } = status ?? {};
  const since = timeMs(lastScheduleTime ?? metadata.creationTimestamp);
  const seconds = withDeadline ? spec?.startingDeadlineSeconds : undefined;
  const earliest = seconds === undefined ? since : Math.max(since, now - secondsMs(seconds));
  const first = schedule.next(earliest);
  const second = schedule.next(first);
  if (now < first) return { earliest, at: undefined, missed: 0 };
  if (now < second) return { earliest, at: first, missed: 0 };
  const between = Math.round(span(first, second) / SECOND_MS);
  if (between < 1) return { earliest, at: undefined, missed: 0, problem: TOO_CLOSE };
  const elapsed = Math.trunc(span(first, now) / SECOND_MS);
  const missed = Math.trunc(elapsed / between) + 1;
  // Times are not always as far apart as the first two: the search starts one distance too early.
  const at = schedule.latest(first + (missed - 2) * between * SECOND_MS, now);
  return { earliest, at, missed };
}

function span(from: number, to: number): number {
  return Math.max(-LONGEST_MS, Math.min(LONGEST_MS, to - from));
}
