/** Holdfast is killed and started again: it goes on from its file, and the server hardly notices. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type Cluster,
  type HoldfastManager,
  type NodeSimulator,
  simulateNodes,
  startCluster,
} from '../rig/index.ts';
import { deployment, template, World } from '../scenarios/world.ts';

setDefaultTimeout(180_000);

const CONTROLLERS = 'deployment,replicaset,replicationcontroller,serviceaccount';
const FLAGS = [`--controllers=${CONTROLLERS}`, '-v=2'];
const RESUMED = ['deployments', 'replicasets', 'pods', 'replicationcontrollers', 'serviceaccounts'];

let cluster: Cluster;
let world: World;
let holdfast: HoldfastManager;
let nodes: NodeSimulator;

beforeAll(async () => {
  cluster = await startCluster();
  await startNodes();
  world = new World(cluster, await cluster.namespace('restart'));
  holdfast = await cluster.startHoldfast({ flags: FLAGS });
  await world.create(deployment(5));
  await world.rolledOut();
});

afterAll(async () => {
  await cluster.stop();
});

async function startNodes(): Promise<void> {
  nodes = await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
}

/** The simulated kubelets would wait for ever for versions that the rewound server has lost. */
async function rewind(snapshot: string): Promise<void> {
  await nodes.stop();
  await cluster.rewind(snapshot);
  await startNodes();
}

async function startAgain(): Promise<Date> {
  const { stateDir, runtimeDir, port } = holdfast;
  const since = new Date();
  holdfast = await cluster.startHoldfast({ flags: FLAGS, stateDir, runtimeDir, port });
  return since;
}

async function kill(): Promise<void> {
  holdfast.kill('SIGKILL');
  await holdfast.waitExit();
}

function lists(since: Date, metadataOnly?: boolean): string[] {
  const entries = cluster.auditEntries({
    verb: 'list',
    resource: RESUMED,
    userAgent: /^holdfast\/\d/,
    since,
  });
  return entries
    .filter(
      ({ requestURI }) => metadataOnly === undefined || /limit=1\b/.test(requestURI) === false,
    )
    .map(({ requestURI }) => requestURI);
}

describe('a restart with the API server untouched', () => {
  test('lists nothing that was resumed, and works at once', async () => {
    await kill();
    await world.merge('deployments', 'web', { spec: { replicas: 6 } });
    const since = await startAgain();
    await world.rolledOut();
    expect(lists(since)).toEqual([]);
    const lease = await cluster.api.get('leases', 'kube-system', 'kube-controller-manager');
    expect(lease.spec.leaseTransitions).toBe(1);
  });

  test('creates nothing twice when it was killed in the middle of a rollout', async () => {
    await world.merge('deployments', 'web', { spec: { template: template('2'), replicas: 8 } });
    await world.untilList('replicasets', (sets) => sets.length === 2, 'the second ReplicaSet');
    await kill();
    await startAgain();
    await world.rolledOut();
    const pods = await world.list('pods');
    const current = pods.filter((pod) => pod.spec.containers[0].image === 'web:2');
    expect(current).toHaveLength(8);
  });
});

describe('a restart of the API server', () => {
  test('costs metadata, and whole objects only for what changed', async () => {
    await kill();
    await cluster.restartApiServer();
    await world.merge('deployments', 'web', { spec: { replicas: 9 } });
    const since = await startAgain();
    await world.rolledOut();
    const entries = cluster.auditEntries({
      verb: 'list',
      resource: RESUMED,
      userAgent: /^holdfast\/\d/,
      since,
    });
    const single = entries.filter(({ requestURI }) => requestURI.includes('metadata.name%3D'));
    const whole = entries.filter((entry) => !single.includes(entry));
    // One comparison of metadata a resource; no more single objects than had changed.
    expect(whole.length).toBeLessThanOrEqual(RESUMED.length + 1);
    expect(single.length).toBeLessThan(12);
  });

  test('is survived while Holdfast runs', async () => {
    await cluster.restartApiServer();
    await world.merge('deployments', 'web', { spec: { replicas: 4 } });
    await world.rolledOut();
  });
});

describe('etcd restored to an older revision', () => {
  test('is noticed at the start, and nothing wrong is written', async () => {
    await cluster.stopApiServer();
    await cluster.restartEtcd({ snapshot: 'before' });
    await cluster.startApiServer();
    await world.merge('deployments', 'web', { spec: { replicas: 7 } });
    await world.rolledOut();
    const podsThen = (await world.list('pods')).length;
    await kill();
    await rewind('before');
    await startAgain();
    await world.rolledOut();
    expect(podsThen).toBe(7);
    const pods = await world.list('pods');
    expect(pods.filter((pod) => pod.metadata.deletionTimestamp === undefined)).toHaveLength(4);
  });

  test('is noticed while Holdfast runs', async () => {
    await world.merge('deployments', 'web', { spec: { replicas: 6 } });
    await world.rolledOut();
    await rewind('before');
    await world.until('deployments', 'web', ({ spec }) => spec.replicas === 4);
    await world.rolledOut();
    await world.untilList(
      'pods',
      (pods) => pods.filter((pod) => pod.metadata.deletionTimestamp === undefined).length === 4,
      'four pods again',
    );
  });
});
