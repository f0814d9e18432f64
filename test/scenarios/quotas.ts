/** What users do with quotas. */
import type { Obj } from '../rig/index.ts';
import type { Fields, Scenario, World } from './world.ts';

function quota(hard: Fields, more: Fields = {}, name = 'q'): Fields {
  return {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name },
    spec: { hard, ...more },
  };
}

/** A pod that no scheduler takes. */
function pod(name: string, spec: Fields = {}, requests: Fields = { cpu: '100m', memory: '64Mi' }) {
  const limits = { cpu: '1', memory: '128Mi' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      schedulerName: 'nobody',
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'c', image: 'i', resources: { requests, limits } }],
      ...spec,
    },
  };
}

async function untilUsed(world: World, used: Fields, name = 'q'): Promise<void> {
  await world.until('resourcequotas', name, ({ status }) =>
    Object.entries(used).every(([key, value]) => status?.used?.[key] === value),
  );
}

/**
 * A manager takes note of what goes away only once it has seen its own status. A quota of another
 * object, made after that and counted, shows that it has.
 */
async function untilSeen(world: World): Promise<void> {
  await world.create(quota({ 'count/configmaps': '9' }, {}, 'seen'));
  await untilUsed(world, { 'count/configmaps': '0' }, 'seen');
}

async function setPhase(world: World, name: string, phase: string): Promise<Obj> {
  return await world.api.patchStatus('pods', world.namespace, name, { phase });
}

