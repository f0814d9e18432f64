import { describe, expect, test } from 'bun:test';
import { ApiError, FencedError } from '../../api/errors.ts';
import type { Job } from '../../api/types/index.ts';
import { refusal } from '../_kit/testing/fake-run.ts';
import { jobController } from './index.ts';
import { jobOf, LABELS, NOW, podOf, podsOf } from './testing/build.ts';
import { KEY, setUp } from './testing/set-up.ts';

const FINALIZER = 'batch.kubernetes.io/job-tracking';
const REMOVAL = { '$deleteFromPrimitiveList/finalizers': [FINALIZER] };

function finished(type = 'Complete'): Job {
  return jobOf({ status: { conditions: [{ type, status: 'True' }] } });
}

test('the passport', () => {
  expect(jobController).toMatchObject({
    name: 'job-controller',
    aliases: ['job'],
    gates: [],
    enabledByDefault: true,
    flags: ['concurrent-job-syncs'],
  });
  const { queue, orphans, syncs } = setUp(undefined);
  expect([queue.name, orphans.name]).toEqual(['job', 'job_orphan_pod']);
  expect([syncs.workers, syncs.retriesMax]).toEqual([5, undefined]);
});

describe('a sync', () => {
  test('creates pods with the finalizer, expects them, and writes the status', async () => {
    const { sync, podControl, expectations, statuses } = setUp(jobOf());
    await sync();
    expect(podControl.created).toHaveLength(2);
    expect(podControl.created[0]).toMatchObject({
      namespace: 'default',
      owner: { apiVersion: 'batch/v1', kind: 'Job', name: 'pi', uid: 'uid-pi' },
      generateName: 'pi-',
      slot: 'pod',
      template: { metadata: { labels: LABELS, finalizers: [FINALIZER] } },
    });
    expect(podControl.created[0]?.ofSlot?.(podOf())).toBe(true);
    expect(expectations.awaited(KEY)).toEqual({ adds: 2, deletes: [] });
    expect(statuses()).toHaveLength(1);
    expect(statuses()[0]).toMatchObject({
      guard: { ownerKey: KEY, ownerUid: 'uid-pi' },
      because: '2 active, 0 ready, 0 terminating, 0 succeeded, 0 failed; 0 ended pods to release',
    });
  });

  test('knows the pod of an index by its annotation', async () => {
    const { sync, podControl } = setUp(
      jobOf({ spec: { completionMode: 'Indexed', completions: 2, parallelism: 2 } }),
    );
    await sync();
    const pods = [podOf({ index: 1 }), podOf({ index: 0 }), podOf()];
    expect(podControl.created.map(({ slot }) => slot)).toEqual(['0', '1']);
    expect(pods.map((pod) => podControl.created[1]?.ofSlot?.(pod))).toEqual([true, false, false]);
  });

  test('expects no pod that was not created', async () => {
    const { sync, podControl, expectations, statuses } = setUp(jobOf());
    const error = refusal(403, 'Forbidden');
    podControl.nextResult = { done: 1, notDone: [''], failed: 1, error };
    await expect(sync()).rejects.toBe(error);
    expect(expectations.awaited(KEY).adds).toBe(1);
    expect(statuses()[0]?.body).toMatchObject({ status: { active: 1 } });
  });

  test('a pod that a namespace on its way out refuses is awaited, active, and counted nowhere', async () => {
    const { sync, context, podControl, expectations, statuses } = setUp(jobOf());
    podControl.nextResult = { done: 2, notDone: [], refused: 1 };
    await sync();
    expect(expectations.awaited(KEY).adds).toBe(2);
    expect(statuses()[0]?.body).toMatchObject({ status: { active: 2 } });
    const text = await context.metrics.registry.metrics();
    expect(text).toContain('job_pods_creation_total{reason="new",status="succeeded"} 1\n');
    expect(text).not.toContain('job_pods_creation_total{reason="new",status="failed"}');
  });

  test('takes the finalizer off surplus pods, then deletes them and expects them to go', async () => {
    const { sync, podControl, expectations, patches } = setUp(jobOf(), podsOf(3, 'run'));
    await sync();
    const metadata = { uid: 'uid-pi-run-0', resourceVersion: expect.any(String), ...REMOVAL };
    expect(patches()).toMatchObject([{ key: 'default/pi-run-0', body: { metadata } }]);
    expect(podControl.deleted.map(({ record }) => record.key)).toEqual(['default/pi-run-0']);
    expect(expectations.awaited(KEY).deletes).toEqual(['default/pi-run-0']);
  });

  test('deletes no pod that keeps its finalizer', async () => {
    const { sync, run, podControl, expectations } = setUp(jobOf(), podsOf(3, 'run'));
    const error = refusal(500, 'InternalError');
    run.failNext('patch', error);
    await expect(sync()).rejects.toBe(error);
    expect(podControl.deleted).toEqual([]);
    expect(expectations.awaited(KEY).deletes).toEqual([]);
  });

  test('a surplus pod that is gone is no error', async () => {
    const { sync, run, expectations, statuses } = setUp(jobOf(), podsOf(3, 'run'));
    run.failNext('patch', refusal(404, 'NotFound'));
    await sync();
    expect(expectations.awaited(KEY).deletes).toEqual([]);
    expect(statuses()[0]?.body).toMatchObject({ status: { active: 2, terminating: 1 } });
  });

  test('of a Job that goes meanwhile leaves nothing behind', async () => {
    const world = setUp(jobOf(), podsOf(1, 'done', { phase: 'Succeeded' }));
    const update = world.run.update.bind(world.run);
    world.run.update = (async (...call: Parameters<typeof update>) => {
      world.jobs.remove(jobOf());
      return await update(...call);
    }) as typeof world.run.update;
    await world.sync();
    expect(world.patches()).toHaveLength(1);
    expect(world.memory.all()).toEqual([]);
  });

  test('waits until the caches have seen its last writes', async () => {
    const { sync, behind, run } = setUp(jobOf());
    behind.add(KEY);
    await expect(sync()).rejects.toThrow('have not reached the last write');
    expect(run.writes).toEqual([]);
  });

  test('does not wait, nor guard its writes, without the gate', async () => {
    const world = setUp(jobOf(), podsOf(3, 'run'), ['StaleControllerConsistencyJob']);
    world.behind.add(KEY);
    await world.sync();
    expect(world.run.writes.every(({ guard }) => guard === undefined)).toBe(true);
    expect(world.run.writes.length).toBeGreaterThan(1);
  });

  test('without the Lease nothing more is written, and nothing is awaited', async () => {
    const world = setUp(jobOf(), podsOf(3, 'done', { phase: 'Succeeded' }));
    const error = new FencedError();
    world.run.failNext('patch', error);
    await expect(world.sync()).rejects.toBe(error);
    expect(world.statuses()).toHaveLength(1);
    // A sync that was cut off is no failed one.
    const metrics = await world.context.metrics.registry.metrics();
    expect(metrics).not.toContain('job_controller_job_syncs_total{');
    world.run.writes.length = 0;
    await world.sync();
    // Those two whose finalizers are gone are awaited, the third is tried again.
    expect(world.patches()).toHaveLength(1);
  });
});

