/** The controller as a whole over fakes: what queues a DaemonSet, and what a sync sends. */
import { describe, expect, test } from 'bun:test';
import { FencedError } from '../../api/errors.ts';
import { stringifyJson } from '../../api/json.ts';
import { controllerReference } from '../../api/meta.ts';
import { CONTROLLER_REVISIONS, DAEMON_SETS, NODES, REPLICA_SETS } from '../../api/resource.ts';
import type { ControllerRevision, DaemonSet, Node, Pod } from '../../api/types/index.ts';
import type { PodCreation } from '../../runtime/controller.ts';
import { DAEMON_NUMBERS, templateData } from '../_kit/revisions/data.ts';
import { type FakeContext, fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun, refusal } from '../_kit/testing/fake-run.ts';
import { daemonSetController } from './index.ts';
import { daemonSet, LABELS, NOON, pod, type SetOptions, template } from './testing/build.ts';

const KEY = 'default/agent';
const HASH = 'controller-revision-hash';

function nodeObject(name: string, spec: Node['spec'] = {}, labels = {}): Node {
  return { metadata: { name, uid: `${name}-uid`, resourceVersion: '1', labels }, spec };
}

/** The revision of the builder's template, labeled with hash "now". */
function revision(name = 'agent-now', hash: string | null = 'now', number = 1) {
  const metadata = {
    name,
    namespace: 'default',
    uid: `${name}-uid`,
    resourceVersion: '5',
    labels: { ...LABELS, ...(hash === null ? {} : { [HASH]: hash }) },
    ownerReferences: [controllerReference(daemonSet().metadata, DAEMON_SETS)],
  };
  const data = JSON.parse(templateData(template(), DAEMON_NUMBERS)) as object;
  return { metadata, data, revision: number } as ControllerRevision;
}

interface World {
  readonly set?: DaemonSet;
  readonly nodes?: readonly Node[];
  readonly pods?: readonly Pod[];
  readonly revisions?: readonly ControllerRevision[];
  readonly fakes?: FakeContext;
  readonly gatesOff?: string[];
}

function setUp(world: World = {}) {
  const flags = { 'concurrent-daemonset-syncs': 2 };
  const fakes = world.fakes ?? fakeContext({ now: NOON, flags, gatesOff: world.gatesOff });
  const { context, informers, queues } = fakes;
  const sets = informers.of<DaemonSet>(DAEMON_SETS);
  const nodes = informers.of<Node>(NODES);
  const revisions = informers.of<ControllerRevision>(CONTROLLER_REVISIONS);
  if (world.set !== undefined) sets.put(world.set);
  nodes.put(...(world.nodes ?? []));
  revisions.put(...(world.revisions ?? []));
  informers.pods().put(...(world.pods ?? []));
  const { queues: definitions } = daemonSetController.build(context)!;
  const [main, byNode] = definitions;
  const queue = queues.get('daemonset')!;
  const nodeQueue = queues.get('daemonset-node-updates')!;
  queue.drain();
  const run = new FakeRun(NOON);
  if (world.set !== undefined) run.live(DAEMON_SETS, world.set);
  return {
    ...fakes,
    definitions,
    sets,
    nodes,
    revisions,
    pods: informers.pods(),
    queue,
    nodeQueue,
    run,
    sync: () => main!.reconcile(KEY, run),
    syncNode: (name: string) => byNode!.reconcile(name, run),
  };
}

/** A set with its revision and one node, on which nothing runs. */
function ready(options: SetOptions = {}, more: World = {}) {
  const set = daemonSet(options);
  return setUp({ set, nodes: [nodeObject('n1')], revisions: [revision()], ...more });
}

test('two queues with as many workers each, and endless retries', () => {
  const { definitions } = setUp();
  expect(definitions.map(({ queue }) => queue.name)).toEqual([
    'daemonset',
    'daemonset-node-updates',
  ]);
  expect(definitions.map(({ workers, retriesMax }) => [workers, retriesMax])).toEqual([
    [2, undefined],
    [2, undefined],
  ]);
});

