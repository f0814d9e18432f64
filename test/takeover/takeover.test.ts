/** A cluster goes from the reference manager to Holdfast and back, twice: nothing that was right moves. */
import { afterAll, beforeAll, setDefaultTimeout, test } from 'bun:test';
import { type Cluster, type Manager, simulateNodes, startCluster } from '../rig/index.ts';
import { deployment, replicationController, template, World } from '../scenarios/world.ts';
import { backAndForth, versionsOf } from './versions.ts';
import { rollsOut } from './works.ts';

setDefaultTimeout(180_000);

const CONTROLLERS = [
  'deployment',
  'replicaset',
  'replicationcontroller',
  'serviceaccount',
  'root-ca-certificate-publisher-controller',
  'namespace',
].join(',');
const ELECTION = [
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];
const FLAGS = [`--controllers=${CONTROLLERS}`, ...ELECTION];
const WATCHED = ['pods', 'replicasets', 'deployments', 'replicationcontrollers', 'configmaps'];

const MARKER = 'marker';

let cluster: Cluster;
let world: World;
let marker = 0;

beforeAll(async () => {
  cluster = await startCluster();
  await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
  world = new World(cluster, await cluster.namespace('takeover'));
});

afterAll(async () => {
  await cluster.stop();
});

/** Name, UID and version of everything a manager might have rewritten. */
function versions(): Promise<string[]> {
  return versionsOf(world, WATCHED, (name) => name.startsWith(MARKER));
}

function works(manager: Manager): Promise<void> {
  return rollsOut(manager, world, `${MARKER}-${++marker}`);
}

async function furnish(): Promise<void> {
  await world.create(deployment(4));
  await world.create(
    replicationController(
      2,
      { selector: { app: 'rc' }, template: template('1', {}, { app: 'rc' }) },
      'rc',
    ),
  );
  await world.rolledOut();
  await world.merge('deployments', 'web', { spec: { template: template('2') } });
  await world.rolledOut();
  await world.scaled('replicationcontrollers', 'rc', 2);
}

test('taken over and given back twice, no pod and no ReplicaSet is touched', async () => {
  await backAndForth({ cluster, flags: FLAGS, furnish, works, versions });
});
