/**
 * Records the database of this version for the releases after it: `bun test/upgrade/record.ts` writes
 * test/upgrade/vVERSION.sql from a process that was killed with a rollout done, a Job under way and
 * a ReplicaSet that a quota keeps from its pods. Run it with each release that has a new migration.
 */
import { Database } from 'bun:sqlite';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { eventually, simulateNodes, startCluster } from '../rig/index.ts';
import { deployment, World } from '../scenarios/world.ts';
import { dump, trim } from './dump.ts';

/** Without what names the machine it was recorded on. */
function anonymous(sql: string): string {
  return ['bootId', 'machineId'].reduce((text, name) => {
    const found = RegExp(`"${name}":"([0-9a-f-]+)"`).exec(text)?.[1] ?? '';
    return found === '' ? text : text.replaceAll(found, found.replaceAll(/[0-9a-f]/g, '0'));
  }, sql);
}

const cluster = await startCluster();
try {
  await simulateNodes(cluster, { count: 1, clearTaint: true, bind: true, readyDelayMs: 100 });
  const world = new World(cluster, await cluster.namespace('kept'));
  const holdfast = await cluster.startHoldfast({ flags: ['--controllers=*'] });
  await holdfast.waitServing();
  await world.create(deployment(2));
  await world.rolledOut();
  const container = { name: 'c', image: 'busybox', command: ['sleep', '3600'] };
  const template = { spec: { restartPolicy: 'Never', containers: [container] } };
  await world.create({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'once' },
    spec: { backoffLimit: 1, template },
  });
  await world.untilList('pods', (pods) => pods.length === 3, 'the pod of the Job');
  await world.create({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'full' },
    spec: { hard: { pods: '3' } },
  });
  await world.until('resourcequotas', 'full', ({ status }) => status?.used?.pods === '3');
  await world.merge('deployments', 'web', { spec: { replicas: 4 } });
  const path = join(holdfast.stateDir, 'state.db');
  const failing = 'SELECT count(*) AS failing FROM work WHERE failures > 2';
  await eventually(() => {
    const database = new Database(path, { readonly: true });
    const row = database.query<{ failing: number }, []>(failing).get();
    database.close();
    return (row?.failing ?? 0) > 0;
  });
  holdfast.kill('SIGKILL');
  await holdfast.waitExit();
  const database = new Database(path);
  trim(database);
  const to = join(import.meta.dir, `v${manifest.version}.sql`);
  writeFileSync(to, anonymous(dump(database)));
  database.close();
  console.log(`wrote ${to}`);
} finally {
  await cluster.stop();
}
