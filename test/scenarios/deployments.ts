/** What users do with Deployments. */
import { deployment, hanging, replicaSet, type Scenario, template, type World } from './world.ts';

const rolling = (maxSurge: number | string, maxUnavailable: number | string): object => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
});

/** Rolls a Deployment out, changes its template, and waits until the change is out. */
function update(name: string, replicas: number, fields: object): Scenario {
  return {
    name,
    async play(world) {
      await world.create(deployment(replicas, { ...fields }));
      await world.rolledOut();
      await world.merge('deployments', 'web', { spec: { template: template('2') } });
      await world.rolledOut();
      await oldSetsEmpty(world);
    },
  };
}

async function oldSetsEmpty(world: World, active = 1): Promise<void> {
  await world.untilList(
    'replicasets',
    (sets) => {
      const live = sets.filter((set) => set.spec.replicas > 0).length;
      const behind = sets.some((set) => (set.status?.replicas ?? 0) !== set.spec.replicas);
      return live === active && !behind;
    },
    `${active} ReplicaSets with replicas`,
  );
  await noneTerminating(world);
}

async function noneTerminating(world: World): Promise<void> {
  const live = (pods: { metadata: { deletionTimestamp?: string } }[]): boolean =>
    pods.every((pod) => pod.metadata.deletionTimestamp === undefined);
  await world.untilList('pods', live, 'no terminating pods');
}

