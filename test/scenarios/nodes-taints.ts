/** Pods that leave tainted nodes: each play has nodes of its own, so all may play at once. */
import type { Obj } from '../rig/index.ts';
import type { NodeScenario, NodeWorld } from './nodes-world.ts';
import type { Fields } from './world.ts';

const HOLD = 'example.com/hold';
const KEY = 'example.com/gone';
const NO_EXECUTE = { key: KEY, effect: 'NoExecute' };
const OTHER = { key: 'example.com/other', value: 'x', effect: 'NoExecute' };
/** Far enough from any step of a play, near enough to wait for. */
const LONG_S = 300;

function toleration(seconds?: number, key = KEY): Fields {
  const base = { key, operator: 'Exists', effect: 'NoExecute' };
  return seconds === undefined ? base : { ...base, tolerationSeconds: seconds };
}

/** A pod on a node that no kubelet runs; held, so that what was done to it can be seen. */
async function pod(
  world: NodeWorld,
  name: string,
  tolerations: readonly Fields[] = [],
  node = 'n',
) {
  await world.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, finalizers: [HOLD] },
    spec: {
      nodeName: world.node(node),
      tolerations,
      containers: [{ name: 'c', image: 'i' }],
      terminationGracePeriodSeconds: 600,
    },
  });
  await world.api.patchStatus('pods', world.namespace, name, { phase: 'Running' });
}

async function stays(world: NodeWorld, name: string): Promise<void> {
  const { metadata } = await world.get('pods', name);
  if (metadata.deletionTimestamp !== undefined) throw new Error(`pod ${name} went`);
}

/** A pod that nothing tolerates shows that the taints of its node were seen. */
async function seen(world: NodeWorld): Promise<void> {
  await world.untilGoing('canary');
}

const message = (text: string) => (event: Obj) => event.message.startsWith(text);

async function waitsNoMore(world: NodeWorld, name: string): Promise<void> {
  await world.untilEvent(`Cancelling deletion of Pod ${world.namespace}/${name}`);
}

export const TAINT_SCENARIOS: readonly NodeScenario[] = [
  {
    name: 'pods that tolerate nothing leave at once, others stay',
    async play(world) {
      await world.createNode('n');
      await pod(world, 'canary');
      await pod(world, 'done');
      await world.api.patchStatus('pods', world.namespace, 'done', { phase: 'Succeeded' });
      await pod(world, 'stays', [toleration()]);
      await pod(world, 'waits', [toleration(LONG_S)]);
      await world.createNode('else');
      await pod(world, 'elsewhere', [], 'else');
      await world.taint('n', [NO_EXECUTE, { key: 'soft', effect: 'NoSchedule' }]);
      await seen(world);
      await world.untilGoing('done');
      for (const name of ['stays', 'waits', 'elsewhere']) await stays(world, name);
    },
  },
  {
    name: 'a pod leaves when the time it tolerates is over, not before',
    async play(world) {
      await world.createNode('n');
      await pod(world, 'waits', [toleration(4)]);
      await world.taint('n', [NO_EXECUTE]);
      const ms = await world.untilGoing('waits');
      if (ms < 3_900 || ms > 6_500) throw new Error(`it left after ${ms} ms`);
    },
  },
  {
    name: 'taints that go cancel what waits',
    async play(world) {
      await world.createNode('n');
      await pod(world, 'canary');
      await pod(world, 'waits', [toleration(LONG_S)]);
      await pod(world, 'stays', [toleration()]);
      await world.taint('n', [NO_EXECUTE]);
      await seen(world);
      await world.taint('n', null);
      await waitsNoMore(world, 'waits');
      await stays(world, 'waits');
    },
  },
  {
    name: 'a second taint that is not tolerated ends the waiting',
    async play(world) {
      await world.createNode('n');
      await pod(world, 'canary');
      await pod(world, 'waits', [toleration(LONG_S)]);
      await world.taint('n', [NO_EXECUTE]);
      await seen(world);
      await world.taint('n', [NO_EXECUTE, OTHER]);
      await world.untilGoing('waits');
    },
  },
  {
    name: 'a clock that runs is kept when a shorter time comes out',
    async play(world) {
      await world.createNode('n');
      await pod(world, 'canary');
      await pod(world, 'waits', [toleration(8), toleration(1, OTHER.key)]);
      await world.taint('n', [NO_EXECUTE]);
      await seen(world);
      await world.taint('n', [NO_EXECUTE, OTHER]);
      await Bun.sleep(3_500);
      await stays(world, 'waits');
      await world.untilGoing('waits');
    },
  },
  {
    name: 'a toleration that is added late is no better than the first that matches',
    async play(world) {
      await world.createNode('n');
      await pod(world, 'canary');
      await pod(world, 'waits', [toleration(LONG_S)]);
      await world.taint('n', [NO_EXECUTE]);
      await seen(world);
      const { spec } = await world.get('pods', 'waits');
      const { key: _key, ...everything } = toleration();
      // Only additions are allowed; the first one that matches is used.
      await world.merge('pods', 'waits', {
        spec: { tolerations: [...spec.tolerations, everything] },
      });
      await Bun.sleep(500);
    },
  },
  {
    name: 'a pod that waits and is deleted is told to be cancelled',
    async play(world) {
      await world.createNode('n');
      await pod(world, 'canary');
      await pod(world, 'waits', [toleration(LONG_S)]);
      await world.taint('n', [NO_EXECUTE]);
      await seen(world);
      await world.merge('pods', 'waits', { metadata: { finalizers: null } });
      await world.api.remove('pods', world.namespace, 'waits', { gracePeriodSeconds: 0 });
      await waitsNoMore(world, 'waits');
    },
  },
  {
    name: 'a pod waits on although its node is gone',
    async play(world) {
      await world.createNode('n');
      await pod(world, 'canary');
      await pod(world, 'waits', [toleration(4)]);
      await world.taint('n', [NO_EXECUTE]);
      await seen(world);
      await world.api.remove('nodes', '', world.node('n'));
      await world.untilGoing('waits');
    },
  },
  {
    name: 'a pod that comes to a tainted node',
    async play(world) {
      await world.createNode('n', { spec: { taints: [NO_EXECUTE] } });
      await pod(world, 'canary');
      await pod(world, 'waits', [toleration(3)]);
      await seen(world);
      await world.untilGoing('waits');
    },
  },
  {
    name: 'a pod that says already why it goes',
    async play(world) {
      await world.createNode('n');
      await pod(world, 'canary');
      const condition = { type: 'DisruptionTarget', status: 'True', reason: 'Else', message: 'm' };
      await world.api.patchStatus('pods', world.namespace, 'canary', { conditions: [condition] });
      await world.taint('n', [NO_EXECUTE]);
      await seen(world);
      const all = await world.events();
      if (!all.some(message('Marking for deletion')))
        await world.untilEvent('Marking for deletion');
    },
  },
];
