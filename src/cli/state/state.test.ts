import { afterEach, describe, expect, test } from 'bun:test';
import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { leaveForgetAnswer, takeForgetRequest, takeProcessLock } from '../../store/index.ts';
import {
  cleanUp,
  intentRow,
  objectRow,
  openTestStore,
  START,
  temporaryDirectory,
  until,
  workRow,
} from '../../store/testing/kit.ts';
import { NOW, runLine } from '../testing/ports.ts';

afterEach(cleanUp);

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const LAST_TERM = JSON.stringify({
  identity: 'box_1',
  leaseUid: 'uid-lease',
  leaseTransitions: 4,
  retryPeriodMs: 2_000,
  machine: { hostName: 'box', bootId: 'boot-1' },
});

/** A directory with a state file that has something of everything. */
async function filled(): Promise<string> {
  const dir = temporaryDirectory();
  const { store, shut, clock } = await openTestStore(dir);
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: 'web',
    uid: 'uid-deployments.apps-default/web',
  };
  const web = objectRow('deployments.apps', 'default/web', '7', { kind: 'Deployment' });
  const replicas = objectRow('replicasets.apps', 'default/web-abc', '9', {});
  const json = JSON.parse(replicas.json);
  json.kind = 'ReplicaSet';
  json.metadata.labels = { app: 'web' };
  json.metadata.ownerReferences = [owner];
  json.spec = { big: 1 };
  store.objects.put(web);
  store.objects.put({
    ...replicas,
    json: JSON.stringify(json).replace('"big":1', '"big":9223372036854775807'),
  });
  for (const resource of ['deployments.apps', 'replicasets.apps', 'pods']) {
    store.objects.setResumePoint({ resource, resourceVersion: '12', observedAt: NOW - 3 * SECOND });
  }
  store.work.put(
    workRow('deployment', 'default/web', {
      failures: 3,
      dueAt: NOW + 5 * SECOND,
      lastError: 'quota\nexceeded',
      updatedAt: NOW - 2 * MINUTE,
    }),
  );
  store.work.put(workRow('replicaset', 'default/web-abc', { dueAt: 0 }));
  store.expectations.put({
    controller: 'replicaset-controller',
    key: 'default/web-abc',
    ownerUid: 'uid-replicasets.apps-default/web-abc',
    adds: 2,
    deletes: 1,
    deleteKeys: ['default/web-abc-x'],
    term: 4,
    setAt: NOW - 3 * SECOND,
  });
  store.intents.put(
    intentRow('q', {
      ownerUid: 'uid-replicasets.apps-default/web-abc',
      name: 'web-abc-q',
      sentAt: NOW - 4 * SECOND,
    }),
  );
  store.ownWrites.put({
    controller: 'replicaset-controller',
    ownerKey: 'default/web-abc',
    ownerUid: 'uid-replicasets.apps-default/web-abc',
    resource: 'pods',
    resourceVersion: '15',
    term: 4,
  });
  store.memory.put({
    controller: 'job-controller',
    key: 'default/web-abc',
    subjectUid: 'uid-replicasets.apps-default/web-abc',
    value: '{"failures":2}',
    term: 4,
    expiresAt: NOW + 10 * MINUTE,
    updatedAt: NOW - 60 * MINUTE,
  });
  store.journal({
    controller: 'replicaset-controller',
    key: 'default/web-abc',
    startedAt: NOW - 10 * MINUTE,
    durationMs: 12.4,
    outcome: 'ok',
    error: '',
    because: '3 pods wanted, 2 there',
    writes: [
      {
        verb: 'create',
        resource: 'pods',
        namespace: 'default',
        name: 'web-abc-q',
        because: 'one is missing',
        outcome: 'ok',
      },
    ],
  });
  store.journal({
    controller: 'deployment-controller',
    key: 'default/web',
    startedAt: NOW - MINUTE,
    durationMs: 1_500,
    outcome: 'error',
    error: 'quota exceeded',
    because: '',
    writes: [],
  });
  store.facts.set('informers.how', '{"deployments.apps":"resumed","pods":"delta"}');
  store.facts.set('lease.last-term', LAST_TERM);
  expect(store.commit()).toBe(true);
  await clock.advance(NOW - START - 3 * SECOND);
  store.facts.set('manager.term', '4');
  await shut();
  return dir;
}

