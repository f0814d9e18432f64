/**
 * One restart by kill -9 with all that is remembered, and one without: the steps of sizes, the
 * queues of zones, the quarantine of nodes, the nodes that are known and the counts of events go
 * on, or begin anew as upstream's do.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type Cluster,
  eventually,
  type HoldfastManager,
  type Obj,
  startCluster,
} from '../rig/index.ts';
import { autoscaler } from '../scenarios/autoscalers.ts';
import { World } from '../scenarios/world.ts';

setDefaultTimeout(240_000);

const TAINT_EVERY_MS = 60_000;
const QUARANTINE_MS = 40_000;
const KILLED_AFTER_MS = 16_000;
/** Counts of events go to the disk with other changes, ten seconds after the last time. */
const SHRUNK_AFTER_MS = 12_500;
const SLACK_MS = 1_500;
/** What a restart may take on a machine that is busy. */
const RESTART_MS = 13_000;
const FLAGS = [
  '--controllers=podgc,ttl,nodelifecycle,horizontalpodautoscaling',
  '--node-monitor-period=500ms',
  '--node-monitor-grace-period=10m',
  '--node-startup-grace-period=10m',
  `--node-eviction-rate=${1_000 / TAINT_EVERY_MS}`,
  '--horizontal-pod-autoscaler-sync-period=2s',
  '--kube-api-qps=500',
  '--kube-api-burst=1000',
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];
/** With the ten of the zone more than 100 nodes, and then less than that and more than 90. */
const CROWD = 95;
const GONE = 12;
const TTL = 'node.alpha.kubernetes.io/ttl';
const EXCLUDED = { 'node.kubernetes.io/exclude-disruption': '' };

/** A cluster through one restart; times as of `performance.now()`. */
class Story {
  holdfast: HoldfastManager;
  firstTaintAt = 0;
  killedAt = 0;
  /** When these were seen after the restart. */
  nextTaintAt: Promise<number> = Promise.resolve(0);
  orphanGoesAt: Promise<number> = Promise.resolve(0);

  private constructor(
    readonly cluster: Cluster,
    readonly world: World,
    holdfast: HoldfastManager,
  ) {
    this.holdfast = holdfast;
  }

  static async tell(memory: 'kept' | 'lost'): Promise<Story> {
    const cluster = await startCluster();
    const world = new World(cluster, await cluster.namespace('remembered'));
    await prepare(world);
    const story = new Story(cluster, world, await cluster.startHoldfast({ flags: FLAGS }));
    await story.untilTainted(1);
    story.firstTaintAt = performance.now();
    await untilStep(world, 'crowd-0', '15');
    await Bun.sleep(SHRUNK_AFTER_MS - (performance.now() - story.firstTaintAt));
    for (let at = 1; at <= GONE; at++) await cluster.api.remove('nodes', '', `crowd-${at}`);
    await Bun.sleep(KILLED_AFTER_MS - (performance.now() - story.firstTaintAt));
    await story.#restart(memory);
    const now = () => performance.now();
    story.nextTaintAt = story.untilTainted(2).then(now);
    story.orphanGoesAt = story.#untilOrphanGoes().then(now);
    return story;
  }

  async #restart(memory: 'kept' | 'lost'): Promise<void> {
    const { stateDir, runtimeDir, port } = this.holdfast;
    this.holdfast.kill('SIGKILL');
    await this.holdfast.waitExit();
    this.killedAt = performance.now();
    const folders = memory === 'kept' ? { stateDir, runtimeDir } : {};
    this.holdfast = await this.cluster.startHoldfast({ flags: FLAGS, port, ...folders });
  }

  async untilTainted(count: number): Promise<void> {
    const isTainted = ({ spec }: Obj) =>
      (spec.taints ?? []).some(({ effect }: Obj) => effect === 'NoExecute');
    const look = async () => (await this.cluster.api.list('nodes')).filter(isTainted);
    await eventually(async () => (await look()).length >= count, {
      timeoutMs: 120_000,
      describe: `${count} tainted nodes`,
    });
  }

  async #untilOrphanGoes(): Promise<void> {
    const { api, namespace } = this.world;
    const isGoing = ({ metadata }: Obj) => metadata.deletionTimestamp !== undefined;
    const options = { timeoutMs: 120_000, describe: 'the orphan being deleted' };
    await api.waitFor('pods', namespace, 'orphan', isGoing, options);
  }

  /** Events with this reason about an object. */
  async events(reason: string, about: string): Promise<Obj[]> {
    const events = await this.cluster.api.list('events');
    return events.filter((one) => one.reason === reason && one.involvedObject.name === about);
  }
}

