/**
 * Requests of a dead process arrive, or turn out to have arrived, after the next one has begun to
 * work: nothing is created twice, and no deletion hits a namesake.
 */
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import {
  always,
  type Cluster,
  eventually,
  FaultProxy,
  freePort,
  type HoldfastManager,
  type Obj,
  simulateNodes,
  startCluster,
  TcpProxy,
} from '../rig/index.ts';
import { diagnose } from '../scenarios/diagnosis.ts';
import { Ledger } from '../scenarios/ledger.ts';
import { deployment, replicaSet, replicationController, World } from '../scenarios/world.ts';
import { readState } from './state-copy.ts';

setDefaultTimeout(120_000);

const FLAGS = [
  '--controllers=deployment,replicaset,replicationcontroller',
  '--leader-elect-lease-duration=4s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=500ms',
  '-v=2',
];
const REPLICAS = 3;
/** More than the store waits before it commits. */
const COMMIT_MS = 500;

let cluster: Cluster;
let world: World;
let ledger: Ledger;
let proxy: FaultProxy;
let holdfast: HoldfastManager;

beforeAll(async () => {
  cluster = await startCluster();
  await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
  proxy = await FaultProxy.start(cluster);
});

afterAll(async () => {
  await cluster?.stop();
});

afterEach(async () => {
  ledger.stop();
  proxy.heal();
  await holdfast.stop();
});

beforeEach(async () => {
  world = new World(cluster, await cluster.namespace('late'));
  ledger = new Ledger(cluster.api, world.namespace);
});

function kubeconfig(server: string): string {
  return cluster.kubeconfig('kube-controller-manager', server);
}

/** Starts Holdfast on that way to the API server, on new folders or on those of a dead one. */
async function start(server: string, dead?: HoldfastManager): Promise<void> {
  const folders = dead && { stateDir: dead.stateDir, runtimeDir: dead.runtimeDir };
  const options = { flags: FLAGS, kubeconfig: kubeconfig(server), ...folders };
  holdfast = await cluster.startHoldfast(options);
}

async function kill(): Promise<HoldfastManager> {
  holdfast.kill('SIGKILL');
  await holdfast.waitExit();
  return holdfast;
}

async function rolledOut(): Promise<void> {
  try {
    await world.rolledOut();
  } catch (error) {
    throw new Error(`${error}\n${await diagnose(world, holdfast)}`);
  }
  await ledger.reach();
}

/** Waits until the proxy has taken in a request of the process. */
async function asked(method: string, path: RegExp, since: number): Promise<void> {
  const look = (): boolean =>
    proxy.seen.slice(since).some((seen) => seen.method === method && path.test(seen.path));
  await eventually(look, { everyMs: 5, describe: `${method} ${path}` });
}

/** A page of what the process says about itself. */
async function debug(page: string): Promise<unknown[]> {
  const answer = await holdfast.fetch(`/debug/holdfast/${page}`);
  return (await answer.json()) as unknown[];
}

/** Answers to writes of pods by Holdfast in this test. */
function answers(verb: string): number[] {
  const entries = cluster.auditEntries({
    verb,
    resource: 'pods',
    namespace: world.namespace,
    userAgent: /holdfast/,
    where: ({ objectRef }) => objectRef?.subresource === undefined,
  });
  return entries.map(({ responseStatus }) => responseStatus?.code ?? 0);
}

test.each<[string, boolean]>([
  ['at once', false],
  ['after what was on the tmpfs is lost', true],
])('creates that arrive late, restarted %s', async (_when, rebooted) => {
  await start(proxy.url);
  await world.create(deployment(1));
  await rolledOut();
  const since = proxy.seen.length;
  const late = Promise.withResolvers<void>();
  proxy.fail({ method: 'POST', path: /\/pods(\?|$)/, fault: { until: late.promise } });
  await world.merge('deployments', 'web', { spec: { replicas: 1 + REPLICAS } });
  await asked('POST', /\/pods(\?|$)/, since);
  const dead = await kill();
  if (rebooted) await Bun.$`rm -rf ${dead.runtimeDir}`;
  await start(cluster.server, dead);
  await rolledOut();
  late.resolve();
  await eventually(() => answers('create').includes(409), {
    describe: 'the late create is refused: its name is taken',
  });
  await ledger.reach();
  expect(ledger.of('web')).toHaveLength(1 + REPLICAS);
  expect(ledger.of('web').filter(({ deleting }) => deleting)).toEqual([]);
});

