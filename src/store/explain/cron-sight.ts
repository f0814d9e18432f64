/** The times of a CronJob in sentences: when it runs next, and what became of the last one. */
import { NEVER } from '../../api/cron.ts';
import { missedTime, namesZone, scheduleOf } from '../../api/cronjob.ts';
import { secondsMs, timeMs } from '../../api/time.ts';
import type { CronJob } from '../../api/types/index.ts';
import { openZones } from '../../api/zone.ts';
import { dueText, durationText, momentText } from '../../runtime/age.ts';

/** Nothing of one that is being deleted: it runs no more. `now` in ms. */
export function cronSight(cronJob: CronJob, now: number): string[] {
  const { metadata, spec, status } = cronJob;
  const { schedule = '', timeZone, suspend } = spec ?? {};
  if (metadata.deletionTimestamp !== undefined) return [];
  const local = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = openZones(local);
  const unknown = timeZone === undefined ? undefined : zones.find(timeZone).problem;
  if (unknown !== undefined) return [`Its time zone can't be used: ${unknown}. It never runs.`];
  const shown = `Its schedule is ${JSON.stringify(schedule)}`;
  const parsed = scheduleOf(cronJob, zones);
  if (parsed.problem !== undefined) return [`${shown}, which says nothing: ${parsed.problem}.`];
  const where = timeZone ?? `the zone of the process (here ${local})`;
  const zone = namesZone(schedule) ? '' : ` in ${where}`;
  const next = parsed.schedule.next(now);
  if (next === NEVER) return [`${shown}${zone}, which fits no time within five years.`];
  const when = `next ${dueText(next, now)} (at ${momentText(next)})`;
  const runs = suspend
    ? `${shown}${zone}. It is suspended; otherwise it would run ${when}.`
    : `${shown}${zone}: it runs ${when}.`;
  const last = timeMs(status?.lastScheduleTime);
  const lastText =
    last === 0
      ? 'It has started no Job yet.'
      : `Its last Job was for ${momentText(last)}, ${durationText(now - last)} ago.`;
  const missed = missedTime(cronJob, now, parsed.schedule);
  if (missed === undefined) return [runs, lastText];
  const ago = durationText(now - missed);
  const why = whyMissed(cronJob, missed, now);
  return [runs, lastText, `The time ${momentText(missed)}, ${ago} ago, has no Job: ${why}.`];
}

function whyMissed({ spec, status }: CronJob, missed: number, now: number): string {
  const { suspend, startingDeadlineSeconds: deadline, concurrencyPolicy } = spec ?? {};
  if (suspend) return 'it is suspended';
  if (deadline !== undefined && missed + secondsMs(deadline) < now) {
    return `it was missed, for it may start ${durationText(secondsMs(deadline))} late at most`;
  }
  if (concurrencyPolicy === 'Forbid' && (status?.active ?? []).length > 0) {
    return 'a Job is active, and none may run beside it';
  }
  return 'it is still to be started';
}
