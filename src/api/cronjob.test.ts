import { describe, expect, test } from 'bun:test';
import { type CronFacts, cronOf, HOUR, MINUTE, TEN } from '../controllers/cronjob/testing/build.ts';
import { parseCron } from './cron.ts';
import { dueTime, missedTime, scheduleOf, untilNext } from './cronjob.ts';
import { openZones } from './zone.ts';

const zones = openZones('UTC');
const SECOND = 1_000;
const DAY = 24 * HOUR;

function parsed(text: string) {
  const found = parseCron(text, zones);
  if (found.problem !== undefined) throw new Error(found.problem);
  return found.schedule;
}

describe('the time that is due', () => {
  /** Times count from ten o'clock. */
  const table: readonly [string, CronFacts, number, number | undefined, number?][] = [
    ['none yet', { createdAt: TEN }, 30 * SECOND, undefined, 0],
    ['the first', { createdAt: TEN }, 61 * MINUTE, HOUR, 0],
    ['exactly at its time', { createdAt: TEN }, HOUR, HOUR, 0],
    ['the latest of five', { createdAt: TEN + 10 * SECOND }, 301 * MINUTE, 300 * MINUTE, 5],
    [
      'of a schedule whose distances differ',
      { createdAt: TEN, schedule: '30 6-16/4 * * 1-5', lastAt: TEN + 30 * MINUTE },
      DAY + 31 * MINUTE,
      DAY + 30 * MINUTE,
      2,
    ],
    [
      'of one whose distances differ more: none is found after the estimate',
      { createdAt: TEN, schedule: '30 10,11,12 * * 1-5', lastAt: TEN + 30 * MINUTE },
      30 * HOUR + 30 * MINUTE,
      undefined,
      30,
    ],
    [
      'over a weekend',
      { createdAt: TEN, schedule: '30 6-16/4 * * 1-5', lastAt: TEN + 30 * MINUTE },
      4 * DAY + 31 * MINUTE,
      4 * DAY + 30 * MINUTE,
      6,
    ],
    [
      'at distances from the last',
      { createdAt: TEN - 59 * MINUTE, schedule: '@every 1h', lastAt: TEN + MINUTE },
      7 * DAY,
      6 * DAY + 23 * HOUR + MINUTE,
      167,
    ],
    ['started before', { createdAt: TEN, lastAt: TEN }, 30 * SECOND, undefined, 0],
    [
      'not before the deadline for starting late',
      {
        schedule: '*/5 * * * *',
        lastAt: TEN + 30 * MINUTE,
        spec: { startingDeadlineSeconds: 60 },
      },
      37 * MINUTE,
      undefined,
      0,
    ],
    [
      'within the deadline for starting late',
      {
        schedule: '*/5 * * * *',
        lastAt: TEN + 30 * MINUTE,
        spec: { startingDeadlineSeconds: 600 },
      },
      52 * MINUTE,
      50 * MINUTE,
      2,
    ],
    [
      'with the longest deadline for starting late: as without one',
      {
        schedule: '*/5 * * * *',
        lastAt: TEN + 30 * MINUTE,
        spec: { startingDeadlineSeconds: 9_223_372_036_854_775_807n as unknown as number },
      },
      52 * MINUTE,
      50 * MINUTE,
      4,
    ],
  ];
  for (const [name, facts, now, wanted, missed] of table) {
    test(name, () => {
      const cronJob = cronOf(facts);
      const due = dueTime(cronJob, TEN + now, parsed(cronJob.spec?.schedule ?? ''));
      expect(due.at === undefined ? undefined : due.at - TEN).toBe(wanted);
      if (missed !== undefined) expect(due.missed).toBe(missed);
      expect(due.problem).toBeUndefined();
    });
  }

  test('a schedule that never comes makes no sense', () => {
    const cronJob = cronOf({ createdAt: TEN + 10 * SECOND, schedule: '59 23 31 2 *' });
    const due = dueTime(cronJob, TEN + HOUR, parsed('59 23 31 2 *'));
    expect(due.problem).toBe('time difference between two schedules is less than 1 second');
  });
});

test('a time was missed also if its deadline for starting late is over', () => {
  const late = { startingDeadlineSeconds: 60 };
  const cronJob = cronOf({ createdAt: TEN, lastAt: TEN, spec: late });
  const schedule = parsed('0 * * * *');
  expect(dueTime(cronJob, TEN + 65 * MINUTE, schedule).at).toBeUndefined();
  expect(missedTime(cronJob, TEN + 65 * MINUTE, schedule)).toBe(TEN + HOUR);
  expect(missedTime(cronJob, TEN + 55 * MINUTE, schedule)).toBeUndefined();
});

describe('the next look', () => {
  const until = (facts: CronFacts, now: number): number => {
    const cronJob = cronOf(facts);
    return untilNext(cronJob, TEN + now, parsed(cronJob.spec?.schedule ?? ''));
  };
  const table: readonly [string, CronFacts, number, number][] = [
    ['the first time', { createdAt: TEN }, 0, HOUR],
    ['the time after one that is due', { createdAt: TEN }, 61 * MINUTE, 59 * MINUTE],
    ['after many that were missed', { createdAt: TEN }, 301 * MINUTE, 59 * MINUTE],
    [
      'the deadline for starting late does not matter',
      {
        createdAt: TEN,
        schedule: '*/5 * * * *',
        spec: { startingDeadlineSeconds: 60 },
        lastAt: TEN,
      },
      10 * MINUTE,
      5 * MINUTE,
    ],
    [
      'if none is found among those missed: from now on',
      { createdAt: TEN, schedule: '30 10,11,12 * * 1-5', lastAt: TEN + 30 * MINUTE },
      30 * HOUR + 30 * MINUTE,
      66 * HOUR,
    ],
  ];
  for (const [name, facts, now, wanted] of table) {
    test(name, () => expect(until(facts, now)).toBe(wanted + 100));
  }
});

describe('the zone of a schedule', () => {
  const next = (spec: object, schedule: string, local = 'UTC'): string => {
    const found = scheduleOf(cronOf({ schedule, spec }), openZones(local));
    if (found.problem !== undefined) return found.problem;
    return new Date(found.schedule.next(TEN)).toISOString();
  };

  test('is the one of the spec, else that of the process', () => {
    expect(next({ timeZone: 'Europe/Berlin' }, '0 0 * * *')).toBe('2016-05-19T22:00:00.000Z');
    expect(next({}, '0 0 * * *')).toBe('2016-05-20T00:00:00.000Z');
    expect(next({}, '0 0 * * *', 'Asia/Tokyo')).toBe('2016-05-19T15:00:00.000Z');
  });

  test('is the one that the schedule names, whatever the spec says', () => {
    const schedule = 'TZ=Asia/Tokyo 0 0 * * *';
    expect(next({ timeZone: 'Europe/Berlin' }, schedule)).toBe('2016-05-19T15:00:00.000Z');
    expect(next({}, `CRON_${schedule}`)).toBe('2016-05-19T15:00:00.000Z');
    expect(next({}, 'TZ=0')).toContain('invalid schedule format: ');
  });

  test('that doesn’t exist is not used', () => {
    expect(next({ timeZone: 'No/Where' }, '0 0 * * *')).toBe('2016-05-20T00:00:00.000Z');
  });
});
