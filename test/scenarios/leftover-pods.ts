/** What becomes of pods that nobody looks after. */
import type { Obj } from '../rig/index.ts';
import type { Fields, Scenario, World } from './world.ts';

const HOLD = 'example.com/hold';

/** A pod that no kubelet runs; held, so that what was done to it can be seen. */
function pod(name: string, spec: Fields = {}): Fields {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, finalizers: [HOLD] },
    spec: { schedulerName: 'nobody', containers: [{ name: 'c', image: 'i' }], ...spec },
  };
}

const nodeOf = (world: World, name: string) => `${name}-${world.namespace}`;

async function createNode(world: World, name: string, spec: Fields = {}): Promise<string> {
  const full = nodeOf(world, name);
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: full }, spec };
  await world.api.create(node);
  return full;
}

async function setStatus(world: World, name: string, status: Fields): Promise<void> {
  await world.api.patchStatus('pods', world.namespace, name, status);
}

const isGoing = ({ metadata }: Obj) => metadata.deletionTimestamp !== undefined;

export const LEFTOVER_PODS: readonly Scenario[] = [
  {
    name: 'pods of a node that vanished are failed and deleted',
    async play(world) {
      const nodeName = await createNode(world, 'gone');
      await world.create(pod('runs', { nodeName }));
      await setStatus(world, 'runs', { phase: 'Running' });
      await world.create(pod('done', { nodeName }));
      await setStatus(world, 'done', { phase: 'Succeeded' });
      await world.create(pod('elsewhere', { nodeName: await createNode(world, 'there') }));
      await world.api.remove('nodes', '', nodeName);
      for (const name of ['runs', 'done']) await untilLate(world, name);
    },
  },
  {
    name: 'pods bound to a node that never was go as well',
    async play(world) {
      await world.create(pod('lost', { nodeName: nodeOf(world, 'never') }));
      await untilLate(world, 'lost');
    },
  },
  {
    name: 'a pod that is deleted before it came to a node',
    async play(world) {
      await world.create(pod('unscheduled'));
      await world.api.remove('pods', world.namespace, 'unscheduled');
      await world.until('pods', 'unscheduled', ({ status }) => status?.phase === 'Failed');
    },
  },
  {
    name: 'pods that are being deleted on a node out of service',
    async play(world) {
      const key = 'node.kubernetes.io/out-of-service';
      const taints = [{ key, value: 'nodeshutdown', effect: 'NoExecute' }];
      const nodeName = await createNode(world, 'off', { taints });
      const tolerations = [{ operator: 'Exists' }];
      await world.create(pod('stuck', { nodeName, tolerations }));
      await setStatus(world, 'stuck', { phase: 'Running' });
      await world.create(pod('stays', { nodeName, tolerations }));
      await world.api.remove('pods', world.namespace, 'stuck', { gracePeriodSeconds: 300 });
      await world.until('pods', 'stuck', ({ status }) => status?.phase === 'Failed');
    },
  },
  {
    name: 'the same on a node that is ready: they are left to it',
    async play(world) {
      const key = 'node.kubernetes.io/out-of-service';
      const taints = [{ key, value: 'nodeshutdown', effect: 'NoExecute' }];
      const nodeName = await createNode(world, 'on', { taints });
      const conditions = [{ type: 'Ready', status: 'True', reason: 'Test', message: '' }];
      await world.api.patchStatus('nodes', '', nodeName, { conditions });
      const tolerations = [{ operator: 'Exists' }];
      await world.create(pod('patient', { nodeName, tolerations }));
      await setStatus(world, 'patient', { phase: 'Running' });
      await world.api.remove('pods', world.namespace, 'patient', { gracePeriodSeconds: 300 });
      // A pod that is due shows that a round has passed.
      await world.create(pod('unscheduled'));
      await world.api.remove('pods', world.namespace, 'unscheduled');
      await world.until('pods', 'unscheduled', ({ status }) => status?.phase === 'Failed');
    },
  },
];

/** Quarantine and the rounds before and after it take more than a minute. */
async function untilLate(world: World, name: string): Promise<void> {
  const options = { timeoutMs: 110_000, everyMs: 1_000, describe: `pod ${name} being deleted` };
  await world.api.waitFor('pods', world.namespace, name, isGoing, options);
}

/** Played alone, under a threshold of 3: it counts the ended pods of the whole cluster. */
export const TOO_MANY_PODS: Scenario = {
  name: 'of too many ended pods the evicted and the oldest go',
  async play(world) {
    for (const old of await world.api.list('pods')) {
      const ended = ['Succeeded', 'Failed'].includes(old.status?.phase);
      if (!ended) continue;
      const { namespace, name } = old.metadata;
      await world.api.patch('pods', namespace, name, { metadata: { finalizers: null } });
      await world.api.remove('pods', namespace, name, { gracePeriodSeconds: 0 });
    }
    const names = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6'];
    for (const name of names) {
      await world.create({ ...pod(name), metadata: { name } });
      // Creation times are whole seconds: these are told apart by their names.
    }
    await world.create({ ...pod('runs'), metadata: { name: 'runs' } });
    await setStatus(world, 'p6', { phase: 'Failed', reason: 'Evicted' });
    for (const name of names.slice(0, 5)) await setStatus(world, name, { phase: 'Succeeded' });
    await world.untilList('pods', (pods) => pods.length === 4, 'three ended pods and one more');
  },
};
