/** Simulated nodes: what a pod's annotations and a test's orders make of it, and heartbeats. */
import { afterAll, beforeAll, expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import { isIPv4 } from 'node:net';
import { pod } from '../builders/index.ts';
import {
  type Api,
  ApiFailure,
  type Cluster,
  eventually,
  type NodeSimulator,
  type Obj,
  simulateNodes,
  simulateNodesApart,
  startCluster,
  type WatchEvent,
} from './index.ts';
import { addressOf } from './nodes.ts';

setDefaultTimeout(120_000);

let cluster: Cluster;
let nodes: NodeSimulator;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  namespace = await cluster.namespace('nodes');
  nodes = await simulateNodes(cluster, {
    count: 2,
    clearTaint: true,
    bind: true,
    heartbeatMs: 300,
  });
});

afterAll(() => cluster.stop());

test('each of many nodes has an address of its own, which the API server takes', () => {
  const addresses = Array.from({ length: 1_000 }, (_, index) => addressOf(index));
  expect(new Set(addresses).size).toBe(1_000);
  expect(addresses.filter((one) => isIPv4(one))).toEqual(addresses);
});

/** Creates a pod with the given annotations (without their prefix). */
async function run(name: string, notes: Record<string, string> = {}, spec: object = {}) {
  const annotations = Object.fromEntries(
    Object.entries(notes).map(([key, value]) => [`sim.holdfast.dev/${key}`, value]),
  );
  await cluster.api.create(pod(`${namespace}/${name}`, { metadata: { annotations }, spec }));
}

function condition(object: Obj, type: string): string | undefined {
  return object.status?.conditions?.find((one: Obj) => one.type === type)?.status;
}

const until = (name: string, wanted: (found: Obj) => boolean) =>
  cluster.api.waitFor('pods', namespace, name, wanted);

test('a plain pod gets an address and is ready', async () => {
  await run('plain');
  const found = await until('plain', (one) => condition(one, 'Ready') === 'True');
  expect(found.status.phase).toBe('Running');
  expect(found.status.podIP).toMatch(/^10\./);
  expect(found.status.containerStatuses[0].state.running.startedAt).toBeTruthy();
  expect(condition(found, 'PodScheduled')).toBe('True');
});

/** What a watch shows of one pod ("phase/Ready") from before `act` until `last` holds. */
async function statesOf(
  name: string,
  act: () => Promise<void>,
  last: (event: WatchEvent) => boolean,
): Promise<string[]> {
  const { metadata } = await cluster.api.listPage('pods', namespace);
  await act();
  const states: string[] = [];
  await cluster.api.watchUntil(
    'pods',
    namespace,
    (event) => {
      if (event.object.metadata.name !== name) return false;
      states.push(`${event.object.status.phase}/${condition(event.object, 'Ready') ?? '-'}`);
      return last(event);
    },
    { resourceVersion: metadata.resourceVersion },
  );
  return states;
}

test('ready-after is kept, with a Running state before', async () => {
  const create = () => run('slow', { 'ready-after': '400ms' });
  const ready = ({ object }: WatchEvent) => condition(object, 'Ready') === 'True';
  const states = await statesOf('slow', create, ready);
  expect(states[0]).toBe('Pending/-');
  expect(states).toContain('Running/False');
  expect(states.at(-1)).toBe('Running/True');
});

test('pods finish, fail, crash or stay unready as told', async () => {
  const never = { restartPolicy: 'Never' };
  await run('finish', { behaviour: 'finish', 'finish-after': '100ms' }, never);
  await run('fail', { behaviour: 'fail', 'exit-code': '42', reason: 'Evicted' }, never);
  await run('crash', { behaviour: 'crash', 'finish-after': '50ms' });
  await run('unready', { behaviour: 'unready' });
  await run('hang', { behaviour: 'hang' });

  const finished = await until('finish', (one) => one.status.phase === 'Succeeded');
  expect(finished.status.containerStatuses[0].state.terminated.exitCode).toBe(0);
  const failed = await until('fail', (one) => one.status.phase === 'Failed');
  expect(failed.status.containerStatuses[0].state.terminated.exitCode).toBe(42);
  expect(failed.status.reason).toBe('Evicted');
  await until('crash', (one) => one.status.containerStatuses?.[0]?.restartCount >= 2);
  const unready = await until('unready', (one) => one.status.phase === 'Running');
  expect(condition(unready, 'Ready')).toBe('False');
  const hanging = await until('hang', (one) => Boolean(one.spec.nodeName));
  expect(hanging.status.phase).toBe('Pending');
});

