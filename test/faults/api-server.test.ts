/** The API server answers badly in the middle of rollouts: it always goes on, and ends right. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type Cluster,
  eventually,
  FaultProxy,
  type FaultRule,
  type HoldfastManager,
  simulateNodes,
  startCluster,
} from '../rig/index.ts';
import { diagnose } from '../scenarios/diagnosis.ts';
import { Ledger } from '../scenarios/ledger.ts';
import { deployment, template, World } from '../scenarios/world.ts';

setDefaultTimeout(120_000);

const FLAGS = ['--controllers=deployment,replicaset,replicationcontroller', '-v=2'];
const REPLICAS = 6;
const PODS = /\/pods(\?|$)/;
const ONE_POD = /\/pods\/[^/?]+(\?|$)/;
const WATCHES = /\/apis\/apps\/v1\/(deployments|replicasets)\?.*watch=1|\/api\/v1\/pods\?.*watch=1/;

let cluster: Cluster;
let world: World;
let proxy: FaultProxy;
let holdfast: HoldfastManager;
let ledger: Ledger;
let version = 1;

beforeAll(async () => {
  cluster = await startCluster();
  await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
  world = new World(cluster, await cluster.namespace('faults'));
  ledger = new Ledger(cluster.api, world.namespace);
  proxy = await FaultProxy.start(cluster);
  const kubeconfig = cluster.kubeconfig('kube-controller-manager', proxy.url);
  holdfast = await cluster.startHoldfast({ flags: FLAGS, kubeconfig });
  await world.create(deployment(REPLICAS, { revisionHistoryLimit: 2 }));
  await rolledOut();
});

afterEach(() => proxy.heal());

afterAll(async () => {
  ledger?.stop();
  await cluster?.stop();
});

async function rolledOut(): Promise<void> {
  try {
    await world.rolledOut();
  } catch (error) {
    throw new Error(`${error}\n${await diagnose(world, holdfast)}`);
  }
}

/** Rolls out a new version under these faults; gives how many pods were created for it. */
async function rollOut(...rules: FaultRule[]): Promise<number> {
  const before = new Set(ledger.pods.keys());
  const sought = proxy.seen.length;
  for (const rule of rules) proxy.fail(rule);
  await world.merge('deployments', 'web', { spec: { template: template(`${++version}`) } });
  await rolledOut();
  await ledger.reach();
  const faulted = proxy.seen.slice(sought).filter((request) => request.faulted);
  expect(faulted.length).toBeGreaterThan(0);
  return ledger.of('web').filter(({ uid }) => !before.has(uid)).length;
}

test.each<[string, FaultRule[]]>([
  [
    '429 with Retry-After for pods',
    [{ method: 'POST', path: PODS, times: 4, fault: { status: 429, retryAfterSeconds: 1 } }],
  ],
  ['429 without Retry-After for all writes', [{ method: 'PUT', times: 6, fault: { status: 429 } }]],
  [
    '500 and 503 for creates, updates and deletes',
    [
      { method: 'POST', path: PODS, times: 3, fault: { status: 500 } },
      { method: 'PUT', path: /replicasets|deployments/, times: 4, fault: { status: 503 } },
      { method: 'DELETE', path: ONE_POD, times: 3, fault: { status: 500 } },
    ],
  ],
  [
    '409 for every second write of a status',
    [{ method: 'PUT', path: /\/status(\?|$)/, times: 6, fault: { status: 409 } }],
  ],
  [
    'connections that close before the server saw the request',
    [
      { method: 'POST', path: PODS, times: 3, fault: { cut: 'unsent' } },
      { method: 'PUT', path: /replicasets/, times: 2, fault: { cut: 'unsent' } },
      { method: 'DELETE', path: ONE_POD, times: 2, fault: { cut: 'unsent' } },
    ],
  ],
  [
    'connections that close after the server did it',
    [
      { method: 'POST', path: PODS, times: 3, fault: { cut: 'executed' } },
      { method: 'POST', path: /replicasets/, times: 1, fault: { cut: 'executed' } },
      { method: 'PUT', path: /replicasets/, times: 2, fault: { cut: 'executed' } },
      { method: 'DELETE', path: ONE_POD, times: 2, fault: { cut: 'executed' } },
    ],
  ],
  ['slow writes', [{ method: 'POST', path: PODS, times: 4, fault: { delayMs: 1_500 } }]],
])('%s: no pod is missing and none is created twice', async (_name, rules) => {
  expect(await rollOut(...rules)).toBe(REPLICAS);
});

test('watches that end in the middle of a line are taken up again', async () => {
  proxy.fail({ path: WATCHES, times: 8, fault: { halfLineAfter: 2 } });
  // The watches that are open now end, so that the next ones meet the faults.
  proxy.cut();
  expect(await rollOut()).toBe(REPLICAS);
});

test('a watch answered with 410 is repaired by comparing, not by listing everything', async () => {
  proxy.fail({ path: WATCHES, times: 3, fault: { watchError: 410 } });
  // The watches that are open now end, so that the next ones meet the faults.
  proxy.cut();
  expect(await rollOut()).toBe(REPLICAS);
  const answer = await holdfast.fetch('/debug/holdfast/watches');
  const watches = (await answer.json()) as { resource: string; how: string }[];
  const how = watches.map((watch) => watch.how);
  expect(how).toContain('delta');
});

test('errors on the Lease for less than the deadline cost nothing', async () => {
  const leases = /leases\/kube-controller-manager/;
  proxy.fail({ path: leases, times: 3, fault: { status: 500 } });
  const before = await holdfast.fetch('/debug/holdfast/lease').then((answer) => answer.json());
  await eventually(
    () => proxy.seen.filter(({ path, faulted }) => faulted && leases.test(path)).length >= 3,
  );
  await world.merge('deployments', 'web', { spec: { replicas: REPLICAS + 1 } });
  await rolledOut();
  const after = await holdfast.fetch('/debug/holdfast/lease').then((answer) => answer.json());
  expect(after).toMatchObject({ state: 'leading', term: (before as { term: number }).term });
});
