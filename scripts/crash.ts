/**
 * `make crash N=1000`: a mixed load on a real cluster while Holdfast is killed, frozen beyond its
 * Lease and starved of memory, and API server and etcd are restarted, N times in all, by lot from
 * SEED. After each death the state file is examined; after each round everything must have been made
 * exactly once. Prints figures, and the seed to repeat the choices with.
 */

import { seededRandom } from '../src/runtime/random.ts';
import { type Accident, befall, drawAccident, memoryGroups } from '../test/crash/campaign.ts';
import { Line } from '../test/crash/killer.ts';
import { Mix } from '../test/crash/mix.ts';
import { complaintsAbout, readState } from '../test/crash/state-copy.ts';
import { type Cluster, simulateNodes, startCluster } from '../test/rig/index.ts';
import { diagnose } from '../test/scenarios/diagnosis.ts';
import { Ledger } from '../test/scenarios/ledger.ts';
import { World } from '../test/scenarios/world.ts';

const NODES = 20;
const PER_ROUND_MAX = 6;
const PAUSE_MS_MAX = 1_000;
const REBOOTED_SHARE = 0.1;
const CUT = /ECONNRESET|ConnectionRefused|ECONNREFUSED|socket connection|Unable to connect/;
const CUT_TRIES = 10;
const CUT_PAUSE_MS = 1_000;
const FLAGS = [
  '--controllers=*',
  '--leader-elect-lease-duration=6s',
  '--leader-elect-renew-deadline=4s',
  '--leader-elect-retry-period=500ms',
  '-v=2',
];

function numberOf(name: string, fallback: number): number {
  const text = process.env[name] ?? '';
  const value = text === '' ? fallback : Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new Error(`${name}=${text} is no whole number: want e.g. ${name}=${fallback}`);
}

const total = numberOf('N', 1_000);
const seed = numberOf('SEED', Date.now() % 1_000_000);
const random = seededRandom(seed);
const groups = memoryGroups();
const counts = new Map<Accident, number>();
let done = 0;
let examined = 0;

/** Our own connection, too, ends when the API server is restarted: that is no finding. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries >= CUT_TRIES || !CUT.test(String(error))) throw error;
      await Bun.sleep(CUT_PAUSE_MS);
    }
  }
}

async function round(cluster: Cluster, world: World, line: Line, mix: Mix): Promise<string[]> {
  await mix.begin();
  const what: string[] = [];
  const planned = Math.min(total - done, 1 + Math.floor(random.next() * PER_ROUND_MAX));
  for (let at = 0; at < planned; at++) {
    const accident = drawAccident(random, groups);
    what.push(accident);
    done++;
    counts.set(accident, (counts.get(accident) ?? 0) + 1);
    if (await befall(accident, { cluster, line, random }, groups)) {
      const state = readState(line.current.stateDir);
      const complaints = state === undefined ? [] : await complaintsAbout(state, cluster.api);
      if (complaints.length > 0) return complaints;
      examined++;
      await line.restart({ rebooted: random.next() < REBOOTED_SHARE });
    }
    await Bun.sleep(random.next() * PAUSE_MS_MAX);
  }
  try {
    await patiently(() => mix.settled());
  } catch (error) {
    return [`${what.join(', ')}: ${error}\n${await diagnose(world, line.current)}`];
  }
  const complaints = await patiently(() => mix.complaints());
  await patiently(() => mix.cleanUp());
  return complaints.map((complaint) => `${what.join(', ')}: ${complaint}`);
}

function figures(line: Line, since: number): string {
  const seconds = Math.round((performance.now() - since) / 1e3);
  const each = [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
  return `${done} of ${total} (${each}); ${line.kills} deaths, ${examined} files whole; ${seconds} s`;
}

async function main(): Promise<number> {
  console.log(`crash campaign: N=${total} SEED=${seed}`);
  if (groups === undefined) console.log('no control groups here: nothing runs out of memory');
  const cluster = await startCluster({ audit: false });
  const since = performance.now();
  let ledger: Ledger | undefined;
  try {
    await simulateNodes(cluster, { count: NODES, clearTaint: true, bind: true });
    const world = new World(cluster, await cluster.namespace('campaign'));
    ledger = new Ledger(cluster.api, world.namespace, true);
    const line = await Line.start(cluster, { flags: FLAGS, compiled: true });
    const mix = new Mix(world, ledger, NODES);
    await mix.launch();
    while (done < total) {
      const complaints = await round(cluster, world, line, mix);
      console.log(figures(line, since));
      if (complaints.length === 0) continue;
      console.log(`FAILED, seed ${seed}:\n${complaints.join('\n')}`);
      return 1;
    }
    console.log(`nothing was made twice, nothing was lost; seed ${seed}`);
    return 0;
  } finally {
    ledger?.stop();
    await cluster.stop();
  }
}

process.exit(await main());