/** Everything is there before Holdfast: 3 of 10 nodes are not ready, and a pod's node is missing. */
async function prepare(world: World): Promise<void> {
  const { api } = world;
  const node = (name: string, labels: object) =>
    api.create({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
  for (let at = 0; at < CROWD; at++) await node(`crowd-${at}`, EXCLUDED);
  for (let at = 0; at < 10; at++) {
    await node(`zone-${at}`, {});
    const status = at < 3 ? 'False' : 'True';
    const lastHeartbeatTime = '2026-01-01T00:00:00Z';
    const ready = { type: 'Ready', status, reason: 'Test', message: '', lastHeartbeatTime };
    await api.patchStatus('nodes', '', `zone-${at}`, { conditions: [ready] });
  }
  await world.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'orphan', finalizers: ['example.com/hold'] },
    spec: { nodeName: 'never-was', containers: [{ name: 'c', image: 'i' }] },
  });
  await world.create(autoscaler([]));
}

async function untilStep({ api }: World, name: string, step: string): Promise<void> {
  const has = ({ metadata }: Obj) => metadata.annotations?.[TTL] === step;
  await api.waitFor('nodes', '', name, has, { timeoutMs: 60_000, describe: `${name} has ${step}` });
}

describe.each(['kept', 'lost'] as const)('with its memory %s', (memory) => {
  const isKept = memory === 'kept';
  let story: Story;

  beforeAll(async () => {
    story = await Story.tell(memory);
  });

  afterAll(async () => {
    await story?.cluster.stop();
  });

  test('events are counted on, or begun anew', async () => {
    const failed = () => story.events('FailedGetScale', 'hpa');
    const sum = async () => (await failed()).reduce((all, { count }) => all + (count ?? 1), 0);
    const before = await sum();
    await eventually(async () => (await sum()) > before, { describe: 'one more event' });
    const about = (await failed()).map(({ message, count }) => `${count} ${message}`);
    expect(new Set(about.map((one) => one.replace(/^\S+ /, ''))).size).toBe(1);
    expect(about).toHaveLength(isKept ? 1 : 2);
  });

  test('the size of the cluster is on the same step, or on the lower one', async () => {
    const { world } = story;
    await world.api.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'new' } });
    await untilStep(world, 'new', isKept ? '15' : '0');
  });

  test('the next node gets its taint when it is its turn, or at once', async () => {
    const waited = (await story.nextTaintAt) - story.firstTaintAt;
    if (isKept) expect(waited).toBeGreaterThan(TAINT_EVERY_MS - SLACK_MS);
    else expect(waited).toBeLessThan(TAINT_EVERY_MS - SLACK_MS);
  });

  test('nodes that are known are not registered again, or all of them are', async () => {
    const registered = () => story.events('RegisteredNode', 'zone-5');
    if (!isKept) await eventually(async () => (await registered()).length > 1);
    const times = (await registered()).map(({ count }) => count ?? 1);
    expect(times).toEqual(isKept ? [1] : [1, 1]);
  });

  test('a missing node has what was left of its time, or the whole of it', async () => {
    const waited = (await story.orphanGoesAt) - story.killedAt;
    const left = QUARANTINE_MS - KILLED_AFTER_MS;
    if (isKept) expect(waited).toBeLessThan(left + RESTART_MS);
    else expect(waited).toBeGreaterThan(QUARANTINE_MS - SLACK_MS);
  });
});
