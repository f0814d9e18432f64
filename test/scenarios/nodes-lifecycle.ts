/** Nodes that fall silent, come back, say they are not ready; each play has a zone of its own. */
import type { Obj } from '../rig/index.ts';
import { Kubelet, type KubeletOptions } from './nodes-kubelet.ts';
import type { NodeScenario, NodeWorld } from './nodes-world.ts';
import type { Fields } from './world.ts';

/** What the managers are started with. */
export const LIFECYCLE_FLAGS = [
  '--node-monitor-period=500ms',
  '--node-monitor-grace-period=6s',
  '--node-startup-grace-period=8s',
  '--node-eviction-rate=0.5',
  '--large-cluster-size-threshold=4',
];
const GRACE_MS = 6_000;
const STARTUP_MS = 8_000;
/** Beyond it a look has surely passed. */
const LOOKS_MS = 3_000;

const ZONE = 'topology.kubernetes.io/zone';
const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';

/** A node with a kubelet, in the zone of this play. */
export async function kubelet(
  world: NodeWorld,
  name: string,
  options: KubeletOptions = {},
): Promise<Kubelet> {
  const labels = { [ZONE]: world.namespace, ...options.labels };
  const made = new Kubelet(world.api, world.node(name), { ...options, labels });
  world.onEnd(() => made.stop());
  return await made.start();
}

function hasTaint(key: string, effect: string) {
  return ({ spec }: Obj) =>
    (spec.taints ?? []).some((taint: Fields) => taint.key === key && taint.effect === effect);
}

const isTainted = (key: string) => (node: Obj) =>
  hasTaint(key, 'NoExecute')(node) && hasTaint(key, 'NoSchedule')(node);
const untainted = ({ spec }: Obj) => (spec.taints ?? []).length === 0;

function isReady(status: string) {
  return (node: Obj) =>
    (node.status?.conditions ?? []).some((c: Fields) => c.type === 'Ready' && c.status === status);
}

/** A pod on a node, with this status of Ready ("" for none). */
async function pod(world: NodeWorld, name: string, node: string, ready: string): Promise<void> {
  await world.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { schedulerName: 'nobody', containers: [{ name: 'c', image: 'i' }] },
  });
  const condition = { type: 'Ready', status: ready, reason: 'Test', message: 'as the test says' };
  const conditions = ready === '' ? [] : [condition];
  await world.api.patchStatus('pods', world.namespace, name, { phase: 'Running', conditions });
  await world.api.bind(world.namespace, name, world.node(node));
}

const isPodReady = (status: string) => (object: Obj) =>
  (object.status?.conditions ?? []).some((c: Fields) => c.type === 'Ready' && c.status === status);

async function staysReady(world: NodeWorld, name: string, forMs: number): Promise<void> {
  await Bun.sleep(forMs);
  const node = await world.getNode(name);
  if (!isReady('True')(node)) throw new Error(`${name} is ${JSON.stringify(node.status)}`);
}

/** The time at which the node was tainted, in ms. */
async function taintedAt(world: NodeWorld, name: string): Promise<number> {
  const { spec } = await world.untilNode(name, isTainted(UNREACHABLE));
  return Date.parse(spec.taints.find((taint: Fields) => taint.effect === 'NoExecute').timeAdded);
}