test('creates and deletes that were done, and the answers never came', async () => {
  const tcp = await TcpProxy.start(await freePort(), cluster.ports.apiServer);
  await start(tcp.url);
  await world.create(deployment(6));
  await rolledOut();
  for (const replicas of [9, 5]) {
    const known = ledger.of('web').length;
    const going = (): number => ledger.of('web').filter(({ deleting }) => deleting).length;
    const gone = going();
    await world.merge('deployments', 'web', { spec: { replicas } });
    await eventually(() => ledger.of('web').length > known || going() > gone, { everyMs: 1 });
    tcp.hold();
    await Bun.sleep(300);
    const dead = await kill();
    tcp.release();
    tcp.cut();
    await start(tcp.url, dead);
    await rolledOut();
  }
  expect(ledger.of('web')).toHaveLength(9);
  expect(ledger.of('web').filter(({ deleting }) => deleting)).toHaveLength(4);
  await holdfast.stop();
  await tcp.stop();
});

test.each([
  ['replicasets', replicaSet],
  ['replicationcontrollers', replicationController],
])('pods of %s that were created, but seen by neither process', async (plural, draft) => {
  await start(proxy.url);
  await world.create(draft(1));
  await world.scaled(plural, 'web', 1);
  proxy.mute(/\/api\/v1\/pods\?/);
  await world.merge(plural, 'web', { spec: { replicas: 1 + REPLICAS } });
  await eventually(() => ledger.of('web').length === 1 + REPLICAS);
  // Answered as well, and on record as answered.
  await eventually(async () => (await debug('intents')).length === 0);
  await Bun.sleep(COMMIT_MS);
  const dead = await kill();
  await start(proxy.url, dead);
  await holdfast.waitServing();
  await eventually(async () => (await debug('queues')).length > 0, { describe: 'it works' });
  await always(() => ledger.of('web').length === 1 + REPLICAS, { forMs: 1_500 });
  proxy.unmute();
  await world.scaled(plural, 'web', 1 + REPLICAS);
  await ledger.reach();
  expect(ledger.of('web')).toHaveLength(1 + REPLICAS);
});

test('a deletion that never left is not sent any more when its pod is wanted again', async () => {
  await start(proxy.url);
  await world.create(deployment(REPLICAS));
  await rolledOut();
  const since = proxy.seen.length;
  proxy.fail({ method: 'DELETE', path: /\/pods\//, fault: { cut: 'unsent' } });
  await world.merge('deployments', 'web', { spec: { replicas: 1 } });
  await asked('DELETE', /\/pods\//, since);
  const dead = await kill();
  expect(readState(dead.stateDir)?.intents).toBeGreaterThan(0);
  await world.merge('deployments', 'web', { spec: { replicas: REPLICAS + 1 } });
  await start(cluster.server, dead);
  await rolledOut();
  expect(ledger.of('web')).toHaveLength(REPLICAS + 1);
  expect(ledger.of('web').filter(({ deleting }) => deleting)).toEqual([]);
});

test('a deletion that arrives late spares the namesake of its victim', async () => {
  await start(proxy.url);
  await world.create(deployment(2));
  await rolledOut();
  const since = proxy.seen.length;
  const late = Promise.withResolvers<void>();
  proxy.fail({ method: 'DELETE', path: /\/pods\//, fault: { until: late.promise } });
  await world.merge('deployments', 'web', { spec: { replicas: 1 } });
  await asked('DELETE', /\/pods\//, since);
  await kill();
  const path = proxy.seen.findLast(({ method }) => method === 'DELETE')?.path ?? '';
  const name = path.replace(/.*\/pods\/([^?]+).*/, '$1');
  await cluster.api.remove('pods', world.namespace, name, { gracePeriodSeconds: 0 });
  await cluster.api.waitGone('pods', world.namespace, name);
  const namesake = await world.create(plainPod(name));
  late.resolve();
  await eventually(() => answers('delete').length > 0, { describe: 'the late deletion' });
  expect(answers('delete')).toEqual([409]);
  const found = await world.get('pods', name);
  expect(found.metadata.uid).toBe(namesake.metadata.uid);
  expect(found.metadata.deletionTimestamp).toBeUndefined();
});

function plainPod(name: string): Obj {
  const spec = { containers: [{ name: 'main', image: 'main' }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
}
