/** Two machines, one cluster: the leader's machine vanishes, the other carries on from its caches. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { rmSync } from 'node:fs';
import {
  type Cluster,
  eventually,
  type HoldfastManager,
  notYet,
  simulateNodes,
  startCluster,
} from '../rig/index.ts';
import { deployment, World } from '../scenarios/world.ts';

setDefaultTimeout(180_000);

const LEASE_SECONDS = 6;
/** For the look that finds it expired, and what a busy machine adds. */
const LOOKS_SECONDS = 4;
const FLAGS = [
  '--controllers=deployment,replicaset',
  `--leader-elect-lease-duration=${LEASE_SECONDS}s`,
  '--leader-elect-renew-deadline=4s',
  '--leader-elect-retry-period=500ms',
];

let cluster: Cluster;
let world: World;

beforeAll(async () => {
  cluster = await startCluster();
  await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
  world = new World(cluster, await cluster.namespace('standby'));
});
afterAll(() => cluster?.stop());

async function spec() {
  const lease = await cluster.api.get('leases', 'kube-system', 'kube-controller-manager');
  return lease.spec;
}

/** Waits until every cache of this process is complete. */
async function warm(holdfast: HoldfastManager): Promise<void> {
  await eventually(async () => {
    const answer = await holdfast.fetch('/debug/holdfast/watches');
    const watches = (await answer.json()) as { synced: boolean }[];
    if (watches.length === 0 || !watches.every(({ synced }) => synced)) throw notYet(watches);
    return true;
  });
}

test('the other leads within the duration of the Lease, and lists nothing', async () => {
  const leader = await cluster.startHoldfast({ flags: FLAGS });
  await eventually(async () => (await spec()).holderIdentity !== '');
  const standby = await cluster.startHoldfast({ flags: FLAGS });
  await world.create(deployment(4));
  await world.rolledOut();
  await warm(standby);
  const before = await spec();
  const since = new Date();
  leader.kill('SIGKILL');
  await leader.waitExit();
  for (const folder of [leader.runtimeDir, leader.stateDir]) rmSync(folder, { recursive: true });
  await world.merge('deployments', 'web', { spec: { replicas: 7 } });
  await world.rolledOut();
  const after = await spec();
  expect(after.holderIdentity).not.toBe(before.holderIdentity);
  expect(after.leaseTransitions).toBe(before.leaseTransitions + 1);
  const aloneMs = Date.parse(after.acquireTime) - Date.parse(before.renewTime);
  expect(aloneMs).toBeLessThan((LEASE_SECONDS + LOOKS_SECONDS) * 1e3);
  const lists = cluster.auditEntries({ verb: 'list', userAgent: /^holdfast\/\d/, since });
  expect(lists.map(({ requestURI }) => requestURI)).toEqual([]);
});
