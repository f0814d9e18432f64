/** A leader that is frozen for longer than its Lease wakes up and finds that another one leads. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type Cluster,
  eventually,
  type HoldfastManager,
  simulateNodes,
  startCluster,
} from '../rig/index.ts';
import { diagnose } from '../scenarios/diagnosis.ts';
import { Ledger } from '../scenarios/ledger.ts';
import { deployment, template, World } from '../scenarios/world.ts';

setDefaultTimeout(120_000);

const FLAGS = [
  '--controllers=deployment,replicaset',
  '--leader-elect-lease-duration=4s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=500ms',
  '-v=2',
];
const REPLICAS = 8;

let cluster: Cluster;
let world: World;
let ledger: Ledger;
let version = 1;

beforeAll(async () => {
  cluster = await startCluster();
  await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true, readyDelayMs: 150 });
  world = new World(cluster, await cluster.namespace('frozen'));
  ledger = new Ledger(cluster.api, world.namespace);
});

afterAll(async () => {
  ledger?.stop();
  await cluster?.stop();
});

async function leads(process: HoldfastManager): Promise<boolean> {
  const answer = await process.fetch('/debug/holdfast/lease');
  return ((await answer.json()) as { state: string }).state === 'leading';
}

async function rolledOut(process: HoldfastManager): Promise<void> {
  try {
    await world.rolledOut();
  } catch (error) {
    throw new Error(`${error}\n${await diagnose(world, process)}`);
  }
  await ledger.reach();
}

async function beginRollout(): Promise<void> {
  const { size } = ledger.pods;
  await world.merge('deployments', 'web', { spec: { template: template(`${++version}`) } });
  await eventually(() => ledger.pods.size > size, { everyMs: 5 });
}

/** Creates and deletes of pods since then, by whomever. */
function writesOfPods(since: Date): number {
  const { namespace } = world;
  const filter = { verb: ['create', 'delete'], resource: 'pods', namespace, since };
  return cluster.auditEntries({ ...filter, userAgent: /holdfast/ }).length;
}

test('it writes nothing more, and takes its turn again later', async () => {
  const first = await cluster.startHoldfast({ flags: FLAGS });
  await first.waitServing();
  await eventually(() => leads(first));
  await world.create(deployment(REPLICAS));
  await rolledOut(first);
  const second = await cluster.startHoldfast({ flags: FLAGS });
  await second.waitServing();
  await beginRollout();
  first.kill('SIGSTOP');
  await eventually(() => leads(second), { describe: 'the standby leads' });
  await rolledOut(second);
  const finished = new Date();
  first.kill('SIGCONT');
  await eventually(async () => !(await leads(first)), { describe: 'it has noticed' });
  await Bun.sleep(1_000);
  expect(writesOfPods(finished)).toBe(0);
  expect(ledger.of('web')).toHaveLength(2 * REPLICAS);
  await beginRollout();
  second.kill('SIGKILL');
  await eventually(() => leads(first), { describe: 'it leads again' });
  await rolledOut(first);
  expect(ledger.of('web')).toHaveLength(3 * REPLICAS);
});
