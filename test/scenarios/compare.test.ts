/**
 * The same scenarios under the reference manager and under Holdfast: objects, conditions,
 * annotations and event reasons must come out equal.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Cluster, simulateNodes, startCluster } from '../rig/index.ts';
import { alike } from './alike.ts';
import { DAEMONSETS } from './daemonsets.ts';
import { DEPLOYMENTS } from './deployments.ts';
import { REPLICAS } from './replicas.ts';
import { type Snapshot, settledSnapshot } from './snapshot.ts';
import { STATEFULSETS } from './statefulsets.ts';
import { type Scenario, World } from './world.ts';

setDefaultTimeout(120_000);

const SCENARIOS = [...DEPLOYMENTS, ...REPLICAS, ...STATEFULSETS, ...DAEMONSETS];
const PLAYED_AT_ONCE = 4;
const CONTROLLERS = [
  'deployment',
  'replicaset',
  'replicationcontroller',
  'statefulset',
  'daemonset',
  'serviceaccount',
  'root-ca-certificate-publisher-controller',
].join(',');
const LIMITS = ['--kube-api-qps=500', '--kube-api-burst=1000'];

let reference: Cluster;
let holdfast: Cluster;
let played: Map<string, Promise<readonly [Snapshot, Snapshot]>>;

beforeAll(async () => {
  [reference, holdfast] = await Promise.all([startCluster(), startCluster()]);
  await Promise.all([reference, holdfast].map(prepare));
  const flags = [`--controllers=${CONTROLLERS}`, ...LIMITS];
  const managers = [
    await reference.startReference({ flags }),
    await holdfast.startHoldfast({ flags }),
  ];
  await Promise.all(managers.map((manager) => manager.waitServing()));
  played = playAll();
});

afterAll(async () => {
  await Promise.all([reference?.stop(), holdfast?.stop()]);
});

/** Nodes, and a garbage collector of the reference's, which Holdfast leaves to others here. */
async function prepare(cluster: Cluster): Promise<void> {
  await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
  const flags = ['--controllers=garbage-collector-controller', '--leader-elect=false'];
  await cluster.startReference({ flags, name: 'garbage-collector' });
}

/** Starts all scenarios, a few at a time; each test waits for its own. */
function playAll(): Map<string, Promise<readonly [Snapshot, Snapshot]>> {
  const waiting = [...SCENARIOS];
  const settlers = new Map<string, PromiseWithResolvers<readonly [Snapshot, Snapshot]>>();
  for (const scenario of SCENARIOS) settlers.set(scenario.name, Promise.withResolvers());
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const settler = settlers.get(next.name);
      await playBoth(next).then(settler?.resolve, settler?.reject);
    }
  };
  for (let i = 0; i < PLAYED_AT_ONCE; i++) void worker();
  for (const settler of settlers.values()) settler.promise.catch(() => undefined);
  return new Map([...settlers].map(([name, settler]) => [name, settler.promise]));
}

async function playBoth(scenario: Scenario): Promise<readonly [Snapshot, Snapshot]> {
  return await alike(scenario.name, () =>
    Promise.all([play(scenario, reference), play(scenario, holdfast)]),
  );
}

async function play(scenario: Scenario, cluster: Cluster): Promise<Snapshot> {
  const world = new World(cluster, await cluster.namespace('play'));
  await scenario.play(world);
  return await settledSnapshot(world);
}

describe('as the reference manager', () => {
  for (const scenario of SCENARIOS) {
    test(scenario.name, async () => {
      const [wanted, found] = (await played.get(scenario.name)) as readonly [Snapshot, Snapshot];
      expect(found).toEqual(wanted);
    });
  }
});
