/** State files that can't be used: set aside, said so, and the cluster never notices. */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HoldfastManager } from '../rig/index.ts';
import { deployment } from '../scenarios/world.ts';
import { Bench, cachesOf, kill, statusz, storeOf, untilStore } from './bench.ts';

setDefaultTimeout(120_000);

const REPLICAS = 3;
const PAGE_BYTES = 4096;

let bench: Bench;
let holdfast: HoldfastManager;
let file: string;
let round = 0;

beforeAll(async () => {
  bench = await Bench.start('damage');
  holdfast = await bench.holdfast();
  file = join(holdfast.stateDir, 'state.db');
  await bench.world.create(deployment(REPLICAS));
  await bench.rolledOut(holdfast);
});

afterAll(async () => {
  await bench?.cluster.stop();
});

/** A dead process and a whole file with everything in it. */
beforeEach(async () => {
  await kill(holdfast);
  rmSync(`${file}.aside`, { force: true });
  const database = new Database(file);
  database.run('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
});

/** The next process works: it scales, without touching a pod it need not touch. */
async function works(): Promise<void> {
  const before = bench.pods();
  const replicas = REPLICAS + ++round;
  await bench.world.merge('deployments', 'web', { spec: { replicas } });
  await bench.rolledOut(holdfast);
  expect(bench.pods()).toEqual({ created: before.created + 1, deleted: before.deleted });
}

function overwrite(from: number, bytes: number): void {
  const content = readFileSync(file);
  content.fill(0xa5, from, from + bytes);
  writeFileSync(file, content);
}

test.each<[string, () => void, RegExp]>([
  ['no database', () => writeFileSync(file, 'this is no database\n'.repeat(500)), /corrupt/],
  ['a destroyed first page', () => overwrite(16, PAGE_BYTES), /corrupt/],
  ['cut off in the middle', () => truncateSync(file, PAGE_BYTES * 3), /corrupt/],
  ['of a newer version', () => makeNewer(), /newer schema/],
])('%s: set aside at the start', async (_name, damage, reason) => {
  damage();
  holdfast = await bench.again(holdfast);
  const shown = await statusz(holdfast);
  expect(shown).toMatch(/State\W+set aside/);
  expect(shown).toMatch(reason);
  expect(existsSync(`${file}.aside`)).toBe(true);
  await works();
  expect(await cachesOf(holdfast)).toMatchObject({ pods: 'listed', 'replicasets.apps': 'listed' });
  expect(await storeOf(holdfast)).toMatchObject({ problem: '' });
});

test('damaged pages found while running: set aside then, and a new file takes over', async () => {
  const pages = readFileSync(file).length / PAGE_BYTES;
  overwrite(PAGE_BYTES * Math.floor(pages / 3), PAGE_BYTES * Math.floor(pages / 2));
  holdfast = await bench.again(holdfast);
  await works();
  const store = await untilStore(
    holdfast,
    ({ opened, problem }) => opened.startsWith('set aside') && problem === '',
    'a new file is in use',
  );
  expect(store.opened).toMatch(/CORRUPT|corrupt/);
  expect(existsSync(`${file}.aside`)).toBe(true);
  await kill(holdfast);
  holdfast = await bench.again(holdfast);
  await works();
  expect(await cachesOf(holdfast)).toMatchObject({ pods: 'resumed' });
});

function makeNewer(): void {
  const database = new Database(file);
  database.run("INSERT INTO migrations VALUES ('9999_from_the_future', 'hash', 0)");
  database.run('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}
