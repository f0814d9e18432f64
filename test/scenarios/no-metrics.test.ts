/**
 * Autoscalers in clusters where nobody serves metrics, or where the server of metrics is gone: what
 * users see first. The words must be those of the reference manager.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { type Cluster, METRICS_CLUSTER, type Obj, simulateNodes } from '../rig/index.ts';
import { settledAutoscalers } from './autoscaler-snapshot.ts';
import { autoscaler, external } from './autoscalers.ts';
import { Both } from './both.ts';
import { SHELVES } from './scaled.ts';
import { testEach } from './servers.ts';
import { deployment, type Fields, type Scenario, type World } from './world.ts';

setDefaultTimeout(240_000);

const CONTROLLERS = ['horizontalpodautoscaling', 'deployment', 'replicaset', 'serviceaccount'];
const FLAGS = ['--horizontal-pod-autoscaler-sync-period=1s'];
const TARGET = { type: 'AverageValue', averageValue: '1' };
const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
/** Kept by nobody: connections are refused. */
const DEAD_PORT = 1;

const METRICS: Readonly<Record<string, Fields>> = {
  cpu: { type: 'Resource', resource: { name: 'cpu', target: TARGET } },
  pods: { type: 'Pods', pods: { metric: { name: 'packets' }, target: TARGET } },
  object: {
    type: 'Object',
    object: { metric: { name: 'requests' }, describedObject: DEPLOYMENT, target: TARGET },
  },
  external: external(TARGET),
};

/** One autoscaler a metric, each with a target of its own. */
async function askAll(world: World): Promise<void> {
  for (const [name, metric] of Object.entries(METRICS)) {
    const labels = { app: name };
    const { template } = deployment(1).spec as Fields;
    const own = { ...(template as Fields), metadata: { labels } };
    await world.create(deployment(1, { selector: { matchLabels: labels }, template: own }, name));
    const scaleTargetRef = { ...DEPLOYMENT, name };
    await world.create(autoscaler([metric], { scaleTargetRef }, name));
  }
  const isTold = (events: Obj[]): boolean => {
    const failed = events.filter(({ reason }) => reason === 'FailedComputeMetricsReplicas');
    return new Set(failed.map((event) => event.involvedObject.name)).size === 4;
  };
  await world.untilList('events', isTold, 'events about all autoscalers');
}

async function registerDeadServer({ api }: World): Promise<void> {
  const service = { namespace: 'kube-system', name: 'dead-metrics' };
  const spec = { type: 'ExternalName', externalName: 'localhost' };
  await api.create({ apiVersion: 'v1', kind: 'Service', metadata: service, spec } as Obj);
  const apis = [
    ['metrics.k8s.io', 'v1beta1'],
    ['custom.metrics.k8s.io', 'v1beta1'],
    ['external.metrics.k8s.io', 'v1beta1'],
  ];
  for (const [group, version] of apis) {
    const at = { group, version, service: { ...service, port: DEAD_PORT } };
    const order = { groupPriorityMinimum: 100, versionPriority: 100 };
    const metadata = { name: `${version}.${group}` };
    const full = { ...at, ...order, insecureSkipTLSVerify: true };
    await api.create({
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata,
      spec: full,
    } as Obj);
  }
  const isDown = ({ status }: Obj): boolean =>
    (status?.conditions ?? []).some(
      (one: Fields) => one.type === 'Available' && one.status === 'False',
    );
  for (const [group, version] of apis) {
    await api.waitFor('apiservices', '', `${version}.${group}`, isDown, { timeoutMs: 60_000 });
  }
}

/** Played one after the other: the second changes the cluster. */
const SCENARIOS: readonly Scenario[] = [
  { name: 'nobody serves metrics', play: askAll },
  {
    name: 'those who should serve metrics do not answer',
    async play(world) {
      await registerDeadServer(world);
      await askAll(world);
    },
  },
];

let both: Both;

beforeAll(async () => {
  both = await Both.start({
    scenarios: SCENARIOS,
    controllers: CONTROLLERS,
    atOnce: 1,
    flags: FLAGS,
    cluster: METRICS_CLUSTER,
    look: settledAutoscalers,
    prepare: async (cluster: Cluster) => {
      await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
      await cluster.api.create(SHELVES);
    },
  });
});

afterAll(async () => {
  await both?.stop();
});

describe('as the reference manager', () => {
  testEach(SCENARIOS, async (scenario) => {
    const [wanted, found] = await both.of(scenario);
    expect(found).toEqual(wanted);
  });
});
