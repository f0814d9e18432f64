import { beforeEach, describe, expect, test } from 'bun:test';
import { CRON_JOBS, JOBS } from '../../api/resource.ts';
import type { CronJob, Job } from '../../api/types/index.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import type { FakeQueue } from '../_kit/testing/fake-ports.ts';
import { FakeRun } from '../_kit/testing/fake-run.ts';
import { cronJobController } from './index.ts';
import { activeOf, cronOf, HOUR, ownJob, TEN } from './testing/build.ts';

const KEY = 'default/tick';

function setUp(now = TEN + 1_000) {
  const fakes = fakeContext({ now, flags: { 'concurrent-cron-job-syncs': 5 } });
  const [definition] = cronJobController.build(fakes.context)?.queues ?? [];
  if (definition === undefined) throw new Error('a queue is needed');
  const run = new FakeRun(now);
  return {
    ...fakes,
    run,
    definition,
    queue: definition.queue as FakeQueue,
    cronJobs: fakes.informers.of<CronJob>(CRON_JOBS),
    jobs: fakes.informers.of<Job>(JOBS),
    sync: () => definition.reconcile(KEY, run),
  };
}

let world: ReturnType<typeof setUp>;

beforeEach(() => {
  world = setUp();
});

test('the passport', () => {
  expect(cronJobController).toMatchObject({
    name: 'cronjob-controller',
    aliases: ['cronjob'],
    gates: [],
    enabledByDefault: true,
    flags: ['concurrent-cron-job-syncs'],
  });
  expect([world.queue.name, world.definition.workers]).toEqual(['cronjob', 5]);
});

describe('a sync', () => {
  test('starts a Job, writes the status, and asks for the next time', async () => {
    world.cronJobs.put(cronOf({ lastAt: TEN - HOUR }));
    await world.sync();
    expect(world.run.writes).toMatchObject([
      {
        verb: 'create',
        resource: 'jobs.batch',
        key: 'default/tick-24394200',
        because: 'scheduled for 2016-05-19T10:00:00Z',
      },
      {
        verb: 'update',
        resource: 'cronjobs.batch/status',
        key: KEY,
        because: 'started tick-24394200 for 2016-05-19T10:00:00Z',
        body: { status: { lastScheduleTime: '2016-05-19T10:00:00Z' } },
        guard: { ownerKey: KEY, ownerUid: 'uid-tick' },
      },
    ]);
    expect(world.run.wishes).toEqual([
      {
        delayMs: HOUR - 1_000 + 100,
        because: 'the next scheduled time is 2016-05-19T11:00:00Z',
      },
    ]);
    expect(world.events.events).toMatchObject([
      { about: { kind: 'CronJob', name: 'tick' }, reason: 'SuccessfulCreate' },
    ]);
  });

  test('deletes with its UID, and its pods in the background', async () => {
    world.cronJobs.put(cronOf({ lastAt: TEN, spec: { successfulJobsHistoryLimit: 0 } }));
    world.jobs.put(ownJob({ ended: 'Complete' }));
    await world.sync();
    expect(world.run.writes[0]).toMatchObject({
      verb: 'delete',
      key: 'default/tick-1',
      uid: 'uid-tick-1',
      because: '1 successful Jobs, 0 are kept: the oldest go',
    });
  });

  test('looks only at Jobs of its namespace that its name controls', async () => {
    world.cronJobs.put(cronOf({ lastAt: TEN, spec: { successfulJobsHistoryLimit: 0 } }));
    const own = ownJob({ ended: 'Complete' });
    const [owner] = own.metadata.ownerReferences ?? [];
    const other = { ...owner, name: 'other' } as typeof owner;
    world.jobs.put(
      { ...own, metadata: { ...own.metadata, name: 'x', namespace: 'else' } },
      { ...own, metadata: { ...own.metadata, name: 'y', ownerReferences: [other] as never } },
      { ...own, metadata: { ...own.metadata, name: 'z', ownerReferences: [] } },
    );
    await world.sync();
    expect(world.run.writes).toEqual([]);
  });

  test('waits for the caches to see what it wrote', async () => {
    world.cronJobs.put(cronOf({ lastAt: TEN - HOUR }));
    world.behind.add(KEY);
    await world.sync();
    expect(world.run.writes).toEqual([]);
    expect(world.run.wishes).toMatchObject([{ delayMs: 1_000 }]);
  });

  test('of a CronJob that is gone does nothing, and forgets what was written for it', async () => {
    await world.sync();
    expect(world.run.writes).toEqual([]);
    const asked: string[][] = [];
    const caughtUp = (...about: string[]) => asked.push(about) > 0;
    const built = cronJobController.build({ ...world.context, caughtUp });
    await built?.queues[0]?.reconcile(KEY, world.run);
    expect(asked).toEqual([[KEY, '']]);
  });

  test('reads live what the cache may not know yet', async () => {
    world.cronJobs.put(cronOf({ lastAt: TEN, status: { active: [activeOf('tick-1')] } }));
    world.run.live(JOBS, ownJob());
    await world.sync();
    expect(world.run.reads).toEqual(['jobs.batch default/tick-1']);
    expect(world.run.writes).toEqual([]);
  });

  test('measures the delay of its Jobs', async () => {
    world.cronJobs.put(cronOf({ lastAt: TEN - HOUR }));
    await world.sync();
    const text = await world.context.metrics.registry.metrics();
    const name = 'cronjob_controller_job_creation_skew_duration_seconds';
    expect(text).toContain(`${name}_count 1`);
    expect(text.match(new RegExp(`${name}_bucket`, 'g'))).toHaveLength(11);
  });
});

