/**
 * Nodes and evictions while Holdfast is killed: clocks go on from what had passed, and nothing that
 * was right is written again.
 */
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { rmSync } from 'node:fs';
import {
  always,
  type Cluster,
  eventually,
  FaultProxy,
  type HoldfastManager,
  type Obj,
  startCluster,
} from '../rig/index.ts';
import { Kubelet } from '../scenarios/nodes-kubelet.ts';
import { NodeWorld } from '../scenarios/nodes-world.ts';

setDefaultTimeout(240_000);

const FLAGS = [
  '--controllers=nodelifecycle,taint-eviction-controller,ttl',
  '--node-monitor-period=500ms',
  '--node-monitor-grace-period=12s',
  '--node-eviction-rate=2',
  '--leader-elect-lease-duration=6s',
  '--leader-elect-renew-deadline=4s',
  '--leader-elect-retry-period=1s',
];
const GRACE_MS = 12_000;
const TAINT = { key: 'example.com/gone', effect: 'NoExecute' };
const UNREACHABLE = 'node.kubernetes.io/unreachable';

let cluster: Cluster;
let holdfast: HoldfastManager;
const kubelets: Kubelet[] = [];

beforeAll(async () => {
  cluster = await startCluster();
  cluster.onStop(() => {
    for (const kubelet of kubelets) kubelet.stop();
  });
  await kubelet('anchor');
  holdfast = await cluster.startHoldfast({ flags: FLAGS });
  await holdfast.waitServing();
});

afterAll(async () => {
  await cluster.stop();
});

async function kubelet(name: string): Promise<Kubelet> {
  const made = new Kubelet(cluster.api, name);
  kubelets.push(made);
  return await made.start();
}

interface Down {
  /** How long nobody runs. */
  readonly downMs?: number;
  readonly withoutMemory?: boolean;
  readonly signal?: NodeJS.Signals;
  /** Between it and the API server from then on. */
  readonly proxy?: FaultProxy;
}

async function restart({
  downMs = 0,
  withoutMemory,
  signal = 'SIGKILL',
  proxy,
}: Down = {}): Promise<void> {
  const { stateDir, runtimeDir, port } = holdfast;
  holdfast.kill(signal);
  await holdfast.waitExit();
  await Bun.sleep(downMs);
  if (withoutMemory) for (const dir of [stateDir, runtimeDir]) rmSync(dir, { recursive: true });
  const kubeconfig = proxy && cluster.kubeconfig('kube-controller-manager', proxy.url);
  const way = kubeconfig === undefined ? {} : { kubeconfig };
  holdfast = await cluster.startHoldfast({ flags: FLAGS, stateDir, runtimeDir, port, ...way });
}

/** Silent nodes of one test must not make the zone of the next one look disrupted. */
afterEach(async () => {
  for (const one of kubelets.splice(1)) {
    one.stop();
    await cluster.api.remove('nodes', '', one.name);
  }
});

async function newWorld(): Promise<NodeWorld> {
  return new NodeWorld(cluster, await cluster.namespace('nodes'));
}

/** A tainted node with a pod on it that stays for so many seconds; resolves once that is seen. */
async function waiting(world: NodeWorld, tolerationSeconds: number): Promise<void> {
  const name = world.node('n');
  await kubelet(name);
  const pod = (podName: string, tolerations: object[]) =>
    world.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: podName, finalizers: ['example.com/hold'] },
      spec: { nodeName: name, tolerations, containers: [{ name: 'c', image: 'i' }] },
    });
  const toleration = { ...TAINT, operator: 'Exists', tolerationSeconds };
  await pod('waits', [toleration]);
  await pod('canary', []);
  await world.taint('n', [TAINT]);
  await world.untilGoing('canary');
}

async function told(world: NodeWorld, text: string): Promise<Obj[]> {
  return (await world.events()).filter(({ message }) => message.includes(text));
}

describe('a pod that tolerates a taint for 20 s', () => {
  test('leaves after them, also if Holdfast is killed and stopped in between', async () => {
    const world = await newWorld();
    await waiting(world, 20);
    const startedAt = performance.now();
    await Bun.sleep(8_000);
    await restart();
    await Bun.sleep(4_000);
    await restart({ signal: 'SIGTERM' });
    await world.untilGoing('waits', 40_000);
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeWithin(19_000, 24_000);
    expect(await told(world, 'Cancelling')).toEqual([]);
  });

  test('leaves later by the time that nobody watched', async () => {
    const world = await newWorld();
    await waiting(world, 20);
    const startedAt = performance.now();
    await Bun.sleep(5_000);
    const downMs = 17_000;
    await restart({ downMs });
    await world.untilGoing('waits', 60_000);
    expect(performance.now() - startedAt).toBeWithin(20_000 + downMs - 1_000, 30_000 + downMs);
  });

  test('leaves late, as under upstream, if the memory is lost', async () => {
    const world = await newWorld();
    await waiting(world, 12);
    await Bun.sleep(6_000);
    await restart({ withoutMemory: true });
    const restartedAt = performance.now();
    await world.untilGoing('waits', 60_000);
    expect(performance.now() - restartedAt).toBeGreaterThan(11_500);
  });
});

