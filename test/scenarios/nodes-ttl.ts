/** How long kubelets may cache: the annotation of nodes as a cluster grows and shrinks. */
import { eventually, type Obj } from '../rig/index.ts';
import type { NodeScenario, NodeWorld } from './nodes-world.ts';
import type { Fields } from './world.ts';

const TTL = 'node.alpha.kubernetes.io/ttl';

const annotated = (value: string | null): Fields => ({
  metadata: { annotations: { [TTL]: value } },
});
const has = (value: string) => (node: Obj) => node.metadata.annotations?.[TTL] === value;

async function until(world: NodeWorld, name: string, value: string): Promise<void> {
  await world.untilNode(name, has(value));
}

/** Something of a node changes that has nothing to do with it. */
async function touch(world: NodeWorld, name: string): Promise<void> {
  await world.mergeNode(name, { metadata: { labels: { touched: String(performance.now()) } } });
}

const untouched = { metadata: { labels: { touched: null } } };

/** Nodes of the whole cluster, whoever made them; resolves once all have been told something. */
async function growTo(world: NodeWorld, count: number): Promise<void> {
  const present = (await world.api.list('nodes')).length;
  for (let at = present; at < count; at++) await world.createNode(`filler-${at}`);
  const areTold = async (): Promise<boolean> =>
    (await world.api.list('nodes')).every(({ metadata }) => metadata.annotations?.[TTL]);
  await eventually(areTold, { timeoutMs: 60_000, describe: 'all nodes told' });
}

async function shrinkTo(world: NodeWorld, count: number): Promise<void> {
  const nodes = (await world.api.list('nodes')).filter(
    ({ metadata }) => !metadata.name.endsWith('-kept'),
  );
  const all = await world.api.list('nodes');
  for (const { metadata } of nodes.slice(0, Math.max(0, all.length - count))) {
    await world.api.remove('nodes', '', metadata.name);
  }
}

/** Makes so many nodes and one more, which is told the longer time. */
async function growBeyond100(world: NodeWorld): Promise<void> {
  await growTo(world, 100);
  await world.createNode('last-kept');
  await until(world, 'last-kept', '15');
}

/** Played one after the other: they count the nodes of the whole cluster. */
export const TTL_SCENARIOS: readonly NodeScenario[] = [
  {
    name: 'a node in a small cluster is told 0',
    async play(world) {
      await world.createNode('a');
      await until(world, 'a', '0');
    },
  },
  {
    name: 'another value is replaced, another spelling is not',
    async play(world) {
      const values = { word: 'none', more: '15', empty: '', plus: '+0', zeros: '000', dot: '0.0' };
      for (const [name, value] of Object.entries(values)) {
        await world.createNode(name, annotated(value));
      }
      for (const name of ['word', 'more', 'empty', 'dot']) await until(world, name, '0');
    },
  },
  {
    name: 'one that somebody took away is put back',
    async play(world) {
      await world.createNode('a');
      await until(world, 'a', '0');
      await world.mergeNode('a', annotated(null));
      await until(world, 'a', '0');
    },
  },
  {
    name: 'the hundred-and-first node is told 15, the others when they change',
    async play(world) {
      await world.createNode('old-kept');
      await growTo(world, 100);
      await until(world, 'old-kept', '0');
      await world.createNode('next-kept');
      await until(world, 'next-kept', '15');
      const before = await world.getNode('old-kept');
      if (!has('0')(before)) throw new Error('the old node was told before it changed');
      await touch(world, 'old-kept');
      await until(world, 'old-kept', '15');
      await world.mergeNode('old-kept', untouched);
    },
  },
  {
    name: 'with a few nodes less it stays',
    async play(world) {
      await growBeyond100(world);
      await shrinkTo(world, 93);
      await world.createNode('a-kept');
      await until(world, 'a-kept', '15');
    },
  },
  {
    name: 'with less than 90 it goes back',
    async play(world) {
      await growBeyond100(world);
      await shrinkTo(world, 89);
      await touch(world, 'last-kept');
      await until(world, 'last-kept', '0');
      await world.mergeNode('last-kept', untouched);
    },
  },
];