export const DEPLOYMENTS: readonly Scenario[] = [
  {
    name: 'rolls out and says so',
    async play(world) {
      await world.create(deployment(3));
      await world.rolledOut();
      await world.condition('deployments', 'web', 'Progressing', 'NewReplicaSetAvailable');
    },
  },
  {
    name: 'scales up, down and to zero and back',
    async play(world) {
      await world.create(deployment(2));
      await world.rolledOut();
      for (const replicas of [5, 1, 0, 2]) {
        await world.merge('deployments', 'web', { spec: { replicas } });
        await world.rolledOut();
        await noneTerminating(world);
      }
    },
  },
  update('rolling update with the defaults', 4, {}),
  update('rolling update, surge 1 unavailable 0', 3, rolling(1, 0)),
  update('rolling update, surge 0 unavailable 1', 3, rolling(0, 1)),
  update('rolling update, surge 100 % unavailable 0', 3, rolling('100%', 0)),
  update('rolling update, surge 0 unavailable 100 %', 3, rolling(0, '100%')),
  update('rolling update, percentages that both round to nothing', 2, rolling('0%', '1%')),
  update('rolling update of a Deployment with minReadySeconds', 2, { minReadySeconds: 1 }),
  update('an update that keeps no history', 2, { revisionHistoryLimit: 0 }),
  update('recreate', 3, { strategy: { type: 'Recreate' } }),
  {
    name: 'rollover: a stuck rollout is replaced by a third template',
    async play(world) {
      await world.create(deployment(3, { ...rolling(1, 1) }));
      await world.rolledOut();
      await world.merge('deployments', 'web', { spec: { template: hanging('bad') } });
      await world.untilList(
        'replicasets',
        (sets) => sets.length === 2 && sets.every((set) => set.spec.replicas === 2),
        'a stuck rollout at 2 and 2',
      );
      const fixed = { ...template('3') } as { metadata: object };
      const metadata = { ...fixed.metadata, annotations: { 'sim.holdfast.dev/behaviour': null } };
      await world.merge('deployments', 'web', { spec: { template: { ...fixed, metadata } } });
      await world.rolledOut();
      await oldSetsEmpty(world);
    },
  },
  {
    name: 'rolls back to the revision that an annotation names',
    async play(world) {
      await world.create(deployment(2));
      await world.rolledOut();
      await world.merge('deployments', 'web', { spec: { template: template('2') } });
      await world.rolledOut();
      const annotations = { 'deprecated.deployment.rollback.to': '1' };
      await world.merge('deployments', 'web', { metadata: { annotations } });
      await world.until(
        'deployments',
        'web',
        ({ metadata }) => metadata.annotations?.['deployment.kubernetes.io/revision'] === '3',
      );
      await world.rolledOut();
      await oldSetsEmpty(world);
    },
  },
  {
    name: 'refuses a rollback to a revision that is not there',
    async play(world) {
      const annotations = { 'deprecated.deployment.rollback.to': '7' };
      await world.create(deployment(1, { metadata: { annotations } }));
      await world.rolledOut();
      await world.until(
        'deployments',
        'web',
        ({ metadata }) => metadata.annotations?.['deprecated.deployment.rollback.to'] === undefined,
      );
    },
  },
  {
    name: 'pauses, takes changes and scaling, and resumes',
    async play(world) {
      await world.create(deployment(2));
      await world.rolledOut();
      await world.merge('deployments', 'web', { spec: { paused: true } });
      await world.condition('deployments', 'web', 'Progressing', 'DeploymentPaused');
      await world.merge('deployments', 'web', { spec: { replicas: 4, template: template('2') } });
      await world.until('deployments', 'web', ({ status }) => status?.readyReplicas === 4);
      await world.merge('deployments', 'web', { spec: { paused: false } });
      await world.rolledOut();
      await oldSetsEmpty(world);
    },
  },
  {
    name: 'is created paused',
    async play(world) {
      await world.create(deployment(2, { paused: true }));
      await world.condition('deployments', 'web', 'Progressing', 'DeploymentPaused');
      await world.until('deployments', 'web', ({ status }) => status?.observedGeneration === 1);
    },
  },
  {
    name: 'times out when pods never get ready',
    async play(world) {
      await world.create(deployment(2, { progressDeadlineSeconds: 1, template: hanging('bad') }));
      await world.condition('deployments', 'web', 'Progressing', 'ProgressDeadlineExceeded');
    },
  },
  {
    name: 'scales in proportion while a rollout is stuck',
    async play(world) {
      await world.create(deployment(10, { ...rolling(3, 2) }));
      await world.rolledOut();
      await world.merge('deployments', 'web', { spec: { template: hanging('bad') } });
      const sizes = (wanted: number[]) => (sets: { spec?: { replicas: number } }[]) =>
        String(sets.map((set) => set.spec?.replicas).sort()) === String([...wanted].sort());
      await world.untilList('replicasets', sizes([8, 5]), 'a stuck rollout at 8 and 5');
      await noneTerminating(world);
      await world.merge('deployments', 'web', { spec: { replicas: 15 } });
      await world.until('deployments', 'web', ({ metadata, status }) => {
        const current = status?.observedGeneration === metadata.generation;
        return current && status?.replicas === 18;
      });
      await world.untilList(
        'replicasets',
        (sets) => sets.every((set) => set.status?.replicas === set.spec.replicas),
        'pods for all replicas',
      );
      const available = ({ status }: { status?: { availableReplicas?: number } }): boolean =>
        status?.availableReplicas === 11;
      await world.until('deployments', 'web', available);
    },
  },
  {
    name: 'adopts a ReplicaSet with the same template',
    async play(world) {
      const labels = { app: 'web', 'pod-template-hash': 'kept' };
      const set = replicaSet(2, {
        selector: { matchLabels: labels },
        template: template('1', {}, labels),
        metadata: { labels },
      });
      await world.create({ ...set, metadata: { name: 'web-kept', labels } });
      await world.scaled('replicasets', 'web-kept', 2);
      await world.create(deployment(3));
      await world.rolledOut();
    },
  },
  {
    name: 'lets a ReplicaSet go whose labels no longer match',
    async play(world) {
      await world.create(deployment(2));
      await world.rolledOut();
      const [set] = await world.list('replicasets');
      await world.merge('replicasets', set?.metadata.name, { metadata: { labels: { app: null } } });
      await world.until(
        'replicasets',
        set?.metadata.name,
        ({ metadata }) => (metadata.ownerReferences ?? []).length === 0,
      );
      await world.untilList('replicasets', (sets) => sets.length === 2, 'another ReplicaSet');
      await world.rolledOut();
      await world.untilList(
        'pods',
        (pods) => pods.filter(({ status }) => status?.phase === 'Running').length === 4,
        'the pods of both ReplicaSets',
      );
    },
  },
  {
    name: 'hands annotations on to its ReplicaSet',
    async play(world) {
      await world.create(deployment(1, { metadata: { annotations: { team: 'a' } } }));
      await world.rolledOut();
      await world.merge('deployments', 'web', {
        metadata: { annotations: { team: 'b', on: 'x' } },
      });
      await world.untilList(
        'replicasets',
        ([set]) => set?.metadata.annotations?.team === 'b',
        'the annotation on the ReplicaSet',
      );
    },
  },
  {
    name: 'says when a quota refuses its pods',
    async play(world) {
      const hard = { pods: '1' };
      await world.create({
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'small' },
        spec: { hard },
      });
      const status = { hard, used: { pods: '0' } };
      await world.api.patchStatus('resourcequotas', world.namespace, 'small', status);
      await world.create(deployment(3));
      await world.condition('deployments', 'web', 'ReplicaFailure', 'FailedCreate');
      await world.until('deployments', 'web', ({ status: now }) => now?.readyReplicas === 1);
    },
  },
  {
    name: 'loses its ReplicaSet and makes it anew',
    async play(world) {
      await world.create(deployment(2));
      await world.rolledOut();
      const [set] = await world.list('replicasets');
      const orphan = { propagationPolicy: 'Background' as const };
      await world.api.remove('replicasets', world.namespace, set?.metadata.name, orphan);
      await world.untilList(
        'replicasets',
        ([next]) => next !== undefined && next.metadata.uid !== set?.metadata.uid,
        'another ReplicaSet',
      );
      await world.rolledOut();
    },
  },
];
