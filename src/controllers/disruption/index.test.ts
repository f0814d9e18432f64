import { describe, expect, test } from 'bun:test';
import {
  DEPLOYMENTS,
  POD_DISRUPTION_BUDGETS,
  REPLICA_SETS,
  REPLICATION_CONTROLLERS,
  type Resource,
  STATEFUL_SETS,
} from '../../api/resource.ts';
import { timeText } from '../../api/time.ts';
import type { KubeObject, PodDisruptionBudget } from '../../api/types/index.ts';
import type { ControllerContext, ServedResource } from '../../runtime/controller.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun, refusal } from '../_kit/testing/fake-run.ts';
import { type PodFacts, podOf, WEB_LABELS } from '../_kit/testing/objects.ts';
import { disruptionController } from './index.ts';

const NOW = Date.parse('2026-05-20T12:00:00Z');
const SHELVES: Resource = {
  group: 'example.com',
  version: 'v1',
  plural: 'shelves',
  kind: 'Shelf',
  namespaced: true,
};
const KEY = 'default/budget';

function budget(spec: object, name = 'budget'): PodDisruptionBudget {
  const metadata = { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '4' };
  return { metadata, spec: { selector: { matchLabels: WEB_LABELS }, ...spec } };
}

function sized(resource: Resource, replicas: number, name = 'web', owner?: KubeObject) {
  const metadata = { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '1' };
  const { kind, group, version } = resource;
  const ownerReferences = owner && [
    {
      apiVersion: owner.apiVersion ?? '',
      kind: owner.kind ?? '',
      name: owner.metadata.name,
      uid: owner.metadata.uid,
      controller: true,
    },
  ];
  return {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    metadata: { ...metadata, ...(ownerReferences ? { ownerReferences } : {}) },
    spec: { replicas },
  } as unknown as KubeObject;
}

function setUp(resources: readonly ServedResource[] = []) {
  const fakes = fakeContext({ now: NOW });
  const { informers, queues, events } = fakes;
  const discovery = async () => ({
    groups: [{ name: 'example.com', preferredVersion: 'v1' }],
    resources,
    failed: new Map<string, string>(),
  });
  let subresources: string[] = [];
  const getPath = async () =>
    JSON.stringify({
      resources: subresources.map((name) => ({
        name,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
      })),
    });
  const client = { getPath } as unknown as ControllerContext['client'];
  const controller = disruptionController.build({ ...fakes.context, discovery, client })!;
  const [main, rechecks, stale] = controller.queues;
  const budgets = informers.of<PodDisruptionBudget>(POD_DISRUPTION_BUDGETS);
  const run = new FakeRun(NOW);
  const sync = async (): Promise<object | undefined> => {
    await main!.reconcile(KEY, run);
    return (run.writes.at(-1)?.body as PodDisruptionBudget | undefined)?.status;
  };
  const put = (facts: PodFacts) => informers.pods().put(podOf(facts));
  const owned = (resource: Resource, replicas: number, name?: string, owner?: KubeObject) => {
    const object = sized(resource, replicas, name, owner);
    informers.of(resource).put(object);
    return object;
  };
  const serveScale = (...names: string[]) => {
    subresources = names;
  };
  return { ...fakes, queues, events, budgets, run, sync, put, owned, rechecks, stale, serveScale };
}

const told = ({ events }: { events: { events: readonly { reason: string; message: string }[] } }) =>
  events.events.map(({ reason, message }) => `${reason}: ${message}`);

