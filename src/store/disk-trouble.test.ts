import { Database } from 'bun:sqlite';
import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  BATCH_RETRY_MS_MAX,
  BATCH_TORN_BYTES,
  QUICK_CHECK_DELAY_MS,
  REOPEN_DELAY_MS_MAX,
} from '../runtime/limits.ts';
import type { StorePort } from '../runtime/ports.ts';
import { STATE_FILE } from './index.ts';
import {
  cleanUp,
  headsOf,
  intentRow,
  objectRow,
  openTestStore,
  type SmallDisk,
  START,
  smallDisk,
  startChild,
  temporaryDirectory,
  until,
  workRow,
} from './testing/kit.ts';

const mounted: SmallDisk[] = [];
afterEach(() => {
  for (const disk of mounted.splice(0)) disk.unmount();
});
afterAll(cleanUp);

const probe = smallDisk(64);
probe?.unmount();
if (probe === undefined) {
  process.stderr.write(
    'mounting a tmpfs is refused: tests of full and read-only disks are skipped\n',
  );
}
const onSmallDisk = test.skipIf(probe === undefined);

function mountDisk(kib: number): SmallDisk {
  const disk = smallDisk(kib);
  if (disk === undefined) throw new Error('mounting was possible a moment ago');
  mounted.push(disk);
  return disk;
}

function putPods(store: StorePort, from: number, to: number, padding = 500): void {
  for (let i = from; i < to; i++) {
    const key = `default/p${String(i).padStart(5, '0')}`;
    store.objects.put(objectRow('pods', key, String(i), { pad: 'x'.repeat(padding) }));
  }
}

function setPoint(store: StorePort, resource: string, version: number): void {
  store.objects.setResumePoint({ resource, resourceVersion: String(version), observedAt: START });
}

/** A closed state file with many pods in it. */
async function fileWithPods(dir: string): Promise<string> {
  const { store, shut } = await openTestStore(dir);
  putPods(store, 0, 2_000);
  setPoint(store, 'pods', 2_000);
  store.work.put(workRow('queue', 'default/p00001'));
  await shut();
  return join(dir, STATE_FILE);
}

function overwrite(path: string, at: number, bytes: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(bytes, 0xa5), 0, bytes, at);
}

