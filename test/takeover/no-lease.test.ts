/**
 * Without a Lease, as k3s over SQLite runs its manager: nothing tells Holdfast that another manager
 * worked since it died. What it had announced then must not touch what the other one left.
 */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { eventually, FaultProxy, type Manager, simulateNodes, startCluster } from '../rig/index.ts';
import { deployment, template, World } from '../scenarios/world.ts';
import { versionsOf } from './versions.ts';
import { rollsOut } from './works.ts';

setDefaultTimeout(180_000);

/** Those of k3s that say how a manager works; the rig's say where and as whom. */
const FLAGS = [
  '--controllers=*,tokencleaner,-service,-route,-cloud-node-lifecycle',
  '--allocate-node-cidrs=true',
  '--cluster-cidr=10.42.0.0/16',
  '--configure-cloud-routes=false',
  '--leader-elect=false',
  '--profiling=false',
];
const WATCHED = ['pods', 'replicasets', 'deployments', 'configmaps'];
const MANY = 8;
const FEW = 3;
const MARKER = 'marker';

async function end(manager: Manager): Promise<void> {
  manager.kill('SIGKILL');
  await manager.waitExit();
}

test('killed amid deletions, it comes back after the other manager and touches nothing', async () => {
  await using cluster = await startCluster();
  await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
  const proxy = await FaultProxy.start(cluster);
  const world = new World(cluster, await cluster.namespace('no-lease'));
  let marker = 0;
  const works = (manager: Manager) => rollsOut(manager, world, `${MARKER}-${++marker}`);
  const resize = (replicas: number) => world.merge('replicasets', 'bare', { spec: { replicas } });
  const versions = () => versionsOf(world, WATCHED, (name) => name.startsWith(MARKER));
  const uids = async () => (await world.list('pods')).map(({ metadata }) => metadata.uid);

  let reference = await cluster.startReference({ flags: FLAGS });
  await world.create(deployment(2));
  const bare = { app: 'bare' };
  const fields = { selector: { matchLabels: bare }, template: template('1', {}, bare) };
  await world.create({ ...deployment(MANY, fields, 'bare'), kind: 'ReplicaSet' });
  await Promise.all([world.rolledOut(), world.scaled('replicasets', 'bare', MANY)]);
  await works(reference);
  const left = await versions();
  await end(reference);

  const kubeconfig = cluster.kubeconfig('kube-controller-manager', proxy.url);
  const first = await cluster.startHoldfast({ flags: FLAGS, kubeconfig });
  await works(first);
  expect(await versions()).toEqual(left);
  const before = await uids();
  proxy.fail({ method: 'DELETE', path: /\/pods\//, fault: { cut: 'unsent' } });
  await resize(FEW);
  const announced = () => proxy.seen.filter(({ faulted }) => faulted).length >= MANY - FEW;
  await eventually(announced, { describe: 'deletions that never arrive' });
  await end(first);

  await resize(MANY);
  reference = await cluster.startReference({ flags: FLAGS });
  await works(reference);
  await world.scaled('replicasets', 'bare', MANY);
  expect(await uids()).toEqual(expect.arrayContaining(before));
  const again = await versions();
  await end(reference);

  const { stateDir, runtimeDir } = first;
  const second = await cluster.startHoldfast({ flags: FLAGS, stateDir, runtimeDir });
  await works(second);
  expect(await versions()).toEqual(again);
  const lease = await cluster.api.find('leases', 'kube-system', 'kube-controller-manager');
  expect(lease).toBeUndefined();
  expect(await second.stop()).toMatchObject({ code: 0 });
});
