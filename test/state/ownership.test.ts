/** State directories that belong to somebody else: another process, machine or cluster. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import {
  always,
  eventually,
  type HoldfastManager,
  simulateNodes,
  startCluster,
} from '../rig/index.ts';
import { deployment, World } from '../scenarios/world.ts';
import { Bench, kill, leaseOf, statusz } from './bench.ts';

setDefaultTimeout(120_000);

const REPLICAS = 3;

let bench: Bench;
let holdfast: HoldfastManager;

beforeAll(async () => {
  bench = await Bench.start('owner');
  holdfast = await bench.holdfast();
  await bench.world.create(deployment(REPLICAS));
  await bench.rolledOut(holdfast);
});

afterAll(async () => {
  await bench?.cluster.stop();
});

test('a second process on the same directory is refused, and told who has it', async () => {
  const { stateDir, runtimeDir } = holdfast;
  const second = await bench.holdfast({ stateDir, runtimeDir });
  expect(await second.waitExit()).toMatchObject({ code: 1 });
  expect(second.log()).toContain(`--state-dir ${stateDir} is in use by `);
  expect(second.log()).toContain(`pid ${holdfast.pid}`);
  await bench.world.merge('deployments', 'web', { spec: { replicas: REPLICAS + 1 } });
  await bench.rolledOut(holdfast);
});

test('a copied directory does not lead beside the original, only after it', async () => {
  const stateDir = join(bench.cluster.dir, 'copied-state');
  const runtimeDir = join(bench.cluster.dir, 'copied-run');
  cpSync(holdfast.stateDir, stateDir, { recursive: true });
  cpSync(holdfast.runtimeDir, runtimeDir, { recursive: true });
  const copy = await bench.holdfast({ stateDir, runtimeDir });
  await copy.waitServing();
  const waits = async (): Promise<boolean> => (await leaseOf(copy)).state === 'standby';
  await always(waits, { forMs: 5_000, everyMs: 200, describe: 'the copy stands by' });
  expect(await leaseOf(holdfast)).toMatchObject({ state: 'leading' });
  const before = bench.pods();
  await kill(holdfast);
  const killedAt = performance.now();
  await bench.world.merge('deployments', 'web', { spec: { replicas: REPLICAS + 2 } });
  await eventually(async () => !(await waits()), { everyMs: 50, describe: 'the copy leads' });
  // A Lease of 4 s that was renewed every 500 ms.
  expect(performance.now() - killedAt).toBeGreaterThan(2_500);
  expect((await leaseOf(copy)).how).toBe('expired');
  await bench.rolledOut(copy);
  expect(bench.pods()).toEqual({ created: before.created + 1, deleted: before.deleted });
  await kill(copy);
});

test('a directory made for another cluster is of no use here, and does no harm', async () => {
  await using other = await startCluster({ audit: false });
  await simulateNodes(other, { count: 1, clearTaint: true, bind: true });
  const world = new World(other, await other.namespace(bench.world.namespace, true));
  await world.create(deployment(1));
  const { stateDir, runtimeDir } = holdfast;
  const moved = await other.startHoldfast({
    stateDir,
    runtimeDir,
    flags: ['--controllers=deployment,replicaset', '-v=2'],
  });
  await world.rolledOut();
  expect(await world.list('pods')).toHaveLength(1);
  expect(moved.log()).toContain('The state file belongs to another cluster');
  expect(await statusz(moved)).toMatch(/State\W+emptied/);
  await kill(moved);
  const again = await other.startHoldfast({ stateDir, runtimeDir, flags: ['-v=2'] });
  await world.merge('deployments', 'web', { spec: { replicas: 2 } });
  await world.rolledOut();
  expect(again.log()).not.toContain('belongs to another cluster');
});
