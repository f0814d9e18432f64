/**
 * A Deployment's key that fails too often is given up, and taken up again: its watch says nothing
 * while its ReplicaSet goes on changing, so each sync ends in a conflict. Both managers try as often.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Cluster, eventually, FaultProxy, type Manager, startCluster } from '../rig/index.ts';
import { deployment, World } from '../scenarios/world.ts';

setDefaultTimeout(120_000);

const FLAGS = ['--controllers=deployment', '-v=2'];
const WATCH = /\/deployments\?.*watch=/;
const STATUS = /\/deployments\/web\/status/;
const TRIES = 15;
/** What each says of a try that comes again, and of the end. */
const WORDS = {
  reference: { again: 'Error syncing deployment', end: 'Dropping deployment out of the queue' },
  holdfast: { again: 'will be tried again', end: 'Dropping the key out of the queue' },
};

/** One manager, the only controller of Deployments on its cluster; ReplicaSets are the test's. */
interface Side {
  readonly name: keyof typeof WORDS;
  readonly world: World;
  readonly proxy: FaultProxy;
  readonly manager: Manager;
}

let clusters: readonly Cluster[] = [];
let sides: readonly Side[] = [];

beforeAll(async () => {
  clusters = await Promise.all([startCluster({ audit: false }), startCluster({ audit: false })]);
  sides = await Promise.all([open(clusters[0], 'reference'), open(clusters[1], 'holdfast')]);
});

afterAll(async () => {
  await Promise.all(clusters.map((cluster) => cluster.stop()));
});

async function open(cluster: Cluster | undefined, name: Side['name']): Promise<Side> {
  if (cluster === undefined) throw new Error('the cluster did not start');
  const world = new World(cluster, await cluster.namespace('given-up'));
  const proxy = await FaultProxy.start(cluster);
  const kubeconfig = cluster.kubeconfig('kube-controller-manager', proxy.url);
  const options = { flags: FLAGS, kubeconfig };
  const manager = await (name === 'reference'
    ? cluster.startReference(options)
    : cluster.startHoldfast(options));
  await manager.waitServing();
  return { name, world, proxy, manager };
}

function conflictsOf({ proxy }: Side): number {
  return proxy.seen.filter(({ path, status }) => STATUS.test(path) && status === 409).length;
}

/** What the log says of syncs since it was so long, up to the end. */
function triesIn({ name, manager }: Side, since: number): { failed: number; ended: boolean } {
  const [before = '', ...after] = manager.log().slice(since).split(WORDS[name].end);
  return { failed: before.split(WORDS[name].again).length - 1, ended: after.length > 0 };
}

async function setReady({ world }: Side, replicaSet: string, ready: number): Promise<void> {
  await world.api.patchStatus('replicasets', world.namespace, replicaSet, {
    replicas: 1,
    fullyLabeledReplicas: 1,
    readyReplicas: ready,
    availableReplicas: ready,
    observedGeneration: 1,
  });
}

/** Changes the ReplicaSet until its Deployment is given up; gives how often it was tried again. */
async function wearOut(side: Side, replicaSet: string): Promise<number> {
  const { manager, world } = side;
  const since = manager.log().length;
  await setReady(side, replicaSet, 0);
  for (let touch = 0; !triesIn(side, since).ended; touch++) {
    const before = conflictsOf(side);
    await world.merge('replicasets', replicaSet, { metadata: { annotations: { at: `${touch}` } } });
    await eventually(() => conflictsOf(side) > before || triesIn(side, since).ended, {
      everyMs: 20,
      describe: `${side.name}: one more conflict`,
    });
  }
  return triesIn(side, since).failed;
}

async function play(side: Side): Promise<number> {
  const { world, proxy } = side;
  await world.create(deployment(1));
  const [replicaSet] = await world.untilList('replicasets', (all) => all.length === 1, 'one');
  const name = replicaSet?.metadata.name;
  await setReady(side, name, 1);
  await world.rolledOut();
  proxy.mute(WATCH);
  await world.merge('deployments', 'web', { metadata: { annotations: { unseen: 'yes' } } });
  const failed = await wearOut(side, name);
  const { status } = await world.get('deployments', 'web');
  expect(status.readyReplicas).toBe(1);
  proxy.unmute();
  await world.until('deployments', 'web', ({ status: { readyReplicas } }) => !readyReplicas);
  return failed;
}

test('a Deployment that met too many conflicts is taken up when its watch speaks again', async () => {
  const failed = await Promise.all(sides.map(play));
  expect(failed).toEqual([TRIES, TRIES]);
});