test('a status write that lost a race is sent again', async () => {
  const { api } = cluster;
  const patch = api.patch.bind(api);
  let lost = 0;
  const racing = spyOn(api, 'patch').mockImplementation((async (
    ...args: Parameters<Api['patch']>
  ) => {
    if (args[2] !== 'raced' || ++lost > 2) return patch(...args);
    throw new ApiFailure(409, 'Conflict', 'the object has been modified', '');
  }) as Api['patch']);
  try {
    await run('raced');
    await until('raced', (one) => condition(one, 'Ready') === 'True');
  } finally {
    racing.mockRestore();
  }
  expect(lost).toBeGreaterThan(2);
});

test('orders change a pod while it runs', async () => {
  await run('ordered');
  await until('ordered', (one) => condition(one, 'Ready') === 'True');
  nodes.orderPod(namespace, 'ordered', { behaviour: 'unready' });
  await until('ordered', (one) => condition(one, 'Ready') === 'False');
  nodes.orderPod(namespace, 'ordered', { behaviour: 'run' });
  await until('ordered', (one) => condition(one, 'Ready') === 'True');
  nodes.orderPod(namespace, 'ordered', { behaviour: 'fail', exitCode: 3 });
  await until('ordered', (one) => one.status.phase === 'Failed');
});

test('a deleted pod goes when its kubelet lets it go', async () => {
  await run('going', { 'terminate-after': '300ms', 'terminate-exit-code': '7' });
  await until('going', (one) => condition(one, 'Ready') === 'True');
  const remove = () => cluster.api.remove('pods', namespace, 'going');
  const states = await statesOf('going', remove, ({ type, object }) => {
    const [container] = object.status.containerStatuses;
    if (object.status.phase === 'Failed') expect(container.state.terminated.exitCode).toBe(7);
    return type === 'DELETED';
  });
  expect(states[0]).toBe('Running/True');
  expect(states.at(-1)).toBe('Failed/False');
});

test('a stopped kubelet neither beats nor runs pods, and catches up when it is back', async () => {
  const lease = async () =>
    (await cluster.api.get('leases', 'kube-node-lease', 'node-1')).spec.renewTime as string;
  const first = await lease();
  await eventually(async () => (await lease()) > first, { describe: 'a heartbeat' });
  nodes.stopKubelet('node-1');
  await run('stuck', {}, { nodeName: 'node-1' });
  await run('beside', {}, { nodeName: 'node-0' });
  await until('beside', (one) => condition(one, 'Ready') === 'True');
  expect((await cluster.api.get('pods', namespace, 'stuck')).status.phase).toBe('Pending');
  await nodes.startKubelet('node-1');
  await until('stuck', (one) => condition(one, 'Ready') === 'True');
  await nodes.setReady('node-1', 'False');
  expect(condition(await cluster.api.get('nodes', '', 'node-1'), 'Ready')).toBe('False');
  await nodes.setReady('node-1', 'True');
});

test('nodes follow through a restart of the API server', async () => {
  await cluster.restartApiServer();
  await run('after');
  await until('after', (one) => condition(one, 'Ready') === 'True');
});

test('nodes in a process of their own do the same', async () => {
  const child = await simulateNodesApart(cluster, { prefix: 'apart', count: 3, clearTaint: true });
  await run('apart', {}, { nodeName: 'apart-2' });
  await until('apart', (one) => condition(one, 'Ready') === 'True');
  await child.stop();
});
