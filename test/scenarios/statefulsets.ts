/** What users do with StatefulSets. */
import type { Obj } from '../rig/index.ts';
import { type Fields, hanging, type Scenario, template, type World } from './world.ts';

const KIND = 'statefulsets';
const LABELS = { app: 'web' };

function statefulSet(replicas: number, fields: Fields = {}, name = 'web'): Fields {
  const { metadata, ...spec } = fields;
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, ...(metadata as Fields) },
    spec: {
      replicas,
      serviceName: 'web',
      selector: { matchLabels: LABELS },
      template: template('1'),
      ...spec,
    },
  };
}

/** Claim templates of these names. */
function claims(...names: string[]): Fields[] {
  return names.map((name) => ({
    metadata: { name, labels: { tier: name } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }));
}

function retention(whenDeleted: string, whenScaled: string): Fields {
  return { persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } };
}

function rolling(partition: number): Fields {
  return { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } } };
}

/** Waits until so many pods are ready, no others are left, and so many are of the new revision. */
function settled(world: World, replicas: number, updated = replicas): Promise<Obj> {
  return world.until(KIND, 'web', ({ metadata, status }) => {
    const current = status?.observedGeneration === metadata.generation;
    const counts = [status?.replicas, status?.readyReplicas, status?.availableReplicas];
    const all = counts.every((count) => (count ?? 0) === replicas);
    return current && all && (status?.updatedReplicas ?? 0) === updated;
  });
}

/** Waits until the update revision is the current one as well. */
async function rolledOut(world: World, replicas: number): Promise<void> {
  await settled(world, replicas);
  await world.until(KIND, 'web', ({ status }) => status.currentRevision === status.updateRevision);
}

function scale(world: World, replicas: number): Promise<Obj> {
  return world.merge(KIND, 'web', { spec: { replicas } });
}

function change(world: World, version: string, fields: Fields = {}): Promise<Obj> {
  return world.merge(KIND, 'web', { spec: { template: template(version), ...fields } });
}

function revisions(world: World, count: number): Promise<Obj[]> {
  const what = `${count} revisions`;
  return world.untilList('controllerrevisions', (all) => all.length === count, what);
}

function imagesOf(pods: Obj[]): string {
  const byName = [...pods].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return byName.map(({ spec }) => spec.containers[0].image).join(' ');
}

/** Creates, changes the template, and waits until the change is out. */
function update(name: string, replicas: number, fields: Fields): Scenario {
  return {
    name: `statefulsets: ${name}`,
    async play(world) {
      await world.create(statefulSet(replicas, fields));
      await rolledOut(world, replicas);
      await change(world, '2');
      await rolledOut(world, replicas);
    },
  };
}

const SCALING: readonly Scenario[] = [
  {
    name: 'statefulsets: scale up and down in order, claims stay',
    async play(world) {
      await world.create(statefulSet(2, { volumeClaimTemplates: claims('data') }));
      await rolledOut(world, 2);
      for (const replicas of [4, 1, 2]) {
        await scale(world, replicas);
        await rolledOut(world, replicas);
      }
    },
  },
  {
    name: 'statefulsets: scale up and down in parallel',
    async play(world) {
      const volumeClaimTemplates = claims('data');
      await world.create(statefulSet(5, { podManagementPolicy: 'Parallel', volumeClaimTemplates }));
      await rolledOut(world, 5);
      for (const replicas of [8, 0, 3]) {
        await scale(world, replicas);
        await rolledOut(world, replicas);
      }
    },
  },
  {
    name: 'statefulsets: ordinals that start elsewhere, and move',
    async play(world) {
      await world.create(statefulSet(2, { ordinals: { start: 3 } }));
      await rolledOut(world, 2);
      await world.merge(KIND, 'web', { spec: { ordinals: { start: 4 } } });
      await rolledOut(world, 2);
      await world.untilList(
        'pods',
        (pods) =>
          pods
            .map(({ metadata }) => metadata.name)
            .sort()
            .join() === 'web-4,web-5',
        'pods web-4 and web-5',
      );
    },
  },
  {
    name: 'statefulsets: an unready pod is scaled away when its turn comes',
    async play(world) {
      await world.create(statefulSet(3));
      await rolledOut(world, 3);
      const conditions = [{ type: 'Ready', status: 'False' }];
      const options = { type: 'strategic', subresource: 'status' } as const;
      const body = { status: { conditions } };
      await world.api.patch('pods', world.namespace, 'web-1', body, options);
      await world.until(KIND, 'web', ({ status }) => status.readyReplicas === 2);
      await scale(world, 1);
      await settled(world, 1);
    },
  },
];

