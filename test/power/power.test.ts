/**
 * The power is cut in the middle of writing: what a process wrote is recorded call by call, and the
 * disk as it may be after a cut at some call is built from it, with unsynced writes lost, kept, kept
 * in part, in another order, or torn at 512 bytes. Each such file opens whole, at one moment, or is
 * set aside and a new one goes on.
 *
 * HOLDFAST_POWER_CUTS: how many images. HOLDFAST_POWER_SEED: repeats a run's choices.
 */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '../../src/runtime/random.ts';
import { openTestStore } from '../../src/store/testing/kit.ts';
import { FATES, imageAt, place } from './images.ts';
import { HAS_STRACE, readCalls, straceOf } from './record.ts';
import { notOfOneMoment, RESOURCE } from './rounds.ts';

setDefaultTimeout(300_000);

const CUTS = Number(process.env.HOLDFAST_POWER_CUTS ?? 150);
const SEED = Number(process.env.HOLDFAST_POWER_SEED ?? Date.now() % 1_000_000);
const dir = mkdtempSync(join(tmpdir(), 'holdfast-power-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function record(): Promise<ReturnType<typeof readCalls>> {
  const state = join(dir, 'written');
  const output = join(dir, 'calls');
  const writer = join(import.meta.dir, 'writer.ts');
  const command = [...straceOf(output, state), process.execPath, writer, state];
  const run = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' });
  const said = await new Response(run.stdout).text();
  await run.exited;
  expect(JSON.parse(said)).toMatchObject({ problem: '', opened: 'created' });
  return readCalls(output);
}

if (!HAS_STRACE) console.log('power cuts are not tested here: strace may not trace');

test.skipIf(!HAS_STRACE)(`${CUTS} power cuts, seed ${SEED}`, async () => {
  console.log(`power cuts: seed ${SEED}`);
  const random = seededRandom(SEED);
  const calls = await record();
  const syncs = calls.filter(({ kind }) => kind === 'sync').length;
  expect(syncs).toBeGreaterThan(3);
  const outcomes = { resumed: 0, created: 0, aside: 0 };
  for (let number = 0; number < CUTS; number++) {
    const cut = Math.floor(random.next() * (calls.length + 1));
    const fate = FATES[number % FATES.length]!;
    const image = imageAt(calls, cut, fate, random);
    const where = `seed ${SEED}: cut ${number} at call ${cut} of ${calls.length}, ${fate}`;
    const state = join(dir, 'image');
    place(image, state);
    const opened = await openTestStore(state, { bootId: 'after the cut' });
    const { store } = opened;
    const health = store.health();
    expect({ where, problem: health.problem }).toEqual({ where, problem: '' });
    expect({ where, wrong: notOfOneMoment(store) }).toEqual({ where, wrong: [] });
    store.objects.drop(RESOURCE);
    expect({ where, written: store.commit() }).toEqual({ where, written: true });
    await opened.shut();
    if (health.opened === 'resumed') outcomes.resumed++;
    else if (health.opened === 'created') outcomes.created++;
    else outcomes.aside++;
  }
  console.log(`${calls.length} calls, ${syncs} syncs: ${JSON.stringify(outcomes)}`);
  expect(outcomes.resumed).toBeGreaterThan(CUTS / 4);
});