describe('a full disk', () => {
  onSmallDisk('keeps the batch in memory and writes it whole when there is room', async () => {
    const disk = mountDisk(2048);
    const dir = join(disk.dir, 'state');
    const { store, clock, lines, shut } = await openTestStore(dir);
    putPods(store, 0, 100);
    expect(store.commit()).toBe(true);
    disk.fill();
    putPods(store, 50, 400);
    store.objects.delete('pods', 'default/p00000');
    store.intents.put(intentRow('1'));
    expect(store.commit()).toBe(false);
    expect(store.health().problem).toContain('SQLITE_FULL');
    await clock.advance(10 * BATCH_RETRY_MS_MAX);
    expect(store.commit()).toBe(false);
    expect(store.health()).toMatchObject({ commits: 1, pendingRows: 352 });
    expect(headsOf(store, 'pods')).toHaveLength(399);
    expect(lines.filter((line) => line.startsWith('error'))).toHaveLength(1);

    disk.free();
    await clock.advance(BATCH_RETRY_MS_MAX);
    expect(store.health()).toMatchObject({ problem: '', commits: 2, pendingRows: 0 });
    expect(store.commit()).toBe(true);
    await shut();
    const again = await openTestStore(dir, { bootId: 'boot-2' });
    expect(again.store.health().opened).toBe('resumed');
    expect(headsOf(again.store, 'pods')).toHaveLength(399);
    expect(again.store.intents.all()).toHaveLength(1);
    await again.shut();
  });

  onSmallDisk('tears the biggest resource past the bound, until it was listed anew', async () => {
    const disk = mountDisk(4096);
    const dir = join(disk.dir, 'state');
    const { store, clock, shut } = await openTestStore(dir);
    putPods(store, 0, 100);
    setPoint(store, 'pods', 100);
    store.objects.put(objectRow('nodes', 'n1'));
    setPoint(store, 'nodes', 100);
    expect(store.commit()).toBe(true);
    disk.fill();
    const padding = 100_000;
    putPods(store, 100, 100 + Math.ceil(BATCH_TORN_BYTES / padding) + 1, padding);
    store.objects.put(objectRow('nodes', 'n2'));
    store.work.put(workRow('queue', 'default/p00001'));

    expect([store.objects.torn('pods'), store.objects.torn('nodes')]).toEqual([true, false]);
    expect(store.health()).toMatchObject({ tornResources: ['pods'] });
    expect(store.health().pendingBytes).toBeLessThan(BATCH_TORN_BYTES);
    expect(store.objects.get('pods', 'default/p00001')).toBeUndefined();
    expect(store.objects.resumePoint('pods')).toBeUndefined();
    expect(headsOf(store, 'nodes')).toEqual(['n1@1', 'n2@1']);

    // A watch that goes on meanwhile must not make the resource look whole.
    putPods(store, 900, 901);
    setPoint(store, 'pods', 901);
    disk.free();
    await clock.advance(BATCH_RETRY_MS_MAX);
    expect(store.health().problem).toBe('');
    expect(store.objects.torn('pods')).toBe(true);
    expect(store.objects.resumePoint('pods')).toBeUndefined();
    await shut();

    const { store: next, shut: shutNext } = await openTestStore(dir);
    expect(next.objects.resumePoint('pods')).toBeUndefined();
    expect(next.objects.resumePoint('nodes')?.resourceVersion).toBe('100');
    expect(next.work.all()).toHaveLength(1);
    await shutNext();
  });

  onSmallDisk('takes a torn resource back once it was dropped, listed and committed', async () => {
    const disk = mountDisk(4096);
    const dir = join(disk.dir, 'state');
    const { store, clock, shut } = await openTestStore(dir);
    store.objects.put(objectRow('pods', 'default/old'));
    setPoint(store, 'pods', 1);
    store.commit();
    disk.fill();
    putPods(store, 0, Math.ceil(BATCH_TORN_BYTES / 100_000) + 1, 100_000);
    expect(store.objects.torn('pods')).toBe(true);

    // A list that is torn again half-way does not count.
    store.objects.drop('pods');
    putPods(store, 0, Math.ceil(BATCH_TORN_BYTES / 100_000) + 1, 100_000);
    setPoint(store, 'pods', 50);
    disk.free();
    await clock.advance(BATCH_RETRY_MS_MAX);
    expect(store.objects.torn('pods')).toBe(true);

    store.objects.drop('pods');
    putPods(store, 0, 10);
    setPoint(store, 'pods', 60);
    expect(store.objects.torn('pods')).toBe(true);
    expect(store.commit()).toBe(true);
    expect(store.objects.torn('pods')).toBe(false);
    await shut();
    const again = await openTestStore(dir);
    expect(headsOf(again.store, 'pods')).toHaveLength(10);
    expect(again.store.objects.resumePoint('pods')?.resourceVersion).toBe('60');
    await again.shut();
  });

  onSmallDisk('at the start means going on in memory, and on disk when there is room', async () => {
    const disk = mountDisk(2048);
    const dir = join(disk.dir, 'state');
    mkdirSync(dir);
    disk.fill();
    const { store, clock, shut } = await openTestStore(dir);
    expect(store.health().opened).toStartWith('in memory: ');
    expect(store.health().problem).not.toBe('');
    putPods(store, 0, 300);
    setPoint(store, 'pods', 300);
    store.work.put(workRow('queue', 'default/p00001'));
    expect(store.commit()).toBe(false);
    expect(headsOf(store, 'pods')).toHaveLength(300);

    disk.free();
    await clock.advance(REOPEN_DELAY_MS_MAX);
    store.objects.delete('pods', 'default/p00000');
    expect(store.commit()).toBe(true);
    expect(store.health()).toMatchObject({ problem: '', pendingRows: 0 });
    await shut();
    const again = await openTestStore(dir);
    expect(headsOf(again.store, 'pods')).toHaveLength(299);
    expect(again.store.objects.resumePoint('pods')?.resourceVersion).toBe('300');
    expect(again.store.work.all()).toHaveLength(1);
    await again.shut();
  });
});

describe('a read-only disk', () => {
  onSmallDisk('means memory, and the file again when it can be written', async () => {
    const disk = mountDisk(4096);
    const dir = join(disk.dir, 'state');
    await fileWithPods(dir);
    disk.readOnly(true);
    const { store, clock, shut } = await openTestStore(dir);
    expect(store.health().opened).toStartWith('in memory: ');
    expect(headsOf(store, 'pods')).toEqual([]);
    store.objects.put(objectRow('pods', 'default/new'));
    expect(store.commit()).toBe(false);
    disk.readOnly(false);
    await clock.advance(REOPEN_DELAY_MS_MAX);
    expect(store.health().opened).toStartWith('set aside: ');
    expect(store.commit()).toBe(true);
    expect(headsOf(store, 'pods')).toEqual(['default/new@1']);
    await shut();
  });

  test('a path that is no directory means memory as well', async () => {
    const { store, shut } = await openTestStore('/dev/null/state');
    expect(store.health().problem).toContain('everything is kept in memory');
    store.work.put(workRow('queue', 'key'));
    expect(store.commit()).toBe(false);
    expect(store.work.all()).toHaveLength(1);
    await shut();
  });
});

