import { Database } from 'bun:sqlite';
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  BATCH_RETRY_MS_MAX,
  BATCH_TORN_BYTES,
  CHECKPOINT_INTERVAL_MS,
  REOPEN_DELAY_MS_MAX,
} from '../runtime/limits.ts';
import { STATE_FILE } from './index.ts';
import {
  cleanUp,
  fileWithPods,
  headsOf,
  intentRow,
  objectRow,
  openTestStore,
  putPods,
  SLOW_TEST_MS,
  type SmallDisk,
  setPoint,
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
setDefaultTimeout(SLOW_TEST_MS);
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

  onSmallDisk('that has no room for a checkpoint is told, and tried again', async () => {
    const disk = mountDisk(2048);
    const { store, clock, shut } = await openTestStore(join(disk.dir, 'state'));
    putPods(store, 0, 200);
    expect(store.commit()).toBe(true);
    disk.fill();
    await clock.advance(CHECKPOINT_INTERVAL_MS);
    expect(store.health().problem).toContain('checkpoint failed: SQLITE_FULL');
    disk.free();
    await clock.advance(CHECKPOINT_INTERVAL_MS);
    expect(store.health().problem).toBe('');
    expect(store.health().databaseBytes).toBeGreaterThan(100_000);
    await shut();
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
