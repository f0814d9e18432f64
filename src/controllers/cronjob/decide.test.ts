import { describe, expect, test } from 'bun:test';
import { ApiError } from '../../api/errors.ts';
import { newerTemplate } from '../../api/testing/newer.ts';
import type { Job } from '../../api/types/index.ts';
import { refusal } from '../_kit/testing/fake-run.ts';
import { missedSchedule } from './events.ts';
import { activeOf, type CronFacts, cronOf, HOUR, MINUTE, ownJob, TEN } from './testing/build.ts';
import { type CronPlan, type CronPlanOptions, cronPlan } from './testing/plan.ts';

const POLICIES = ['Allow', 'Forbid', 'Replace'] as const;
/** The name of the Job that was scheduled for ten. */
const AT_TEN = 'tick-24394200';
const AT_NINE = 'tick-24394140';
const NOON = TEN + 2 * HOUR;

function reasons({ events }: CronPlan): string[] {
  return events.map(({ reason }) => reason);
}

/** A CronJob that started its Job of nine. */
function ran(facts: CronFacts = {}): CronFacts {
  return { createdAt: TEN - 2 * HOUR, lastAt: TEN - HOUR, ...facts };
}

const running = ownJob({ name: AT_NINE });
const stillActive = ran({ status: { active: [activeOf(AT_NINE)] } });

describe('when a Job is started', () => {
  interface Wanted {
    readonly started?: boolean;
    readonly events?: readonly string[];
    readonly again?: number;
  }
  const hourly = HOUR - 5_000 + 100;
  const started = (more: readonly string[] = []): Wanted => ({
    started: true,
    events: [...more, 'SuccessfulCreate'],
    again: hourly,
  });
  const AFTER_TEN = TEN + 5_000;
  const table: readonly [string, CronFacts, number, Wanted, CronPlanOptions?][] = [
    ['never ran, not its time', {}, TEN - 10 * MINUTE, { again: 10 * MINUTE + 100 }],
    ['never ran, its time', {}, AFTER_TEN, started()],
    ['ran before, not its time', ran(), TEN - MINUTE, { again: MINUTE + 100 }],
    ['ran before, its time', ran(), AFTER_TEN, started()],
    ['suspended', ran({ spec: { suspend: true } }), AFTER_TEN, {}],
    ['being deleted', ran({ meta: { deletionTimestamp: 'x' } }), AFTER_TEN, {}],
    [
      'past the deadline for starting late',
      ran({ spec: { startingDeadlineSeconds: 1 } }),
      AFTER_TEN,
      { events: [], again: hourly },
    ],
    [
      'within the deadline for starting late',
      ran({ spec: { startingDeadlineSeconds: 200 } }),
      AFTER_TEN,
      started(),
    ],
    [
      'within the longest deadline for starting late',
      ran({ spec: { startingDeadlineSeconds: 9_223_372_036_854_775_807n as unknown as number } }),
      AFTER_TEN,
      started(),
    ],
    [
      'long overdue: the latest only',
      ran({ createdAt: TEN - 40 * HOUR, lastAt: TEN - 30 * HOUR }),
      AFTER_TEN,
      started(),
    ],
    [
      'overdue by more than a hundred times: a warning, and the latest',
      ran({ createdAt: TEN - 400 * HOUR, lastAt: TEN - 300 * HOUR }),
      AFTER_TEN,
      started(['TooManyMissedTimes']),
    ],
    [
      'the clock went back after it ran',
      ran({ lastAt: TEN }),
      TEN - 2 * MINUTE,
      { again: HOUR + 2 * MINUTE + 100 },
    ],
    ['its time was done already', ran({ lastAt: TEN }), AFTER_TEN, { again: hourly }],
    [
      'its Job is active already, though the last time says otherwise',
      ran({ status: { active: [activeOf(AT_TEN)] } }),
      AFTER_TEN,
      { again: hourly },
      { jobs: [ownJob({ name: AT_TEN })] },
    ],
    [
      'in its time zone',
      ran({ schedule: '0 12 * * *', spec: { timeZone: 'Europe/Berlin' }, lastAt: TEN - 24 * HOUR }),
      AFTER_TEN,
      { ...started(), again: 24 * HOUR - 5_000 + 100 },
    ],
    [
      'a time zone in the schedule: a warning',
      ran({ schedule: 'TZ=UTC 0 * * * *' }),
      AFTER_TEN,
      started(['UnsupportedSchedule']),
    ],
    [
      'at distances',
      ran({ schedule: '@every 1h', lastAt: TEN - HOUR + 5_000 }),
      AFTER_TEN,
      { ...started(), again: HOUR + 100 },
    ],
  ];
  for (const concurrencyPolicy of POLICIES) {
    for (const [name, facts, now, wanted, options] of table) {
      const { started: starts = false, events = [], again } = wanted;
      if (concurrencyPolicy !== 'Allow' && options !== undefined) continue;
      test(`${concurrencyPolicy}: ${name}`, () => {
        const spec = { ...facts.spec, concurrencyPolicy };
        const plan = cronPlan(cronOf({ ...facts, spec }), now, options);
        expect(plan.created.length).toBe(starts ? 1 : 0);
        expect(reasons(plan)).toEqual([...events]);
        expect(plan.again).toBe(again);
        expect(plan.error).toBeUndefined();
      });
    }
  }
});