describe('what queues a DaemonSet', () => {
  test('each of its own events; one that is gone is forgotten', () => {
    const { sets, queue, expectations } = setUp();
    sets.put(daemonSet());
    sets.put(daemonSet({ generation: 2 }));
    expect(queue.drain()).toEqual([KEY]);
    expectations.expect(KEY, 'set-uid', 3, []);
    sets.remove(daemonSet());
    expect(queue.drain()).toEqual([KEY]);
    expect(expectations.satisfied(KEY)).toBe(true);
  });

  test('a new UID under its name ends what the old one awaited', () => {
    const { sets, expectations } = setUp({ set: daemonSet() });
    expectations.expect(KEY, 'set-uid', 3, []);
    const { metadata } = daemonSet();
    sets.put({ ...daemonSet(), metadata: { ...metadata, uid: 'later' } });
    expect(expectations.satisfied(KEY)).toBe(true);
  });

  test('events of its pods, which lower what is awaited', () => {
    const { pods, queue, expectations } = setUp({ set: daemonSet() });
    expectations.expect(KEY, 'set-uid', 2, ['default/a']);
    pods.put(pod('a', 'n1'));
    expect(expectations.awaited(KEY)).toEqual({ adds: 1, deletes: ['default/a'] });
    expect(queue.drain()).toEqual([KEY]);
    pods.put(newer(pod('a', 'n1', { deleting: true })));
    expect(expectations.awaited(KEY).deletes).toEqual([]);
    expect(queue.drain()).toEqual([KEY]);
    pods.remove(pod('a', 'n1'));
    expect(queue.drain()).toEqual([KEY]);
  });

  test('a pod of another kind, or of a set of another UID, concerns it not', () => {
    const { pods, queue } = setUp({ set: daemonSet() });
    const own = { name: 'agent', uid: 'set-uid' };
    const others = [
      controllerReference(own, REPLICA_SETS),
      controllerReference({ ...own, uid: 'former' }, DAEMON_SETS),
    ];
    for (const [at, reference] of others.entries()) {
      const one = pod(`p${at}`, 'n1');
      pods.put({ ...one, metadata: { ...one.metadata, ownerReferences: [reference] } });
    }
    expect(queue.drain()).toEqual([]);
  });

  test('a pod that becomes ready, once more a second after minReadySeconds', () => {
    const { pods, queue } = setUp({
      set: daemonSet({ minReadySeconds: 10 }),
      pods: [pod('a', 'n1', { ready: false })],
    });
    pods.put(newer(pod('a', 'n1')));
    expect(queue.later).toEqual([
      { key: KEY, delayMs: 11_000, because: 'pod a became ready and is available after 10 s' },
    ]);
  });

  test('orphans that its selector matches, pods and revisions, when they come or change', () => {
    const { pods, revisions, queue } = setUp({ set: daemonSet() });
    const orphan = pod('o', 'n1', { orphan: true });
    pods.put(orphan);
    expect(queue.drain()).toEqual([KEY]);
    pods.put(newer(orphan));
    expect(queue.drain()).toEqual([]);
    pods.put(newer(pod('o', 'n1', { orphan: true, labels: { more: 'yes' } }), '3'));
    expect(queue.drain()).toEqual([KEY]);
    const { metadata, ...rest } = revision();
    revisions.put({ ...rest, metadata: { ...metadata, ownerReferences: [] } });
    expect(queue.drain()).toEqual([KEY]);
  });

  test('changed and deleted revisions, not new ones of its own', () => {
    const { revisions, queue } = setUp({ set: daemonSet() });
    const own = revision();
    revisions.put(own);
    expect(queue.drain()).toEqual([]);
    revisions.put(newer(own, '6'));
    expect(queue.drain()).toEqual([KEY]);
    revisions.remove(own);
    expect(queue.drain()).toEqual([KEY]);
  });
});

