/** The rig proves itself: the reference manager rolls a Deployment out, and nothing is left over. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { deployment } from '../builders/index.ts';
import { type Cluster, eventually, simulateNodes, startCluster } from './index.ts';
import { processesMentioning } from './processes.ts';

setDefaultTimeout(120_000);

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(async () => {
  await cluster.stop();
});

test('the reference manager leads and rolls a Deployment out on simulated nodes', async () => {
  const nodes = await simulateNodes(cluster, { count: 2 });
  await cluster.startScheduler();
  const manager = await cluster.startReference();
  const namespace = await cluster.namespace('rollout');
  await cluster.api.create(deployment(`${namespace}/web`, { spec: { replicas: 5 } }));
  const ready = await cluster.api.waitFor('deployments', namespace, 'web', (deployment) => {
    return deployment.status?.readyReplicas === 5;
  });
  expect(ready.status.availableReplicas).toBe(5);
  const lease = await cluster.api.get('leases', 'kube-system', 'kube-controller-manager');
  expect(lease.spec.holderIdentity).toBeTruthy();
  expect((await manager.fetch('/healthz', null)).status).toBe(200);
  expect(manager.usage().rssBytes).toBeGreaterThan(1e6);

  await cluster.api.scale('deployments', namespace, 'web', 1);
  await eventually(async () => (await cluster.api.list('pods', namespace)).length === 1);
  expect(nodes.stats.errors).toBe(0);
  const lists = cluster.auditEntries({ verb: 'list', resource: 'pods', user: /controller/ });
  expect(lists.length + cluster.auditEntries({ verb: 'watch', resource: 'pods' }).length).not.toBe(
    0,
  );
  nodes.stop();
});

test('two clusters run side by side and leave nothing behind', async () => {
  const other = await startCluster({ audit: false });
  const namespace = await other.namespace('alone');
  expect(await cluster.api.find('namespaces', '', namespace)).toBeUndefined();
  expect(processesMentioning(other.dir).length).toBe(2);
  await other.stop();
  expect(processesMentioning(other.dir)).toEqual([]);
  expect(existsSync(other.dir)).toBe(false);
});
