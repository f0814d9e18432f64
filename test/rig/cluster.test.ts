/** The control plane under disturbance, its audit log, and that nothing outlives its owner. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { configMap } from '../builders/index.ts';
import { type Cluster, eventually, RIG_FOLDER, startCluster } from './index.ts';
import { processesMentioning } from './processes.ts';

setDefaultTimeout(120_000);

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(() => cluster.stop());

test('the audit log counts requests by verb, resource and user', async () => {
  const namespace = await cluster.namespace('audit');
  const nobody = cluster.client('nobody');
  await nobody.list('secrets', namespace).catch(() => undefined);
  await cluster.api.list('secrets', namespace);
  await cluster.api.list('secrets', namespace);
  const lists = { verb: 'list', resource: 'secrets', namespace };
  expect(cluster.auditEntries({ ...lists, user: 'rig-admin' }).length).toBe(2);
  const [refused] = cluster.auditEntries({ ...lists, user: /^nobody$/ });
  expect(refused?.responseStatus?.code).toBe(403);
});

test('etcd can be taken back to a snapshot, as after restoring a backup', async () => {
  const namespace = await cluster.namespace('rewind');
  const kept = await cluster.api.create(configMap(`${namespace}/kept`));
  await cluster.restartEtcd({ snapshot: 'before' });
  await eventually(() => cluster.api.get('configmaps', namespace, 'kept'));
  let lost = kept;
  for (let n = 0; n < 200; n++)
    lost = await cluster.api.create(configMap(`${namespace}/lost-${n}`));
  await cluster.rewind('before');
  expect(await cluster.api.find('configmaps', namespace, 'lost-199')).toBeUndefined();
  const found = await cluster.api.get('configmaps', namespace, 'kept');
  expect(found.metadata.uid).toBe(kept.metadata.uid);
  const { metadata } = await cluster.api.listPage('configmaps', namespace);
  expect(Number(metadata.resourceVersion)).toBeLessThan(Number(lost.metadata.resourceVersion));
});

test('a manager that ends while starting is reported with its last words', async () => {
  const manager = await cluster.startReference(['--no-such-flag']);
  const failure = await manager.waitServing().catch((error: Error) => error);
  expect(String(failure)).toContain('ended while starting');
  expect(String(failure)).toContain('unknown flag: --no-such-flag');
});

test('a manager can be killed and its end is seen', async () => {
  const manager = await cluster.startReference();
  await manager.waitServing();
  manager.kill('SIGKILL');
  expect(await manager.waitExit()).toEqual({ code: null, signal: 'SIGKILL' });
});

test('nothing outlives a process that is killed', async () => {
  const script = `
    const { startCluster } = await import(${JSON.stringify(join(RIG_FOLDER, 'index.ts'))});
    const cluster = await startCluster();
    console.log(cluster.dir);
    process.kill(process.pid, 'SIGKILL');
  `;
  const owner = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' });
  const dir = (await new Response(owner.stdout).text()).trim();
  await owner.exited;
  expect(owner.signalCode).toBe('SIGKILL');
  expect(dir).toContain('holdfast-rig-');
  await eventually(() => !existsSync(dir) && processesMentioning(dir).length === 0, {
    describe: 'folder and processes of a killed owner gone',
  });
});