const UPDATES: readonly Scenario[] = [
  update('rolling update in order', 3, {}),
  update('rolling update in parallel', 3, { podManagementPolicy: 'Parallel' }),
  update('rolling update with minReadySeconds', 2, { minReadySeconds: 1 }),
  update('an update that keeps no history', 2, { revisionHistoryLimit: 0 }),
  {
    name: 'statefulsets: a canary behind a partition, then the rest',
    async play(world) {
      await world.create(statefulSet(3, rolling(2)));
      await rolledOut(world, 3);
      await change(world, '2');
      await settled(world, 3, 1);
      await world.api.remove('pods', world.namespace, 'web-0');
      await world.untilList(
        'pods',
        (pods) => pods.length === 3 && imagesOf(pods) === 'web:1 web:1 web:2',
        'web-0 back at the current revision',
      );
      await settled(world, 3, 1);
      await world.merge(KIND, 'web', { spec: rolling(0) });
      await rolledOut(world, 3);
    },
  },
  {
    name: 'statefulsets: OnDelete waits for somebody to delete pods',
    async play(world) {
      await world.create(statefulSet(2, { updateStrategy: { type: 'OnDelete' } }));
      await settled(world, 2);
      await change(world, '2');
      await settled(world, 2, 0);
      await world.api.remove('pods', world.namespace, 'web-1');
      await settled(world, 2, 1);
    },
  },
  {
    name: 'statefulsets: going back to an older template raises its revision',
    async play(world) {
      await world.create(statefulSet(1));
      await rolledOut(world, 1);
      for (const version of ['2', '3', '1']) {
        await change(world, version);
        await rolledOut(world, 1);
      }
      await revisions(world, 3);
    },
  },
  {
    name: 'statefulsets: history is cut to its limit',
    async play(world) {
      await world.create(statefulSet(1, { revisionHistoryLimit: 1 }));
      await rolledOut(world, 1);
      for (const version of ['2', '3', '4']) {
        await change(world, version);
        await rolledOut(world, 1);
      }
      await revisions(world, 2);
    },
  },
  {
    name: 'statefulsets: a template with every kind of character',
    async play(world) {
      const annotations = { note: '<a> & "b" \\ \u2028 é 漢 😀', '9': 'nine', '10': 'ten' };
      await world.create(statefulSet(1, { template: template('1', { annotations }) }));
      await rolledOut(world, 1);
      await world.merge(KIND, 'web', { metadata: { annotations: { touched: 'yes' } } });
      await rolledOut(world, 1);
      await revisions(world, 1);
    },
  },
  {
    name: 'statefulsets: a broken update stands still until its pod is deleted',
    async play(world) {
      await world.create(statefulSet(2));
      await rolledOut(world, 2);
      await world.merge(KIND, 'web', { spec: { template: hanging('bad') } });
      const pending = ({ status }: Obj): boolean => status?.phase === 'Pending';
      await world.untilList(
        'pods',
        (pods) => pods.some((pod) => pending(pod) && pod.spec.containers[0].image === 'web:bad'),
        'a pod of the bad template',
      );
      const fixed = { ...template('3') } as { metadata: object };
      const metadata = { ...fixed.metadata, annotations: { 'sim.holdfast.dev/behaviour': null } };
      await world.merge(KIND, 'web', { spec: { template: { ...fixed, metadata } } });
      await world.until(KIND, 'web', ({ metadata: { generation }, status }) => {
        return status.observedGeneration === generation;
      });
      await world.api.remove('pods', world.namespace, 'web-1');
      await rolledOut(world, 2);
    },
  },
];