export const QUOTAS: readonly Scenario[] = [
  {
    name: 'what is there is counted when the quota comes',
    async play(world) {
      await world.create(pod('a'));
      await world.create(pod('b', {}, { cpu: '1', memory: '1Mi', 'ephemeral-storage': '5Gi' }));
      await world.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } });
      const hard = {
        pods: '10',
        'count/pods': '10',
        cpu: '4',
        'requests.cpu': '4',
        'requests.memory': '4Gi',
        'limits.cpu': '8',
        'limits.memory': '8Gi',
        'requests.ephemeral-storage': '20Gi',
        secrets: '5',
        'count/secrets': '5',
        configmaps: '5',
        'count/deployments.apps': '3',
        'count/widgets.example.com': '3',
        'count/unheard.example.com': '3',
      };
      await world.create(quota(hard));
      await untilUsed(world, { pods: '2', 'count/secrets': '1', 'count/widgets.example.com': '0' });
    },
  },
  {
    name: 'init containers, sidecars and extended resources are summed as for scheduling',
    async play(world) {
      const sized = (name: string, cpu: string, more: Fields = {}) => {
        const amounts = { cpu, memory: '64Mi', 'example.com/gpu': '2' };
        const resources = { requests: amounts, limits: amounts };
        return { name, image: 'i', resources, ...more };
      };
      const initContainers = [
        sized('init', '2'),
        sized('side', '300m', { restartPolicy: 'Always' }),
        sized('last', '1'),
      ];
      await world.create(pod('p', { initContainers, containers: [sized('c', '500m')] }));
      await world.create(
        quota({ 'requests.cpu': '9', 'limits.cpu': '9', 'requests.example.com/gpu': '9' }),
      );
      await untilUsed(world, { 'requests.cpu': '2', 'requests.example.com/gpu': '4' });
    },
  },
  {
    name: 'pods that end or are deleted give back what they used',
    async play(world) {
      await world.create(quota({ pods: '9', 'count/pods': '9', 'requests.cpu': '9' }));
      await untilUsed(world, { pods: '0' });
      for (const name of ['a', 'b', 'c']) await world.create(pod(name));
      await untilUsed(world, { pods: '3', 'count/pods': '3' });
      await untilSeen(world);
      await setPhase(world, 'a', 'Succeeded');
      await untilUsed(world, { pods: '2', 'count/pods': '3', 'requests.cpu': '200m' });
      await world.api.remove('pods', world.namespace, 'b', { gracePeriodSeconds: 0 });
      await untilUsed(world, { pods: '1', 'count/pods': '2', 'requests.cpu': '100m' });
    },
  },
  {
    name: 'limits that change are taken over, and names that go are forgotten',
    async play(world) {
      await world.create(quota({ pods: '9', secrets: '3' }));
      await untilUsed(world, { pods: '0', secrets: '0' });
      await untilSeen(world);
      await world.create(pod('a'));
      // A pod that goes is seen after the one that stays.
      await world.create(pod('z'));
      await world.api.remove('pods', world.namespace, 'z', { gracePeriodSeconds: 0 });
      await untilUsed(world, { pods: '1' });
      await world.merge('resourcequotas', 'q', {
        spec: { hard: { pods: '5', secrets: null, 'count/configmaps': '7' } },
      });
      await untilUsed(world, { pods: '1', 'count/configmaps': '0' });
    },
  },
  {
    name: 'scopes choose pods: terminating, best effort, priority',
    async play(world) {
      const name = `high-${world.namespace}`;
      const type = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' };
      const priority = { ...type, metadata: { name }, value: 1_000 };
      await world.api.create(priority);
      await world.create(quota({ pods: '9' }, { scopes: ['Terminating'] }, 'timed'));
      await world.create(quota({ pods: '9' }, { scopes: ['NotTerminating'] }, 'endless'));
      await world.create(quota({ pods: '9' }, { scopes: ['BestEffort'] }, 'poor'));
      await world.create(
        quota({ pods: '9', 'requests.cpu': '9' }, { scopes: ['NotBestEffort'] }, 'rich'),
      );
      const expression = { scopeName: 'PriorityClass', operator: 'In', values: [name] };
      const scopeSelector = { matchExpressions: [expression] };
      await world.create(quota({ pods: '9', cpu: '9' }, { scopeSelector }, 'high'));
      const notHigh = { ...expression, operator: 'NotIn' };
      await world.create(
        quota({ pods: '9' }, { scopeSelector: { matchExpressions: [notHigh] } }, 'low'),
      );
      for (const one of ['timed', 'endless', 'poor', 'rich', 'high', 'low']) {
        await untilUsed(world, { pods: '0' }, one);
      }
      await world.create(pod('plain'));
      await world.create(pod('timed', { activeDeadlineSeconds: 600 }));
      await world.create(pod('poor', { containers: [{ name: 'c', image: 'i' }] }));
      await world.create(pod('high', { priorityClassName: name }));
      await setPhase(world, 'plain', 'Succeeded');
      await untilUsed(world, { pods: '1' }, 'timed');
      await untilUsed(world, { pods: '2' }, 'endless');
      await untilUsed(world, { pods: '1' }, 'high');
      await world.api.remove('priorityclasses', '', name);
    },
  },
  {
    name: 'Services cost node ports and balancers',
    async play(world) {
      const service = (name: string, type: string, more: Fields = {}) => {
        const ports = [
          { name: 'a', port: 80 },
          { name: 'b', port: 81 },
        ];
        const spec = { type, ports, selector: { app: 'x' }, ...more };
        return { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec };
      };
      await world.create(service('inside', 'ClusterIP'));
      await world.create(service('node', 'NodePort'));
      await world.create(service('cloud', 'LoadBalancer'));
      await world.create(service('lean', 'LoadBalancer', { allocateLoadBalancerNodePorts: false }));
      const hard = { services: '9', 'services.nodeports': '9', 'services.loadbalancers': '9' };
      await world.create(quota(hard));
      await untilUsed(world, { services: '4', 'services.nodeports': '4' });
      await untilSeen(world);
      const ports = [{ name: 'a', port: 80, nodePort: null }];
      await world.merge('services', 'node', { spec: { type: 'ClusterIP', ports } });
      await untilUsed(world, { 'services.nodeports': '2', 'services.loadbalancers': '2' });
    },
  },
  {
    name: 'claims cost storage, also by class',
    async play(world) {
      const claim = (name: string, storage: string, storageClassName: string) => ({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName,
          resources: { requests: { storage } },
        },
      });
      await world.create(claim('a', '10Gi', 'gold'));
      await world.create(claim('b', '1500M', 'tin'));
      await world.create(
        quota({
          persistentvolumeclaims: '9',
          'requests.storage': '99Gi',
          'gold.storageclass.storage.k8s.io/requests.storage': '50Gi',
          'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '5',
        }),
      );
      await untilUsed(world, { persistentvolumeclaims: '2' });
      await untilSeen(world);
      await world.merge('persistentvolumeclaims', 'a', { metadata: { finalizers: null } });
      await world.api.remove('persistentvolumeclaims', world.namespace, 'a');
      await untilUsed(world, { persistentvolumeclaims: '1', 'requests.storage': '1500M' });
    },
  },
  {
    name: 'custom resources are counted',
    async play(world) {
      const widget = (name: string) => {
        return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } };
      };
      await world.create(widget('a'));
      await world.create(quota({ 'count/widgets.example.com': '5' }));
      await untilUsed(world, { 'count/widgets.example.com': '1' });
      await untilSeen(world);
      await world.create(widget('b'));
      await world.api.remove('widgets', world.namespace, 'a');
      await untilUsed(world, { 'count/widgets.example.com': '1' });
    },
  },
];