async function table(dir: string, ...argv: string[]): Promise<string[][]> {
  const { code, out, err } = await runLine(['state', ...argv, `--state-dir=${dir}`]);
  expect([code, err]).toEqual([0, '']);
  const [note = '', blank, ...lines] = out.trimEnd().split('\n');
  expect(note).toEndWith(
    'state.db, last written 3s ago (2026-01-01T00:09:57Z); no process here uses it',
  );
  expect(blank).toBe('');
  return lines.map((line) => line.trimEnd().split(/ {2,}/));
}

async function data(dir: string, ...argv: string[]) {
  const line = ['state', ...argv, '--state-dir', dir];
  const json = await runLine([...line, '-o', 'json']);
  expect([json.code, json.err]).toEqual([0, '']);
  const yaml = await runLine([...line, '-o', 'yaml']);
  const parsed = JSON.parse(json.out);
  expect(parse(yaml.out)).toEqual(parsed);
  expect(parsed.file).toBe(join(dir, 'state.db'));
  expect(typeof parsed.ageMs).toBe('number');
  return parsed;
}

describe('holdfast state', () => {
  test('queues in short, the keys of one, and what fails', async () => {
    const dir = await filled();
    expect(await table(dir, 'queues')).toEqual([
      ['QUEUE', 'KEYS', 'DIRTY', 'FAILING', 'FAILURES', 'NEXT'],
      ['deployment', '1', '1', '1', '3', 'in 5s'],
      ['replicaset', '1', '1', '0', '0', 'now'],
    ]);
    const failing = [
      ['QUEUE', 'KEY', 'DIRTY', 'FAILURES', 'DUE', 'CHANGED', 'BECAUSE'],
      ['deployment', 'default/web', 'yes', '3', 'in 5s', '2m', 'quota exceeded'],
    ];
    expect(await table(dir, 'queues', '--failing')).toEqual(failing);
    expect(await table(dir, 'queues', 'deployment')).toEqual(failing);
    expect(await table(dir, 'queues', 'nope')).toEqual([['No keys.']]);
    const { items } = await data(dir, 'queues', 'deployment');
    expect(items[0]).toMatchObject({ key: 'default/web', failures: 3, dirty: true });
  });

  test('expectations, intents, watches and memory', async () => {
    const dir = await filled();
    expect((await table(dir, 'expectations')).slice(1)).toEqual([
      ['replicaset-controller', 'default/web-abc', '2', '1', 'default/web-abc-x', '3s', '4'],
    ]);
    expect(await table(dir, 'expectations', '--controller=job-controller')).toEqual([
      ['Nothing is awaited.'],
    ]);
    expect((await table(dir, 'intents')).slice(1)).toEqual([
      ['replicaset-controller', 'create', 'pods', 'default', 'web-abc-q', 'abc', '4s', '1'],
    ]);
    expect((await table(dir, 'watches')).slice(1)).toEqual([
      ['deployments.apps', '12', '1', '3s', 'resumed'],
      ['pods', '12', '0', '3s', 'compared'],
      ['replicasets.apps', '12', '1', '3s'],
    ]);
    expect((await table(dir, 'memory')).slice(1)).toEqual([
      ['job-controller', 'default/web-abc', '{"failures":2}', 'in 10m', '1h', '4'],
    ]);
    for (const command of ['expectations', 'intents', 'watches', 'memory']) {
      expect((await data(dir, command)).items.length).toBeGreaterThan(0);
    }
  });

  test('objects: resources, keys, and one of them to the last digit', async () => {
    const dir = await filled();
    expect((await table(dir, 'objects')).map((row) => row.slice(0, 2))).toEqual([
      ['RESOURCE', 'OBJECTS'],
      ['deployments.apps', '1'],
      ['replicasets.apps', '1'],
    ]);
    expect(await table(dir, 'objects', 'replicaset', '-n', 'default')).toEqual([
      ['KEY', 'VERSION', 'UID'],
      ['default/web-abc', '9', 'uid-replicasets.apps-default/web-abc'],
    ]);
    expect(await table(dir, 'objects', 'ReplicaSet', '-nother')).toEqual([
      ['No such objects are cached.'],
    ]);
    const labelled = (selector: string) => table(dir, 'objects', 'replicaset', '-l', selector);
    expect((await labelled('app=web,tier!=test')).length).toBe(2);
    expect(await labelled('app in (other)')).toEqual([['No such objects are cached.']]);
    const { items } = await data(dir, 'objects', 'replicaset', '-lapp');
    expect(items).toMatchObject([{ kind: 'ReplicaSet', metadata: { name: 'web-abc' } }]);
    for (const form of ['table', 'json', 'yaml']) {
      const argv = ['state', 'objects', 'replicasets', 'default/web-abc', '-o', form];
      const { out } = await runLine([...argv, `--state-dir=${dir}`]);
      expect(out).toContain('9223372036854775807');
    }
  });

  test('journal: newest first, filtered', async () => {
    const dir = await filled();
    const [head, ...rows] = await table(dir, 'journal');
    expect(head).toEqual(['STARTED', 'CONTROLLER', 'KEY', 'OUTCOME', 'TOOK', 'WRITES', 'BECAUSE']);
    const failed = [
      '2026-01-01T00:09:00Z',
      'deployment-controller',
      'default/web',
      'error',
      '1500 ms',
      '0',
      'quota exceeded',
    ];
    const fine = [
      '2026-01-01T00:00:00Z',
      'replicaset-controller',
      'default/web-abc',
      'ok',
      '12 ms',
      '1',
      '3 pods wanted, 2 there',
    ];
    expect(rows).toEqual([failed, fine]);
    for (const filter of ['--failed', '--since=5m', '--limit=1', '--key=default/web']) {
      expect((await table(dir, 'journal', filter)).slice(1)).toEqual([failed]);
    }
    expect((await table(dir, 'journal', '--controller', 'replicaset-controller')).slice(1)).toEqual(
      [fine],
    );
  });

  test('explain tells all about one object', async () => {
    const dir = await filled();
    const argv = ['state', 'explain', 'replicaset/default/web-abc', `--state-dir=${dir}`];
    const { out } = await runLine(argv);
    expect(out.split('\n').slice(2).join('\n')).toBe(`ReplicaSet default/web-abc

It is cached at version 9. The cache of replicasets.apps stands at version 12, as of 3s ago.
It wants 1 replica: 0 there, 0 ready.
It belongs to Deployment default/web.
replicaset-controller looks at it now, because it changed.
replicaset-controller asked for 2 creations and 1 deletion 3s ago and waits to see it, at most until 2026-01-01T00:14:57Z.
replicaset-controller announced to create pods default/web-abc-q, sent it 4s ago and has no answer; it counts until 2026-01-01T00:11:56Z.
replicaset-controller wrote to pods and looks again once that cache has reached version 15 (it stands at 12).
job-controller remembers {"failures":2} for another 10m (until 2026-01-01T00:20:00Z).
replicaset-controller last acted 10m ago: create pods default/web-abc-q, because one is missing.

Object
  replicasets.apps, uid uid-replicasets.apps-default/web-abc, version 9
  owned by Deployment default/web

Work
  queue replicaset of replicaset-controller: due now, because it changed

Waiting for
  replicaset-controller awaits 2 creations and 1 deletions of default/web-abc-x, asked for 3s ago
  replicaset-controller announced to create pods default/web-abc-q, sent 4s ago
  replicaset-controller must see pods at version 15 first

Memory
  job-controller: {"failures":2} (1h ago)

Journal, newest first
  2026-01-01T00:00:00Z replicaset-controller default/web-abc: ok in 12 ms, because 3 pods wanted, 2 there
      create pods default/web-abc-q: ok, because one is missing
`);
    const none = await runLine(['state', 'explain', 'sts/default/web', `--state-dir=${dir}`]);
    expect(none.err).toBe(
      'Error: "sts" is statefulsets.apps, which is not cached; ' +
        'valid are deployments.apps (deploy), pods (po), replicasets.apps (rs)\n',
    );
    const short = await data(dir, 'explain', 'deploy/default/web');
    expect(short.dependents[0].key).toBe('default/web-abc');
    const deployment = await data(dir, 'explain', 'Deployment/default/web');
    expect(deployment.dependents[0].key).toBe('default/web-abc');
    const gone = await runLine(['state', 'explain', 'pods/default/x', `--state-dir=${dir}`]);
    expect(gone.out).toContain('Pod default/x is not cached: it is gone, or was never seen.\n');
  });

  test('lease: who led last, and the record of the runtime directory', async () => {
    const dir = await filled();
    const runtime = temporaryDirectory();
    const record = { ...JSON.parse(LAST_TERM), renewTimes: ['2026-01-01T00:09:50.000000Z'] };
    writeFileSync(join(runtime, 'lease-kube-system-kcm.json'), JSON.stringify(record));
    writeFileSync(join(runtime, 'lease-odd.json'), 'no JSON');
    const rows = await table(dir, 'lease', `--state-runtime-dir=${runtime}`);
    expect(rows.slice(1)).toEqual([
      ['led last', 'box_1'],
      ['on', 'box'],
      ['in term', '4'],
      ['of the Lease with UID', 'uid-lease'],
      ['controllers last ran in term', '4'],
      ['used now by', 'no process here'],
      ['lease-kube-system-kcm.json', 'box_1, term 4, renewed 10s ago'],
    ]);
    const { items } = await data(dir, 'lease', `--state-runtime-dir=${runtime}`);
    expect(items).toMatchObject({ lastTerm: { identity: 'box_1' }, controllersTerm: '4' });
  });

  test('says who uses the file, and its age by what is in it, however it was copied', async () => {
    const dir = await filled();
    const copy = temporaryDirectory();
    cpSync(dir, copy, { recursive: true });
    for (let reads = 0; reads < 2; reads++) expect((await table(copy, 'watches')).length).toBe(4);
    const lock = takeProcessLock(dir, 'box pid 9');
    const { out } = await runLine(['state', 'watches', `--state-dir=${dir}`]);
    expect(out).toContain('last written 3s ago (2026-01-01T00:09:57Z); in use by box pid 9\n');
    if (lock.held) lock.release();
    expect(await table(dir, 'watches')).toHaveLength(4);
  });

  test('check ends with 1 if anything is wrong', async () => {
    const dir = await filled();
    const { code, out } = await runLine(['state', 'check', `--state-dir=${dir}`]);
    expect(code).toBe(0);
    expect(out).toContain('Nothing wrong: pages, indexes and rows are as they should be.\n');
    const { store, shut } = await openTestStore(dir);
    store.objects.put({ ...objectRow('pods', 'default/odd', '3'), resourceVersion: '4' });
    store.commit();
    await shut();
    const bad = await runLine(['state', 'check', '-o', 'json', `--state-dir=${dir}`]);
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.out)).toMatchObject({
      sound: false,
      integrity: [],
      findings: [
        { what: 'an object whose columns differ from its JSON', where: ['pods default/odd'] },
      ],
    });
  });

  test('stats and export', async () => {
    const dir = await filled();
    const { out } = await runLine(['state', 'stats', `--state-dir=${dir}`]);
    expect(out).toMatch(/^objects +2 +[\d.]+ KiB +12$/m);
    expect(out).toMatch(/^written per hour: .* and 6\.\d commits, as counted by a process from/m);
    expect(out).toMatch(/^[\d.]+ KiB, of it .* free; log .*$/m);
    const exported = await data(dir, 'export');
    expect(Object.keys(exported).slice(4)).toEqual([
      'version',
      'stats',
      'check',
      'facts',
      'watches',
      'work',
      'expectations',
      'intents',
      'ownWrites',
      'memory',
      'journal',
      'objects',
    ]);
    expect(exported.objects.map(({ key }: { key: string }) => key)).toEqual([
      'default/web',
      'default/web-abc',
    ]);
    const plain = await runLine(['state', 'export', `--state-dir=${dir}`]);
    expect(JSON.parse(plain.out).work).toHaveLength(2);
  });

  test('reads while a process writes, and names the directory by --config', async () => {
    const dir = temporaryDirectory();
    const { store, shut } = await openTestStore(dir);
    store.work.put(workRow('queue', 'a'));
    store.commit();
    const file = join(dir, 'config.yaml');
    writeFileSync(file, `kind: HoldfastConfiguration\nstate-dir: ${dir}\n`);
    const { out } = await runLine(['state', 'queues', '--config', file]);
    expect(out).toMatch(/^queue +1 +1 +0 +0 +now$/m);
    await shut();
  });

  test('forget of a stopped process: one resource by its rows, everything by its files', async () => {
    const dir = await filled();
    const forget = (...more: string[]) =>
      runLine(['state', 'forget', `--state-dir=${dir}`, ...more]);
    const one = await forget('replicaset');
    expect([one.code, one.err]).toEqual([0, '']);
    expect(one.out).toBe('Forgot replicasets.apps (1 objects). The next start lists it anew.\n');
    expect((await table(dir, 'watches')).slice(1).map(([resource]) => resource)).toEqual([
      'deployments.apps',
      'pods',
    ]);
    const asked = await forget('--all');
    expect(asked.code).toBe(1);
    expect(asked.err).toStartWith('Error: nothing was forgotten; --all --yes forgets everything');
    const done = await forget('--all', '--yes');
    expect([done.code, done.err]).toEqual([0, '']);
    expect(done.out).toEndWith('The next start reads everything anew.\n');
    expect(readdirSync(dir).filter((name) => name.startsWith('state.db'))).toEqual([]);
    expect((await forget('--all', '--yes')).out).toBe(`There is no state in ${dir}.\n`);
  });

  test('forget asks the process that has the lock, and gives up when it does not answer', async () => {
    const dir = await filled();
    const lock = takeProcessLock(dir, 'box pid 9');
    const asking = runLine(['state', 'forget', 'pods', `--state-dir=${dir}`]);
    await until(() => existsSync(join(dir, 'forget.request')));
    const busy = await runLine(['state', 'forget', 'pods', `--state-dir=${dir}`]);
    expect(busy.err).toStartWith('Error: another request to forget waits in');
    const request = takeForgetRequest(dir);
    expect(request).toMatchObject({ resource: 'pods' });
    const id = request?.id ?? '';
    leaveForgetAnswer(dir, { id, resources: ['pods'], listed: true, problem: '' });
    expect((await asking).out).toBe('box pid 9 forgot pods while running. It is listed anew.\n');
    let now = NOW;
    const later = () => {
      now += 10_000;
    };
    const clock = { now: () => now, sleep: async () => later() };
    const argv = ['state', 'forget', '--all', '--yes', `--state-dir=${dir}`];
    const silent = await runLine(argv, { clock });
    expect(silent.err).toBe(
      `Error: box pid 9 uses ${dir} and does not answer; is it of this version?\n`,
    );
    expect(readdirSync(dir).filter((name) => name.startsWith('forget'))).toEqual([]);
    if (lock.held) lock.release();
  });

  test.each([
    [['state', 'queues', 'a', 'b'], 'too many words: "b"; usage: state queues [QUEUE]'],
    [
      ['state', 'watches', '--nope'],
      'there is no option --nope here; valid are: -o, --output FORMAT;',
    ],
    [['state', 'watches', '-o'], '-o needs a value: -o, --output FORMAT'],
    [['state', 'queues', '--failing=yes'], '--failing takes no value, but got "yes"'],
    [
      ['state', 'journal', '--since=soon'],
      '--since is "soon"; valid are ages like 90s, 10m, 2h, 1d',
    ],
    [['state', 'journal', '--limit=-1'], '--limit is "-1"; valid is a whole number from 0'],
    [['state', 'forget'], 'forget what? valid are a resource, or --all;'],
    [['state', 'forget', 'pods', '--all'], '"pods" and --all: say one of them;'],
    [['state', 'forget', 'nope'], 'no cached resource is called "nope"; valid are pods'],
    [
      ['state', 'objects', 'pods', '-l', 'a b'],
      `--selector is "a b"; valid is e.g. 'app=web,tier!=test': `,
    ],
    [['state', 'explain'], 'which object? valid is KIND/NAMESPACE/NAME or KIND/NAME'],
    [
      ['state', 'explain', 'pods'],
      '"pods" names no object; valid is KIND/NAMESPACE/NAME or KIND/NAME',
    ],
    [['state', 'explain', 'po/x'], '"po/x" lacks the namespace; valid is po/NAMESPACE/x'],
    [['state', 'explain', 'a/b/c/d'], '"a/b/c/d" names no object; valid is'],
    [['state', 'objects', 'pods/default/x'], 'pods default/x is not cached'],
    [['state', 'objects', 'nope'], 'no cached resource is called "nope"; valid are pods'],
  ])('%j is refused', async (argv, message) => {
    const dir = temporaryDirectory();
    const { store, shut } = await openTestStore(dir);
    store.objects.setResumePoint({ resource: 'pods', resourceVersion: '1', observedAt: START });
    store.commit();
    await shut();
    const { code, out, err } = await runLine([
      ...argv.slice(0, 2),
      '--state-dir',
      dir,
      ...argv.slice(2),
    ]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toStartWith(`Error: ${message}`);
  });

  test('without a state file, or with a bad --state-dir, it says so', async () => {
    const dir = temporaryDirectory();
    const none = await runLine(['state', 'queues', `--state-dir=${dir}`]);
    expect([none.code, none.err]).toEqual([
      1,
      `Error: there is no state file at ${join(dir, 'state.db')}\n`,
    ]);
    const relative = await runLine(['state', 'queues', '--state-dir=here']);
    expect(relative.err).toBe('Error: --state-dir must be an absolute path, but got "here"\n');
  });
});