describe('nodes', () => {
  test('new ones, and changed labels or taints, are looked at; heartbeats are not', () => {
    const { nodes, nodeQueue } = setUp({ nodes: [nodeObject('n1')] });
    expect(nodeQueue.drain()).toEqual([]);
    nodes.put(nodeObject('n2'));
    expect(nodeQueue.drain()).toEqual(['n2']);
    nodes.put(nodeObject('n1'));
    expect(nodeQueue.drain()).toEqual([]);
    nodes.put(nodeObject('n1', {}, { a: 'b' }));
    expect(nodeQueue.drain()).toEqual(['n1']);
    nodes.put(nodeObject('n1', { taints: [{ key: 'x', effect: 'NoSchedule' }] }, { a: 'b' }));
    expect(nodeQueue.drain()).toEqual(['n1']);
  });

  test.each<[string, World, string[]]>([
    ['a set that lacks a pod there', { nodes: [nodeObject('n1')] }, [KEY]],
    ['not one that has it', { nodes: [nodeObject('n1')], pods: [pod('a', 'n1')] }, []],
    [
      'one whose pod must go',
      {
        nodes: [nodeObject('n1', { taints: [{ key: 'x', effect: 'NoExecute' }] })],
        pods: [pod('a', 'n1')],
      },
      [KEY],
    ],
    [
      'not one that keeps away',
      { nodes: [nodeObject('n1', { taints: [{ key: 'x', effect: 'NoSchedule' }] })] },
      [],
    ],
    [
      'one that counts misscheduled pods',
      {
        nodes: [nodeObject('n1')],
        pods: [pod('a', 'n1')],
        set: daemonSet({ status: { numberMisscheduled: 1 } }),
      },
      [KEY],
    ],
    ['none, if the node is gone', {}, []],
  ])('queue %s', async (_, world, keys) => {
    const { syncNode, queue } = setUp({ set: daemonSet(), ...world });
    await syncNode('n1');
    expect(queue.drain()).toEqual(keys);
  });

  test('a lost one is looked at, and fails syncs until it is healed', async () => {
    const { nodes, nodeQueue, sync, syncNode, podControl } = ready();
    const get = nodes.get.bind(nodes);
    let lost = true;
    nodes.get = (key) => {
      if (lost && key === 'n2') throw new Error('n2 is lost');
      return get(key);
    };
    nodes.put(nodeObject('n2'));
    expect(nodeQueue.drain()).toEqual(['n2']);
    await expect(sync()).rejects.toThrow('n2 is lost');
    await expect(syncNode('n2')).rejects.toThrow('n2 is lost');
    lost = false;
    await sync();
    expect(podControl.created.map(({ slot }) => slot)).toEqual(['n1', 'n2']);
  });
});

