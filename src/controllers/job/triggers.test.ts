import { beforeEach, describe, expect, test } from 'bun:test';
import { LONGEST_MS } from '../../api/time.ts';
import type { Job, Pod } from '../../api/types/index.ts';
import { AwaitedRemovals } from './memory.ts';
import { jobOf, NOW, podOf } from './testing/build.ts';
import { KEY, setUp } from './testing/set-up.ts';

type World = ReturnType<typeof setUp>;

let world: World;

function start(job: Job | undefined, ...pods: readonly Pod[]): void {
  world = setUp(job, pods);
  world.queue.drain();
  world.orphans.drain();
  world.queue.later.length = 0;
}

/** Keys that were queued: at once, a second later, or after some other time. */
function queued() {
  const later = world.queue.later.splice(0).map(({ key, delayMs }) => [key, delayMs] as const);
  return { now: world.queue.drain(), later, orphans: world.orphans.drain() };
}

const NOTHING = { now: [], later: [], orphans: [] };
const SOON = { ...NOTHING, later: [[KEY, 1_000]] };
const ORPHAN = { ...NOTHING, orphans: ['default/pi-a'] };
const ended: Job['status'] = { conditions: [{ type: 'Complete', status: 'True' }] };
const started: Job['status'] = { startTime: new Date(NOW - 10_000).toISOString() };

function next(job: Job, generation = 1): Job {
  return { ...job, metadata: { ...job.metadata, generation, resourceVersion: '8' } };
}

describe('a Job', () => {
  test('that is new is synced at once', () => {
    start(undefined);
    world.jobs.put(jobOf());
    expect(queued()).toEqual({ ...NOTHING, now: [KEY] });
  });

  test('whose status changed is synced a second later', () => {
    start(jobOf());
    world.jobs.put(next(jobOf({ status: started })));
    expect(queued()).toEqual(SOON as never);
  });

  test('whose spec changed is synced at once', () => {
    start(jobOf());
    world.jobs.put(next(jobOf(), 2));
    expect(queued()).toEqual({ ...NOTHING, now: [KEY] });
  });

  test('whose deadline changed is synced at the new one too', () => {
    start(jobOf({ status: started }));
    world.jobs.put(next(jobOf({ status: started, spec: { activeDeadlineSeconds: 30 } }), 2));
    expect(queued()).toEqual({ ...NOTHING, now: [KEY], later: [[KEY, 20_000]] });
    world.jobs.put(next(jobOf({ status: started, spec: { activeDeadlineSeconds: 30 } }), 3));
    expect(queued().later).toEqual([]);
    const activeDeadlineSeconds = 9_223_372_036_854_775_807n as unknown as number;
    world.jobs.put(next(jobOf({ status: started, spec: { activeDeadlineSeconds } }), 4));
    expect(queued().later).toEqual([[KEY, LONGEST_MS - 10_000]]);
  });

  test('that has ended awaits no finalizers any more', async () => {
    start(jobOf(), podOf({ phase: 'Succeeded' }));
    await world.sync();
    const awaited = () => new AwaitedRemovals(world.context).of('uid-pi', new Set()).untracked.size;
    expect(awaited()).toBe(1);
    world.jobs.put(next(jobOf({ status: ended })));
    expect(awaited()).toBe(0);
  });

  test('that has ended is not synced; finalizers that are left are looked for', () => {
    start(jobOf(), podOf(), podOf({ name: 'pi-b', tracked: false }));
    world.jobs.put(next(jobOf({ status: ended })));
    expect(queued()).toEqual(ORPHAN);
  });

  test('that is gone: its pods are looked at', () => {
    start(jobOf(), podOf());
    world.jobs.remove(jobOf());
    expect(queued()).toEqual({ ...ORPHAN, now: [KEY] });
  });

  test('with another UID under the old name is one gone and one new', () => {
    start(jobOf(), podOf());
    world.jobs.put(jobOf({ meta: { uid: 'uid-2' } }));
    expect(queued()).toEqual({ ...ORPHAN, now: [KEY] });
  });
});