describe('Jobs that are left alone', () => {
  test('that another controller manages', async () => {
    const world = setUp(jobOf({ spec: { managedBy: 'example.com/queue' } }));
    await world.sync();
    expect(world.run.writes).toEqual([]);
    expect(world.run.notes).toEqual(['the Job is managed by example.com/queue']);
    const own = setUp(jobOf({ spec: { managedBy: 'kubernetes.io/job-controller' } }));
    await own.sync();
    expect(own.podControl.created).toHaveLength(2);
  });

  test('that have ended', async () => {
    for (const type of ['Complete', 'Failed']) {
      const world = setUp(finished(type), podsOf(1, 'run'));
      await world.sync();
      expect(world.run.writes).toEqual([]);
      expect(world.podControl.deleted).toEqual([]);
    }
  });

  test('that have just ended, until the cache shows it', async () => {
    const world = setUp(jobOf(), podsOf(5, 'done', { phase: 'Succeeded' }));
    await world.sync();
    expect(world.events.events.map(({ reason }) => reason)).toEqual(['Completed']);
    const written = world.run.writes.length;
    await world.sync();
    expect(world.run.writes).toHaveLength(written);
    world.jobs.put({ ...finished(), metadata: { ...jobOf().metadata, resourceVersion: '9' } });
    expect(world.memory.all().filter(({ controller }) => controller === 'just-finished')).toEqual(
      [],
    );
  });

  test('of a mode that nobody knows', async () => {
    const world = setUp(jobOf({ spec: { completionMode: 'Twisted' } }));
    await world.sync();
    expect(world.run.writes).toEqual([]);
    expect(world.events.events).toMatchObject([
      { type: 'Warning', reason: 'UnknownCompletionMode', about: { kind: 'Job', name: 'pi' } },
    ]);
  });

  test('that are gone', async () => {
    const world = setUp(undefined);
    await world.sync();
    expect(world.run.writes).toEqual([]);
  });

  test('whose selector nobody can read', async () => {
    const selector = { matchExpressions: [{ key: 'a', operator: 'Like' }] };
    await expect(setUp(jobOf({ spec: { selector } })).sync()).rejects.toThrow(
      'couldn\'t convert Job selector: "Like" is not a valid label selector operator',
    );
  });
});