describe('a sync', () => {
  test('without the set forgets it', async () => {
    const { sync, expectations, run } = setUp();
    expectations.expect(KEY, 'set-uid', 2, []);
    await sync();
    expect(expectations.satisfied(KEY)).toBe(true);
    expect(run.writes).toEqual([]);
  });

  test('waits for its own writes to be seen, unless the gate is off', async () => {
    const { sync, behind } = ready();
    behind.add(KEY);
    await expect(sync()).rejects.toThrow(
      `the caches have not reached the last write made for ${KEY}`,
    );
    const off = ready({}, { gatesOff: ['StaleControllerConsistencyDaemonSet'] });
    off.behind.add(KEY);
    await off.sync();
    expect(off.podControl.created).toHaveLength(1);
  });

  test('of a set that selects everything only says so', async () => {
    const { sync, run, events } = ready({ selector: {} });
    await sync();
    expect(run.writes).toEqual([]);
    expect(events.events.map(({ type, reason, message }) => [type, reason, message])).toEqual([
      [
        'Warning',
        'SelectingAll',
        'This daemon set is selecting all pods. A non-empty selector is required.',
      ],
    ]);
  });

  test('of a set that is being deleted does nothing', async () => {
    const { sync, run, podControl } = ready({ deleting: true });
    await sync();
    expect([...run.writes, ...podControl.created]).toEqual([]);
  });

  test('of a set with an invalid selector fails', async () => {
    const selector = { matchExpressions: [{ key: 'a', operator: 'Odd' }] };
    await expect(ready({ selector }).sync()).rejects.toThrow(
      /^DaemonSet default\/agent has invalid label/,
    );
  });

  test('creates pods for nodes in their slots, announced and awaited', async () => {
    const { sync, podControl, expectations, run } = ready();
    await sync();
    expect(podControl.created).toHaveLength(1);
    expect(podControl.created[0]).toMatchObject({
      namespace: 'default',
      owner: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'set-uid' },
      generateName: 'agent-',
      slot: 'n1',
      template: { metadata: { labels: { ...LABELS, [HASH]: 'now' } } },
      because: 'node n1: the node has no pod yet',
    });
    const [creation] = podControl.created;
    const waiting = { ...pod('other', ''), ...(creation as PodCreation).template };
    const stored = [pod('other', 'n1'), pod('other', 'n2'), waiting];
    expect(stored.map((one) => creation?.ofSlot?.(one as Pod))).toEqual([true, false, true]);
    expect(expectations.awaited(KEY)).toEqual({ adds: 1, deletes: [] });
    const status = run.writes.find(({ resource }) => resource === 'daemonsets.apps/status');
    expect(status?.guard).toEqual({ ownerKey: KEY, ownerUid: 'set-uid' });
  });

  test('what was not created or deleted is not awaited; the error fails the sync', async () => {
    const nodes = [
      nodeObject('n1'),
      nodeObject('n2', { taints: [{ key: 'x', effect: 'NoExecute' }] }),
    ];
    const { sync, podControl, expectations, run } = ready({}, { nodes, pods: [pod('a', 'n2')] });
    const cause = refusal(403, 'Forbidden');
    const results = [
      { done: 0, notDone: [''], error: refusal(403, 'Forbidden', 'no create') },
      { done: 0, notDone: ['default/a'], error: new Error('unable to delete pods: no', { cause }) },
    ];
    podControl.nextResult = results.shift();
    const { deletePods } = podControl;
    podControl.deletePods = (...given) => {
      podControl.nextResult = results.shift();
      return deletePods.apply(podControl, given);
    };
    await expect(sync()).rejects.toThrow('[no create, unable to delete pods: no]');
    expect(expectations.awaited(KEY)).toEqual({ adds: 0, deletes: [] });
    expect(run.writes.map(({ resource }) => resource)).toEqual(['daemonsets.apps/status']);
  });

  test('the lost Lease ends it at once', async () => {
    const { sync, podControl, run } = ready();
    podControl.nextResult = { done: 0, notDone: [''], error: new FencedError() };
    await expect(sync()).rejects.toThrow(FencedError);
    expect(run.writes).toEqual([]);
  });

  test('an announced deletion counts as going, and is looked at again', async () => {
    const { sync, podControl, run } = ready({}, { pods: [pod('a', 'n1', { hash: 'now' })] });
    podControl.going.add('a-uid');
    await sync();
    expect(podControl.created).toEqual([]);
    expect(run.wishes[0]).toMatchObject({ delayMs: 120_000 });
  });

  test('adopts an orphan once, and releases what no longer matches', async () => {
    const released = pod('r', 'n1', { labels: { app: 'other' } });
    const orphan = pod('o', 'n1', { orphan: true, hash: 'now' });
    const { sync, run, podControl } = ready({}, { pods: [orphan, released] });
    await sync();
    const patches = run.writes.filter(({ resource }) => resource === 'pods');
    expect(patches.map(({ key, guard }) => [key, guard?.ownerUid])).toEqual([
      ['default/o', 'set-uid'],
      ['default/r', undefined],
    ]);
    expect(podControl.created).toEqual([]);
  });

  test('finds unscheduled pods by their affinity', async () => {
    const waiting = pod('w', 'n1', { waiting: true, hash: 'now' });
    const { sync, podControl } = ready({}, { pods: [waiting] });
    await sync();
    expect(podControl.created).toEqual([]);
  });

  test('creates its revision with the bytes that upstream stores', async () => {
    const { sync, run } = ready({ annotations: { note: '<x>' } }, { revisions: [] });
    await sync();
    const [made] = run.writes;
    expect(made).toMatchObject({ verb: 'create', resource: 'controllerrevisions.apps' });
    const text = stringifyJson(made?.body);
    expect(text).toContain(`"data":${templateData(template(), DAEMON_NUMBERS)},`);
    expect(text).toContain('"note":"\\u003cx\\u003e"');
  });

  test('renumbers and labels revisions by patches that carry UID and version', async () => {
    const metadata = { uid: 'agent-now-uid', resourceVersion: '5' };
    const other = { ...revision('agent-old', 'old', 4), data: {} };
    const buried = ready({}, { revisions: [revision(), other] });
    await buried.sync();
    expect(buried.run.writes[0]).toMatchObject({ verb: 'patch', body: { metadata, revision: 5 } });
    const bare = ready({}, { revisions: [revision('agent-now', null)] });
    await bare.sync();
    const labels = { [HASH]: 'agent-now' };
    expect(bare.run.writes[0]).toMatchObject({
      verb: 'patch',
      body: { metadata: { ...metadata, labels } },
    });
  });

  test('tries a refused status once more over a live read of the same set', async () => {
    const { sync, run } = ready({ status: { collisionCount: 1 } });
    const live = { ...daemonSet(), status: { collisionCount: 2 } } as unknown as DaemonSet;
    run.live(DAEMON_SETS, live);
    run.failNext('update', refusal(409, 'Conflict'));
    await sync();
    const writes = run.writes.filter(({ verb }) => verb === 'update');
    expect(writes).toHaveLength(2);
    expect(writes[0]?.body).toMatchObject({ status: { collisionCount: 1 } });
    expect(writes[1]?.body).toMatchObject({
      status: { desiredNumberScheduled: 1, collisionCount: 2 },
    });
    const { metadata } = live;
    run.live(DAEMON_SETS, { ...live, metadata: { ...metadata, uid: 'later' } });
    run.failNext('update', refusal(409, 'Conflict', 'moved'));
    await expect(sync()).rejects.toThrow('moved');
  });
});