const FALLING_SILENT: readonly NodeScenario[] = [
  {
    name: 'a node that falls silent, and its pods',
    async play(world) {
      await kubelet(world, 'well');
      const lost = await kubelet(world, 'lost');
      await pod(world, 'ready', 'lost', 'True');
      await pod(world, 'unready', 'lost', 'False');
      await pod(world, 'unknown', 'lost', 'Unknown');
      await pod(world, 'fresh', 'lost', '');
      await pod(world, 'elsewhere', 'well', 'True');
      lost.stop();
      await world.untilNode('lost', isTainted(UNREACHABLE));
      for (const name of ['ready', 'unknown']) await world.until('pods', name, isPodReady('False'));
    },
  },
  {
    name: 'a node that falls silent and comes back',
    async play(world) {
      await kubelet(world, 'well');
      const lost = await kubelet(world, 'lost');
      await pod(world, 'ready', 'lost', 'True');
      lost.stop();
      await world.untilNode('lost', isTainted(UNREACHABLE));
      await world.until('pods', 'ready', isPodReady('False'));
      await lost.resume();
      await lost.post('True');
      await world.untilNode('lost', untainted);
    },
  },
  {
    name: 'a node that says it is not ready, then falls silent',
    async play(world) {
      await kubelet(world, 'well');
      const weak = await kubelet(world, 'weak');
      await pod(world, 'ready', 'weak', 'True');
      await weak.post('False');
      await world.untilNode('weak', isTainted(NOT_READY));
      weak.stop();
      await world.untilNode('weak', isTainted(UNREACHABLE));
    },
  },
  {
    name: 'a node that says it is not ready, and is ready again',
    async play(world) {
      await kubelet(world, 'well');
      const weak = await kubelet(world, 'weak');
      await weak.post('False');
      await world.untilNode('weak', isTainted(NOT_READY));
      await weak.post('True');
      await world.untilNode('weak', untainted);
    },
  },
  {
    name: 'a node that never spoke',
    async play(world) {
      await world.createNode('mute', { metadata: { labels: { [ZONE]: world.namespace } } });
      await Bun.sleep(GRACE_MS);
      const { status } = await world.getNode('mute');
      if ((status?.conditions ?? []).length > 0) throw new Error('it was judged too early');
      await world.untilNode('mute', isTainted(UNREACHABLE));
    },
  },
  {
    name: 'a node that never posted its status but renews its Lease',
    async play(world) {
      await world.createNode('shy', { metadata: { labels: { [ZONE]: world.namespace } } });
      const shy = new Kubelet(world.api, world.node('shy'));
      world.onEnd(() => shy.stop());
      await shy.resume();
      await Bun.sleep(STARTUP_MS + LOOKS_MS);
      shy.stop();
    },
  },
  {
    name: 'a node that renews its Lease and posts no status',
    async play(world) {
      await kubelet(world, 'quiet');
      await staysReady(world, 'quiet', GRACE_MS + LOOKS_MS);
    },
  },
  {
    name: 'a node that posts its status and has no Lease',
    async play(world) {
      const old = await kubelet(world, 'old', { by: 'status', everyMs: 1_500 });
      await staysReady(world, 'old', GRACE_MS + LOOKS_MS);
      old.stop();
      await world.untilNode('old', isTainted(UNREACHABLE));
    },
  },
  {
    name: 'nodes that fall silent together are tainted one after the other',
    async play(world) {
      for (const name of ['w1', 'w2', 'w3']) await kubelet(world, name);
      const lost = [await kubelet(world, 'l1'), await kubelet(world, 'l2')];
      for (const one of lost) one.stop();
      const times = await Promise.all(['l1', 'l2'].map((name) => taintedAt(world, name)));
      const [first = 0, second = 0] = times.sort((a, b) => a - b);
      if (second - first < 1_000) throw new Error(`tainted ${second - first} ms apart`);
    },
  },
  {
    name: 'a zone without a ready node is tainted as any other',
    async play(world) {
      const lost = [await kubelet(world, 'l1'), await kubelet(world, 'l2')];
      for (const one of lost) one.stop();
      for (const name of ['l1', 'l2']) await world.untilNode(name, isTainted(UNREACHABLE));
    },
  },
  {
    name: 'a small zone most of which is silent is not evicted from',
    async play(world) {
      await kubelet(world, 'well');
      const names = ['l1', 'l2', 'l3'];
      for (const name of names) (await kubelet(world, name, { by: 'nothing' })).stop();
      for (const name of names) await world.untilNode(name, hasTaint(UNREACHABLE, 'NoSchedule'));
      await Bun.sleep(LOOKS_MS * 2);
      const nodes = await Promise.all(names.map((name) => world.getNode(name)));
      const evicted = nodes.filter(isTainted(UNREACHABLE)).length;
      // The reference may be between two steps of its look when it puts on the first one.
      if (evicted > 1) throw new Error(`${evicted} nodes were tainted`);
      for (const name of names) await world.api.remove('nodes', '', world.node(name));
      for (const name of names) await world.untilEvent(`Removing Node ${world.node(name)} from`);
    },
  },
  {
    name: 'a node that does not count for its zone is tainted all the same',
    async play(world) {
      const labels = { 'node.kubernetes.io/exclude-disruption': '' };
      const lost = await kubelet(world, 'apart', { labels });
      lost.stop();
      await world.untilNode('apart', isTainted(UNREACHABLE));
    },
  },
];

