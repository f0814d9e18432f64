/**
 * `make crash N=1000`: a mixed load on a real cluster while Holdfast is killed, frozen beyond its
 * Lease and starved of memory, and API server and etcd are restarted, N times in all, by lot from
 * SEED. After each death the state file is examined; after each round everything must have been made
 * exactly once. Prints a table of what happened and what was looked at, and the seed to repeat the
 * choices with. Ctrl-C ends it after the round.
 */

import { seededRandom } from '../src/runtime/random.ts';
import { type Accident, accidents, befall, memoryGroups } from '../test/crash/campaign.ts';
import { Line, SHORT_LEASE } from '../test/crash/killer.ts';
import { Mix } from '../test/crash/mix.ts';
import { complaintsAbout, readState } from '../test/crash/state-copy.ts';
import { patiently } from '../test/faults/patience.ts';
import { type Cluster, simulateNodes, startCluster } from '../test/rig/index.ts';
import { diagnose } from '../test/scenarios/diagnosis.ts';
import { Ledger } from '../test/scenarios/ledger.ts';
import { World } from '../test/scenarios/world.ts';
import { wholeNumber } from './numbers.ts';

const NODES = 20;
const PER_ROUND_MAX = 6;
const PAUSE_MS_MAX = 1_000;
const REBOOTED_SHARE = 0.1;
const FLAGS = ['--controllers=*', ...SHORT_LEASE, '-v=2'];

let total = wholeNumber('N', 1_000);
const seed = wholeNumber('SEED', Date.now() % 1_000_000);
const random = seededRandom(seed);
const groups = memoryGroups();
const deck = accidents(random, groups);
const befell: { readonly accident: Accident; readonly died: boolean }[] = [];
const checked = { files: 0, points: 0, rounds: 0 };

/** Lets one thing happen. Gives what is wrong with the file that a dead process left. */
async function accident(cluster: Cluster, line: Line, what: Accident): Promise<string[]> {
  const died = await befall(what, { cluster, line, random }, groups);
  befell.push({ accident: what, died });
  if (!died) return line.current.running ? [] : [`it ended by itself: ${line.current.tail()}`];
  const state = readState(line.current.stateDir);
  const complaints = state === undefined ? [] : await complaintsAbout(state, cluster.api);
  checked.files++;
  checked.points += state?.points.size ?? 0;
  await line.restart({ rebooted: random.next() < REBOOTED_SHARE });
  return complaints;
}

async function round(cluster: Cluster, world: World, line: Line, mix: Mix): Promise<string[]> {
  await mix.begin();
  const what: string[] = [];
  const planned = Math.min(
    Math.max(1, total - befell.length),
    1 + Math.floor(random.next() * PER_ROUND_MAX),
  );
  for (let at = 0; at < planned; at++) {
    what.push(deck.draw());
    const complaints = await accident(cluster, line, what.at(-1) as Accident);
    if (complaints.length > 0) return complaints.map((one) => `${what.join(', ')}: ${one}`);
    await Bun.sleep(random.next() * PAUSE_MS_MAX);
  }
  try {
    await patiently(() => mix.settled());
  } catch (error) {
    return [`${what.join(', ')}: ${error}\n${await diagnose(world, line.current)}`];
  }
  const complaints = await patiently(() => mix.complaints());
  await patiently(() => mix.cleanUp());
  checked.rounds++;
  return complaints.map((complaint) => `${what.join(', ')}: ${complaint}`);
}

function progress(line: Line, since: number): string {
  const seconds = Math.round((performance.now() - since) / 1e3);
  const last = befell.slice(-PER_ROUND_MAX).map(({ accident: what }) => what);
  return `${befell.length} of ${total}, ${line.kills} deaths; ${seconds} s; last ${last.join(', ')}`;
}

/** What happened, by kind, and what was looked at. */
function table(mix: Mix): string {
  const rows = [...new Set(befell.map((one) => one.accident))].sort().map((kind) => {
    const all = befell.filter((one) => one.accident === kind);
    const deaths = all.filter(({ died }) => died).length;
    return [kind, `${all.length}`, `${deaths}`, `${all.length - deaths}`];
  });
  const lines = [['accident', 'times', 'died', 'lived on'], ...rows].map(([name = '', ...counts]) =>
    [name.padEnd(14), ...counts.map((count) => count.padStart(10))].join(''),
  );
  const { files, points, rounds } = checked;
  const { workloads, pods, jobs } = mix.judged;
  return [
    ...lines,
    `state files of dead processes that SQLite calls whole: ${files}`,
    `resume points in them that are not ahead of their objects: ${points}`,
    `rounds after which all came to rest: ${rounds}`,
    `workloads with exactly the pods they needed: ${workloads}, with ${pods} pods`,
    `Jobs with exact counts and no finalizer left: ${jobs}`,
  ].join('\n');
}

async function main(): Promise<number> {
  console.log(`crash campaign: N=${total} SEED=${seed}`);
  if (groups === undefined) console.log('no control groups here: nothing runs out of memory');
  // State files are compared with what was at their resume points, however old.
  const apiServerFlags = ['--etcd-compaction-interval=0'];
  const cluster = await startCluster({ audit: false, apiServerFlags });
  process.once('SIGINT', () => {
    total = Math.min(total, befell.length);
  });
  const since = performance.now();
  let ledger: Ledger | undefined;
  try {
    await simulateNodes(cluster, { count: NODES, clearTaint: true, bind: true });
    const world = new World(cluster, await cluster.namespace('campaign'));
    ledger = new Ledger(cluster.api, world.namespace, true);
    const line = await Line.start(cluster, { flags: FLAGS, compiled: true });
    const mix = new Mix(world, ledger, NODES);
    await mix.launch();
    let complaints: string[] = [];
    while (befell.length < total && complaints.length === 0) {
      complaints = await round(cluster, world, line, mix);
      console.log(progress(line, since));
    }
    console.log(table(mix));
    if (complaints.length === 0) {
      console.log(`nothing was made twice, nothing was lost; seed ${seed}`);
      return 0;
    }
    console.log(`FAILED, seed ${seed}:\n${complaints.join('\n')}`);
    return 1;
  } finally {
    ledger?.stop();
    await cluster.stop();
  }
}

process.exit(await main());
