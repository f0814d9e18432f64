/** The API server is away when Holdfast starts: it serves what it can, and begins when it comes. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  always,
  type Cluster,
  eventually,
  freePort,
  type HoldfastManager,
  simulateNodes,
  startCluster,
  TcpProxy,
} from '../rig/index.ts';
import { deployment, World } from '../scenarios/world.ts';

setDefaultTimeout(120_000);

const FLAGS = ['--controllers=deployment,replicaset', '-v=2'];

let cluster: Cluster;
let world: World;
let proxy: TcpProxy;

beforeAll(async () => {
  cluster = await startCluster({ audit: false });
  await simulateNodes(cluster, { count: 1, clearTaint: true, bind: true });
  world = new World(cluster, await cluster.namespace('absent'));
  proxy = await TcpProxy.start(await freePort(), cluster.ports.apiServer);
});

afterAll(async () => {
  await proxy?.stop();
  await cluster?.stop();
});

async function start(again?: HoldfastManager): Promise<HoldfastManager> {
  const kubeconfig = cluster.kubeconfig('kube-controller-manager', proxy.url);
  const folders = again && { stateDir: again.stateDir, runtimeDir: again.runtimeDir };
  return await cluster.startHoldfast({ flags: FLAGS, kubeconfig, ...folders });
}

async function servesItself(holdfast: HoldfastManager): Promise<void> {
  await holdfast.waitServing('/healthz', 10_000);
  expect(await holdfast.metrics()).toContain('process_start_time_seconds');
  const configz = await holdfast.fetch('/configz');
  expect(configz.status).toBe(200);
  expect(await configz.text()).toContain('kubecontrollermanager.config.k8s.io');
}

describe('an API server that is away at the start', () => {
  let holdfast: HoldfastManager;

  test('is waited for, while health, metrics and configuration are served', async () => {
    await proxy.refuse();
    holdfast = await start();
    await servesItself(holdfast);
    await always(() => holdfast.running, { forMs: 3_000, describe: 'Holdfast runs' });
    await world.create(deployment(2));
    await proxy.accept();
    await world.rolledOut();
  });

  test('is waited for with a file to resume from, too', async () => {
    holdfast.kill('SIGKILL');
    await holdfast.waitExit();
    await proxy.refuse();
    holdfast = await start(holdfast);
    await servesItself(holdfast);
    const watches = await holdfast.fetch('/debug/holdfast/watches');
    expect(watches.status).toBe(200);
    await world.merge('deployments', 'web', { spec: { replicas: 3 } });
    await proxy.accept();
    await world.rolledOut();
  });

  test('does not keep Holdfast from stopping', async () => {
    await proxy.refuse();
    expect(await holdfast.stop(15_000)).toMatchObject({ code: 0 });
    holdfast = await start(holdfast);
    await holdfast.waitServing('/healthz', 10_000);
    expect(await holdfast.stop(15_000)).toMatchObject({ code: 0 });
    await eventually(() => proxy.accept().then(() => true));
  });
});