describe('triggers', () => {
  const changed = (facts: Parameters<typeof cronOf>[0]): CronJob => {
    const cronJob = cronOf(facts);
    return { ...cronJob, metadata: { ...cronJob.metadata, resourceVersion: '8' } };
  };

  beforeEach(() => {
    world.cronJobs.put(cronOf({ lastAt: TEN }));
    world.queue.drain();
  });

  test('any change queues at once', () => {
    world.cronJobs.put(changed({ lastAt: TEN, spec: { suspend: true } }));
    expect(world.queue.drain()).toEqual([KEY]);
    world.cronJobs.remove(cronOf());
    expect(world.queue.drain()).toEqual([KEY]);
  });

  test('a new schedule or time zone queues for its next time', () => {
    world.cronJobs.put(changed({ schedule: '30 * * * *', lastAt: TEN }));
    world.cronJobs.put(
      changed({ schedule: '30 * * * *', lastAt: TEN, spec: { timeZone: 'Asia/Kolkata' } }),
    );
    expect(world.queue.drain()).toEqual([]);
    expect(world.queue.later.map(({ key, delayMs }) => [key, delayMs])).toEqual([
      [KEY, HOUR / 2 - 1_000 + 100],
      [KEY, HOUR - 1_000 + 100],
    ]);
  });

  test('a schedule that nobody can read is told of and not queued', () => {
    world.cronJobs.put(changed({ schedule: 'now', lastAt: TEN }));
    expect(world.queue.drain()).toEqual([]);
    expect(world.queue.later).toEqual([]);
    expect(world.events.events).toMatchObject([
      {
        type: 'Warning',
        reason: 'UnParseableCronJobSchedule',
        message: 'unparseable schedule for cronjob: now',
        about: { kind: 'CronJob', name: 'tick' },
      },
    ]);
  });

  test('Jobs queue the CronJob that controls them', () => {
    world.jobs.put(ownJob());
    expect(world.queue.drain()).toEqual([KEY]);
    const job = ownJob({ ended: 'Complete' });
    world.jobs.put({ ...job, metadata: { ...job.metadata, resourceVersion: '4' } });
    expect(world.queue.drain()).toEqual([KEY]);
    world.jobs.remove(job);
    expect(world.queue.drain()).toEqual([KEY]);
    world.jobs.put(ownJob({ owner: 'uid-before' }));
    expect(world.queue.drain()).toEqual([]);
  });

  test('a Job that changes hands queues the CronJob it leaves', () => {
    world.jobs.put(ownJob());
    world.queue.drain();
    const job = ownJob();
    world.jobs.put({
      ...job,
      metadata: { ...job.metadata, resourceVersion: '4', ownerReferences: [] },
    });
    expect(world.queue.drain()).toEqual([KEY]);
  });

  test('a CronJob whose object the disk lost is queued', () => {
    world.cronJobs.lose(cronOf());
    world.jobs.put(ownJob());
    expect(world.queue.drain()).toEqual([KEY]);
  });
});
