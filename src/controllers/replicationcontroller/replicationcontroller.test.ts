/** The ReplicationController controller: what differs from ReplicaSets. */
import { expect, test } from 'bun:test';
import { controllerReference } from '../../api/meta.ts';
import { DEPLOYMENTS, REPLICATION_CONTROLLERS } from '../../api/resource.ts';
import type { Pod, ReplicationController } from '../../api/types/index.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun } from '../_kit/testing/fake-run.ts';
import { type PodFacts, podOf, WEB_LABELS } from '../_kit/testing/objects.ts';
import { replicationControllerController } from './index.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const KEY = 'default/web';

function controllerOf(over: Partial<ReplicationController> = {}): ReplicationController {
  return {
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'uid-rc',
      resourceVersion: '7',
      generation: 1,
    },
    spec: {
      replicas: 2,
      selector: WEB_LABELS,
      template: { metadata: { labels: WEB_LABELS }, spec: { containers: [] } },
    },
    ...over,
  };
}

function setUp(controller: ReplicationController, pods: readonly Pod[] = []) {
  const fakes = fakeContext({ now: NOW, flags: { 'concurrent-rc-syncs': 2 } });
  const built = replicationControllerController.build(fakes.context);
  const queue = built!.queues[0]!;
  fakes.informers.of<ReplicationController>(REPLICATION_CONTROLLERS).put(controller);
  fakes.informers.pods().put(...pods);
  const run = new FakeRun(NOW);
  run.live(REPLICATION_CONTROLLERS, controller);
  return { ...fakes, queue, run, sync: () => queue.reconcile(KEY, run) };
}

function ownPod(name: string, owner: ReplicationController, facts: PodFacts = {}): Pod {
  return podOf({ name, owner, ownerResource: REPLICATION_CONTROLLERS, ...facts });
}

test('its queue has another name', () => {
  const { queue } = setUp(controllerOf());
  expect(queue.queue.name).toBe('replicationmanager');
  expect(queue.workers).toBe(2);
});

test('its pods name it as their owner', async () => {
  const { sync, podControl } = setUp(controllerOf());
  await sync();
  expect(podControl.created.map(({ owner }) => owner)).toEqual(
    Array.from({ length: 2 }, () => ({
      apiVersion: 'v1',
      kind: 'ReplicationController',
      name: 'web',
      uid: 'uid-rc',
    })),
  );
  expect(podControl.owners[0]).toMatchObject({ apiVersion: 'v1', kind: 'ReplicationController' });
});

test('its status is written in its own form: no terminatingReplicas, the selector as it was', async () => {
  const controller = controllerOf();
  const pods = [ownPod('web-1', controller), ownPod('web-2', controller)];
  const { sync, run } = setUp(controller, pods);
  await sync();
  expect(run.writes).toMatchObject([
    {
      verb: 'update',
      resource: 'replicationcontrollers/status',
      body: {
        ...controller,
        apiVersion: 'v1',
        kind: 'ReplicationController',
        status: {
          replicas: 2,
          fullyLabeledReplicas: 2,
          readyReplicas: 2,
          availableReplicas: 2,
          observedGeneration: 1,
        },
      },
      guard: undefined,
    },
  ]);
  const written = run.writes[0]!.body as ReplicationController;
  expect(written.status).not.toHaveProperty('terminatingReplicas');
});

test('its writes wait for no cache', async () => {
  const { sync, behind, podControl } = setUp(controllerOf());
  behind.add(KEY);
  await sync();
  expect(podControl.created).toHaveLength(2);
});

test('orphans match its selector map; without a selector none do', async () => {
  const adopting = setUp(controllerOf(), [podOf({ name: 'orphan' })]);
  await adopting.sync();
  expect(adopting.run.writes[0]).toMatchObject({ verb: 'patch', key: 'default/orphan' });

  const { template } = controllerOf().spec!;
  const without = setUp(controllerOf({ spec: { replicas: 0, template } }), [podOf()]);
  expect(without.queues.get('replicationmanager')?.drain()).toEqual([KEY]);
  await without.sync();
  expect(without.run.writes.filter(({ resource }) => resource === 'pods')).toEqual([]);
});

test('pod events queue it by kind', () => {
  const controller = controllerOf();
  const { informers, queues } = setUp(controller);
  const queue = queues.get('replicationmanager')!;
  queue.drain();
  informers.pods().put(ownPod('web-1', controller));
  expect(queue.drain()).toEqual([KEY]);
  informers.pods().put(podOf({ name: 'web-2', owner: controller }));
  expect(queue.drain()).toEqual([]);
});

test('pods of its siblings do not make one go first, as those of ReplicaSets do', async () => {
  const ownerReferences = [controllerReference({ name: 'web', uid: 'uid-d' }, DEPLOYMENTS)];
  const { metadata, spec } = controllerOf();
  const owned = { ...metadata, ownerReferences };
  const controller = controllerOf({ metadata: owned, spec: { ...spec, replicas: 1 } });
  const labels = { app: 'web', version: 'old' };
  const old = controllerOf({
    metadata: { ...owned, name: 'old', uid: 'uid-old' },
    spec: { ...spec, selector: labels },
  });
  const { sync, informers, podControl } = setUp(controller, [
    ownPod('later', controller, { node: 'n1', createdAt: NOW - 1_000 }),
    ownPod('earlier', controller, { node: 'n2', createdAt: NOW - 1_000_000 }),
    ownPod('other', old, { node: 'n2', labels }),
  ]);
  informers.of<ReplicationController>(REPLICATION_CONTROLLERS).put(old);
  await sync();
  expect(podControl.deleted.map(({ record }) => record.name)).toEqual(['later']);
});
