import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openInspector, STATE_FILE } from './index.ts';
import {
  cleanUp,
  intentRow,
  journalRow,
  objectRow,
  openTestStore,
  SLOW_TEST_MS,
  START,
  startChild,
  temporaryDirectory,
  until,
  workRow,
} from './testing/kit.ts';

setDefaultTimeout(SLOW_TEST_MS);
afterAll(cleanUp);

function owned(resource: string, key: string, kind: string, owner: { kind: string; uid: string }) {
  const row = objectRow(resource, key, '1', { kind });
  const object = JSON.parse(row.json);
  object.metadata.ownerReferences = [{ ...owner, name: 'web', apiVersion: 'apps/v1' }];
  return { ...row, json: JSON.stringify(object) };
}

/** A store with a Deployment, its ReplicaSet, a pod, and rows about them. */
async function filledStore() {
  const dir = temporaryDirectory();
  const opened = await openTestStore(dir);
  const { store } = opened;
  const deployment = objectRow('deployments.apps', 'default/web', '1', { kind: 'Deployment' });
  const ofDeployment = { kind: 'Deployment', uid: deployment.uid };
  const replicaSet = owned('replicasets.apps', 'default/web-1', 'ReplicaSet', ofDeployment);
  store.objects.put(deployment);
  store.objects.put(replicaSet);
  store.objects.put(
    owned('pods', 'default/web-1-a', 'Pod', { kind: 'ReplicaSet', uid: replicaSet.uid }),
  );
  store.objects.put(objectRow('pods', 'default-2/other', '4'));
  for (const resource of ['deployments.apps', 'replicasets.apps', 'pods', 'nodes']) {
    store.objects.setResumePoint({ resource, resourceVersion: '9', observedAt: START - 5_000 });
  }
  store.work.put(workRow('replicaset', 'default/web-1', { failures: 2, dueAt: START + 9_000 }));
  store.work.put(workRow('replicaset', 'default/else'));
  store.work.put(workRow('deployment', 'default/web', { dueAt: START + 3_000, dirty: false }));
  store.intents.put(intentRow('1', { ownerUid: replicaSet.uid }));
  store.ownWrites.put({
    controller: 'replicaset-controller',
    ownerKey: replicaSet.key,
    ownerUid: replicaSet.uid,
    resource: 'pods',
    resourceVersion: '8',
    term: 1,
  });
  store.memory.put({
    controller: 'replicaset-controller',
    key: 'backoff',
    subjectUid: replicaSet.uid,
    value: '{}',
    term: 1,
    expiresAt: 0,
    updatedAt: START,
  });
  const write = {
    resource: 'pods',
    namespace: 'default',
    name: 'web-1-a',
    because: 'one is missing',
  };
  store.journal(
    journalRow('default/web-1', { writes: [{ ...write, verb: 'create', outcome: 'ok' }] }),
  );
  store.journal(
    journalRow('default/else', { startedAt: START + 10, outcome: 'error', error: 'no' }),
  );
  store.commit();
  return { ...opened, dir, replicaSet };
}