describe('a silent node', () => {
  const isLost = (node: Obj) =>
    (node.spec.taints ?? []).some(
      ({ key, effect }: Obj) => key === UNREACHABLE && effect === 'NoSchedule',
    );

  test.each(['SIGKILL', 'SIGTERM'] as const)('gets no new grace by %s', async (signal) => {
    const world = await newWorld();
    const lost = await kubelet(world.node('n'));
    await world.untilEvent('Registered Node');
    await Bun.sleep(1_500);
    lost.stop();
    const silentAt = performance.now();
    await Bun.sleep(9_000);
    await restart({ signal });
    const restartedAt = performance.now();
    await world.untilNode('n', isLost, 40_000);
    expect(performance.now() - silentAt).toBeGreaterThan(GRACE_MS - 1_500);
    expect(performance.now() - restartedAt).toBeLessThan(GRACE_MS - 2_000);
  });

  test('gets it if the memory is lost, or if the machine was off for long', async () => {
    for (const how of [{ withoutMemory: true }, { downMs: 17_000 }]) {
      const world = await newWorld();
      const lost = await kubelet(world.node('n'));
      await world.untilEvent('Registered Node');
      await Bun.sleep(1_500);
      lost.stop();
      await Bun.sleep(8_000);
      await restart(how);
      const restartedAt = performance.now();
      await world.untilNode('n', isLost, 60_000);
      expect(performance.now() - restartedAt).toBeGreaterThan(GRACE_MS - 1_000);
    }
  });

  test('keeps its taints through a kill, is not registered again, nor is anybody cancelled', async () => {
    const world = await newWorld();
    const lost = await kubelet(world.node('n'));
    await world.untilEvent('Registered Node');
    lost.stop();
    const isEvicted = (node: Obj) =>
      (node.spec.taints ?? []).some(({ effect }: Obj) => effect === 'NoExecute');
    await world.untilNode('n', isEvicted, 40_000);
    await Bun.sleep(2_000);
    const before = await world.getNode('n');
    await restart();
    await Bun.sleep(6_000);
    const after = await world.getNode('n');
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    const [registered] = await told(world, 'Registered Node');
    expect(registered?.count ?? 1).toBe(1);
  });

  test('that is taken away while nobody runs is told to be removed', async () => {
    const world = await newWorld();
    const gone = await kubelet(world.node('n'));
    await world.untilEvent('Registered Node');
    await Bun.sleep(1_000);
    const { stateDir, runtimeDir, port } = holdfast;
    holdfast.kill('SIGKILL');
    await holdfast.waitExit();
    gone.stop();
    await cluster.api.remove('nodes', '', world.node('n'));
    holdfast = await cluster.startHoldfast({ flags: FLAGS, stateDir, runtimeDir, port });
    await world.untilEvent('Removing Node');
  });
});

describe('a pod whose node was lost, and that could not be marked before Holdfast died', () => {
  const STATUS_OF_PODS = /\/pods\/[^/]+\/status/;
  let proxy: FaultProxy;

  /** Resolves when the node is called lost and its pod is not, with Holdfast dead. */
  async function unmarked(world: NodeWorld, how: Down): Promise<void> {
    proxy ??= await FaultProxy.start(cluster);
    await restart({ proxy });
    const name = world.node('n');
    const lost = await kubelet(name);
    const spec = { nodeName: name, containers: [{ name: 'c', image: 'i' }] };
    await world.create({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec });
    const conditions = [{ type: 'Ready', status: 'True' }];
    await world.api.patchStatus('pods', world.namespace, 'web', { conditions });
    await world.untilEvent('Registered Node');
    await Bun.sleep(1_500);
    proxy.fail({ method: 'PATCH', path: STATUS_OF_PODS, fault: { status: 500 } });
    lost.stop();
    const tried = () =>
      proxy.seen.some(({ path, faulted }) => faulted && path.includes(world.namespace));
    await eventually(tried, { timeoutMs: 60_000, describe: 'a try to mark the pod' });
    const restarting = restart(how);
    await holdfast.waitExit();
    proxy.heal();
    await restarting;
  }

  const ready = async (world: NodeWorld): Promise<string> =>
    (await world.get('pods', 'web')).status.conditions.find(({ type }: Obj) => type === 'Ready')
      .status;

  test('is marked by the next one', async () => {
    const world = await newWorld();
    await unmarked(world, {});
    await eventually(async () => (await ready(world)) === 'False', { timeoutMs: 30_000 });
  });

  test('seems ready, as under upstream, if the memory is lost', async () => {
    const world = await newWorld();
    await unmarked(world, { withoutMemory: true });
    await world.untilEvent('Registered Node');
    await always(async () => (await ready(world)) === 'True', {
      forMs: 12_000,
      describe: 'a pod that seems ready',
    });
  });
});

test('nodes that beat write nothing to the disk', async () => {
  const world = await newWorld();
  for (let at = 0; at < 10; at++) await kubelet(world.node(`n${at}`));
  await Bun.sleep(4_000);
  const commits = async (): Promise<number> => {
    const line = /^holdfast_store_commits (\S+)$/m.exec(await holdfast.metrics());
    return Number(line?.[1]);
  };
  const before = await commits();
  await Bun.sleep(20_000);
  // Each of the nodes has beaten more than twenty times.
  expect((await commits()) - before).toBeLessThanOrEqual(2);
});
