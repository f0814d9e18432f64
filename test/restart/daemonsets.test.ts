/** A DaemonSet whose pods fail while Holdfast is killed: the wait for the next one goes on. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type Cluster,
  eventually,
  type HoldfastManager,
  type Obj,
  simulateNodes,
  startCluster,
} from '../rig/index.ts';
import { template, World } from '../scenarios/world.ts';
import { killAndStart } from './again.ts';

setDefaultTimeout(180_000);

const FLAGS = ['--controllers=daemonset,serviceaccount', '-v=2'];
/** After five pods the wait is 16 s, or more if one came and went unseen. */
const PODS = 6;
/** How far into the wait Holdfast is killed. */
const WAITED_MS = 8_000;
/** A pod takes a moment to fail and to go. */
const SLACK_MS = 4_000;

let cluster: Cluster;
let holdfast: HoldfastManager;

beforeAll(async () => {
  cluster = await startCluster();
  await simulateNodes(cluster, { count: 1, clearTaint: true, bind: true });
  holdfast = await cluster.startHoldfast({ flags: FLAGS });
});

afterAll(async () => {
  await cluster.stop();
});

test('a failed pod stays as long as if nobody had been killed', async () => {
  const world = new World(cluster, await cluster.namespace('daemons'));
  const pods = template('1', { annotations: { 'sim.holdfast.dev/behaviour': 'fail' } });
  const spec = { selector: { matchLabels: { app: 'web' } }, template: pods };
  await world.create({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'web' }, spec });
  const born = new Map<string, number>();
  const seen = async (count: number): Promise<boolean> => {
    for (const { metadata } of await world.list('pods')) {
      if (!born.has(metadata.name)) born.set(metadata.name, Date.now());
    }
    return born.size >= count;
  };
  await eventually(() => seen(PODS), { timeoutMs: 90_000, describe: 'some failed pods' });
  await Bun.sleep(WAITED_MS);
  holdfast = await killAndStart(cluster, holdfast, FLAGS);
  await eventually(() => seen(PODS + 1), { timeoutMs: 60_000, describe: 'the next pod' });
  const times = [...born.values()];
  const waits = times.slice(1).map((time, at) => time - (times[at] as number));
  const [before = 0, last = 0] = waits.slice(-2);
  expect(last - 2 * before).toBeWithin(-SLACK_MS, SLACK_MS);
  const [first] = (await world.list('pods')) as Obj[];
  expect(first?.metadata.ownerReferences[0].kind).toBe('DaemonSet');
});