describe('the inspector', () => {
  test('lists queues, work, watches and objects', async () => {
    const { dir, shut } = await filledStore();
    const inspect = openInspector(dir);
    expect(inspect.queues(START)).toEqual([
      {
        queue: 'deployment',
        keys: 1,
        dirty: 0,
        failing: 0,
        nextDueAt: START + 3_000,
        failuresHighest: 0,
      },
      { queue: 'replicaset', keys: 2, dirty: 2, failing: 1, nextDueAt: 0, failuresHighest: 2 },
    ]);
    expect(inspect.work({ failing: true }).map((row) => row.key)).toEqual(['default/web-1']);
    expect(inspect.work({ queue: 'deployment' })).toHaveLength(1);
    expect(inspect.watches(START)).toEqual([
      { resource: 'deployments.apps', resourceVersion: '9', ageMs: 5_000, rows: 1, how: '' },
      { resource: 'nodes', resourceVersion: '9', ageMs: 5_000, rows: 0, how: '' },
      { resource: 'pods', resourceVersion: '9', ageMs: 5_000, rows: 2, how: '' },
      { resource: 'replicasets.apps', resourceVersion: '9', ageMs: 5_000, rows: 1, how: '' },
    ]);
    expect(inspect.objects({ resource: 'pods' }).map((row) => row.key)).toEqual([
      'default-2/other',
      'default/web-1-a',
    ]);
    expect(inspect.objects({ resource: 'pods', namespace: 'default' })).toHaveLength(1);
    expect(inspect.objects({ resource: 'pods', limit: 1 })).toHaveLength(1);
    expect(inspect.object('pods', 'default-2/other')?.resourceVersion).toBe('4');
    expect(inspect.object('pods', 'default/none')).toBeUndefined();
    expect(inspect.facts()['store.boot_id']).toBe('boot-1');
    expect([inspect.intents().length, inspect.ownWrites().length]).toEqual([1, 1]);
    expect(inspect.memory({ controller: 'job-controller' })).toEqual([]);
    expect(inspect.expectations()).toEqual([]);
    inspect.close();
    await shut();
  });

  test('filters the journal, newest first', async () => {
    const { dir, shut } = await filledStore();
    const inspect = openInspector(dir);
    const keys = (filter: Parameters<typeof inspect.journal>[0]) =>
      inspect.journal(filter).map((entry) => entry.key);
    expect(keys({})).toEqual(['default/else', 'default/web-1']);
    expect(keys({ failed: true })).toEqual(['default/else']);
    expect(keys({ since: START + 1 })).toEqual(['default/else']);
    expect(keys({ key: 'default/web-1', controller: 'replicaset-controller' })).toHaveLength(1);
    expect(keys({ controller: 'job-controller' })).toEqual([]);
    expect(keys({ limit: 1 })).toEqual(['default/else']);
    inspect.close();
    await shut();
  });

  test('explains an object by everything that concerns it', async () => {
    const { dir, store, replicaSet, shut } = await filledStore();
    const inspect = openInspector(dir);
    const found = inspect.explain('replicasets.apps', 'default/web-1');
    expect(found.object?.metadata.uid).toBe(replicaSet.uid);
    expect(found.owners).toMatchObject([{ resource: 'deployments.apps', key: 'default/web' }]);
    expect(found.dependents).toMatchObject([
      { resource: 'pods', key: 'default/web-1-a', kind: 'Pod' },
    ]);
    expect(found.work).toHaveLength(1);
    expect([found.intents.length, found.ownWrites.length, found.memory.length]).toEqual([1, 1, 1]);
    expect(found.journal).toHaveLength(1);
    // The pod is known by the write that made it, also after it has gone.
    store.objects.delete('pods', 'default/web-1-a');
    store.commit();
    const pod = inspect.explain('pods', 'default/web-1-a');
    expect(pod.object).toBeUndefined();
    expect(pod.journal.map((entry) => entry.key)).toEqual(['default/web-1']);
    expect(pod.work).toEqual([]);
    inspect.close();
    await shut();
  });

  test('finds resources by id, plural, kind and short name', async () => {
    const { dir, shut } = await filledStore();
    const inspect = openInspector(dir);
    const words = ['deployments.apps', 'deployments', 'Deployment', 'Deployment.apps', 'deploy'];
    for (const word of words) {
      expect(inspect.resolveResource(word)).toEqual(['deployments.apps']);
    }
    expect(inspect.resolveResource('Node')).toEqual(['nodes']);
    expect(inspect.resolveResource('nothing')).toEqual([]);
    inspect.close();
    await shut();
  });

  test('counts rows and bytes, and finds nothing wrong with a good file', async () => {
    const { dir, shut } = await filledStore();
    const inspect = openInspector(dir);
    const stats = inspect.stats();
    expect(stats.tables.find(({ table }) => table === 'objects')).toMatchObject({ rows: 4 });
    expect(stats.tables.every(({ bytes }) => bytes >= 4096)).toBe(true);
    expect(stats.resources.map(({ resource, rows }) => `${resource} ${rows}`)).toEqual([
      'deployments.apps 1',
      'pods 2',
      'replicasets.apps 1',
    ]);
    expect(inspect.check(START)).toEqual({ integrity: [], findings: [] });
    inspect.close();
    await shut();
  });

  test('finds what should not be so', async () => {
    const { dir, shut } = await filledStore();
    await shut();
    const file = new Database(join(dir, STATE_FILE));
    const put = (resource: string, key: string, json: string) =>
      file.run('INSERT INTO objects VALUES (?, ?, ?, ?, ?)', [
        resource,
        key,
        `uid-${key}`,
        '1',
        json,
      ]);
    put(
      'secrets',
      'default/s',
      '{"metadata":{"name":"s","namespace":"default","uid":"uid-default/s","resourceVersion":"1"},"data":{}}',
    );
    put(
      'events',
      'default/e',
      '{"metadata":{"name":"e","uid":"uid-default/e","resourceVersion":"1"}}',
    );
    put('pods', 'default/broken', 'not json');
    file.close(true);
    const inspect = openInspector(dir);
    expect(
      inspect.check(START + 86_400_000).findings.map(({ what, where }) => [what, ...where]),
    ).toEqual([
      ['an object whose JSON does not parse', 'pods default/broken'],
      ['an object whose columns differ from its JSON', 'events default/e'],
      ['a Secret stored with its data', 'default/s'],
      ['a resource that must not be stored', 'events'],
      ['an intent that has expired long ago', 'replicaset-controller create pods default/web-1'],
    ]);
    inspect.close();
  });

  test('reads a file whose writer was killed, and leaves no trace', async () => {
    const dir = temporaryDirectory();
    const child = startChild('write', dir);
    await until(() => child.lines.length > 100);
    const live = openInspector(dir);
    expect(live.watches(START)[0]?.rows).toBeGreaterThan(100);
    const rows = (): number => live.watches(START)[0]?.rows ?? 0;
    const before = rows();
    await until(() => rows() > before + 20);
    live.close();
    await child.kill();
    const files = readdirSync(dir).sort();
    const dead = openInspector(dir);
    expect(dead.watches(START)[0]?.rows).toBe(Number(dead.watches(START)[0]?.resourceVersion) + 1);
    dead.close();
    expect(readdirSync(dir).sort()).toEqual(files);
  });

  test('says what is wrong when there is nothing it can read', async () => {
    const dir = temporaryDirectory();
    expect(() => openInspector(dir)).toThrow(`there is no state file at ${dir}/state.db`);
    const { shut } = await openTestStore(dir);
    await shut();
    const file = new Database(join(dir, STATE_FILE));
    file.run("INSERT INTO migrations VALUES ('9999_later', 'hash', 0)");
    file.close(true);
    expect(() => openInspector(dir)).toThrow('newer schema: migration 9999_later');
  });
});
