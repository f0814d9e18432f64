import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import {
  BATCH_DELAY_MS,
  BATCH_RETRY_MS_MAX,
  CHECKPOINT_INTERVAL_MS,
  REOPEN_DELAY_MS_MIN,
  WAL_BYTES_HIGH,
  WAL_BYTES_MAX,
  WAL_BYTES_STEP,
} from '../runtime/limits.ts';
import type { StorePort } from '../runtime/ports.ts';
import { helperThread } from './checkpointer.ts';
import { HelperCore } from './helper.ts';
import { type Helper, inlineHelper, STATE_FILE } from './index.ts';
import {
  cleanUp,
  headsOf,
  objectRow,
  openTestStore,
  SLOW_TEST_MS,
  startChild,
  type TestStore,
  temporaryDirectory,
  until,
  workRow,
} from './testing/kit.ts';

setDefaultTimeout(SLOW_TEST_MS);
afterAll(cleanUp);

/** Commits about so many bytes of rows, new content for always the same keys. */
async function write({ store, clock }: TestStore, bytes: number): Promise<void> {
  for (let written = 0; written < bytes; written += 500_000) {
    for (let i = 0; i < 100; i++) {
      const content = { pad: String(written % 7).repeat(4_000) };
      store.objects.put(objectRow('pods', `default/p${i}`, String(written), content));
    }
    store.commit();
    await clock.settle();
  }
}

/** An inline helper that a test can hold, or lose. */
interface TroubledHelper extends Helper {
  held: boolean;
  lost: boolean;
}

function troubledHelper(): TroubledHelper {
  const inner = inlineHelper();
  const helper: TroubledHelper = {
    ...inner,
    held: false,
    lost: false,
    alive: () => !helper.lost,
    holding: () => helper.held,
    waitWhileHolding: () => !helper.held,
    ask: (job) => (helper.lost ? Promise.reject(new Error('gone')) : inner.ask(job)),
  };
  return helper;
}

describe('the WAL', () => {
  test('is copied on a timer if something was written, and when it grows', async () => {
    const opened = await openTestStore(temporaryDirectory());
    const { store, clock, shut } = opened;
    store.objects.put(objectRow('pods', 'default/a', '1', { pad: 'x'.repeat(100_000) }));
    store.commit();
    expect(store.health().databaseBytes).toBeLessThan(100_000);
    await clock.advance(CHECKPOINT_INTERVAL_MS);
    expect(store.health().databaseBytes).toBeGreaterThan(100_000);
    const { bytesWritten } = store.health();
    await clock.advance(20 * CHECKPOINT_INTERVAL_MS);
    expect(store.health().bytesWritten).toBe(bytesWritten);
    await write(opened, WAL_BYTES_STEP * 2);
    expect(store.health().databaseBytes).toBeGreaterThan(400_000);
    await shut();
  });

  test('is emptied when it is long', async () => {
    const opened = await openTestStore(temporaryDirectory());
    await write(opened, 3 * WAL_BYTES_HIGH);
    const { walBytes, bytesWritten } = opened.store.health();
    expect(bytesWritten).toBeGreaterThan(3 * WAL_BYTES_HIGH);
    expect(walBytes).toBeLessThan(WAL_BYTES_HIGH + 1_000_000);
    await opened.shut();
  });

  test('waits for a reader in the way, and is emptied when that has gone', async () => {
    const dir = temporaryDirectory();
    const opened = await openTestStore(dir);
    const reader = new Database(join(dir, STATE_FILE), { readonly: true });
    reader.run('BEGIN');
    reader.query('SELECT count(*) FROM objects').get();
    await write(opened, 1.5 * WAL_BYTES_HIGH);
    expect(opened.store.health().problem).toBe('');
    expect(opened.store.health().walBytes).toBeGreaterThan(1.4 * WAL_BYTES_HIGH);
    expect(reader.query('SELECT count(*) AS rows FROM objects').get()).toEqual({ rows: 0 });
    reader.close(true);
    await opened.clock.advance(CHECKPOINT_INTERVAL_MS);
    await write(opened, 1_000_000);
    expect(opened.store.health().walBytes).toBeLessThan(2_000_000);
    await opened.shut();
  });

  test('that cannot be emptied stops the writing before it fills the disk', async () => {
    const dir = temporaryDirectory();
    const { store, clock, shut } = await openTestStore(dir);
    const reader = new Database(join(dir, STATE_FILE), { readonly: true });
    reader.run('BEGIN');
    reader.query('SELECT count(*) FROM objects').get();
    store.work.put(workRow('queue', 'a'));
    expect(store.commit()).toBe(true);
    truncateSync(`${join(dir, STATE_FILE)}-wal`, WAL_BYTES_MAX);
    store.work.put(workRow('queue', 'b'));
    expect(store.commit()).toBe(true);
    store.work.put(workRow('queue', 'c'));
    expect(store.commit()).toBe(false);
    expect(store.health().problem).toContain('some reader keeps it from being emptied');
    await clock.advance(2 * CHECKPOINT_INTERVAL_MS);
    expect(store.commit()).toBe(false);
    reader.close(true);
    await clock.advance(CHECKPOINT_INTERVAL_MS + BATCH_RETRY_MS_MAX);
    expect(store.health()).toMatchObject({ problem: '', pendingRows: 0 });
    expect(store.health().walBytes).toBeLessThan(1_000_000);
    await shut();
  });

  test('is left alone while a transaction that began before the hold goes on', async () => {
    const dir = temporaryDirectory();
    await (await openTestStore(dir)).shut();
    const path = join(dir, STATE_FILE);
    const other = new Database(path);
    const held: boolean[] = [];
    const options = { path, bootId: 'boot-1', now: 0 };
    const core = new HelperCore((on) => {
      held.push(on);
      if (on) other.run('BEGIN IMMEDIATE');
    });
    core.do({ kind: 'prepare', ...options });
    expect(core.do({ kind: 'truncate' })).toMatchObject({ blocked: true });
    expect(held).toEqual([true, false]);
    const before = statSync(`${path}-wal`).size;
    other.run("INSERT INTO facts VALUES ('a', 'b')");
    other.run('COMMIT');
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(before);
    other.close(true);
    core.do({ kind: 'close' });
  });

  test('is not written while the helper starts a new one', async () => {
    const helper = troubledHelper();
    const options = { startHelper: () => helper };
    const { store, clock, shut } = await openTestStore(temporaryDirectory(), options);
    helper.held = true;
    store.work.put(workRow('queue', 'key'));
    expect(store.commit()).toBe(false);
    await clock.advance(5 * BATCH_DELAY_MS);
    expect(store.health()).toMatchObject({ commits: 0, pendingRows: 1, problem: '' });
    expect(store.work.all()).toHaveLength(1);
    helper.held = false;
    await clock.advance(BATCH_DELAY_MS);
    expect(store.health()).toMatchObject({ commits: 1, pendingRows: 0 });
    await shut();
  });
});