describe('the sum of what controllers want', () => {
  test.each([
    ['ReplicationController', REPLICATION_CONTROLLERS],
    ['ReplicaSet', REPLICA_SETS],
    ['StatefulSet', STATEFUL_SETS],
  ] as const)('a %s by its spec', async (_, resource) => {
    const { budgets, owned, put, sync } = setUp();
    const owner = owned(resource, 5);
    put({ owner, ownerResource: resource });
    budgets.put(budget({ maxUnavailable: 1 }));
    expect(await sync()).toMatchObject({ expectedPods: 5, desiredHealthy: 4, currentHealthy: 1 });
  });

  test('a Deployment once, whatever ReplicaSets it has', async () => {
    const { budgets, owned, put, sync } = setUp();
    const deployment = owned(DEPLOYMENTS, 7, 'dep');
    for (const name of ['new', 'old']) {
      put({ name: `${name}-1`, owner: owned(REPLICA_SETS, 3, name, deployment) });
    }
    budgets.put(budget({ minAvailable: '50%' }));
    expect(await sync()).toMatchObject({ expectedPods: 7, desiredHealthy: 4, currentHealthy: 2 });
  });

  test('any other kind by its live scale', async () => {
    const { budgets, put, sync, run } = setUp([{ ...SHELVES, verbs: [] }]);
    const owner = sized(SHELVES, 6, 'shelf');
    run.live(SHELVES, owner);
    put({ owner, ownerResource: SHELVES });
    budgets.put(budget({ maxUnavailable: '50%' }));
    expect(await sync()).toMatchObject({ expectedPods: 6, desiredHealthy: 3 });
    expect(run.reads).toEqual(['shelves.example.com default/shelf']);
  });

  test('also of a pod that goes while a scale is read', async () => {
    const { budgets, informers, put, sync, run, owned } = setUp([{ ...SHELVES, verbs: [] }]);
    const shelf = sized(SHELVES, 6, 'shelf');
    run.live(SHELVES, shelf);
    put({ name: 'a', owner: shelf, ownerResource: SHELVES });
    const going = { name: 'b', owner: owned(REPLICA_SETS, 5) };
    put(going);
    budgets.put(budget({ maxUnavailable: 1 }));
    const synced = sync();
    informers.pods().remove(podOf(going));
    expect(await synced).toMatchObject({ expectedPods: 11, desiredHealthy: 10, currentHealthy: 2 });
  });
});

describe('what can not be worked out', () => {
  const failed = (message: string) => ({
    disruptionsAllowed: 0,
    conditions: [{ status: 'False', reason: 'SyncFailed', message }],
  });

  test('allows nothing: a kind without a scale', async () => {
    const world = setUp([{ ...SHELVES, verbs: [] }]);
    world.put({ owner: sized(SHELVES, 1, 'shelf'), ownerResource: SHELVES });
    world.budgets.put(budget({ maxUnavailable: 1 }));
    const problem = 'shelves.example.com does not implement the scale subresource';
    expect(await world.sync()).toMatchObject(failed(problem));
    expect(told(world)).toEqual([
      'CalculateExpectedPodCountFailed: ' +
        `Failed to calculate the number of expected pods: ${problem}`,
    ]);
  });

  test('a controller that is gone, and a kind that nobody serves', async () => {
    const world = setUp([{ ...SHELVES, verbs: [] }]);
    world.serveScale('shelves/scale');
    world.put({ owner: sized(SHELVES, 1, 'shelf'), ownerResource: SHELVES });
    world.budgets.put(budget({ maxUnavailable: 1 }));
    expect(await world.sync()).toMatchObject(failed('found no controllers for pod "web-1"'));
    const other = setUp();
    other.put({ owner: sized(SHELVES, 1, 'shelf'), ownerResource: SHELVES });
    other.budgets.put(budget({ maxUnavailable: 1 }));
    const problem = 'no matches for kind "Shelf" in version "example.com/v1"';
    expect(await other.sync()).toMatchObject(failed(problem));
  });

  test('a selector that is invalid', async () => {
    const world = setUp();
    const selector = { matchExpressions: [{ key: 'a', operator: 'Like' }] };
    world.budgets.put(budget({ minAvailable: 1, selector }));
    const problem = '"Like" is not a valid label selector operator';
    expect(await world.sync()).toMatchObject(failed(problem));
    expect(told(world)).toEqual([`NoPods: Failed to get pods: ${problem}`]);
  });

  test('a conflict is tried again without that, as is whatever is not about the budget', async () => {
    for (const error of [refusal(409, 'Conflict'), new Error('a bug')]) {
      const { budgets, run, sync } = setUp();
      budgets.put(budget({ minAvailable: 1 }));
      run.failNext('update', error);
      expect(sync()).rejects.toThrow(error);
      expect(run.writes).toHaveLength(1);
    }
  });

  test('another refusal is', async () => {
    const { budgets, run, sync } = setUp();
    budgets.put(budget({ minAvailable: 1 }));
    run.failNext('update', refusal(500, 'InternalError', 'no'));
    expect(await sync()).toMatchObject(failed('no'));
  });
});

