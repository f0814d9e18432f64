import { afterAll, expect, test } from 'bun:test';
import { STORE_RATE_WINDOW_MS, WRITES_NOTED_INTERVAL_MS } from '../runtime/limits.ts';
import { openInspector } from './index.ts';
import {
  cleanUp,
  openTestStore,
  putPods,
  START,
  temporaryDirectory,
  workRow,
} from './testing/kit.ts';
import { notedWrites } from './write-counts.ts';

afterAll(cleanUp);

test('what was written is counted by table, and noted with a commit that has other reasons', async () => {
  const dir = temporaryDirectory();
  const { store, clock, shut } = await openTestStore(dir);
  putPods(store, 0, 7);
  store.work.put(workRow('queue', 'a'));
  store.commit();
  const { bytesWritten, bytesLastHour, commitsLastHour } = store.health();
  expect(commitsLastHour).toBe(1);
  expect(bytesLastHour).toBe(bytesWritten);
  expect(bytesWritten).toBeGreaterThan(4_096);
  const inspect = openInspector(dir);
  expect(inspect.notedWrites()).toBeUndefined();
  await clock.advance(WRITES_NOTED_INTERVAL_MS);
  expect(inspect.notedWrites()).toBeUndefined();
  store.work.put(workRow('queue', 'b'));
  store.commit();
  expect(inspect.notedWrites()).toMatchObject({
    since: START,
    until: START + WRITES_NOTED_INTERVAL_MS,
    commits: 1,
    rows: { objects: 7, work: 1 },
  });
  await clock.advance(2 * STORE_RATE_WINDOW_MS);
  expect(store.health()).toMatchObject({ bytesLastHour: 0, commitsLastHour: 0 });
  store.work.put(workRow('queue', 'c'));
  await shut();
  expect(inspect.notedWrites()?.rows.work).toBe(2);
  expect(inspect.notedWrites()?.until).toBeGreaterThan(START + STORE_RATE_WINDOW_MS);
  inspect.close();
});

test('a fact that makes no sense is no count', () => {
  for (const text of [undefined, '', 'x', '{}', '{"since":"x","rows":{}}', 'null']) {
    expect(notedWrites(text)).toBeUndefined();
  }
});
