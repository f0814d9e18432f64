/** The controller as a whole over fakes: what queues a Deployment, and what a sync sends. */
import { describe, expect, test } from 'bun:test';
import { ApiError, FencedError } from '../../api/errors.ts';
import { DEPLOYMENTS, REPLICA_SETS } from '../../api/resource.ts';
import type { Deployment, Pod, ReplicaSet } from '../../api/types/index.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun, refusal } from '../_kit/testing/fake-run.ts';
import { podOf } from '../_kit/testing/objects.ts';
import { deploymentController } from './index.ts';
import { deployment, NOON, replicaSet } from './testing/build.ts';

const KEY = 'default/web';
const REVISION = 'deployment.kubernetes.io/revision';

function setUp(...objects: readonly (Deployment | ReplicaSet)[]) {
  const fakes = fakeContext({ now: NOON, flags: { 'concurrent-deployment-syncs': 5 } });
  const { context, informers, queues, events } = fakes;
  const deployments = informers.of<Deployment>(DEPLOYMENTS);
  const replicaSets = informers.of<ReplicaSet>(REPLICA_SETS);
  for (const object of objects) {
    if (object.kind === 'Deployment') deployments.put(object as Deployment);
    else replicaSets.put(object as ReplicaSet);
  }
  const controller = deploymentController.build(context)!;
  const [definition] = controller.queues;
  const queue = queues.get('deployment')!;
  queue.drain();
  const run = new FakeRun(NOON);
  return {
    deployments,
    replicaSets,
    pods: informers.pods(),
    queue,
    events,
    run,
    definition: definition!,
    sync: () => definition!.reconcile(KEY, run),
  };
}

describe('the queue', () => {
  test('has five workers by flag, 15 retries, and drops a terminating namespace at once', () => {
    const { definition } = setUp();
    expect(definition).toMatchObject({ workers: 5, retriesMax: 15 });
    const causes = [{ reason: 'NamespaceTerminating' }];
    const terminating = new ApiError(403, 'no', { details: { causes } });
    expect(definition.dropAtOnce?.(terminating)).toBe(true);
    expect(definition.dropAtOnce?.(refusal(409, 'Conflict'))).toBe(false);
  });
});

describe('what queues a Deployment', () => {
  test('each of its own events', () => {
    const { deployments, queue } = setUp();
    deployments.put(deployment());
    expect(queue.drain()).toEqual([KEY]);
    deployments.put(deployment({ replicas: 4 }));
    expect(queue.drain()).toEqual([KEY]);
    deployments.remove(deployment());
    expect(queue.drain()).toEqual([KEY]);
  });

  test('events of a ReplicaSet it controls, by UID', () => {
    const { replicaSets, queue } = setUp(deployment());
    const own = replicaSet('a', 1);
    replicaSets.put(own);
    expect(queue.drain()).toEqual([KEY]);
    replicaSets.put(own);
    expect(queue.drain()).toEqual([]);
    replicaSets.put(versioned(own, '2'));
    expect(queue.drain()).toEqual([KEY]);
    replicaSets.remove(own);
    expect(queue.drain()).toEqual([KEY]);
    const metadata = { ...deployment().metadata, uid: 'earlier' };
    replicaSets.put(replicaSet('b', 1, {}, { ...deployment(), metadata }));
    expect(queue.drain()).toEqual([]);
  });

  test('an orphan that its selector matches, when it comes, is released, or is relabeled', () => {
    const other = named(deployment({ selector: { matchLabels: { app: 'other' } } }), 'other');
    const empty = named(deployment({ selector: {} }), 'empty');
    const { replicaSets, queue } = setUp(deployment(), other, empty);
    const orphan = orphaned(replicaSet('a', 1));
    replicaSets.put(orphan);
    expect(queue.drain()).toEqual([KEY]);
    replicaSets.put(versioned(orphan, '2'));
    expect(queue.drain()).toEqual([]);
    replicaSets.put(labeled(versioned(orphan, '3'), { app: 'other' }));
    expect(queue.drain()).toEqual(['default/other']);
    replicaSets.remove(orphan);
    expect(queue.drain()).toEqual([]);
  });

  test('a ReplicaSet that leaves it: the old and the new owner', () => {
    const second = named(deployment(), 'second');
    const { replicaSets, queue } = setUp(deployment(), second);
    const own = replicaSet('a', 1);
    replicaSets.put(own);
    queue.drain();
    replicaSets.put(versioned(replicaSet('a', 1, {}, second), '2'));
    expect(queue.drain()).toEqual(['default/second', KEY]);
  });

  test('an orphan, if the disk lost a Deployment that may want it', () => {
    const { deployments, replicaSets, queue } = setUp(deployment());
    deployments.lose(deployment());
    replicaSets.put(orphaned(replicaSet('a', 1)));
    expect(queue.drain()).toEqual([KEY]);
  });

  test('the last pod of a Recreate Deployment, no other pod', () => {
    const owner = deployment({ recreate: true });
    const [a, b] = [replicaSet('a', 1, {}, owner), replicaSet('b', 1, {}, owner)];
    const { pods, queue } = setUp(owner, a, b);
    const [first, second] = [podOf({ name: '1', owner: a }), podOf({ name: '2', owner: b })];
    pods.put(first, second);
    expect(queue.drain()).toEqual([]);
    pods.remove(first);
    expect(queue.drain()).toEqual([]);
    pods.remove(second);
    expect(queue.drain()).toEqual([KEY]);
  });

  test.each<[string, Deployment, Pod]>([
    ['of a rolling one', deployment(), podOf({ owner: replicaSet('a', 1) })],
    ['without a controller', deployment({ recreate: true }), podOf()],
    [
      'of a ReplicaSet that is another by now',
      deployment({ recreate: true }),
      podOf({
        owner: { ...replicaSet('a', 1), metadata: { ...replicaSet('a', 1).metadata, uid: 'x' } },
      }),
    ],
  ])('not the last pod %s', (_, owner, pod) => {
    const { pods, queue } = setUp(owner, replicaSet('a', 1));
    pods.put(pod);
    pods.remove(pod);
    expect(queue.drain()).toEqual([]);
  });
});

