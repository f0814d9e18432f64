/** What users do with ReplicaSets and ReplicationControllers. */
import { replicaSet, replicationController, type Scenario, template, type World } from './world.ts';

interface Flavour {
  readonly plural: string;
  make(replicas: number, fields?: Record<string, unknown>): Record<string, unknown>;
}

const SETS: Flavour = { plural: 'replicasets', make: replicaSet };
const CONTROLLERS: Flavour = { plural: 'replicationcontrollers', make: replicationController };

function pod(name: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  const { metadata, spec } = template('1', fields) as { metadata: object; spec: object };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec };
}

async function podReady(world: World, name: string): Promise<void> {
  await world.until('pods', name, ({ status }) =>
    (status?.conditions ?? []).some(
      (c: { type: string; status: string }) => c.type === 'Ready' && c.status === 'True',
    ),
  );
}

function scenariosOf(flavour: Flavour): Scenario[] {
  const { plural, make } = flavour;
  return [
    {
      name: `${plural}: scale up and down`,
      async play(world) {
        await world.create(make(2));
        await world.scaled(plural, 'web', 2);
        for (const replicas of [6, 1, 3]) {
          await world.merge(plural, 'web', { spec: { replicas } });
          await world.scaled(plural, 'web', replicas);
        }
      },
    },
    {
      name: `${plural}: adopt matching orphans, also one too many`,
      async play(world) {
        const costs = { a: '1', b: '-1', c: '2' };
        for (const [name, cost] of Object.entries(costs)) {
          const annotations = { 'controller.kubernetes.io/pod-deletion-cost': cost };
          await world.create(pod(name, { annotations }));
        }
        for (const name of Object.keys(costs)) await podReady(world, name);
        await world.create(make(2));
        await world.scaled(plural, 'web', 2);
      },
    },
    {
      name: `${plural}: release a pod whose labels change, and replace it`,
      async play(world) {
        await world.create(make(1));
        await world.scaled(plural, 'web', 1);
        const [first] = await world.list('pods');
        const labels = { app: 'debug' };
        await world.merge('pods', first?.metadata.name, { metadata: { labels } });
        await world.untilList('pods', (pods) => pods.length === 2, 'two pods');
        await world.scaled(plural, 'web', 1);
        await world.until(
          'pods',
          first?.metadata.name,
          ({ metadata }) => (metadata.ownerReferences ?? []).length === 0,
        );
      },
    },
    {
      name: `${plural}: the cheapest pod goes first`,
      async play(world) {
        const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '10' };
        await world.create(make(3, { template: template('1', { annotations }) }));
        await world.scaled(plural, 'web', 3);
        const [cheap] = await world.list('pods');
        const cost = { 'controller.kubernetes.io/pod-deletion-cost': '-5', cheap: 'yes' };
        await world.merge('pods', cheap?.metadata.name, { metadata: { annotations: cost } });
        await world.merge(plural, 'web', { spec: { replicas: 2 } });
        await world.scaled(plural, 'web', 2);
        await world.untilList('pods', (pods) => pods.length === 2, 'two pods');
      },
    },
    {
      name: `${plural}: a failed pod is replaced and kept`,
      async play(world) {
        await world.create(make(1));
        await world.scaled(plural, 'web', 1);
        const [first] = await world.list('pods');
        const status = { phase: 'Failed', reason: 'Evicted' };
        await world.api.patchStatus('pods', world.namespace, first?.metadata.name, status);
        await world.untilList('pods', (pods) => pods.length === 2, 'the failed pod and another');
        await world.scaled(plural, 'web', 1);
      },
    },
    {
      name: `${plural}: minReadySeconds delay availability`,
      async play(world) {
        await world.create(make(2, { minReadySeconds: 1 }));
        await world.until(plural, 'web', ({ status }) => status?.availableReplicas === 2);
      },
    },
  ];
}

export const REPLICAS: readonly Scenario[] = [...scenariosOf(SETS), ...scenariosOf(CONTROLLERS)];
