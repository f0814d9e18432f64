import { describe, expect, test } from 'bun:test';
import { JOBS } from '../../api/resource.ts';
import { timeText } from '../../api/time.ts';
import type { Job } from '../../api/types/index.ts';
import type { JobRecord } from '../../runtime/informer/types.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun, refusal } from '../_kit/testing/fake-run.ts';
import { decide } from './decide.ts';
import { ttlAfterFinishedController } from './index.ts';

const NOW = Date.parse('2026-05-20T12:00:00Z');
const DURATIONS = 'ttl_after_finished_controller_job_deletion_duration_seconds';

interface Facts {
  readonly ttl?: number;
  /** Seconds before NOW; undefined: it runs. */
  readonly finishedAgo?: number;
  readonly type?: string;
  readonly uid?: string;
  readonly deleting?: boolean;
  readonly silent?: boolean;
}

function jobOf({ ttl, finishedAgo, type = 'Complete', uid = 'u', ...more }: Facts): Job {
  const at = finishedAgo === undefined ? undefined : timeText(NOW - finishedAgo * 1_000);
  const lastTransitionTime = more.silent ? undefined : at;
  const ended = { type, status: 'True', lastTransitionTime };
  const conditions = [{ type: 'SuccessCriteriaMet', status: 'True' }, ...(at ? [ended] : [])];
  const deletionTimestamp = more.deleting ? timeText(NOW) : undefined;
  return {
    metadata: { name: 'j', namespace: 'ns', uid, resourceVersion: '1', deletionTimestamp },
    spec: { template: {}, ttlSecondsAfterFinished: ttl },
    status: { conditions },
  };
}

describe('decide', () => {
  test.each([
    ['no TTL', { finishedAgo: 5 }],
    ['it runs', { ttl: 0 }],
    ['suspended is no end', { ttl: 0, finishedAgo: 5, type: 'Suspended' }],
    ['it is being deleted', { ttl: 0, finishedAgo: 5, deleting: true }],
  ] as const)('nothing: %s', (_, facts) => {
    expect(decide(jobOf(facts), NOW)).toEqual({ do: 'nothing' });
  });

  test.each(['Complete', 'Failed'])('a Job that is %s waits for the rest of its time', (type) => {
    expect(decide(jobOf({ ttl: 60, finishedAgo: 20, type }), NOW)).toEqual({
      do: 'wait',
      waitMs: 40_000,
      because: 'finished at 2026-05-20T11:59:40Z, to be kept for 60 s',
    });
  });

  test('it goes at the end of its time, also at once', () => {
    for (const facts of [
      { ttl: 20, finishedAgo: 20 },
      { ttl: 0, finishedAgo: 20 },
    ]) {
      expect(decide(jobOf(facts), NOW)).toMatchObject({ do: 'delete' });
    }
    expect(decide(jobOf({ ttl: 5, finishedAgo: 20 }), NOW)).toMatchObject({
      expiredAt: NOW - 15_000,
    });
  });

  test('one that finished in the future waits longer', () => {
    const decision = decide(jobOf({ ttl: 10, finishedAgo: -30 }), NOW);
    expect(decision).toMatchObject({ do: 'wait', waitMs: 40_000 });
  });

  test('one that does not say when it finished is a problem', () => {
    const decision = decide(jobOf({ ttl: 0, finishedAgo: 1, silent: true }), NOW);
    const problem = 'unable to find the time when the Job ns/j finished';
    expect(decision).toEqual({ do: 'complain', problem });
  });
});

function setUp(cached: Job | undefined, live: Job | undefined = cached) {
  const flags = { 'concurrent-ttl-after-finished-syncs': 5 };
  const { context, informers, queues, lines } = fakeContext({ now: NOW, flags });
  const { queues: definitions } = ttlAfterFinishedController.build(context)!;
  const jobs = informers.of<Job, JobRecord>(JOBS);
  if (cached !== undefined) jobs.put(cached);
  const run = new FakeRun(NOW);
  if (live !== undefined) run.live(JOBS, live);
  const sync = () => definitions[0]!.reconcile('ns/j', run);
  const queue = queues.get('ttl_jobs_to_delete')!;
  return { jobs, queue, run, sync, lines, metrics: context.metrics };
}

describe('the controller', () => {
  test('looks at Jobs that have finished, not at others', () => {
    const { jobs, queue } = setUp(jobOf({ ttl: 1 }));
    expect(queue.drain()).toEqual([]);
    jobs.put(jobOf({ ttl: 1, finishedAgo: 5 }));
    expect(queue.drain()).toEqual(['ns/j']);
    jobs.put(jobOf({ ttl: 1, finishedAgo: 5, deleting: true }));
    expect(queue.drain()).toEqual([]);
  });

  test('deletes with its UID, pods first, and measures how late', async () => {
    const { run, sync, metrics } = setUp(jobOf({ ttl: 5, finishedAgo: 20 }));
    await sync();
    expect(run.reads).toEqual(['jobs.batch ns/j']);
    expect(run.writes).toMatchObject([
      {
        verb: 'delete',
        resource: 'jobs.batch',
        key: 'ns/j',
        uid: 'u',
        because: 'finished at 2026-05-20T11:59:40Z, to be kept for 5 s',
      },
    ]);
    const text = await metrics.registry.getSingleMetricAsString(DURATIONS);
    expect(text).toContain('_sum 15');
  });

  test('asks nothing of the server as long as the cache says wait', async () => {
    const { run, sync } = setUp(jobOf({ ttl: 60, finishedAgo: 20 }));
    await sync();
    expect(run.reads).toEqual([]);
    expect(run.wishes).toMatchObject([{ delayMs: 40_000 }]);
  });

  test('warns of a finish in the future only if it is to delete the Job', async () => {
    const kept = setUp(jobOf({ finishedAgo: -30 }));
    await kept.sync();
    expect(kept.lines).toEqual([]);
    const late = setUp(jobOf({ ttl: 10, finishedAgo: -30 }));
    await late.sync();
    expect(late.lines).toHaveLength(1);
  });

  test('believes the server if the TTL was raised meanwhile', async () => {
    const { run, sync } = setUp(
      jobOf({ ttl: 5, finishedAgo: 20 }),
      jobOf({ ttl: 50, finishedAgo: 20 }),
    );
    await sync();
    expect(run.writes).toEqual([]);
    expect(run.wishes).toMatchObject([{ delayMs: 30_000 }]);
  });

  test('is content if the Job is gone already, before or after the look', async () => {
    const gone = setUp(jobOf({ ttl: 5, finishedAgo: 20 }));
    gone.run.failNext('get', refusal(404, 'NotFound'));
    await gone.sync();
    expect(gone.run.writes).toEqual([]);
    const late = setUp(jobOf({ ttl: 5, finishedAgo: 20 }));
    late.run.failNext('delete', refusal(404, 'NotFound'));
    await late.sync();
    const measured = await late.metrics.registry.getSingleMetricAsString(DURATIONS);
    expect(measured).toContain('_count 0');
    await setUp(undefined).sync();
  });

  test('lets every other answer bring the Job back', async () => {
    const { run, sync } = setUp(jobOf({ ttl: 5, finishedAgo: 20 }));
    run.failNext('delete', refusal(409, 'Conflict'));
    await expect(sync()).rejects.toThrow('Conflict');
    const silent = setUp(jobOf({ ttl: 5, finishedAgo: 20, silent: true }));
    await expect(silent.sync()).rejects.toThrow('unable to find the time');
  });
});