const PODS: readonly Scenario[] = [
  {
    name: 'statefulsets: a failed pod is made anew under its name',
    async play(world) {
      await world.create(statefulSet(2, { volumeClaimTemplates: claims('data') }));
      await rolledOut(world, 2);
      const { metadata } = await world.get('pods', 'web-0');
      const status = { phase: 'Failed', reason: 'Evicted' };
      await world.api.patchStatus('pods', world.namespace, 'web-0', status);
      await world.untilList(
        'pods',
        (pods) =>
          pods.some((pod) => pod.metadata.name === 'web-0' && pod.metadata.uid !== metadata.uid),
        'another web-0',
      );
      await rolledOut(world, 2);
    },
  },
  {
    name: 'statefulsets: a lost name label is written back',
    async play(world) {
      await world.create(statefulSet(2));
      await rolledOut(world, 2);
      const label = 'statefulset.kubernetes.io/pod-name';
      await world.merge('pods', 'web-1', { metadata: { labels: { [label]: null } } });
      await world.until('pods', 'web-1', ({ metadata }) => metadata.labels[label] === 'web-1');
    },
  },
  {
    name: 'statefulsets: pods of its names are adopted, others are not',
    async play(world) {
      for (const name of ['web-0', 'stranger']) {
        const { metadata, spec } = template('1') as { metadata: object; spec: object };
        await world.create({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name, ...metadata },
          spec,
        });
      }
      await world.create(statefulSet(2, { updateStrategy: { type: 'OnDelete' } }));
      await settled(world, 2, 1);
    },
  },
  {
    name: 'statefulsets: a pod that is let go is replaced once its name is free',
    async play(world) {
      await world.create(statefulSet(1));
      await rolledOut(world, 1);
      await world.merge('pods', 'web-0', { metadata: { labels: { app: 'debug' } } });
      const free = ({ metadata }: Obj): boolean => (metadata.ownerReferences ?? []).length === 0;
      const { metadata } = await world.until('pods', 'web-0', free);
      await world.until(KIND, 'web', ({ status }) => status.replicas === 0);
      await world.api.remove('pods', world.namespace, 'web-0', { uid: metadata.uid });
      await rolledOut(world, 1);
    },
  },
  {
    name: 'statefulsets: what an orphaning delete leaves is adopted by the next set',
    async play(world) {
      await world.create(statefulSet(2));
      await rolledOut(world, 2);
      await change(world, '2');
      await rolledOut(world, 2);
      const orphan = { propagationPolicy: 'Orphan' as const };
      await world.api.remove(KIND, world.namespace, 'web', orphan);
      await world.api.waitGone(KIND, world.namespace, 'web');
      await world.create(statefulSet(2, { template: template('2') }));
      await rolledOut(world, 2);
      await world.untilList(
        'controllerrevisions',
        (all) => all.every(({ metadata }) => (metadata.ownerReferences ?? []).length === 1),
        'owned revisions',
      );
    },
  },
  {
    name: 'statefulsets: says when a quota refuses its pods',
    async play(world) {
      const hard = { pods: '1' };
      const metadata = { name: 'small' };
      await world.create({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard } });
      const status = { hard, used: { pods: '0' } };
      await world.api.patchStatus('resourcequotas', world.namespace, 'small', status);
      await world.create(statefulSet(2));
      await world.untilList(
        'events',
        (events) => events.some(({ reason }) => reason === 'FailedCreate'),
        'a FailedCreate event',
      );
      await settled(world, 1);
    },
  },
];

const CLAIMS: readonly Scenario[] = [
  {
    name: 'statefulsets: claims that go with the set, until the policy changes',
    async play(world) {
      const volumeClaimTemplates = claims('data');
      const policy = retention('Delete', 'Retain');
      await world.create(statefulSet(2, { volumeClaimTemplates, ...policy }));
      await rolledOut(world, 2);
      const owners = (count: number) => (all: Obj[]) =>
        all.length === 2 &&
        all.every(({ metadata }) => (metadata.ownerReferences ?? []).length === count);
      await world.untilList('persistentvolumeclaims', owners(1), 'claims owned by the set');
      await world.merge(KIND, 'web', { spec: retention('Retain', 'Retain') });
      await world.untilList('persistentvolumeclaims', owners(0), 'claims owned by nobody');
    },
  },
  {
    name: 'statefulsets: claims of pods that are scaled away go with them',
    async play(world) {
      const volumeClaimTemplates = claims('data');
      const policy = retention('Retain', 'Delete');
      await world.create(statefulSet(3, { volumeClaimTemplates, ...policy }));
      await rolledOut(world, 3);
      await scale(world, 1);
      await rolledOut(world, 1);
      const going = ({ metadata }: Obj): boolean => metadata.deletionTimestamp !== undefined;
      await world.untilList(
        'persistentvolumeclaims',
        (all) => all.filter((claim) => !going(claim)).length === 1,
        'one claim that stays',
      );
    },
  },
  {
    name: 'statefulsets: claims that are there are used again',
    async play(world) {
      for (const name of ['data-web-0', 'data-web-1']) {
        const [{ spec } = { spec: {} }] = claims('data');
        const metadata = { name };
        await world.create({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec });
      }
      const volumeClaimTemplates = claims('data');
      await world.create(
        statefulSet(2, { volumeClaimTemplates, ...retention('Delete', 'Delete') }),
      );
      await rolledOut(world, 2);
      await world.untilList(
        'persistentvolumeclaims',
        (all) => all.every(({ metadata }) => metadata.ownerReferences?.[0]?.kind === 'StatefulSet'),
        'claims owned by the set',
      );
    },
  },
];

export const STATEFULSETS: readonly Scenario[] = [...SCALING, ...UPDATES, ...PODS, ...CLAIMS];
