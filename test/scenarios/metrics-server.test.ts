/**
 * HorizontalPodAutoscalers on what the real metrics-server measures: use rises, spreads over more pods
 * and falls. Metrics are late by up to two scrapes, and pods are without any at first. Under the
 * reference manager and under Holdfast sizes, status and conditions must come out equal.
 */
import { expect, setDefaultTimeout } from 'bun:test';
import {
  type Json,
  METRICS_CLUSTER,
  type Obj,
  simulateNodes,
  startMetricsServer,
} from '../rig/index.ts';
import { settledAutoscalers } from './autoscaler-snapshot.ts';
import { autoscaler } from './autoscalers.ts';
import { compareAll } from './both.ts';
import { SHELVES } from './scaled.ts';
import { deployment, type Fields, type Scenario, template, World } from './world.ts';

setDefaultTimeout(240_000);

const CONTROLLERS = ['horizontalpodautoscaling', 'deployment', 'replicaset', 'serviceaccount'];
const FLAGS = [
  '--horizontal-pod-autoscaler-sync-period=1s',
  '--horizontal-pod-autoscaler-downscale-stabilization=5s',
  '--horizontal-pod-autoscaler-cpu-initialization-period=1ms',
  '--horizontal-pod-autoscaler-initial-readiness-delay=1ms',
];
const FEW = 2;
const MANY = 6;

interface Course {
  readonly resource: 'cpu' | 'memory';
  readonly target: Fields;
  /** What a pod uses: as the target says, three times as much, and next to nothing. */
  readonly calm: string;
  readonly busy: string;
  readonly idle: string;
  /** How the status shows a pod that is calm, and one that is idle. */
  readonly calmShown: Fields;
  readonly idleShown: Fields;
}

const CPU: Course = {
  resource: 'cpu',
  target: { type: 'Utilization', averageUtilization: 50 },
  calm: '50m',
  busy: '150m',
  idle: '5m',
  calmShown: { averageUtilization: 50, averageValue: '50m' },
  idleShown: { averageUtilization: 5, averageValue: '5m' },
};
const MEMORY: Course = {
  resource: 'memory',
  target: { type: 'AverageValue', averageValue: '64Mi' },
  calm: '64Mi',
  busy: '192Mi',
  idle: '8Mi',
  calmShown: { averageValue: '64Mi' },
  idleShown: { averageValue: '8Mi' },
};

/** All pods use that much from now on. */
async function use(world: World, resource: string, amount: string): Promise<void> {
  const metadata = { annotations: { [`sim.holdfast.dev/${resource}`]: amount } };
  const pods = await world.list('pods');
  await Promise.all(pods.map((pod) => world.merge('pods', pod.metadata.name, { metadata })));
}

function sized(world: World, replicas: number): Promise<Obj> {
  return world.until('deployments', 'web', ({ spec, status }) => {
    const counts = [spec.replicas, status?.replicas ?? 0, status?.readyReplicas ?? 0];
    return counts.every((count) => count === replicas);
  });
}

function shown(world: World, current: Fields, replicas: number): Promise<Obj> {
  return world.until('horizontalpodautoscalers', 'hpa', ({ status }) => {
    const found = status?.currentMetrics?.[0]?.resource?.current;
    const is = [status?.currentReplicas, status?.desiredReplicas];
    return is.every((count) => count === replicas) && Bun.deepEquals(found, current);
  });
}

function rising({ resource, target, ...course }: Course): Scenario {
  return {
    name: `up and down with ${resource}`,
    async play(world) {
      const annotations = { [`sim.holdfast.dev/${resource}`]: course.calm };
      const requests = { cpu: '100m', memory: '64Mi' };
      const containers = [{ name: 'web', image: 'web:1', resources: { requests } }];
      await world.create(deployment(FEW, { template: template('1', { containers, annotations }) }));
      const metric = { type: 'Resource', resource: { name: resource, target } };
      await world.create(autoscaler([metric], { minReplicas: FEW }));
      await shown(world, course.calmShown, FEW);
      await use(world, resource, course.busy);
      await sized(world, MANY);
      await use(world, resource, course.calm);
      await shown(world, course.calmShown, MANY);
      await use(world, resource, course.idle);
      await sized(world, FEW);
      await shown(world, course.idleShown, FEW);
    },
  };
}

/** Events tell of the way there too, which depends on when exactly the server scraped. */
async function look(world: World): Promise<Json> {
  const { events: _events, ...rest } = await settledAutoscalers(world);
  return rest;
}

const SCENARIOS = [rising(CPU), rising(MEMORY)];
function endsSmall(wanted: Json): void {
  expect(wanted.autoscalers).toMatchObject([
    {
      status: { currentReplicas: FEW, desiredReplicas: FEW },
      conditions: [
        { type: 'AbleToScale', status: 'True', reason: 'ReadyForNewScale' },
        { type: 'ScalingActive', status: 'True', reason: 'ValidMetricFound' },
        { type: 'ScalingLimited', status: 'True', reason: 'TooFewReplicas' },
      ],
    },
  ]);
}

compareAll(
  'as the reference manager',
  {
    suite: 'metrics-server',
    scenarios: SCENARIOS,
    controllers: CONTROLLERS,
    atOnce: SCENARIOS.length,
    flags: FLAGS,
    cluster: METRICS_CLUSTER,
    world: World,
    look,
    async prepare(cluster) {
      await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true, kubelets: true });
      await cluster.api.create(SHELVES);
      await startMetricsServer(cluster);
    },
  },
  endsSmall,
);
