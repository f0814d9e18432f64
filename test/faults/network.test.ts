/** The way to the API server breaks in the middle of rollouts: it always goes on, and ends right. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type Cluster,
  eventually,
  freePort,
  type HoldfastManager,
  simulateNodes,
  startCluster,
  TcpProxy,
} from '../rig/index.ts';
import { diagnose } from '../scenarios/diagnosis.ts';
import { Ledger } from '../scenarios/ledger.ts';
import { deployment, template, World } from '../scenarios/world.ts';

setDefaultTimeout(120_000);

const CONTROLLERS = '--controllers=deployment,replicaset,replicationcontroller';
/** As by default, but a third of the time. */
const ELECTION = [
  '--leader-elect-lease-duration=5s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=700ms',
];
const FLAGS = [CONTROLLERS, ...ELECTION, '-v=2'];
const REPLICAS = 8;

let cluster: Cluster;
let world: World;
let proxy: TcpProxy;
let holdfast: HoldfastManager;
let ledger: Ledger;
let version = 1;
let known = new Set<string>();

beforeAll(async () => {
  cluster = await startCluster({ audit: false });
  await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true, readyDelayMs: 150 });
  world = new World(cluster, await cluster.namespace('network'));
  ledger = new Ledger(cluster.api, world.namespace);
  proxy = await TcpProxy.start(await freePort(), cluster.ports.apiServer);
  holdfast = await cluster.startHoldfast({
    flags: FLAGS,
    kubeconfig: cluster.kubeconfig('kube-controller-manager', proxy.url),
  });
  await world.create(deployment(REPLICAS, { revisionHistoryLimit: 2 }));
  await settled();
});

afterAll(async () => {
  ledger?.stop();
  await proxy?.stop();
  await cluster?.stop();
});

/** Waits until the rollout is complete; gives how many pods were created since the last time. */
async function settled(): Promise<number> {
  try {
    await world.rolledOut();
  } catch (error) {
    throw new Error(`${error}\n${await diagnose(world, holdfast)}`);
  }
  await ledger.reach();
  const created = ledger.of('web').filter(({ uid }) => !known.has(uid));
  known = new Set(ledger.pods.keys());
  return created.length;
}

/** Begins a rollout and waits until its first new pod is there. */
async function beginRollout(): Promise<void> {
  await world.merge('deployments', 'web', { spec: { template: template(`${++version}`) } });
  await eventually(() => ledger.of('web').some(({ uid }) => !known.has(uid)), { everyMs: 10 });
}

test('all connections are cut again and again', async () => {
  await beginRollout();
  for (let cut = 0; cut < 8; cut++) {
    await Bun.sleep(250);
    proxy.cut();
  }
  expect(await settled()).toBe(REPLICAS);
});

test('answers are cut in the middle', async () => {
  await beginRollout();
  for (const bytes of [10, 700, 3_000, 9_000]) {
    const before = proxy.traffic.down;
    proxy.cutAfter(bytes);
    await eventually(() => proxy.traffic.down > before + bytes, { everyMs: 10 });
  }
  expect(await settled()).toBe(REPLICAS);
});

test('every byte is late', async () => {
  proxy.delay(200);
  await beginRollout();
  expect(await settled()).toBe(REPLICAS);
  proxy.delay(0);
});

test('requests arrive but no answer comes back for a while', async () => {
  await beginRollout();
  proxy.hold();
  await Bun.sleep(2_000);
  proxy.release();
  expect(await settled()).toBe(REPLICAS);
});

test('requests arrive, and instead of the answers comes the end of the connection', async () => {
  await beginRollout();
  proxy.hold();
  await Bun.sleep(1_000);
  // Neither the answers nor the events that were on their way are ever seen.
  proxy.cut();
  proxy.release();
  expect(await settled()).toBe(REPLICAS);
});

test('connections are half open until the Lease is lost, then dead', async () => {
  await beginRollout();
  proxy.swallow();
  const lost = async (): Promise<boolean> => {
    const answer = await holdfast.fetch('/debug/holdfast/lease');
    return ((await answer.json()) as { state: string }).state === 'standby';
  };
  await eventually(lost, { describe: 'the Lease is lost' });
  const health = await holdfast.fetch('/healthz');
  expect(health.status).toBe(200);
  proxy.release();
  proxy.cut();
  expect(await settled()).toBe(REPLICAS);
});

test('nobody listens for 20 s', async () => {
  await beginRollout();
  await proxy.refuse();
  await Bun.sleep(20_000);
  await proxy.accept();
  expect(await settled()).toBe(REPLICAS);
  expect(holdfast.running).toBe(true);
});