describe('a pod', () => {
  beforeEach(() => start(jobOf()));

  test('that is new is seen, and its Job synced a second later', () => {
    world.expectations.expect(KEY, 'uid-pi', 1, []);
    world.pods.put(podOf());
    expect(queued()).toEqual(SOON as never);
    expect(world.expectations.satisfied(KEY)).toBe(true);
  });

  test('that changed', () => {
    start(jobOf(), podOf());
    world.pods.put(podOf({ phase: 'Succeeded', version: '2' }));
    expect(queued()).toEqual(SOON as never);
  });

  test('that is going, or gone, is seen to go', () => {
    start(jobOf(), podOf());
    world.expectations.expect(KEY, 'uid-pi', 0, ['default/pi-a']);
    world.pods.put(podOf({ deleting: true, version: '2' }));
    expect(queued()).toEqual(SOON as never);
    expect(world.expectations.satisfied(KEY)).toBe(true);
    world.pods.remove(podOf());
    expect(queued()).toEqual(SOON as never);
  });

  test('that is going when it is first seen is no creation', () => {
    world.expectations.expect(KEY, 'uid-pi', 1, []);
    world.pods.put(podOf({ deleting: true }));
    expect(world.expectations.satisfied(KEY)).toBe(false);
  });

  test('of a namesake with another UID, or of another kind, concerns nobody', () => {
    const strange = (owner: object): Pod => {
      const pod = podOf();
      const ownerReferences = [{ ...pod.metadata.ownerReferences?.[0], ...owner }] as never;
      return { ...pod, metadata: { ...pod.metadata, ownerReferences } };
    };
    world.pods.put(strange({ uid: 'uid-2' }));
    world.pods.remove(podOf());
    world.pods.put(strange({ kind: 'ReplicaSet' }));
    expect(queued()).toEqual(NOTHING);
  });

  test('that moves from one Job to another', () => {
    start(jobOf(), podOf());
    world.jobs.put(jobOf({ meta: { name: 'e', uid: 'uid-e' } }));
    queued();
    const pod = podOf({ version: '2' });
    const owner = { ...pod.metadata.ownerReferences?.[0], name: 'e', uid: 'uid-e' } as never;
    world.pods.put({ ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } });
    expect(queued().later.map(([key]) => key)).toEqual([KEY, 'default/e']);
  });
});

describe('an orphan', () => {
  test('is offered to the Jobs that match it and have not ended, and loses the finalizer', () => {
    start(jobOf());
    world.jobs.put(jobOf({ meta: { name: 'done', uid: 'ud' }, status: ended }));
    queued();
    world.pods.put(podOf({ orphan: true }));
    expect(queued()).toEqual({ ...ORPHAN, later: [[KEY, 1_000]] });
  });

  test('is offered to a Job whose selector is empty: that selects everything', () => {
    start(jobOf({ spec: { selector: {} } }));
    world.pods.put(podOf({ orphan: true, tracked: false }));
    expect(queued()).toEqual(SOON as never);
  });

  test('that changes is offered again only if its labels did', () => {
    start(jobOf(), podOf({ orphan: true, tracked: false }));
    world.pods.put(podOf({ orphan: true, tracked: false, version: '2' }));
    expect(queued()).toEqual(NOTHING);
    const pod = podOf({ orphan: true, tracked: false, version: '3' });
    const labels = { ...pod.metadata.labels, more: 'x' };
    world.pods.put({ ...pod, metadata: { ...pod.metadata, labels } });
    expect(queued()).toEqual(SOON as never);
  });

  test('left by its Job: both that Job and those that match it hear of it', () => {
    start(jobOf(), podOf());
    world.pods.put(podOf({ orphan: true, version: '2' }));
    expect(queued()).toEqual({
      ...ORPHAN,
      later: [
        [KEY, 1_000],
        [KEY, 1_000],
      ],
    });
  });

  test('whose Job is gone or has ended loses the finalizer when it is deleted', () => {
    for (const job of [undefined, jobOf({ status: ended })]) {
      start(job, podOf());
      world.pods.put(podOf({ deleting: true, version: '2' }));
      expect(queued()).toEqual(ORPHAN);
    }
  });

  test('of a Job that ended before it was seen loses the finalizer', () => {
    start(jobOf({ status: ended }));
    world.pods.put(podOf());
    expect(queued().orphans).toEqual(['default/pi-a']);
  });
});

test('at the start orphans with the finalizer are looked at, all Jobs are queued', () => {
  const world = setUp(jobOf(), [podOf({ name: 'a', orphan: true }), podOf({ name: 'b' })]);
  expect(world.queue.drain()).toEqual([KEY]);
  expect(world.queue.later).toEqual([]);
  expect(world.orphans.drain()).toEqual(['default/a']);
});