describe('the Job that is started', () => {
  const plan = cronPlan(cronOf(ran({ spec: { timeZone: 'Asia/Kolkata' } })), TEN + 30 * MINUTE);

  test('is the template, and says when it was scheduled', () => {
    expect(plan.created).toEqual([
      {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: {
          name: 'tick-24394230',
          namespace: 'default',
          labels: { a: 'b' },
          annotations: {
            x: 'y',
            'batch.kubernetes.io/cronjob-scheduled-timestamp': '2016-05-19T16:00:00+05:30',
          },
          ownerReferences: [
            {
              apiVersion: 'batch/v1',
              kind: 'CronJob',
              name: 'tick',
              uid: 'uid-tick',
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        },
        spec: { template: { spec: { restartPolicy: 'Never', containers: [] } } },
      },
    ]);
  });

  test('lacks what only a newer API server knows of the template', () => {
    const template = newerTemplate({ spec: { restartPolicy: 'Never', containers: [] } });
    const fieldOfNextYear: object = { fieldOfNextYear: true };
    const jobTemplate = {
      metadata: { labels: { a: 'b' }, annotations: { x: 'y' } },
      spec: { template, ...fieldOfNextYear },
    };
    const spec = { timeZone: 'Asia/Kolkata', jobTemplate };
    const { created } = cronPlan(cronOf(ran({ spec })), TEN + 30 * MINUTE);
    expect(created[0]?.spec).toEqual({
      template: { metadata: {}, spec: { restartPolicy: 'Never', containers: [] } },
    });
  });

  test('is entered into the status', () => {
    expect(plan.status).toEqual({
      active: [{ ...activeOf('tick-24394230'), resourceVersion: '5' }],
      lastScheduleTime: '2016-05-19T10:30:00Z',
    });
  });

  test('is told of, with its delay', () => {
    const [event] = cronPlan(cronOf(ran()), TEN + 1_000).events;
    expect(event).toEqual({
      type: 'Normal',
      reason: 'SuccessfulCreate',
      message: `Created job ${AT_TEN}`,
    });
    expect(cronPlan(cronOf(ran()), TEN + 1_000).skews).toEqual([3]);
  });
});

describe('a Job that still runs', () => {
  const sync = (concurrencyPolicy: string, options: CronPlanOptions = {}): CronPlan => {
    const spec = { ...stillActive.spec, concurrencyPolicy };
    return cronPlan(cronOf({ ...stillActive, spec }), TEN + 1_000, { jobs: [running], ...options });
  };

  test('may run on beside the next', () => {
    const plan = sync('Allow');
    expect(plan.active).toEqual([AT_NINE, AT_TEN]);
    expect(plan.deleted).toEqual([]);
  });

  test('forbids the next', () => {
    const plan = sync('Forbid');
    expect(plan.created).toEqual([]);
    expect(plan.status).toBeUndefined();
    expect(plan.events).toEqual([
      {
        type: 'Normal',
        reason: 'JobAlreadyActive',
        message:
          'Not starting job because prior execution is running and concurrency policy is Forbid',
      },
    ]);
    expect(plan.again).toBe(HOUR - 1_000 + 100);
  });

  test('is replaced by the next', () => {
    const plan = sync('Replace');
    expect(plan.deleted).toEqual([AT_NINE]);
    expect(plan.active).toEqual([AT_TEN]);
    expect(reasons(plan)).toEqual(['SuccessfulDelete', 'SuccessfulCreate']);
    const order = plan.actions.map(({ kind }) => kind);
    expect(order.indexOf('deleteJob')).toBeLessThan(order.indexOf('createJob'));
  });

  test('that can’t be read or deleted is not replaced', () => {
    const getError = refusal(500, 'InternalError', 'etcd is away');
    const unread = sync('Replace', { getError });
    expect(unread.error).toBe(getError);
    expect(unread.events.at(-1)).toEqual({
      type: 'Warning',
      reason: 'FailedGet',
      message: 'Get job: etcd is away',
    });
    const undeleted = sync('Replace', { deleteError: refusal(403, 'Forbidden', 'no') });
    expect(String(undeleted.error)).toBe(`StepError: could not replace job default/${AT_NINE}`);
    expect(undeleted.created).toEqual([]);
    expect(undeleted.events).toEqual([
      { type: 'Warning', reason: 'FailedDelete', message: 'Deleted job: no' },
    ]);
    for (const plan of [unread, undeleted]) expect(plan.again).toBeUndefined();
  });
});

describe('a Job that can’t be created', () => {
  const exists = refusal(409, 'AlreadyExists');
  const job = (owner: string): Job => ownJob({ name: AT_TEN, owner });
  const sync = (facts: CronFacts, options: CronPlanOptions): CronPlan =>
    cronPlan(cronOf(ran(facts)), TEN + 1_000, options);

  test('is told of, and tried again', () => {
    const createError = refusal(403, 'Forbidden', 'exceeded quota');
    const plan = sync({}, { createError });
    expect(plan.error).toBe(createError);
    expect(plan.events).toEqual([
      { type: 'Warning', reason: 'FailedCreate', message: 'Error creating job: exceeded quota' },
    ]);
    expect(plan.status).toBeUndefined();
    expect(plan.again).toBeUndefined();
  });

  test('because its namespace goes is not told of', () => {
    const details = { causes: [{ reason: 'NamespaceTerminating' }] };
    const createError = new ApiError(403, 'x', { code: 403, reason: 'Forbidden', details });
    const plan = sync({}, { createError });
    expect(plan.error).toBe(createError);
    expect(plan.events).toEqual([]);
  });

  test('because it is there, ours, and not in the status: it is entered', () => {
    const plan = sync({}, { createError: exists, stored: [job('uid-tick')] });
    expect(plan.active).toEqual([AT_TEN]);
    expect(plan.status?.lastScheduleTime).toBe('2016-05-19T10:00:00Z');
    expect(plan.events).toEqual([]);
    expect(plan.skews).toEqual([]);
    expect(plan.again).toBe(HOUR - 1_000 + 100);
  });

  test('because somebody else’s is there: nothing more is done', () => {
    const plan = sync({}, { createError: exists, stored: [job('uid-other')] });
    expect(plan.status).toBeUndefined();
    expect(plan.again).toBeUndefined();
    expect(plan.error).toBeUndefined();
  });

  test('because it is there and can’t be read', () => {
    const getError = refusal(500, 'InternalError');
    expect(sync({}, { createError: exists, getError }).error).toBe(getError);
  });
});

describe('the list of active Jobs', () => {
  const active = (...names: readonly string[]): CronFacts => ({
    lastAt: TEN,
    status: { active: names.map(activeOf) },
  });
  const sync = (facts: CronFacts, options: CronPlanOptions): CronPlan =>
    cronPlan(cronOf(facts), TEN + MINUTE, options);

  test('loses Jobs that have ended', () => {
    for (const ended of ['Complete', 'Failed'] as const) {
      const plan = sync(active(AT_TEN), { jobs: [ownJob({ name: AT_TEN, ended })] });
      expect(plan.active).toEqual([]);
      expect(plan.events).toEqual([
        {
          type: 'Normal',
          reason: 'SawCompletedJob',
          message: `Saw completed job: ${AT_TEN}, condition: ${ended}`,
        },
      ]);
    }
  });

  test('loses Jobs that are gone, after a live look', () => {
    const plan = sync(active(AT_TEN), {});
    expect(plan.active).toEqual([]);
    expect(plan.events).toEqual([
      { type: 'Normal', reason: 'MissingJob', message: `Active job went missing: ${AT_TEN}` },
    ]);
    const lagging = sync(active(AT_TEN), { stored: [ownJob({ name: AT_TEN })] });
    expect(lagging.status).toBeUndefined();
    expect(lagging.events).toEqual([]);
  });

  test('stays as it is if that look fails', () => {
    const getError = refusal(500, 'InternalError');
    const plan = sync(active(AT_TEN), { getError });
    expect(plan.error).toBe(getError);
    expect(plan.status).toBeUndefined();
  });

  test('does not get Jobs that it never had', () => {
    const plan = sync({ lastAt: TEN }, { jobs: [ownJob({ name: AT_TEN })] });
    expect(plan.status).toBeUndefined();
    expect(plan.events).toEqual([
      {
        type: 'Warning',
        reason: 'UnexpectedJob',
        message: `Saw a job that the controller did not create or forgot: ${AT_TEN}`,
      },
    ]);
  });

  test('may be newer on the server than in the cache', () => {
    const stored = cronOf(active(AT_TEN, AT_NINE));
    const plan = sync(
      { lastAt: TEN - HOUR, status: { active: [activeOf(AT_NINE)] } },
      {
        jobs: [
          ownJob({ name: AT_NINE, ended: 'Complete', endedAt: TEN }),
          ownJob({ name: AT_TEN }),
        ],
        storedCronJob: { ...stored, metadata: { ...stored.metadata, resourceVersion: '9' } },
      },
    );
    expect(plan.created).toEqual([]);
    expect(plan.active).toEqual([AT_TEN]);
    expect(plan.status?.lastScheduleTime).toBe('2016-05-19T10:00:00Z');
    const [write] = plan.actions.filter(({ kind }) => kind === 'writeStatus');
    expect(write).toMatchObject({ cronJob: { metadata: { resourceVersion: '9' } } });
  });
});

describe('the last success', () => {
  const sync = (endedAt: number | undefined, before?: string) =>
    cronPlan(
      cronOf({ lastAt: TEN, status: before === undefined ? {} : { lastSuccessfulTime: before } }),
      TEN + MINUTE,
      { jobs: [ownJob({ name: AT_TEN, ended: 'Complete', endedAt })] },
    ).status?.lastSuccessfulTime;

  test('is the newest completion', () => {
    expect(sync(TEN)).toBe('2016-05-19T10:00:00Z');
    expect(sync(TEN, '2016-05-19T09:00:00Z')).toBe('2016-05-19T10:00:00Z');
    expect(sync(TEN, '2016-05-19T10:00:00Z')).toBeUndefined();
    expect(sync(TEN, '2016-05-19T11:00:00Z')).toBeUndefined();
    expect(sync(undefined)).toBeUndefined();
  });
});

describe('the history', () => {
  const ended = (name: string, kind: 'Complete' | 'Failed', startedAt?: number): Job =>
    ownJob({ name, ended: kind, startedAt });
  const jobs = [
    ended('c', 'Complete', TEN - 3 * HOUR),
    ended('a', 'Complete', TEN - 5 * HOUR),
    ended('b', 'Complete', TEN - 5 * HOUR),
    ended('never', 'Complete'),
    ended('f2', 'Failed', TEN - HOUR),
    ended('f1', 'Failed', TEN - 2 * HOUR),
    ownJob({ name: AT_TEN }),
  ];
  const sync = (successful?: number, failed?: number, options: CronPlanOptions = {}): CronPlan => {
    const limits = { successfulJobsHistoryLimit: successful, failedJobsHistoryLimit: failed };
    const status = { active: [activeOf(AT_TEN), activeOf('a')] };
    return cronPlan(cronOf({ lastAt: TEN, spec: limits, status }), TEN + MINUTE, {
      jobs,
      ...options,
    });
  };

  test('keeps as many as the limits say, the oldest start goes first', () => {
    expect(sync(3, 1).deleted).toEqual(['a', 'f1']);
    expect(sync(1, 2).deleted).toEqual(['a', 'b', 'c']);
    expect(sync(0, 0).deleted).toEqual(['a', 'b', 'c', 'never', 'f1', 'f2']);
    expect(sync(9, 9).deleted).toEqual([]);
  });

  test('keeps all without limits', () => {
    expect(sync().deleted).toEqual([]);
    expect(sync(undefined, 1).deleted).toEqual(['f1']);
  });

  test('takes those that go off the active ones', () => {
    expect(sync(3, 9).active).toEqual([AT_TEN]);
    expect(sync(3, 9).events[0]).toEqual({
      type: 'Normal',
      reason: 'SuccessfulDelete',
      message: 'Deleted job a',
    });
  });

  test('a Job that can’t be deleted stops nothing', () => {
    const plan = sync(3, 1, { deleteError: refusal(403, 'Forbidden', 'no') });
    expect(reasons(plan).filter((reason) => reason === 'FailedDelete')).toHaveLength(2);
    expect(plan.error).toBeUndefined();
    expect(plan.again).toBeDefined();
  });

  test('also of a suspended CronJob, and of one that is being deleted', () => {
    const deletionTimestamp = '2016-05-19T10:00:00Z';
    for (const facts of [{ spec: { suspend: true } }, { meta: { deletionTimestamp } }]) {
      expect(cronPlan(cronOf({ ...facts, lastAt: TEN }), NOON, { jobs }).deleted).toEqual([
        'a',
        'f1',
      ]);
    }
  });
});

describe('a bad spec is told of, and not looked at again', () => {
  const table: readonly [string, CronFacts, string, string][] = [
    [
      'a schedule',
      { schedule: 'obvious error schedule' },
      'UnparseableSchedule',
      'unparseable schedule: "obvious error schedule" : ' +
        'expected exactly 5 fields, found 3: [obvious error schedule]',
    ],
    [
      'a time zone',
      { spec: { timeZone: 'bad "zone"' } },
      'UnknownTimeZone',
      'invalid timeZone: "bad \\"zone\\"": unknown time zone bad "zone"',
    ],
    [
      'a schedule that never comes',
      { schedule: '59 23 31 2 *' },
      'InvalidSchedule',
      'invalid schedule: 59 23 31 2 * : ' +
        'time difference between two schedules is less than 1 second',
    ],
  ];
  for (const [name, facts, reason, message] of table) {
    test(name, () => {
      const plan = cronPlan(cronOf(ran(facts)), NOON);
      expect(plan.events).toEqual([{ type: 'Warning', reason, message }]);
      expect(plan.again).toBeUndefined();
      expect(plan.created).toEqual([]);
      expect(plan.error).toBeUndefined();
    });
  }
});

test('a time that was missed is told of in UTC', () => {
  expect(missedSchedule(TEN)).toEqual({
    type: 'Warning',
    reason: 'MissSchedule',
    message: 'Missed scheduled time to start a job: Thu, 19 May 2016 10:00:00 +0000',
  });
});

describe('what fails', () => {
  test('does not keep the status from being written', () => {
    const createError = refusal(403, 'Forbidden', 'no');
    const facts = ran({ status: { active: [activeOf(AT_NINE)] } });
    const jobs = [ownJob({ name: AT_NINE, ended: 'Complete', endedAt: TEN })];
    const plan = cronPlan(cronOf(facts), TEN + 1_000, { jobs, createError });
    expect(plan.active).toEqual([]);
    expect(plan.error).toBe(createError);
  });

  test('to write the status is tried again at once', () => {
    const statusError = refusal(409, 'Conflict');
    const plan = cronPlan(cronOf(ran()), TEN + 1_000, { statusError });
    expect(plan.error).toBe(statusError);
    expect(plan.again).toBeUndefined();
  });
});
