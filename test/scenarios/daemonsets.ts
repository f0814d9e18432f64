/** What users do with DaemonSets. Each play has nodes of its own, found by a label. */
import { type Obj, simulateNodes } from '../rig/index.ts';
import { type Fields, hanging, type Scenario, template, type World } from './world.ts';

const KIND = 'daemonsets';
const LABELS = { app: 'web' };

/** The label by which the nodes of this play are chosen. */
function labelOf(world: World): string {
  return `play.holdfast.dev/${world.namespace}`;
}

/** What is special about some of the nodes of a play, by their number. */
interface NodeTraits {
  readonly labels?: readonly Fields[];
  readonly taints?: readonly Fields[][];
}

/**
 * Adds nodes for this play: "<namespace>-0", "<namespace>-1" … They are chosen only once they have
 * all their labels and taints, so that no manager can see them half made.
 */
async function addNodes(
  world: World,
  count: number,
  { labels = [], taints = [] }: NodeTraits = {},
  from = 0,
): Promise<void> {
  const nodes = await simulateNodes(world.cluster, { count: 0, clearTaint: true });
  for (let index = from; index < from + count; index++) {
    await nodes.addNode(nodeName(world, index), 1000 + index);
    const all = { ...labels[index], [labelOf(world)]: 'yes' };
    const body = { metadata: { labels: all }, spec: { taints: taints[index] ?? null } };
    await world.api.patch('nodes', '', nodeName(world, index), body);
  }
}

function nodeName(world: World, index: number): string {
  return `${world.namespace}-${index}`;
}

function onNodes(world: World, pod: Fields): Fields {
  const { spec, ...rest } = pod as { spec: Fields };
  return { ...rest, spec: { nodeSelector: { [labelOf(world)]: 'yes' }, ...spec } };
}

function daemonSet(world: World, fields: Fields = {}): Fields {
  const { metadata, template: pod = template('1'), ...spec } = fields;
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'web', ...(metadata as Fields) },
    spec: {
      selector: { matchLabels: LABELS },
      template: onNodes(world, pod as Fields),
      ...spec,
    },
  };
}

function rolling(maxUnavailable: number | string, maxSurge: number | string = 0): Fields {
  return {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } },
  };
}

/** Waits until so many nodes are served, all by pods of the current template. */
async function settled(world: World, nodes: number, updated = nodes): Promise<void> {
  await world.until(KIND, 'web', ({ metadata, status }) => {
    const current = status.observedGeneration === metadata.generation;
    const { desiredNumberScheduled, currentNumberScheduled, numberReady, numberAvailable } = status;
    const counts = [desiredNumberScheduled, currentNumberScheduled, numberReady, numberAvailable];
    const all = counts.every((count) => (count ?? 0) === nodes);
    return current && all && (status.updatedNumberScheduled ?? 0) === updated;
  });
  await podsOf(world, nodes);
}

/** Waits until there are so many pods and none of them is going. */
function podsOf(world: World, count: number): Promise<Obj[]> {
  const steady = (pods: Obj[]): boolean =>
    pods.length === count && pods.every(({ metadata }) => metadata.deletionTimestamp === undefined);
  return world.untilList('pods', steady, `${count} pods`);
}

async function change(world: World, version: string): Promise<void> {
  await world.merge(KIND, 'web', { spec: { template: onNodes(world, template(version)) } });
}

function taint(world: World, index: number, taints: Fields[] | null): Promise<Obj> {
  return world.api.patch('nodes', '', nodeName(world, index), { spec: { taints } });
}

function touched(world: World, look: string): Promise<Obj> {
  return world.merge(KIND, 'web', { metadata: { annotations: { look } } });
}

/** The pod on one of the nodes. */
async function podOn(world: World, index: number): Promise<Obj> {
  const pods = await world.list('pods');
  const found = pods.find(({ spec }) => spec.nodeName === nodeName(world, index));
  if (found === undefined) throw new Error(`no pod on ${nodeName(world, index)}`);
  return found;
}

function label(world: World, index: number, labels: Fields): Promise<Obj> {
  return world.api.patch('nodes', '', nodeName(world, index), { metadata: { labels } });
}

/** Creates on three nodes, changes the template, and waits until the change is out. */
function update(name: string, fields: Fields): Scenario {
  return {
    name: `daemonsets: ${name}`,
    async play(world) {
      await addNodes(world, 3);
      await world.create(daemonSet(world, fields));
      await settled(world, 3);
      await change(world, '2');
      await settled(world, 3);
    },
  };
}