const TAINTS_AND_LABELS: readonly NodeScenario[] = [
  {
    name: 'NoSchedule taints come and go with the conditions',
    async play(world) {
      const node = await kubelet(world, 'n');
      const all = { MemoryPressure: 'True', DiskPressure: 'True', PIDPressure: 'True' };
      await node.post('True', { ...all, NetworkUnavailable: 'True' });
      await world.mergeNode('n', { spec: { unschedulable: true } });
      await world.untilNode('n', ({ spec }) => (spec.taints ?? []).length === 5);
      await node.post('True', { DiskPressure: 'True', NetworkUnavailable: 'False' });
      await world.untilNode('n', ({ spec }) => (spec.taints ?? []).length === 2);
    },
  },
  {
    name: 'taints that follow from no condition',
    async play(world) {
      await kubelet(world, 'n', {
        spec: {
          taints: [
            { key: 'node.kubernetes.io/memory-pressure', value: 'v', effect: 'NoSchedule' },
            { key: 'node.kubernetes.io/memory-pressure', effect: 'NoExecute' },
            { key: 'node.kubernetes.io/disk-pressure', effect: 'PreferNoSchedule' },
            { key: NOT_READY, effect: 'NoExecute' },
            { key: UNREACHABLE, effect: 'NoExecute' },
            { key: 'example.com/own', effect: 'NoSchedule' },
          ],
        },
      });
      await world.untilNode('n', ({ spec }) => (spec.taints ?? []).length === 3);
    },
  },
  {
    name: 'a taint that somebody takes off a silent node is put on again',
    async play(world) {
      await kubelet(world, 'well');
      const lost = await kubelet(world, 'lost');
      lost.stop();
      await world.untilNode('lost', isTainted(UNREACHABLE));
      await world.taint('lost', null);
      await world.untilNode('lost', isTainted(UNREACHABLE));
    },
  },
  {
    name: 'older labels are kept as the newer ones',
    async play(world) {
      const stable = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'arm64' };
      await kubelet(world, 'n', { labels: { ...stable, 'beta.kubernetes.io/os': 'other' } });
      await kubelet(world, 'none', { labels: { 'beta.kubernetes.io/arch': 'alone' } });
      await world.untilNode(
        'n',
        ({ metadata: { labels } }) =>
          labels['beta.kubernetes.io/os'] === 'linux' &&
          labels['beta.kubernetes.io/arch'] === 'arm64',
      );
    },
  },
  {
    name: 'a pod that comes to a silent node',
    async play(world) {
      await kubelet(world, 'well');
      const lost = await kubelet(world, 'lost');
      lost.stop();
      await world.untilNode('lost', isTainted(UNREACHABLE));
      await pod(world, 'late', 'lost', 'True');
      await world.until('pods', 'late', isPodReady('False'));
    },
  },
  {
    name: 'a node that is taken away',
    async play(world) {
      const node = await kubelet(world, 'n');
      await world.untilEvent(`Registered Node ${world.node('n')} in Controller`);
      node.stop();
      await world.api.remove('nodes', '', world.node('n'));
      await world.untilEvent(`Removing Node ${world.node('n')} from Controller`);
    },
  },
];

/** All of them need a ready node elsewhere in the cluster. */
export const LIFECYCLE_SCENARIOS: readonly NodeScenario[] = [
  ...FALLING_SILENT,
  ...TAINTS_AND_LABELS,
];

/** Played alone: here no node of the whole cluster is ready. */
export const BLACKOUT: NodeScenario = {
  name: 'when no node is ready any more, nobody is evicted; when one is again, all get their time',
  async play(world) {
    const [first, second, third] = [
      await kubelet(world, 'first'),
      await kubelet(world, 'second'),
      await kubelet(world, 'third', { labels: { [ZONE]: `${world.namespace}-else` } }),
    ] as const;
    const names = ['first', 'second', 'third'];
    // One by one: what is being tainted in the moment of the blackout may keep its taint under KCM.
    first.stop();
    await world.untilNode('first', isTainted(UNREACHABLE));
    second.stop();
    await world.untilNode('second', isTainted(UNREACHABLE));
    third.stop();
    for (const name of names) await world.untilNode(name, hasTaint(UNREACHABLE, 'NoSchedule'));
    const isEvicted = hasTaint(UNREACHABLE, 'NoExecute');
    await world.untilNode('first', (node) => !isEvicted(node));
    await Bun.sleep(LOOKS_MS);
    for (const name of names) {
      if (isEvicted(await world.getNode(name))) throw new Error(`${name} was tainted`);
    }
    await second.resume();
    await second.post('True');
    await world.untilNode('second', untainted);
    for (const name of ['first', 'third']) await world.untilNode(name, isTainted(UNREACHABLE));
  },
};
