/** The disk under the state is full or read-only for a while: rollouts go on, and nothing is lost. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { complaintsAbout, readState } from '../crash/state-copy.ts';
import type { HoldfastManager } from '../rig/index.ts';
import { deployment, template } from '../scenarios/world.ts';
import { Bench, cachesOf, kill, leaseOf, statusz, storeOf, untilStore } from './bench.ts';
import { CAN_MOUNT, SmallDisk } from './tmpfs.ts';

setDefaultTimeout(120_000);

const DISK_BYTES = 8 * 1024 * 1024;
const REPLICAS = 6;

let bench: Bench;
let disk: SmallDisk;
let holdfast: HoldfastManager;
let version = 1;

beforeAll(async () => {
  if (!CAN_MOUNT) return;
  bench = await Bench.start('disk');
  disk = new SmallDisk(DISK_BYTES);
  holdfast = await bench.holdfast({ stateDir: join(disk.dir, 'state') });
  await bench.world.create(deployment(REPLICAS, { revisionHistoryLimit: 1 }));
  await bench.rolledOut(holdfast);
});

afterEach(() => disk?.empty());

afterAll(async () => {
  await bench?.cluster.stop();
  disk?.remove();
});

/** Begins a rollout; when its first pods are there, something happens to the disk. */
async function rollOut(happens: () => void): Promise<void> {
  const { created } = bench.pods();
  const spec = { template: template(`${++version}`) };
  await bench.world.merge('deployments', 'web', { spec });
  while (bench.pods().created === created) await Bun.sleep(5);
  happens();
}

async function stateIsRight(): Promise<void> {
  const state = readState(holdfast.stateDir);
  expect(state && (await complaintsAbout(state, bench.cluster.api))).toEqual([]);
}

const onDisk = test.skipIf(!CAN_MOUNT);

onDisk('full in the middle of a rollout: it completes, and the file catches up', async () => {
  const before = bench.pods();
  await rollOut(() => disk.fill());
  await bench.rolledOut(holdfast);
  const full = await untilStore(holdfast, ({ problem }) => problem !== '', 'trouble is told');
  expect(full.problem).toContain('FULL');
  expect(full.pendingRows).toBeGreaterThan(0);
  expect(await statusz(holdfast)).toContain('FULL');
  expect(bench.pods()).toEqual({
    created: before.created + REPLICAS,
    deleted: before.deleted + REPLICAS,
  });
  disk.empty();
  await untilStore(
    holdfast,
    ({ problem, pendingRows }) => problem === '' && pendingRows === 0,
    'all is on disk again',
  );
  await kill(holdfast);
  await stateIsRight();
  holdfast = await bench.again(holdfast);
  await bench.world.merge('deployments', 'web', { spec: { replicas: REPLICAS + 1 } });
  await bench.rolledOut(holdfast);
  expect(await cachesOf(holdfast)).toMatchObject({ pods: 'resumed' });
  await bench.world.merge('deployments', 'web', { spec: { replicas: REPLICAS } });
  await bench.rolledOut(holdfast);
});

onDisk('killed while the disk is full: the next process ends what was begun', async () => {
  const before = bench.pods();
  await rollOut(() => disk.fill());
  await untilStore(holdfast, ({ problem }) => problem !== '', 'the disk is found full');
  await kill(holdfast);
  await stateIsRight();
  holdfast = await bench.again(holdfast);
  await bench.rolledOut(holdfast);
  expect(bench.pods()).toEqual({
    created: before.created + REPLICAS,
    deleted: before.deleted + REPLICAS,
  });
  disk.empty();
  await untilStore(holdfast, ({ problem }) => problem === '', 'a file is in use again');
  await kill(holdfast);
  await stateIsRight();
  holdfast = await bench.again(holdfast);
  await holdfast.waitServing();
  expect(await storeOf(holdfast)).toMatchObject({ opened: 'resumed', problem: '' });
});

onDisk('killed at the moment when the disk is freed: nothing is done twice', async () => {
  const before = bench.pods();
  await rollOut(() => disk.fill());
  await untilStore(holdfast, ({ problem }) => problem !== '', 'the disk is found full');
  disk.empty();
  await kill(holdfast);
  await stateIsRight();
  holdfast = await bench.again(holdfast);
  await bench.rolledOut(holdfast);
  expect(bench.pods()).toEqual({
    created: before.created + REPLICAS,
    deleted: before.deleted + REPLICAS,
  });
});

onDisk(
  'killed while the disk is full, and freed then: the next one waits for its caches',
  async () => {
    const before = bench.pods();
    await rollOut(() => disk.fill());
    await untilStore(holdfast, ({ problem }) => problem !== '', 'the disk is found full');
    await kill(holdfast);
    disk.empty();
    holdfast = await bench.again(holdfast);
    await bench.rolledOut(holdfast);
    // Its file lacks what was done last.
    expect(holdfast.log()).toMatch(/"Controllers start".* seamless=false/);
    expect(bench.pods()).toEqual({
      created: before.created + REPLICAS,
      deleted: before.deleted + REPLICAS,
    });
  },
);

onDisk('read-only at the start: it works from memory and says so', async () => {
  await kill(holdfast);
  disk.readOnly();
  holdfast = await bench.again(holdfast);
  const before = bench.pods();
  await rollOut(() => undefined);
  await bench.rolledOut(holdfast);
  expect(bench.pods().created).toBe(before.created + REPLICAS);
  expect(await statusz(holdfast)).toContain('in memory');
  // No lock can be held here, so no process may trust that the last one is dead.
  expect((await leaseOf(holdfast)).how).not.toBe('instant');
  disk.writable();
  await untilStore(holdfast, ({ problem }) => problem === '', 'a file is in use again');
  await kill(holdfast);
  await stateIsRight();
});
