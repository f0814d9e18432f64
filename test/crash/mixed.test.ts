/**
 * kill -9 under a load of every kind: Jobs that finish and that fail, an indexed Job, a CronJob that
 * is due, a StatefulSet and a DaemonSet that roll out on 20 nodes. All controllers run.
 *
 * HOLDFAST_MIXED_KILLS: how often to kill. HOLDFAST_CRASH_SEED: repeats a run's choices.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { seededRandom } from '../../src/runtime/random.ts';
import { type Cluster, eventually, notYet, simulateNodes, startCluster } from '../rig/index.ts';
import { diagnose } from '../scenarios/diagnosis.ts';
import { Ledger } from '../scenarios/ledger.ts';
import { World } from '../scenarios/world.ts';
import { killOnce } from './kill-once.ts';
import { Line, SHORT_LEASE } from './killer.ts';
import { Mix } from './mix.ts';

const KILLS = Number(process.env.HOLDFAST_MIXED_KILLS ?? 16);
const SEED = Number(process.env.HOLDFAST_CRASH_SEED ?? Date.now() % 1_000_000);
const SECONDS_PER_KILL = 60;
const NODES = 20;
const KILLS_PER_ROUND_MAX = 6;
const GONE_TIMEOUT_MS = 60_000;

setDefaultTimeout(120_000);

const FLAGS = ['--controllers=*', ...SHORT_LEASE, '-v=2'];
const random = seededRandom(SEED);

let cluster: Cluster;
let world: World;
let ledger: Ledger;
let line: Line;
let mix: Mix;

beforeAll(async () => {
  cluster = await startCluster({ audit: false });
  await simulateNodes(cluster, { count: NODES, clearTaint: true, bind: true });
  world = new World(cluster, await cluster.namespace('mixed'));
  ledger = new Ledger(cluster.api, world.namespace);
  line = await Line.start(cluster, { flags: FLAGS });
  mix = new Mix(world, ledger, NODES);
  await mix.launch();
});

afterAll(async () => {
  ledger?.stop();
  await cluster?.stop();
});

test(
  `${KILLS} kills, seed ${SEED}`,
  async () => {
    console.log(`mixed crash test: seed ${SEED}`);
    while (line.kills < KILLS) {
      await mix.begin();
      const moments: string[] = [];
      try {
        const kills = 3 + Math.floor(random.next() * (KILLS_PER_ROUND_MAX - 2));
        for (let kill = 0; kill < kills; kill++) {
          moments.push(await killOnce(line, cluster.api, random));
          await Bun.sleep(random.next() * 1_000);
        }
        await mix.settled();
      } catch (error) {
        const seen = await diagnose(world, line.current);
        throw new Error(`seed ${SEED}, kills ${moments.join(' ')}\n${error}\n${seen}`);
      }
      const where = `seed ${SEED}, kill ${line.kills}, ${moments.join(' ')}`;
      expect({ where, complaints: await mix.complaints() }).toEqual({ where, complaints: [] });
      await mix.cleanUp();
    }
  },
  KILLS * SECONDS_PER_KILL * 1000,
);

test('the namespace goes, with all that is left in it', async () => {
  await mix.begin();
  await cluster.api.remove('namespaces', '', world.namespace);
  await line.kill({ after: 300 });
  await line.restart();
  await eventually(
    async () => {
      const found = await cluster.api.find('namespaces', '', world.namespace);
      if (found !== undefined) throw notYet(found.status);
      return true;
    },
    { timeoutMs: GONE_TIMEOUT_MS, describe: 'the namespace is gone' },
  );
});
