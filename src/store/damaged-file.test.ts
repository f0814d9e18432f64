import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { QUICK_CHECK_DELAY_MS, REOPEN_DELAY_MS_MAX } from '../runtime/limits.ts';
import { STATE_FILE } from './index.ts';
import {
  cleanUp,
  fileWithPods,
  headsOf,
  openTestStore,
  putPods,
  SLOW_TEST_MS,
  setPoint,
  temporaryDirectory,
  workRow,
} from './testing/kit.ts';

setDefaultTimeout(SLOW_TEST_MS);
afterAll(cleanUp);

function overwrite(path: string, at: number, bytes: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(bytes, 0xa5), 0, bytes, at);
}

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

  test('is found while the store is put together', async () => {
    const dir = temporaryDirectory();
    const path = await fileWithPods(dir);
    const file = new Database(path, { readonly: true });
    const root = file
      .query<{ page: number }, []>(
        "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'resume_points'",
      )
      .get();
    file.close(true);
    overwrite(path, ((root?.page ?? 0) - 1) * 4096, 4096);
    const { store, clock, shut } = await openTestStore(dir);
    expect(store.health().problem).toContain('SQLITE_CORRUPT');
    expect(store.work.all()).toHaveLength(1);
    await clock.advance(REOPEN_DELAY_MS_MAX);
    expect(store.health().opened).toStartWith('set aside: SQLITE_CORRUPT');
    expect(store.commit()).toBe(true);
    await shut();
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
