/**
 * HorizontalPodAutoscalers under the reference manager and under Holdfast: sizes, status, conditions
 * and messages of events must come out equal.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { type Cluster, METRICS_CLUSTER, MetricsApi, simulateNodes } from '../rig/index.ts';
import { settledAutoscalers } from './autoscaler-snapshot.ts';
import { autoscalerScenarios } from './autoscalers.ts';
import { Both } from './both.ts';
import { SHELVES } from './scaled.ts';
import { testEach } from './servers.ts';
import type { World } from './world.ts';

setDefaultTimeout(240_000);

const CONTROLLERS = [
  'horizontalpodautoscaling',
  'deployment',
  'replicaset',
  'replicationcontroller',
  'serviceaccount',
];
const FLAGS = [
  '--horizontal-pod-autoscaler-sync-period=1s',
  '--horizontal-pod-autoscaler-downscale-stabilization=5s',
  '--horizontal-pod-autoscaler-cpu-initialization-period=1ms',
  '--horizontal-pod-autoscaler-initial-readiness-delay=1ms',
];

const metrics = new Map<Cluster, MetricsApi>();
const SCENARIOS = autoscalerScenarios(({ cluster }: World) => {
  const found = metrics.get(cluster);
  if (found === undefined) throw new Error('this cluster has no metrics');
  return found;
});

let both: Both;

beforeAll(async () => {
  both = await Both.start({
    scenarios: SCENARIOS,
    controllers: CONTROLLERS,
    atOnce: 6,
    flags: FLAGS,
    cluster: METRICS_CLUSTER,
    look: settledAutoscalers,
    async prepare(cluster) {
      await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
      await cluster.api.create(SHELVES);
      metrics.set(cluster, await MetricsApi.serve(cluster));
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