describe('the helper', () => {
  test('that is lost is replaced, and the file stays in use', async () => {
    const dir = temporaryDirectory();
    const helpers = [troubledHelper(), troubledHelper()];
    let started = 0;
    const startHelper = () => helpers[started++] ?? inlineHelper();
    const { store, clock, shut } = await openTestStore(dir, { startHelper });
    store.work.put(workRow('queue', 'key'));
    store.commit();
    for (const helper of helpers.slice(0, 1)) helper.lost = true;
    await clock.advance(CHECKPOINT_INTERVAL_MS);
    expect(started).toBe(2);
    expect(store.health()).toMatchObject({ problem: '', opened: 'created' });
    expect(store.commit()).toBe(true);
    expect(existsSync(`${join(dir, STATE_FILE)}.aside`)).toBe(false);
    await shut();
  });

  test('that does not start means memory, and a file once one starts', async () => {
    const first: Helper = { ...inlineHelper(), ask: () => Promise.reject(new Error('gone')) };
    let started = 0;
    const startHelper = () => (started++ === 0 ? first : inlineHelper());
    const { store, clock, shut } = await openTestStore(temporaryDirectory(), { startHelper });
    expect(store.health().opened).toBe('in memory: gone');
    store.work.put(workRow('queue', 'key'));
    first.alive = () => false;
    await clock.advance(REOPEN_DELAY_MS_MIN);
    expect(store.health().problem).toBe('');
    expect(store.work.all()).toHaveLength(1);
    expect(store.commit()).toBe(true);
    await shut();
  });

  test('in a thread of its own does the same', async () => {
    const dir = temporaryDirectory();
    const first = await openTestStore(dir, { startHelper: helperThread });
    first.store.objects.put(objectRow('pods', 'default/a'));
    expect(first.store.commit()).toBe(true);
    const before = first.store.health().bytesWritten;
    await first.clock.advance(CHECKPOINT_INTERVAL_MS);
    await until(() => first.store.health().bytesWritten > before);
    await first.shut();
    expect(existsSync(join(dir, `${STATE_FILE}-wal`))).toBe(false);

    const second = await openTestStore(dir, { startHelper: helperThread });
    expect(second.store.health().opened).toBe('resumed');
    expect(headsOf(second.store, 'pods')).toEqual(['default/a@1']);
    await second.shut();
  });
});

const strace = Bun.which('strace');
if (strace === null) {
  process.stderr.write('strace is not installed: the count of fsyncs by thread is skipped\n');
}

test.skipIf(strace === null)(
  'the main thread never calls fsync, however much it writes',
  async () => {
    const dir = temporaryDirectory();
    const trace = join(temporaryDirectory(), 'trace');
    const under = ['strace', '-f', '--seccomp-bpf', '-e', 'trace=fsync,fdatasync', '-o', trace];
    const child = startChild('load', dir, { under });
    await until(() => child.lines.length > 0);
    await child.kill();
    const end: ReturnType<StorePort['health']> & { walBytesHighest: number; pid: number } =
      JSON.parse(child.lines[0] ?? '');
    const calls = readFileSync(trace, 'utf8')
      .split('\n')
      .filter((line) => /f(data)?sync\(/.test(line))
      .map((line) => Number(line.split(' ')[0]));
    expect(calls.filter((thread) => thread === end.pid)).toEqual([]);
    expect(calls.length).toBeGreaterThan(10);
    // The WAL was started anew more than once, which is when a header must be synced.
    expect(end.bytesWritten).toBeGreaterThan(6 * WAL_BYTES_HIGH);
    expect(end.walBytesHighest).toBeLessThan(3 * WAL_BYTES_HIGH);
    expect(end.problem).toBe('');
  },
);
