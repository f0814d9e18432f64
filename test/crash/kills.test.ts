/**
 * kill -9 at random moments while Deployments are scaled and rolled out: every pod that had to be
 * created was created once, and every state file that a dead process left is whole.
 *
 * HOLDFAST_CRASH_KILLS: how often to kill. HOLDFAST_CRASH_SEED: repeats a run's choices.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../src/runtime/random.ts';
import { type Cluster, eventually, notYet, simulateNodes, startCluster } from '../rig/index.ts';
import { diagnose } from '../scenarios/diagnosis.ts';
import { Ledger } from '../scenarios/ledger.ts';
import { World } from '../scenarios/world.ts';
import { Fleet } from './fleet.ts';
import { killOnce } from './kill-once.ts';
import { Line, SHORT_LEASE } from './killer.ts';
import { complaintsAbout, readState } from './state-copy.ts';

const KILLS = Number(process.env.HOLDFAST_CRASH_KILLS ?? 40);
const SEED = Number(process.env.HOLDFAST_CRASH_SEED ?? Date.now() % 1_000_000);
const SECONDS_PER_KILL = 30;

setDefaultTimeout(120_000);

const FLAGS = ['--controllers=deployment,replicaset', ...SHORT_LEASE, '-v=2'];
const KILLS_PER_ROUND_MAX = 4;
const READY_MS_MAX = 250;
const FIRST_STARTS = 6;
const random = seededRandom(SEED);

let cluster: Cluster;
let world: World;
let ledger: Ledger;
let fleet: Fleet;
let line: Line;

beforeAll(async () => {
  cluster = await startCluster({ audit: false });
  const readyAfterMs = (): number => Math.floor(random.next() * READY_MS_MAX);
  await simulateNodes(cluster, {
    count: 3,
    clearTaint: true,
    bind: true,
    plan: () => ({ readyAfterMs: readyAfterMs() }),
  });
  world = new World(cluster, await cluster.namespace('crash'));
  ledger = new Ledger(cluster.api, world.namespace);
  line = await Line.start(cluster, { flags: FLAGS });
  fleet = new Fleet(world, ledger, random);
  await fleet.launch();
});

afterAll(async () => {
  ledger?.stop();
  await cluster?.stop();
});

/** Nothing is left that somebody waits for: each announcement and expectation found its end. */
async function nothingAwaited(): Promise<void> {
  await eventually(
    async () => {
      const left: Record<string, unknown> = {};
      for (const table of ['intents', 'expectations']) {
        const answer = await line.current.fetch(`/debug/holdfast/${table}`);
        const rows = (await answer.json()) as unknown[];
        if (rows.length > 0) left[table] = rows;
      }
      if (Object.keys(left).length > 0) throw notYet(left);
      return true;
    },
    { timeoutMs: 15_000, describe: 'no intent and no expectation is left' },
  );
}

test(
  `${KILLS} kills, seed ${SEED}`,
  async () => {
    console.log(`crash test: seed ${SEED}`);
    while (line.kills < KILLS) {
      const orders = await fleet.change();
      const moments: string[] = [];
      try {
        const kills = 1 + Math.floor(random.next() * KILLS_PER_ROUND_MAX);
        for (let kill = 0; kill < kills; kill++) {
          moments.push(await killOnce(line, cluster.api, random));
        }
        await fleet.settled();
        await nothingAwaited();
      } catch (error) {
        const said = `seed ${SEED}, ${orders.join(', ')}; kills ${moments.join(' ')}`;
        const seen = await diagnose(world, line.current);
        throw new Error(`${said}\n${error}\n${seen}`);
      }
      const where = `seed ${SEED}, kill ${line.kills}: ${orders.join(', ')}`;
      expect({ where, complaints: fleet.complaints() }).toEqual({ where, complaints: [] });
    }
  },
  KILLS * SECONDS_PER_KILL * 1000,
);

test('killed while it starts for the first time, again and again', async () => {
  const options = { flags: FLAGS };
  const stateDir = join(cluster.dir, 'first-state');
  const runtimeDir = join(cluster.dir, 'first-run');
  await line.end();
  for (let kill = 0; kill < FIRST_STARTS; kill++) {
    rmSync(stateDir, { recursive: true, force: true });
    const first = await Line.start(cluster, { ...options, stateDir, runtimeDir });
    await first.kill(kill % 2 === 0 ? { walWrites: 1 + kill } : { after: random.next() * 500 });
    const state = readState(stateDir);
    if (state !== undefined) expect(await complaintsAbout(state, cluster.api)).toEqual([]);
    await first.restart();
    await first.current.waitServing();
    const store = await first.current.fetch('/debug/holdfast/store');
    expect(await store.json()).toMatchObject({ problem: '' });
    await first.end();
  }
});