describe('failed pods are remembered', () => {
  const failed = { pods: [pod('a', 'n1', { phase: 'Failed', hash: 'now' })] };

  async function wishAfter(fakes: FakeContext): Promise<readonly number[]> {
    const { sync, run } = setUp({
      set: daemonSet(),
      nodes: [nodeObject('n1')],
      revisions: [revision()],
      ...failed,
      fakes,
    });
    await sync();
    return run.wishes.map(({ delayMs }) => delayMs);
  }

  test('the next one waits, twice as long each time, counting watched time only', async () => {
    const first = ready({}, failed);
    await first.sync();
    expect(first.podControl.deleted).toHaveLength(1);
    first.expectations.forget(KEY);
    await first.sync();
    expect(first.run.wishes).toMatchObject([{ delayMs: 1_000 }]);
    await first.clock.advance(400);
    await first.sync();
    expect(first.run.wishes[1]).toMatchObject({ delayMs: 600 });
    await first.clock.advance(600);
    await first.sync();
    expect(first.podControl.deleted).toHaveLength(2);
  });

  test('a new process goes on with the wait of the one before', async () => {
    const flags = { 'concurrent-daemonset-syncs': 2 };
    const fakes = fakeContext({ now: NOON, flags });
    expect(await wishAfter(fakes)).toEqual([]);
    fakes.expectations.forget(KEY);
    await fakes.clock.advance(400);
    expect(await wishAfter(fakes)).toEqual([600]);
    expect(fakes.memory.all().map(({ key, value }) => [key, value])).toEqual([
      ['set-uid/0/n1', expect.stringMatching(/^1000 \{"elapsedMs":0,.*\}$/)],
    ]);
  });

  test.each(['1000', '0 {}', 'x {}', '1000 {}', ''])('"%s" is no memory', async (value) => {
    const fakes = fakeContext({ now: NOON, flags: { 'concurrent-daemonset-syncs': 2 } });
    await wishAfter(fakes);
    fakes.expectations.forget(KEY);
    for (const row of fakes.memory.all()) fakes.memory.put({ ...row, value });
    expect(await wishAfter(fakes)).toEqual([]);
  });
});

function newer<T extends Pod | ControllerRevision>(object: T, version = '2'): T {
  return { ...object, metadata: { ...object.metadata, resourceVersion: version } };
}