/** Ends one pod with this phase and waits for another on its node. */
function ended(phase: string): Scenario {
  return {
    name: `daemonsets: a pod in phase ${phase} is replaced`,
    async play(world) {
      await addNodes(world, 2);
      await world.create(daemonSet(world));
      await settled(world, 2);
      const { name, uid } = (await podOn(world, 0)).metadata;
      await world.api.patchStatus('pods', world.namespace, name, { phase });
      await world.untilList(
        'pods',
        (pods) => pods.length === 2 && pods.every(({ metadata }) => metadata.uid !== uid),
        'another pod',
      );
      await settled(world, 2);
    },
  };
}

const NODES: readonly Scenario[] = [
  {
    name: 'daemonsets: one pod on each node, also on those that come later',
    async play(world) {
      await addNodes(world, 2);
      await world.create(daemonSet(world));
      await settled(world, 2);
      await addNodes(world, 1, {}, 2);
      await settled(world, 3);
    },
  },
  {
    name: 'daemonsets: a node that loses its label loses its pod, until it is back',
    async play(world) {
      await addNodes(world, 2);
      await world.create(daemonSet(world));
      await settled(world, 2);
      await label(world, 0, { [labelOf(world)]: null });
      await settled(world, 1);
      await label(world, 0, { [labelOf(world)]: 'yes' });
      await settled(world, 2);
    },
  },
  {
    name: 'daemonsets: required affinity, by expression',
    async play(world) {
      const labels = [{ disk: 'ssd' }, { disk: 'hdd', size: '5' }, { disk: 'hdd', size: '20' }];
      await addNodes(world, 3, { labels });
      const terms = [
        { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] },
        { matchExpressions: [{ key: 'size', operator: 'Gt', values: ['10'] }] },
      ];
      const required = { nodeSelectorTerms: terms };
      const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
      const affinity = { nodeAffinity };
      await world.create(daemonSet(world, { template: template('1', { affinity }) }));
      await settled(world, 2);
    },
  },
  {
    name: 'daemonsets: a taint NoSchedule keeps new pods away and old ones in place',
    async play(world) {
      await addNodes(world, 2);
      await world.create(daemonSet(world));
      await settled(world, 2);
      await taint(world, 0, [{ key: 'full', effect: 'NoSchedule' }]);
      // Such a taint alone queues nobody, so the set is touched until the taint has been seen.
      for (let touch = 0; touch < 100; touch++) {
        await touched(world, `${touch}`);
        const { status } = await world.get(KIND, 'web');
        if (status.numberMisscheduled === 1) break;
        await Bun.sleep(100);
      }
      await touched(world, 'enough');
      await world.until(KIND, 'web', ({ status }) => status.numberMisscheduled === 1);
      await taint(world, 0, null);
      await settled(world, 2);
      await world.until(KIND, 'web', ({ status }) => status.numberMisscheduled === 0);
    },
  },
  {
    name: 'daemonsets: a taint NoExecute takes the pod away, a toleration brings it back',
    async play(world) {
      await addNodes(world, 2);
      await world.create(daemonSet(world, rolling(2)));
      await settled(world, 2);
      await taint(world, 0, [{ key: 'broken', value: 'yes', effect: 'NoExecute' }]);
      await settled(world, 1);
      const tolerations = [{ key: 'broken', operator: 'Exists' }];
      const pod = onNodes(world, template('1', { tolerations }));
      await world.merge(KIND, 'web', { spec: { template: pod } });
      await settled(world, 2);
    },
  },
  {
    name: 'daemonsets: pressure and unreachable nodes are tolerated',
    async play(world) {
      const taints = [
        [
          { key: 'node.kubernetes.io/disk-pressure', effect: 'NoSchedule' },
          { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
        ],
        [
          { key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' },
          { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
        ],
      ];
      await addNodes(world, 2, { taints });
      await world.create(daemonSet(world));
      await settled(world, 1);
      const pod = onNodes(world, template('2', { hostNetwork: true }));
      await world.merge(KIND, 'web', { spec: { template: pod } });
      await settled(world, 2);
    },
  },
];

const UPDATES: readonly Scenario[] = [
  update('rolling update, one node at a time', {}),
  update('rolling update, 60 % of the nodes at a time', rolling('60%')),
  update('rolling update with surge', rolling(0, 1)),
  update('rolling update with surge on all nodes', rolling(0, '100%')),
  update('rolling update with minReadySeconds', { minReadySeconds: 1 }),
  update('an update that keeps no history', { revisionHistoryLimit: 0 }),
  {
    name: 'daemonsets: OnDelete waits for somebody to delete pods',
    async play(world) {
      await addNodes(world, 2);
      await world.create(daemonSet(world, { updateStrategy: { type: 'OnDelete' } }));
      await settled(world, 2);
      await change(world, '2');
      await settled(world, 2, 0);
      const first = await podOn(world, 0);
      await world.api.remove('pods', world.namespace, first.metadata.name);
      await settled(world, 2, 1);
    },
  },
  {
    name: 'daemonsets: a broken update stops at maxUnavailable, and is mended',
    async play(world) {
      await addNodes(world, 3);
      await world.create(daemonSet(world, rolling(1)));
      await settled(world, 3);
      await world.merge(KIND, 'web', { spec: { template: onNodes(world, hanging('bad')) } });
      await world.until(KIND, 'web', ({ metadata, status }) => {
        const current = status.observedGeneration === metadata.generation;
        return current && status.updatedNumberScheduled === 1 && status.numberUnavailable === 1;
      });
      const fixed = onNodes(world, template('3')) as { metadata: object };
      const metadata = { ...fixed.metadata, annotations: { 'sim.holdfast.dev/behaviour': null } };
      await world.merge(KIND, 'web', { spec: { template: { ...fixed, metadata } } });
      await settled(world, 3);
    },
  },
  {
    name: 'daemonsets: going back to an older template raises its revision',
    async play(world) {
      await addNodes(world, 1);
      await world.create(daemonSet(world));
      await settled(world, 1);
      for (const version of ['2', '3', '1']) {
        await change(world, version);
        await settled(world, 1);
      }
      await world.untilList('controllerrevisions', (all) => all.length === 3, 'three revisions');
    },
  },
  {
    name: 'daemonsets: history is cut to its limit',
    async play(world) {
      await addNodes(world, 1);
      await world.create(daemonSet(world, { revisionHistoryLimit: 1 }));
      await settled(world, 1);
      for (const version of ['2', '3', '4']) {
        await change(world, version);
        await settled(world, 1);
      }
      await world.untilList('controllerrevisions', (all) => all.length === 2, 'two revisions');
    },
  },
];

const PODS: readonly Scenario[] = [
  ended('Failed'),
  ended('Succeeded'),
  {
    name: 'daemonsets: a pod whose labels change is let go and replaced',
    async play(world) {
      await addNodes(world, 1);
      await world.create(daemonSet(world));
      await settled(world, 1);
      const [first] = await world.list('pods');
      const labels = { app: 'debug' };
      await world.merge('pods', first?.metadata.name, { metadata: { labels } });
      await podsOf(world, 2);
      await world.until(
        'pods',
        first?.metadata.name,
        ({ metadata }) => (metadata.ownerReferences ?? []).length === 0,
      );
    },
  },
  {
    name: 'daemonsets: what an orphaning delete leaves is adopted by the next set',
    async play(world) {
      await addNodes(world, 2);
      await world.create(daemonSet(world));
      await settled(world, 2);
      await change(world, '2');
      await settled(world, 2);
      const orphan = { propagationPolicy: 'Orphan' as const };
      await world.api.remove(KIND, world.namespace, 'web', orphan);
      await world.api.waitGone(KIND, world.namespace, 'web');
      await world.create(daemonSet(world, { template: template('2') }));
      await settled(world, 2);
    },
  },
  {
    name: 'daemonsets: says when a quota refuses its pods',
    async play(world) {
      await addNodes(world, 2);
      const hard = { pods: '0' };
      const metadata = { name: 'none' };
      await world.create({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard } });
      const status = { hard, used: { pods: '0' } };
      await world.api.patchStatus('resourcequotas', world.namespace, 'none', status);
      await world.create(daemonSet(world));
      await world.untilList(
        'events',
        (events) => events.some(({ reason }) => reason === 'FailedCreate'),
        'a FailedCreate event',
      );
      await world.until(KIND, 'web', ({ metadata: { generation }, status: now }) => {
        return now.observedGeneration === generation && now.numberUnavailable === 2;
      });
    },
  },
  {
    name: 'daemonsets: deleted, its pods and revisions go with it',
    async play(world) {
      await addNodes(world, 2);
      await world.create(daemonSet(world));
      await settled(world, 2);
      await world.api.remove(KIND, world.namespace, 'web', { propagationPolicy: 'Foreground' });
      await world.api.waitGone(KIND, world.namespace, 'web');
      await podsOf(world, 0);
    },
  },
];

export const DAEMONSETS: readonly Scenario[] = [...NODES, ...UPDATES, ...PODS];