describe('adopting and releasing', () => {
  test('an orphan that matches gets the finalizer, and counts at once', async () => {
    const orphan = podOf({ name: 'pi-x', orphan: true, tracked: false, phase: 'Succeeded' });
    const { sync, patches, statuses } = setUp(jobOf(), [orphan]);
    await sync();
    const [adoption, removal] = patches();
    expect(adoption?.body).toEqual({
      metadata: {
        uid: 'uid-pi-x',
        finalizers: [FINALIZER],
        ownerReferences: [
          {
            apiVersion: 'batch/v1',
            kind: 'Job',
            name: 'pi',
            uid: 'uid-pi',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
    });
    expect(removal?.body).toEqual({ metadata: { uid: 'uid-pi-x', ...REMOVAL } });
    expect(statuses().at(-1)?.body).toMatchObject({ status: { succeeded: 1 } });
  });

  test('a pod that does not match any more is released, and loses the finalizer', async () => {
    const pod = podOf({ name: 'pi-x' });
    const strayed = { ...pod, metadata: { ...pod.metadata, labels: { other: 'x' } } };
    const { sync, patches } = setUp(jobOf(), [strayed]);
    await sync();
    expect(patches()[0]?.body).toEqual({
      metadata: {
        uid: 'uid-pi-x',
        ownerReferences: [{ $patch: 'delete', uid: 'uid-pi' }],
        ...REMOVAL,
      },
    });
  });
});

describe('what is remembered', () => {
  const failed = podOf({ name: 'pi-x', phase: 'Failed', exitCode: 1, endedAt: NOW - 2_000 });

  test('the backoff, until a success or the end', async () => {
    const world = setUp(jobOf(), [failed]);
    await world.sync();
    expect(world.podControl.created).toEqual([]);
    expect(world.run.wishes).toMatchObject([{ delayMs: 8_000 }]);
    const rows = () => world.memory.all().filter(({ controller }) => controller === 'backoff');
    expect(rows().map(({ value }) => JSON.parse(value))).toEqual([
      { failures: 1, lastFailureAt: NOW - 2_000 },
    ]);
    world.jobs.remove(jobOf());
    expect(rows()).toEqual([]);
  });

  test('without it the next pod comes at once, as upstream', async () => {
    const counted = podOf({ name: 'pi-x', phase: 'Failed', tracked: false, endedAt: NOW - 2_000 });
    const world = setUp(jobOf({ status: { failed: 1 } }), [counted]);
    await world.sync();
    expect(world.podControl.created).toHaveLength(2);
  });

  test('whose finalizer was removed, until the cache shows it', async () => {
    const world = setUp(jobOf(), podsOf(2, 'done', { phase: 'Succeeded' }));
    await world.sync();
    const [first, second] = podsOf(2, 'done', { phase: 'Succeeded', tracked: false, version: '2' });
    const awaited = () =>
      world.memory
        .all()
        .filter(({ controller }) => controller === 'finalizers')
        .map(({ key }) => key);
    expect(awaited()).toEqual(['uid-pi-done-0', 'uid-pi-done-1']);
    if (first !== undefined) world.pods.put(first);
    expect(awaited()).toEqual(['uid-pi-done-1']);
    if (second !== undefined) world.pods.remove(second);
    expect(awaited()).toEqual([]);
  });

  test('a pod that was gone is awaited only if the cache still shows it', async () => {
    const world = setUp(jobOf(), podsOf(1, 'done', { phase: 'Succeeded' }));
    world.run.failNext('patch', refusal(404, 'NotFound'));
    await world.sync();
    expect(world.statuses().at(-1)?.body).toMatchObject({ status: { succeeded: 1 } });
    expect(world.memory.all().map(({ key }) => key)).toEqual(['uid-pi-done-0']);
  });
});

describe('pods that nobody will count', () => {
  const gone = { code: 422, reason: 'Invalid', details: { causes: [{ field: 'metadata.uid' }] } };

  test('lose the finalizer: no controller, a Job that is gone, one that has ended', async () => {
    for (const [job, orphan] of [
      [undefined, true],
      [undefined, false],
      [finished(), false],
    ] as const) {
      const { syncOrphan, patches } = setUp(job, [podOf({ name: 'pi-x', orphan })]);
      await syncOrphan('default/pi-x');
      expect(patches().map(({ body }) => body)).toEqual([
        { metadata: { uid: 'uid-pi-x', ...REMOVAL } },
      ]);
    }
  });

  test('keep it: of a Job that runs, or that somebody else manages, or of another kind', async () => {
    const pod = podOf({ name: 'pi-x' });
    const [owner] = pod.metadata.ownerReferences ?? [];
    const volcano = { ...owner, apiVersion: 'batch.volcano.sh/v1alpha1' } as typeof owner;
    const other = {
      ...pod,
      metadata: { ...pod.metadata, ownerReferences: [volcano] },
    } as typeof pod;
    const managed = { ...finished(), spec: { ...finished().spec, managedBy: 'x/y' } } as Job;
    for (const [job, one] of [
      [jobOf(), pod],
      [managed, pod],
      [undefined, other],
    ] as const) {
      const { syncOrphan, patches } = setUp(job, [one]);
      await syncOrphan('default/pi-x');
      expect(patches()).toEqual([]);
    }
  });

  test('a pod that is gone, or another by now, is no error', async () => {
    for (const error of [refusal(404, 'NotFound'), new ApiError(422, 'Invalid', gone)]) {
      const { syncOrphan, run } = setUp(undefined, [podOf({ name: 'pi-x' })]);
      run.failNext('patch', error);
      await syncOrphan('default/pi-x');
    }
    const { syncOrphan, patches } = setUp(undefined, [podOf({ name: 'pi-x', tracked: false })]);
    await syncOrphan('default/pi-x');
    await syncOrphan('default/nobody');
    expect(patches()).toEqual([]);
  });
});

test('what is measured', async () => {
  const world = setUp(jobOf(), [
    ...podsOf(1, 'done', { phase: 'Succeeded' }),
    ...podsOf(1, 'lost', { phase: 'Failed' }),
  ]);
  await world.sync();
  world.jobs.put(jobOf({ meta: { name: 'x', uid: 'ux' }, spec: { managedBy: 'x/y' } }));
  const text = await world.context.metrics.registry.metrics();
  const lines = text.split('\n').filter((line) => !line.startsWith('#') && line.includes('} '));
  const labels = 'completion_mode="NonIndexed",result="success",action="pods_created"';
  expect(lines).toContain(`job_controller_job_syncs_total{${labels}} 1`);
  expect(lines).toContain(`job_controller_job_sync_duration_seconds_count{${labels}} 1`);
  for (const result of ['succeeded', 'failed']) {
    const pods = `completion_mode="NonIndexed",result="${result}"`;
    expect(lines).toContain(`job_controller_job_pods_finished_total{${pods}} 1`);
  }
  expect(lines).toContain('job_controller_terminated_pods_tracking_finalizer_total{event="add"} 2');
  expect(lines).toContain(
    'job_controller_jobs_by_external_controller_total{controller_name="x/y"} 1',
  );
  const reason = 'reason="recreate_terminating_or_failed",status="succeeded"';
  expect(lines).toContain(`job_pods_creation_total{${reason}} 2`);
  const bounds = text.match(/job_sync_duration_seconds_bucket\{le="([^"]+)"/g) ?? [];
  expect(bounds).toHaveLength(16);
});