describe('a sync before the cache shows the last write', () => {
  test('does nothing: the write’s own event brings the key back', async () => {
    const { deployments, run, sync } = setUp(deployment());
    await sync();
    const written = run.writes.length;
    expect(written).toBeGreaterThan(0);
    await sync();
    expect(run.writes).toHaveLength(written);
    expect(run.wishes.at(-1)?.because).toBe('the cache does not show the last write yet');
    const { metadata } = deployment();
    deployments.put({ ...deployment(), metadata: { ...metadata, resourceVersion: '999999' } });
    await sync();
    expect(run.writes.length).toBeGreaterThan(written);
  });

  test('another object of that name is not held up', async () => {
    const { deployments, run, sync } = setUp(deployment());
    await sync();
    const written = run.writes.length;
    const { metadata } = deployment();
    deployments.put({ ...deployment(), metadata: { ...metadata, uid: 'another' } });
    await sync();
    expect(run.writes.length).toBeGreaterThan(written);
  });
});

describe('a sync', () => {
  const settledOwner = () => deployment({ annotations: { [REVISION]: '1' } });

  test('of a Deployment that is gone does nothing', async () => {
    const { run, sync } = setUp();
    await sync();
    expect(run.writes).toEqual([]);
  });

  test('sends whole objects with their type, each with a reason', async () => {
    const owner = settledOwner();
    const annotations = { [REVISION]: '1' };
    const old = replicaSet('old', 3, { image: 'old:1', annotations }, owner);
    const { run, sync, events } = setUp(owner, old);
    await sync();
    const summary = run.writes.map(({ verb, resource, key }) => `${verb} ${resource} ${key}`);
    const made = run.writes[0]?.key;
    expect(summary).toEqual([
      `create replicasets.apps ${made}`,
      'update deployments.apps/status default/web',
      'update deployments.apps/status default/web',
    ]);
    expect(run.writes[0]?.body).toMatchObject({ apiVersion: 'apps/v1', kind: 'ReplicaSet' });
    expect(run.writes[1]?.body).toMatchObject({ apiVersion: 'apps/v1', kind: 'Deployment' });
    expect(run.writes.every(({ because }) => because !== '')).toBe(true);
    expect(events.events).toMatchObject([
      { type: 'Normal', reason: 'ScalingReplicaSet', about: { kind: 'Deployment', name: 'web' } },
    ]);
  });

  test('deletes with UID', async () => {
    const annotations = { [REVISION]: '1' };
    const status = {
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      availableReplicas: 3,
    };
    const owner = deployment({ revisionHistoryLimit: 0, annotations, status });
    const [fresh, old] = [
      replicaSet('new', 3, { annotations: { [REVISION]: '1' } }, owner),
      replicaSet('old', 0, { image: 'old:1' }, owner),
    ];
    const { run, sync } = setUp(owner, fresh, old);
    await sync();
    expect(run.writes.filter(({ verb }) => verb === 'delete')).toMatchObject([
      { resource: 'replicasets.apps', key: 'default/old', uid: 'old-uid' },
    ]);
  });

  test('adopts and releases first', async () => {
    const owner = settledOwner();
    const orphan = orphaned(replicaSet('orphan', 0, { image: 'a:1' }, owner));
    const stranger = labeled(replicaSet('stranger', 0, { image: 'b:1' }, owner), { app: 'x' });
    const { run, sync } = setUp(owner, orphan, stranger);
    run.live(DEPLOYMENTS, owner);
    await sync();
    expect(run.writes.slice(0, 2)).toMatchObject([
      { verb: 'patch', key: 'default/orphan' },
      { verb: 'patch', key: 'default/stranger' },
    ]);
  });

  test('with an empty selector claims nothing', async () => {
    const { run, sync, events } = setUp(deployment({ selector: {} }), orphaned(replicaSet('a', 1)));
    await sync();
    expect(run.writes.map(({ resource }) => resource)).toEqual(['deployments.apps/status']);
    expect(events.events.map(({ reason }) => reason)).toEqual(['SelectingAll']);
  });

  test('with an invalid selector fails and says what is wrong', async () => {
    const matchExpressions = [{ key: 'a', operator: 'Odd' }];
    const { sync } = setUp(deployment({ selector: { matchExpressions } }));
    await expect(sync()).rejects.toThrow('deployment default/web has invalid label selector');
  });

  test('of Recreate waits for a pod that runs, not for one that has ended', async () => {
    const owner = deployment({ recreate: true, annotations: { [REVISION]: '1' } });
    const old = replicaSet('old', 0, { image: 'old:1', annotations: { [REVISION]: '1' } }, owner);
    for (const [phase, created] of [
      ['Running', 0],
      ['Unknown', 0],
      ['Failed', 1],
      ['Succeeded', 1],
    ] as const) {
      const { run, sync, pods } = setUp(owner, old);
      pods.put(podOf({ owner: old, phase }));
      await sync();
      expect(run.writes.filter(({ verb }) => verb === 'create')).toHaveLength(created);
    }
  });

  test('that is fenced stops at once: no status, no event', async () => {
    const { run, sync, events } = setUp(deployment({ progressDeadlineSeconds: 600 }));
    run.failNext('create', new FencedError());
    await expect(sync()).rejects.toThrow(FencedError);
    expect(run.writes).toHaveLength(1);
    expect(events.events).toEqual([]);
  });

  test('asks to be called at the progress deadline', async () => {
    const owner = deployment({ progressDeadlineSeconds: 60, annotations: { [REVISION]: '1' } });
    const annotations = { [REVISION]: '1' };
    const stuck = { replicas: 3, readyReplicas: 0, availableReplicas: 0 };
    const only = replicaSet('new', 3, { annotations, status: stuck }, owner);
    const first = setUp(owner, only);
    await first.sync();
    const [, written] = first.run.writes;
    const second = setUp(written?.body as Deployment, only);
    await second.sync();
    expect(second.run.writes).toEqual([]);
    expect(second.run.wishes).toMatchObject([{ delayMs: 61_000 }]);
  });
});

function versioned(object: ReplicaSet, resourceVersion: string): ReplicaSet {
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

function orphaned(object: ReplicaSet): ReplicaSet {
  return { ...object, metadata: { ...object.metadata, ownerReferences: undefined } };
}

function labeled(object: ReplicaSet, labels: Record<string, string>): ReplicaSet {
  return { ...object, metadata: { ...object.metadata, labels } };
}

function named(object: Deployment, name: string): Deployment {
  return { ...object, metadata: { ...object.metadata, name, uid: `${name}-uid` } };
}
