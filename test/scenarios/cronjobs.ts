/**
 * What users do with CronJobs. Nobody waits for a full minute here: a CronJob of a yearly schedule
 * is told that it ran last a long time ago, so that a time is due at once, and no other for weeks.
 */
import type { Obj } from '../rig/index.ts';
import { type Fields, type Scenario, template, type World } from './world.ts';

const KIND = 'cronjobs';
const SIM = 'sim.holdfast.dev/';
const YEARLY = '0 0 1 1 *';
const LONG_AGO = '2020-06-01T00:00:00Z';

function pods(behaviour: string): Fields {
  return template('1', {
    restartPolicy: 'Never',
    annotations: { [`${SIM}behaviour`]: behaviour },
  });
}

/** A suspended CronJob whose Jobs' pods behave like this. */
function cronJob(behaviour: string, spec: Fields = {}): Fields {
  const jobTemplate = {
    metadata: { labels: { made: 'by-tick' }, annotations: { note: 'x' } },
    spec: { backoffLimit: 0, template: pods(behaviour) },
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'tick' },
    spec: { schedule: YEARLY, suspend: true, jobTemplate, ...spec },
  };
}

/** Creates a CronJob that ran last long ago, and lets it run. */
async function release(world: World, cron: Fields, last = LONG_AGO): Promise<void> {
  await world.create(cron);
  await ranLast(world, last);
  await world.merge(KIND, 'tick', { spec: { suspend: false } });
}

async function ranLast(world: World, lastScheduleTime: string): Promise<void> {
  await world.api.patchStatus(KIND, world.namespace, 'tick', { lastScheduleTime });
}

/** Makes a second time due: that of another schedule. */
async function nextDue(world: World, schedule: string): Promise<void> {
  await world.merge(KIND, 'tick', { spec: { suspend: true, schedule } });
  await ranLast(world, LONG_AGO);
  await world.merge(KIND, 'tick', { spec: { suspend: false } });
}

function jobs(world: World, count: number): Promise<Obj[]> {
  const steady = (all: Obj[]): boolean =>
    all.length === count && all.every(({ metadata }) => !metadata.deletionTimestamp);
  return world.untilList('jobs', steady, `${count} jobs`);
}

/** Waits until so many Jobs are active, and the CronJob knows when it ran. */
function active(world: World, count: number): Promise<Obj> {
  return world.until(
    KIND,
    'tick',
    ({ status }) =>
      (status?.active ?? []).length === count && status?.lastScheduleTime !== LONG_AGO,
  );
}

async function event(world: World, reason: string): Promise<void> {
  await world.untilList(
    'events',
    (events) => events.some((one) => one.reason === reason),
    `an event ${reason}`,
  );
}

async function endedJobs(world: World, count: number): Promise<void> {
  await world.untilList(
    'jobs',
    (all) =>
      all.length === count &&
      all.every(({ status }) =>
        (status?.conditions ?? []).some(
          ({ type }: Fields) => type === 'Complete' || type === 'Failed',
        ),
      ),
    `${count} ended jobs`,
  );
}

/** A second time comes while the first Job runs. */
function overlapping(
  concurrencyPolicy: string,
  check: (world: World) => Promise<unknown>,
): Scenario {
  return {
    name: `cronjobs: a time comes while a Job runs: ${concurrencyPolicy}`,
    async play(world) {
      await release(world, cronJob('run', { concurrencyPolicy }));
      await active(world, 1);
      await nextDue(world, '0 0 1 2 *');
      await check(world);
    },
  };
}

