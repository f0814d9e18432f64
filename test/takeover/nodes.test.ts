/**
 * A cluster with ready, cordoned and unreachable nodes goes from the reference manager to Holdfast
 * and back: no taint flaps, no pod is evicted or restarted.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Cluster, type Manager, type Obj, startCluster } from '../rig/index.ts';
import { Kubelet } from '../scenarios/nodes-kubelet.ts';
import { NodeWorld } from '../scenarios/nodes-world.ts';

setDefaultTimeout(240_000);

const FLAGS = [
  '--controllers=nodelifecycle,taint-eviction-controller,ttl',
  '--node-monitor-period=500ms',
  '--node-monitor-grace-period=6s',
  '--node-eviction-rate=2',
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];
const READY = ['n1', 'n2', 'n3'];
const LOST = 'lost';
const NO_EXECUTE = 'NoExecute';

let cluster: Cluster;
let world: NodeWorld;
const kubelets: Kubelet[] = [];

beforeAll(async () => {
  cluster = await startCluster();
  cluster.onStop(() => {
    for (const kubelet of kubelets) kubelet.stop();
  });
});

afterAll(async () => {
  await cluster.stop();
});

async function kubelet(name: string): Promise<Kubelet> {
  const made = await new Kubelet(cluster.api, world.node(name)).start();
  kubelets.push(made);
  return made;
}

async function pod(name: string, node: string, tolerationSeconds: number): Promise<void> {
  const toleration = { operator: 'Exists', effect: NO_EXECUTE, tolerationSeconds };
  await world.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      nodeName: world.node(node),
      tolerations: [toleration],
      containers: [{ name: 'c', image: 'i' }],
    },
  });
}

/** The manager leads and works: it tells a new node how long to cache. */
async function works(manager: Manager, round: string): Promise<void> {
  const name = `marker-${round}`;
  await kubelet(name);
  const told = ({ metadata }: Obj) =>
    metadata.annotations?.['node.alpha.kubernetes.io/ttl'] !== undefined;
  await world.untilNode(name, told).catch((error: Error) => {
    throw new Error(`${manager.name} does not work: ${error.message}\n${manager.tail()}`);
  });
}

/** What a manager may have written to nodes and pods; heartbeats go by the Lease. */
async function versions(names: readonly string[]): Promise<string[]> {
  const nodes = await Promise.all(names.map((name) => world.getNode(name)));
  return [...nodes, ...(await world.list('pods'))].map(
    ({ metadata }: Obj) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`,
  );
}

test('taken over and given back, nodes and pods are not written', async () => {
  let reference: Manager = await cluster.startReference({ flags: FLAGS });
  world = new NodeWorld(cluster, await cluster.namespace('takeover'));
  for (const name of READY) await kubelet(name);
  await world.mergeNode('n3', { spec: { unschedulable: true } });
  await works(reference, 'first');
  const lost = await kubelet(LOST);
  await pod('stays', 'n1', 0);
  await pod('waits', LOST, 600);
  lost.stop();
  const isEvicted = ({ spec }: Obj) =>
    (spec.taints ?? []).some(({ effect }: Obj) => effect === NO_EXECUTE);
  await world.untilNode(LOST, isEvicted);
  await Bun.sleep(2_000);
  const before = await versions([...READY, LOST]);

  reference.kill('SIGKILL');
  await reference.waitExit();
  const holdfast = await cluster.startHoldfast({ flags: FLAGS });
  await works(holdfast, 'second');
  await Bun.sleep(8_000);
  expect(await versions([...READY, LOST])).toEqual(before);

  expect(await holdfast.stop()).toMatchObject({ code: 0 });
  reference = await cluster.startReference({ flags: FLAGS });
  await works(reference, 'third');
  await Bun.sleep(4_000);
  // The reference takes the taints of unreachable nodes off and puts them on at each of its starts.
  const after = await versions(READY);
  expect(before).toEqual(expect.arrayContaining(after));
  const uids = (await world.list('pods')).map(({ metadata }) => metadata.deletionTimestamp);
  expect(uids).toEqual([undefined, undefined]);
});