describe('a damaged file', () => {
  test('is set aside at the first opening of a boot', async () => {
    const dir = temporaryDirectory();
    const path = await fileWithPods(dir);
    overwrite(path, 200 * 4096, 50 * 4096);
    const { store, shut } = await openTestStore(dir, { bootId: 'boot-2' });
    expect(store.health().opened).toMatch(/^set aside: corrupt: /);
    expect(store.health().problem).toBe('');
    expect(headsOf(store, 'pods')).toEqual([]);
    expect(existsSync(`${path}.aside`)).toBe(true);
    expect(store.commit()).toBe(true);
    await shut();
  });

  test('is found by the late check in the boot that wrote it', async () => {
    const dir = temporaryDirectory();
    const path = await fileWithPods(dir);
    overwrite(path, 200 * 4096, 50 * 4096);
    const { store, clock, shut } = await openTestStore(dir);
    expect(store.health().opened).toBe('resumed');
    await clock.advance(QUICK_CHECK_DELAY_MS);
    expect(store.objects.torn('pods')).toBe(true);
    await clock.advance(REOPEN_DELAY_MS_MAX);
    expect(store.health()).toMatchObject({ problem: '' });
    expect(store.health().opened).toMatch(/^set aside: corrupt: /);
    expect(store.work.all()).toHaveLength(1);
    expect(store.objects.resumePoint('pods')).toBeUndefined();
    await shut();
  });

  test('is found by reading it, and the process goes on', async () => {
    const dir = temporaryDirectory();
    const path = await fileWithPods(dir);
    overwrite(path, 100 * 4096, 250 * 4096);
    const { store, clock, shut } = await openTestStore(dir);
    expect(headsOf(store, 'pods').length).toBeLessThan(2_000);
    expect(store.objects.torn('pods')).toBe(true);
    expect(store.health().problem).toContain('unusable');
    store.objects.drop('pods');
    putPods(store, 0, 10);
    setPoint(store, 'pods', 10);
    await clock.advance(REOPEN_DELAY_MS_MAX);
    expect(store.commit()).toBe(true);
    expect(store.objects.torn('pods')).toBe(false);
    await shut();
    const again = await openTestStore(dir);
    expect(headsOf(again.store, 'pods')).toHaveLength(10);
    await again.shut();
  });

  test.each([
    ['cut in half', (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2))],
    ['no database at all', (path: string) => overwrite(path, 0, 4096)],
    [
      'of another program',
      (path: string) => {
        rmSync(path);
        const other = new Database(path);
        other.run('CREATE TABLE objects (something text)');
        other.close(true);
      },
    ],
    [
      'of a newer version',
      (path: string) => {
        const file = new Database(path);
        file.run("INSERT INTO migrations VALUES ('9999_later', 'hash', 0)");
        file.close(true);
      },
    ],
  ])('that is %s is set aside', async (_what, damage) => {
    const dir = temporaryDirectory();
    const path = await fileWithPods(dir);
    damage(path);
    for (const bootId of ['boot-2', 'boot-2']) {
      const { store, shut } = await openTestStore(dir, { bootId });
      const { opened, problem } = store.health();
      expect(problem).toBe('');
      if (opened !== 'resumed') expect(opened).toStartWith('set aside: ');
      expect(headsOf(store, 'pods')).toEqual([]);
      expect(store.commit()).toBe(true);
      await shut();
    }
    expect(existsSync(`${path}.aside`)).toBe(true);
  });

  test('that somebody deleted is made anew', async () => {
    const dir = temporaryDirectory();
    const path = join(dir, STATE_FILE);
    const { store, clock, shut } = await openTestStore(dir);
    store.work.put(workRow('queue', 'key'));
    store.commit();
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    await clock.advance(REOPEN_DELAY_MS_MAX);
    expect(store.health()).toMatchObject({ problem: '' });
    expect(store.work.all()).toHaveLength(1);
    expect(store.commit()).toBe(true);
    expect(existsSync(path)).toBe(true);
    await shut();
  });
});

describe('another process', () => {
  test('that holds the write lock delays the batch and loses nothing', async () => {
    const dir = temporaryDirectory();
    const { store, clock, shut } = await openTestStore(dir);
    const other = new Database(join(dir, STATE_FILE));
    other.run('BEGIN IMMEDIATE');
    store.work.put(workRow('queue', 'key'));
    expect(store.commit()).toBe(false);
    expect(store.health()).toMatchObject({ problem: '', pendingRows: 1 });
    other.run('ROLLBACK');
    other.close(true);
    await clock.advance(200);
    expect(store.health()).toMatchObject({ commits: 1, pendingRows: 0 });
    await shut();
  });

  test('killed while it writes leaves a whole file with all it had committed', async () => {
    const dir = temporaryDirectory();
    let acknowledged = -1;
    for (let round = 1; round <= 4; round++) {
      const child = startChild('write', dir);
      await until(() => child.lines.length >= 150 * round);
      await child.kill();
      acknowledged = Number(child.lines.at(-1));
      const { store, shut } = await openTestStore(dir, { bootId: `boot-${round + 10}` });
      expect(store.health()).toMatchObject({ opened: 'resumed', problem: '' });
      const point = Number(store.objects.resumePoint('pods')?.resourceVersion);
      expect(point).toBeGreaterThanOrEqual(acknowledged);
      expect([...store.objects.heads('pods')]).toHaveLength(point + 1);
      expect(store.work.all().map((row) => row.failures)).toContain(point);
      await shut();
    }
  });
});
