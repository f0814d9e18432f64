/** The questions of docs/state.md, asked by another SQLite in another process of a live file. */

import { Database } from 'bun:sqlite';
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getTableName } from 'drizzle-orm';
import type { StorePort } from '../runtime/ports.ts';
import { STATE_FILE } from './index.ts';
import * as schema from './schema.ts';
import {
  cleanUp,
  intentRow,
  journalRow,
  objectRow,
  openTestStore,
  SLOW_TEST_MS,
  temporaryDirectory,
  workRow,
} from './testing/kit.ts';

setDefaultTimeout(SLOW_TEST_MS);
afterAll(cleanUp);

const ROOT = join(import.meta.dir, '..', '..');
const DOCUMENT = readFileSync(join(ROOT, 'docs', 'state.md'), 'utf8');
const MINUTE = 60_000;

const ASK = `
  const Database = require('better-sqlite3');
  const { path, questions } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
  const file = new Database(path, { readonly: true });
  const ask = (sql) => file.prepare(sql).all();
  process.stdout.write(JSON.stringify(questions.map(ask)));
`;

function questions(): { title: string; sql: string }[] {
  return [...DOCUMENT.matchAll(/^### (\d+\. .*)\n(?:[A-Z].*\n)*```sql\n([^`]*)```/gm)].map(
    (match) => ({
      title: match[1] ?? '',
      sql: match[2] ?? '',
    }),
  );
}

/** Answers of the file at `path`, each a list of rows. */
async function ask(path: string, sql: readonly string[]): Promise<unknown[][]> {
  const node = Bun.spawn(['node', '-e', ASK], {
    cwd: ROOT,
    stdin: new Blob([JSON.stringify({ path, questions: sql })]),
    stdout: 'pipe',
    stderr: 'inherit',
  });
  return JSON.parse(await new Response(node.stdout).text());
}

/** The queries compare with SQLite's own clock. */
function sqliteNow(): number {
  const row = new Database(':memory:')
    .query<{ now: number }, []>('SELECT unixepoch() AS now')
    .get();
  return (row?.now ?? 0) * 1000;
}

function stamp(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

function owned(key: string, ownerUid: string, node: string, phase: string) {
  const row = objectRow('pods', key, '20');
  const object = JSON.parse(row.json);
  const metadata = {
    ...object.metadata,
    ownerReferences: [{ kind: 'ReplicaSet', name: 'gone', uid: ownerUid }],
  };
  return {
    ...row,
    json: JSON.stringify({ metadata, spec: { nodeName: node }, status: { phase } }),
  };
}

function fill(store: StorePort, now: number): void {
  const replicaSet = objectRow('replicasets.apps', 'default/web', '10');
  store.objects.put(replicaSet);
  store.objects.put(owned('default/web-1', replicaSet.uid, 'worker-1', 'Running'));
  store.objects.put(owned('default/web-2', replicaSet.uid, 'worker-2', 'Pending'));
  store.objects.put(owned('default/else', 'uid-else', 'worker-2', 'Running'));
  store.objects.put(objectRow('nodes', 'worker-1', '5'));
  for (const [resource, version] of [
    ['pods', '20'],
    ['nodes', '5'],
    ['secrets', '1'],
  ] as const) {
    store.objects.setResumePoint({ resource, resourceVersion: version, observedAt: now - MINUTE });
  }
  const failing = {
    failures: 3,
    lastError: 'no',
    dueAt: now + MINUTE,
    dirty: false,
    updatedAt: now,
  };
  store.work.put(workRow('deployment', 'default/web', failing));
  store.work.put(workRow('replicaset', 'default/fine'));
  store.expectations.put({
    controller: 'replicaset-controller',
    key: 'default/web',
    ownerUid: replicaSet.uid,
    adds: 2,
    deletes: 1,
    deleteKeys: ['default/web-0'],
    term: 1,
    setAt: now,
  });
  store.intents.put(
    intentRow('1', { ownerUid: replicaSet.uid, name: 'web-3', sentAt: now - MINUTE }),
  );
  const write = { verb: 'create', resource: 'pods', namespace: 'default', name: 'web-1' };
  const made = { ...write, because: '1 of 2 pods is missing', outcome: 'ok' };
  const gone = { ...made, verb: 'delete', because: 'one too many' };
  store.journal(journalRow('default/web', { startedAt: now - 120 * MINUTE, writes: [gone] }));
  store.journal(journalRow('default/web', { startedAt: now - 9 * MINUTE, writes: [made] }));
  const old = objectRow('namespaces', 'old', '2');
  const dying = JSON.parse(old.json);
  dying.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  dying.metadata.finalizers = ['kubernetes'];
  store.objects.put({ ...old, json: JSON.stringify(dying) });
  store.facts.set(
    'lease.last-term',
    JSON.stringify({ identity: 'box_1', leaseTransitions: 7, machine: { hostName: 'box' } }),
  );
  store.facts.set('manager.term', '7');
  const hour = { since: now - 60 * MINUTE, until: now, rows: { work: 12, objects: 120 } };
  store.facts.set('store.writes', JSON.stringify(hour));
  const controller = 'deployment-controller';
  const failed = { outcome: 'error', error: 'refused', durationMs: 8 } as const;
  store.journal(journalRow('default/web', { controller, startedAt: now - MINUTE, ...failed }));
  store.memory.put({
    controller: 'node-lifecycle-controller',
    key: 'worker-1',
    subjectUid: 'uid-nodes-worker-1',
    value: '{"probed":1}',
    term: 1,
    expiresAt: 0,
    updatedAt: now,
  });
}

/** Answers of the last five questions. */
const LATER_ANSWERS = [
  [
    {
      resource: 'namespaces',
      key: 'old',
      since: '2026-01-01T00:00:00Z',
      finalizers: '["kubernetes"]',
    },
  ],
  [{ resource: 'pods', key: 'default/else', kind: 'ReplicaSet', owner: 'gone' }],
  [
    {
      controller: 'replicaset-controller',
      verb: 'create',
      resource: 'pods',
      writes: 1,
      failed: 0,
    },
  ],
  [{ identity: 'box_1', host: 'box', term: 7, controllers_ran: 1 }],
  [
    { table: 'objects', rows_per_hour: 120 },
    { table: 'work', rows_per_hour: 12 },
  ],
];

test('the document answers its fifteen questions on a live file', async () => {
  const dir = temporaryDirectory();
  const { store, shut } = await openTestStore(dir);
  const now = sqliteNow();
  fill(store, now);
  expect(store.commit()).toBe(true);
  const asked = questions();
  const numbers = Array.from({ length: 15 }, (_, i) => i + 1);
  expect(asked.map(({ title }) => Number.parseInt(title, 10))).toEqual(numbers);
  const answers = await ask(
    join(dir, STATE_FILE),
    asked.map(({ sql }) => sql),
  );
  const seconds = expect.any(Number);
  expect(answers[0]).toEqual([
    {
      queue: 'deployment',
      key: 'default/web',
      failures: 3,
      last_error: 'no',
      tried_again_at: stamp(now + MINUTE),
    },
  ]);
  expect(answers[1]).toEqual([
    { adds: 2, deletes: 1, delete_keys: '["default/web-0"]', since: stamp(now), still_the_same: 1 },
  ]);
  expect(answers[2]).toEqual([
    {
      at: stamp(now - 9 * MINUTE),
      controller: 'replicaset-controller',
      key: 'default/web',
      verb: 'create',
      because: '1 of 2 pods is missing',
      outcome: 'ok',
    },
  ]);
  expect(answers[3]).toEqual([
    {
      verb: 'create',
      resource: 'pods',
      object: 'default/web-3',
      controller: 'replicaset-controller',
      owner: 'default/web',
      seconds_ago: seconds,
    },
  ]);
  expect(answers[4]).toEqual([
    { resource: 'nodes', resource_version: '5', seconds_old: seconds, objects: 1 },
    { resource: 'pods', resource_version: '20', seconds_old: seconds, objects: 3 },
    { resource: 'secrets', resource_version: '1', seconds_old: seconds, objects: 0 },
  ]);
  expect(answers[5]).toEqual([
    { key: 'default/web-1', node: 'worker-1', phase: 'Running' },
    { key: 'default/web-2', node: 'worker-2', phase: 'Pending' },
  ]);
  expect(answers[6]).toMatchObject([
    { at: stamp(now - MINUTE), duration_ms: 8, outcome: 'error', error: 'refused', writes: 0 },
  ]);
  expect(answers[7]).toEqual([
    {
      controller: 'replicaset-controller',
      syncs: 2,
      failed: 0,
      writes: 2,
      ms_average: 3,
      ms_longest: 3,
    },
    {
      controller: 'deployment-controller',
      syncs: 1,
      failed: 1,
      writes: 0,
      ms_average: 8,
      ms_longest: 8,
    },
  ]);
  expect(answers[8]).toEqual([
    {
      controller: 'node-lifecycle-controller',
      key: 'worker-1',
      value: '{"probed":1}',
      for_ever: 1,
    },
  ]);
  expect(answers[9]?.map((row) => (row as { resource: string }).resource)).toEqual([
    'pods',
    'namespaces',
    'replicasets.apps',
    'nodes',
  ]);

  expect(answers.slice(10)).toEqual(LATER_ANSWERS);

  // The reader did not disturb the writer, and a later one sees what came later.
  store.objects.delete('nodes', 'worker-1');
  expect(store.commit()).toBe(true);
  const [later] = await ask(join(dir, STATE_FILE), [asked[8]?.sql ?? '']);
  expect(later).toEqual([]);
  await shut();
});

test('the document explains every table', async () => {
  const explained = [...DOCUMENT.matchAll(/^\*\*(\w+)\*\*:/gm)].map((match) => match[1]);
  const tables = Object.values(schema).map((table) => getTableName(table));
  expect(explained.sort()).toEqual([...tables, 'migrations'].sort());
});