test('nothing is counted while a cache may be behind the server', async () => {
  const { budgets, informers, put, run, sync } = setUp();
  put({});
  budgets.put(budget({ minAvailable: 0 }));
  for (const behind of [informers.pods(), informers.of(DEPLOYMENTS), budgets]) {
    behind.complete = false;
    expect(await sync()).toBeUndefined();
    behind.complete = true;
  }
  expect(run.wishes).toHaveLength(3);
  expect(await sync()).toMatchObject({ currentHealthy: 1, disruptionsAllowed: 1 });
});

describe('triggers', () => {
  test('a pod wakes the budget that selects it, also the one it leaves', () => {
    const { budgets, put, queues } = setUp();
    const queue = queues.get('disruption')!;
    budgets.put(budget({}), budget({ selector: { matchLabels: { app: 'db' } } }, 'other'));
    queue.drain();
    put({ name: 'a' });
    expect(queue.drain()).toEqual([KEY]);
    put({ name: 'a', labels: { app: 'db' } });
    expect(queue.drain()).toEqual([KEY, 'default/other']);
    put({ name: 'a', labels: { app: 'none' } });
    put({ name: 'b', labels: { app: 'none' } });
    expect(queue.drain()).toEqual(['default/other']);
  });

  test('two budgets for one pod are complained about, and one of them hears of it', () => {
    const world = setUp();
    world.budgets.put(budget({}, 'one'), budget({}, 'two'));
    world.queues.get('disruption')!.drain();
    world.put({ name: 'a' });
    expect(world.queues.get('disruption')!.drain()).toEqual(['default/one']);
    expect(told(world)).toEqual([
      'MultiplePodDisruptionBudgets: Pod "default"/"a" matches multiple PodDisruptionBudgets.  ' +
        'Chose "one" arbitrarily.',
    ]);
  });
});

describe('evicted pods', () => {
  test('are looked at again when their time is over; late ones are told', async () => {
    const world = setUp();
    const disrupted = { young: timeText(NOW - 30_000), late: timeText(NOW - 130_000) };
    for (const name of ['young', 'late']) world.put({ name });
    const status = { disruptedPods: disrupted } as unknown as PodDisruptionBudget['status'];
    world.budgets.put({ ...budget({ minAvailable: 1 }), status });
    expect(await world.sync()).toMatchObject({
      currentHealthy: 1,
      disruptedPods: { young: disrupted.young },
    });
    expect(told(world)).toEqual([
      "NotDeleted: Pod was expected by PDB default/default to be deleted but it wasn't",
    ]);
    const { later } = world.queues.get('disruption_recheck')!;
    expect(later).toMatchObject([{ key: KEY, delayMs: 90_000 }]);
    world.queues.get('disruption')!.drain();
    await world.rechecks!.reconcile(KEY, world.run);
    expect(world.queues.get('disruption')!.drain()).toEqual([KEY]);
  });
});

test('a pod is not evicted because objects have something of its name', async () => {
  const world = setUp();
  world.put({ name: 'constructor' });
  const status = { disruptedPods: {} } as unknown as PodDisruptionBudget['status'];
  world.budgets.put({ ...budget({ minAvailable: 1 }), status });
  expect(await world.sync()).toMatchObject({ currentHealthy: 1, disruptedPods: {} });
  expect(told(world)).toEqual([]);
});

describe('a pod that is not disrupted after all', () => {
  const disrupted = (sinceMs: number) => {
    const pod = podOf();
    const target = {
      type: 'DisruptionTarget',
      status: 'True',
      lastTransitionTime: timeText(sinceMs),
    };
    return { ...pod, status: { ...pod.status, conditions: [target] } };
  };

  test('is waited for, then its condition is taken back', async () => {
    const { informers, queues, stale, run } = setUp();
    informers.pods().put(disrupted(NOW - 30_000));
    expect(queues.get('stale_pod_disruption')!.later).toMatchObject([{ delayMs: 90_000 }]);
    await stale!.reconcile('default/web-1', run);
    expect(run.wishes).toMatchObject([{ delayMs: 90_000 }]);
    informers.pods().put(disrupted(NOW - 130_000));
    await stale!.reconcile('default/web-1', run);
    expect(run.writes).toMatchObject([
      {
        verb: 'update',
        resource: 'pods/status',
        key: 'default/web-1',
        body: { status: { conditions: [{ type: 'DisruptionTarget', status: 'False' }] } },
      },
    ]);
    await stale!.reconcile('default/gone', run);
    expect(run.writes).toHaveLength(1);
  });
});