export const CRONJOBS: readonly Scenario[] = [
  {
    name: 'cronjobs: the Job that is due runs to its end',
    async play(world) {
      await release(world, cronJob('finish'));
      await active(world, 0);
      await world.until(KIND, 'tick', ({ status }) => status?.lastSuccessfulTime !== undefined);
    },
  },
  {
    name: 'cronjobs: a Job that runs is active',
    async play(world) {
      await release(world, cronJob('run'));
      await active(world, 1);
    },
  },
  {
    name: 'cronjobs: a Job that fails',
    async play(world) {
      await release(world, cronJob('fail'));
      await endedJobs(world, 1);
      await active(world, 0);
    },
  },
  {
    name: 'cronjobs: in a time zone of half hours',
    async play(world) {
      await release(world, cronJob('run', { timeZone: 'Asia/Kolkata' }));
      await active(world, 1);
    },
  },
  {
    name: 'cronjobs: far more times were missed than anybody wants',
    async play(world) {
      await release(world, cronJob('run', { schedule: '0 0 * * *' }));
      await active(world, 1);
      await event(world, 'TooManyMissedTimes');
    },
  },
  {
    name: 'cronjobs: too late by the deadline for starting',
    async play(world) {
      await release(world, cronJob('run', { startingDeadlineSeconds: 60 }));
      await world.merge(KIND, 'tick', { metadata: { annotations: { look: 'again' } } });
    },
  },
  {
    name: 'cronjobs: suspended',
    async play(world) {
      await world.create(cronJob('run'));
      await ranLast(world, LONG_AGO);
      await world.merge(KIND, 'tick', { metadata: { annotations: { look: 'again' } } });
    },
  },
  overlapping('Forbid', (world) => event(world, 'JobAlreadyActive')),
  overlapping('Allow', async (world) => {
    await jobs(world, 2);
    await active(world, 2);
  }),
  overlapping('Replace', async (world) => {
    await event(world, 'SuccessfulDelete');
    await jobs(world, 1);
    await active(world, 1);
  }),
  {
    name: 'cronjobs: no history is kept',
    // KCM may find its own status stale and the Job, which it deleted, missing in it.
    raced: ['MissingJob'],
    async play(world) {
      await release(world, cronJob('finish', { successfulJobsHistoryLimit: 0 }));
      await event(world, 'SuccessfulDelete');
      await jobs(world, 0);
      await active(world, 0);
      await world.until(KIND, 'tick', ({ status }) => status?.lastSuccessfulTime !== undefined);
    },
  },
  {
    name: 'cronjobs: an active Job is deleted by somebody',
    async play(world) {
      await release(world, cronJob('run'));
      await active(world, 1);
      const [job] = await jobs(world, 1);
      await world.api.remove('jobs', world.namespace, job?.metadata.name ?? '', {
        propagationPolicy: 'Background',
      });
      await event(world, 'MissingJob');
      await active(world, 0);
    },
  },
  {
    name: 'cronjobs: somebody starts a Job by hand',
    async play(world) {
      const cron = await world.create(cronJob('run'));
      const { jobTemplate } = cron.spec;
      const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'tick', controller: true };
      const ownerReferences = [{ ...owner, uid: cron.metadata.uid }];
      await world.create({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'by-hand', ownerReferences },
        spec: jobTemplate.spec,
      });
      await event(world, 'UnexpectedJob');
    },
  },
  {
    name: 'cronjobs: the name of its Job is taken',
    async play(world) {
      const minutes = Date.parse(`${new Date().getUTCFullYear()}-01-01T00:00:00Z`) / 60_000;
      await world.create({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: `tick-${minutes}` },
        spec: { template: pods('run') },
      });
      await release(world, cronJob('run'));
    },
  },
  {
    name: 'cronjobs: no Job can be created',
    async play(world) {
      const hard = { 'count/jobs.batch': '0' };
      const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none' } };
      await world.create({ ...quota, spec: { hard } });
      const used = { 'count/jobs.batch': '0' };
      await world.api.patchStatus('resourcequotas', world.namespace, 'none', { hard, used });
      await release(world, cronJob('run'));
      await event(world, 'FailedCreate');
    },
  },
  {
    name: 'cronjobs: a schedule that never comes',
    async play(world) {
      await world.create(cronJob('run', { schedule: '0 0 31 2 *', suspend: false }));
      await event(world, 'InvalidSchedule');
    },
  },
  {
    name: 'cronjobs: every second, once in a minute',
    async play(world) {
      // Names are of minutes: the second Job of one would be the first again.
      const ms = Date.now() % 60_000;
      if (ms > 40_000) await Bun.sleep(60_000 - ms);
      await world.create(cronJob('run', { schedule: '@every 1s', suspend: false }));
      await active(world, 1);
      await world.merge(KIND, 'tick', { spec: { suspend: true } });
    },
  },
];
