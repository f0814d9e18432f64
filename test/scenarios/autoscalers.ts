/** What users do with HorizontalPodAutoscalers. */
import type { MetricsApi, Obj } from '../rig/index.ts';
import { shelf } from './scaled.ts';
import {
  deployment,
  type Fields,
  replicationController,
  type Scenario,
  template,
  type World,
} from './world.ts';

/** The metrics of a cluster. */
export type MetricsOf = (world: World) => MetricsApi;

const TARGET = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

/** An autoscaler of the Deployment "web" up to 10 replicas. */
export function autoscaler(metrics: readonly Fields[], fields: Fields = {}, name = 'hpa'): Fields {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name },
    spec: { scaleTargetRef: TARGET, minReplicas: 1, maxReplicas: 10, metrics, ...fields },
  };
}

function resource(target: Fields, name = 'cpu'): Fields {
  return { type: 'Resource', resource: { name, target } };
}

const utilization = (averageUtilization: number): Fields => ({
  type: 'Utilization',
  averageUtilization,
});
const averageOf = (averageValue: string): Fields => ({ type: 'AverageValue', averageValue });
const totalOf = (value: string): Fields => ({ type: 'Value', value });

/** A metric from outside. */
export function external(target: Fields, name = 'queue', selector?: Fields): Fields {
  const metric = { name, ...(selector === undefined ? {} : { selector }) };
  return { type: 'External', external: { metric, target } };
}

/** A Deployment whose pods request 100m and 64Mi. */
function requesting(replicas: number, requests: Fields = { cpu: '100m', memory: '64Mi' }): Fields {
  const containers = [{ name: 'web', image: 'web:1', resources: { requests } }];
  return deployment(replicas, { template: template('1', { containers }) });
}

async function running(world: World, object: Fields): Promise<void> {
  await world.create(object);
  await world.rolledOut();
}

function sized(world: World, replicas: number, plural = 'deployments', name = 'web'): Promise<Obj> {
  return world.until(plural, name, ({ spec, status }) => {
    const is = plural === 'shelves' ? replicas : (status?.readyReplicas ?? 0);
    return spec.replicas === replicas && is === replicas;
  });
}

const hasCurrent =
  (replicas: number) =>
  ({ status }: Obj): boolean =>
    status?.currentReplicas === replicas;

function says(world: World, type: string, reason: string, name = 'hpa'): Promise<Obj> {
  return world.condition('horizontalpodautoscalers', name, type, reason);
}

function told(world: World, reason: string): Promise<Obj[]> {
  const isTold = (events: Obj[]): boolean => events.some((event) => event.reason === reason);
  return world.untilList('events', isTold, `an event ${reason}`);
}

const milli = (amount: number): string => `${Math.round(amount)}m`;

/** Metrics of pods and their containers. */
function ofPods(metricsOf: MetricsOf): readonly Scenario[] {
  return [
    {
      name: 'utilization of CPU above the target',
      async play(world) {
        await running(world, requesting(2));
        metricsOf(world).usage(world.namespace, (_, __, count) => ({
          web: { cpu: milli(400 / count), memory: '1Mi' },
        }));
        await world.create(autoscaler([resource(utilization(100))]));
        await sized(world, 4);
        await says(world, 'ScalingLimited', 'DesiredWithinRange');
      },
    },
    {
      name: 'utilization within the tolerance',
      async play(world) {
        await running(world, requesting(2));
        metricsOf(world).usage(world.namespace, (_, index) => ({
          web: { cpu: index === 0 ? '115m' : '100m' },
        }));
        await world.create(autoscaler([resource(utilization(100))]));
        await says(world, 'ScalingActive', 'ValidMetricFound');
      },
    },
    {
      name: 'all metrics below target: the window is waited for',
      async play(world) {
        await running(world, requesting(4));
        metricsOf(world).usage(world.namespace, () => ({ web: { cpu: '25m', memory: '8Mi' } }));
        await world.create(
          autoscaler([resource(utilization(100)), resource(utilization(100), 'memory')], {
            minReplicas: 2,
          }),
        );
        await says(world, 'AbleToScale', 'ScaleDownStabilized');
        await sized(world, 2);
        await says(world, 'ScalingLimited', 'TooFewReplicas');
      },
    },
    {
      name: 'an average of memory is shown in powers of two',
      async play(world) {
        await running(world, requesting(1));
        metricsOf(world).usage(world.namespace, (_, __, count) => ({
          web: { cpu: '1m', memory: `${192 / count}Mi` },
        }));
        await world.create(autoscaler([resource(averageOf('64Mi'), 'memory')]));
        await sized(world, 3);
      },
    },
    {
      name: 'one container among two',
      async play(world) {
        const requests = { cpu: '100m' };
        const containers = ['web', 'log'].map((name) => ({
          name,
          image: 'i',
          resources: { requests },
        }));
        await running(world, deployment(1, { template: template('1', { containers }) }));
        metricsOf(world).usage(world.namespace, (_, __, count) => ({
          web: { cpu: milli(300 / count) },
          log: { cpu: '1' },
        }));
        const target = utilization(100);
        const containerResource = { name: 'cpu', container: 'web', target };
        await world.create(autoscaler([{ type: 'ContainerResource', containerResource }]));
        await sized(world, 3);
      },
    },
    {
      name: 'a metric of each pod',
      async play(world) {
        await running(world, deployment(2));
        metricsOf(world).ofPods(world.namespace, 'packets', (_, __, count) => String(600 / count));
        const selector = { matchLabels: { verb: 'GET' } };
        const pods = { metric: { name: 'packets', selector }, target: averageOf('150') };
        await world.create(autoscaler([{ type: 'Pods', pods }]));
        await sized(world, 4);
      },
    },
    {
      name: 'pods without metrics hold a scale-down back',
      async play(world) {
        await running(world, requesting(4));
        metricsOf(world).usage(world.namespace, (_, index) =>
          index < 2 ? { web: { cpu: '60m' } } : undefined,
        );
        await world.create(autoscaler([resource(utilization(100))]));
        await says(world, 'ScalingActive', 'ValidMetricFound');
      },
    },
    {
      name: 'pods that are not ready hold a scale-up back',
      async play(world) {
        const notes = { 'sim.holdfast.dev/behaviour': 'unready' };
        const containers = [{ name: 'web', image: 'i', resources: { requests: { cpu: '100m' } } }];
        await world.create(
          deployment(2, { template: template('1', { containers, annotations: notes }) }),
        );
        await world.create(
          replicationController(1, { template: template('1', { containers }) }, 'ready'),
        );
        await world.untilList(
          'pods',
          (pods) => pods.length === 3 && pods.every(({ status }) => status.phase === 'Running'),
          'running pods',
        );
        metricsOf(world).usage(world.namespace, () => ({ web: { cpu: '400m' } }));
        await world.create(autoscaler([resource(utilization(100))], { maxReplicas: 4 }));
        await says(world, 'ScalingActive', 'ValidMetricFound');
        await world.until('deployments', 'web', ({ spec }) => spec.replicas > 2);
      },
    },
    {
      name: 'pods that request nothing',
      async play(world) {
        await running(world, deployment(1));
        metricsOf(world).usage(world.namespace, () => ({ web: { cpu: '10m' } }));
        await world.create(autoscaler([resource(utilization(50))]));
        await says(world, 'ScalingActive', 'FailedGetResourceMetric');
        await told(world, 'FailedComputeMetricsReplicas');
      },
    },
  ];
}

/** Metrics of objects, and from outside the cluster. */
function ofOthers(metricsOf: MetricsOf): readonly Scenario[] {
  const object = (target: Fields, describedObject: Fields = TARGET): Fields => ({
    type: 'Object',
    object: { metric: { name: 'requests' }, describedObject, target },
  });
  return [
    {
      name: 'a metric of an object over the pods that are ready',
      async play(world) {
        await running(world, deployment(2));
        metricsOf(world).ofObject(world.namespace, 'deployments.apps', 'web', 'requests', '30');
        await world.create(autoscaler([object(totalOf('20'))], { maxReplicas: 3 }));
        await sized(world, 3);
        metricsOf(world).ofObject(world.namespace, 'deployments.apps', 'web', 'requests', '20500m');
        await says(world, 'ScalingLimited', 'DesiredWithinRange');
      },
    },
    {
      name: 'a metric of the namespace, shared by the replicas',
      async play(world) {
        await running(world, deployment(2));
        const { namespace } = world;
        metricsOf(world).ofObject(namespace, 'namespaces', namespace, 'requests', '4500m');
        const described = { apiVersion: 'v1', kind: 'Namespace', name: 'any' };
        await world.create(autoscaler([object(averageOf('1'), described)]));
        await sized(world, 5);
      },
    },
    {
      name: 'a metric of an object that has none, and of a kind that is not there',
      async play(world) {
        await running(world, deployment(1));
        const described = { apiVersion: 'none.example.com/v1', kind: 'Ghost', name: 'g' };
        await world.create(autoscaler([object(totalOf('20'))], {}, 'none'));
        await says(world, 'ScalingActive', 'FailedGetObjectMetric', 'none');
        await world.api.remove('horizontalpodautoscalers', world.namespace, 'none');
        await world.create(autoscaler([object(averageOf('20'), described)], {}, 'ghost'));
        await says(world, 'ScalingActive', 'FailedGetObjectMetric', 'ghost');
        await told(world, 'FailedComputeMetricsReplicas');
      },
    },
    {
      name: 'external values are summed, as the selector says',
      async play(world) {
        await running(world, deployment(1));
        const values = [
          { labels: { queue: 'a' }, value: '2' },
          { labels: { queue: 'a' }, value: '1' },
          { labels: { queue: 'b' }, value: '50' },
        ];
        metricsOf(world).outside(world.namespace, 'queue', ...values);
        const selector = { matchLabels: { queue: 'a' } };
        await world.create(
          autoscaler([external(totalOf('1'), 'queue', selector)], { maxReplicas: 3 }),
        );
        await sized(world, 3);
      },
    },
    {
      name: 'an external metric that is not there',
      async play(world) {
        await running(world, deployment(1));
        const selector = { matchExpressions: [{ key: 'k', operator: 'In', values: ['x', 'y'] }] };
        await world.create(autoscaler([external(averageOf('1'), 'absent', selector)]));
        await says(world, 'ScalingActive', 'FailedGetExternalMetric');
        await told(world, 'FailedComputeMetricsReplicas');
      },
    },
    {
      name: 'one metric fails: up is gone, down is not',
      async play(world) {
        await running(world, deployment(2));
        metricsOf(world).outside(world.namespace, 'queue', { labels: {}, value: '3' });
        const metrics = [external(averageOf('1'), 'absent'), external(averageOf('1'))];
        await world.create(autoscaler(metrics));
        await sized(world, 3);
        metricsOf(world).outside(world.namespace, 'queue', { labels: {}, value: '1' });
        await says(world, 'ScalingActive', 'FailedGetExternalMetric');
        await told(world, 'FailedComputeMetricsReplicas');
      },
    },
  ];
}

/** Bounds, windows and rates. */
function held(metricsOf: MetricsOf): readonly Scenario[] {
  const load = (world: World, value: string): void =>
    metricsOf(world).outside(world.namespace, 'queue', { labels: {}, value });
  return [
    {
      name: 'without behavior a step at most doubles',
      async play(world) {
        await running(world, deployment(2));
        load(world, '9');
        await world.create(autoscaler([external(averageOf('1'))], { maxReplicas: 9 }));
        await sized(world, 9);
      },
    },
    {
      name: 'more than the maximum is wanted',
      async play(world) {
        await running(world, deployment(2));
        load(world, '70');
        await world.create(autoscaler([external(averageOf('1'))], { maxReplicas: 3 }));
        await sized(world, 3);
        await says(world, 'ScalingLimited', 'TooManyReplicas');
      },
    },
    {
      name: 'a size above the maximum, and one below the minimum',
      async play(world) {
        await running(world, deployment(5));
        load(world, '3');
        await world.create(autoscaler([external(averageOf('1'))], { maxReplicas: 3 }));
        await sized(world, 3);
        // Changed while a sync is under way, the status would be refused, and an event would say so.
        await world.until('horizontalpodautoscalers', 'hpa', hasCurrent(3));
        await world.merge('horizontalpodautoscalers', 'hpa', {
          spec: { minReplicas: 4, maxReplicas: 6 },
        });
        await sized(world, 4);
        await says(world, 'ScalingLimited', 'TooFewReplicas');
      },
    },
    {
      name: 'a target at zero is left alone',
      async play(world) {
        await world.create(deployment(0));
        load(world, '3');
        await world.create(autoscaler([external(averageOf('1'))]));
        await says(world, 'ScalingActive', 'ScalingDisabled');
      },
    },
    {
      name: 'two pods in three seconds',
      async play(world) {
        await running(world, deployment(1));
        load(world, '6');
        const policies = [{ type: 'Pods', value: 2, periodSeconds: 3 }];
        const behavior = { scaleUp: { policies } };
        await world.create(autoscaler([external(averageOf('1'))], { behavior }));
        await says(world, 'ScalingLimited', 'ScaleUpLimit');
        await sized(world, 6);
      },
    },
    {
      name: 'down by one pod in two seconds, after a window of its own',
      async play(world) {
        await running(world, deployment(4));
        load(world, '1');
        const policies = [
          { type: 'Pods', value: 1, periodSeconds: 2 },
          { type: 'Percent', value: 10, periodSeconds: 2 },
        ];
        const behavior = {
          scaleDown: { policies, selectPolicy: 'Max', stabilizationWindowSeconds: 2 },
        };
        const fields = { behavior, minReplicas: 2 };
        await world.create(autoscaler([external(averageOf('1'))], fields));
        await says(world, 'ScalingLimited', 'ScaleDownLimit');
        await sized(world, 2);
        await says(world, 'ScalingLimited', 'TooFewReplicas');
      },
    },
    {
      name: 'up is waited for when a window says so',
      async play(world) {
        await running(world, deployment(1));
        load(world, '3');
        const behavior = { scaleUp: { stabilizationWindowSeconds: 3 } };
        await world.create(autoscaler([external(averageOf('1'))], { behavior }));
        await says(world, 'AbleToScale', 'ScaleUpStabilized');
        await sized(world, 3);
      },
    },
    {
      name: 'a direction that is switched off',
      async play(world) {
        await running(world, deployment(2));
        load(world, '6');
        const behavior = {
          scaleUp: { selectPolicy: 'Disabled' },
          scaleDown: { selectPolicy: 'Min', stabilizationWindowSeconds: 0 },
        };
        await world.create(autoscaler([external(averageOf('1'))], { behavior }));
        await says(world, 'ScalingLimited', 'ScaleUpLimit');
      },
    },
    {
      name: 'tolerances of its own',
      since: { server: '1.35', has: 'spec.behavior.scaleUp.tolerance' },
      async play(world) {
        await running(world, deployment(4));
        load(world, '5');
        const behavior = { scaleUp: { tolerance: '300m' }, scaleDown: { tolerance: '0' } };
        await world.create(autoscaler([external(averageOf('1'))], { behavior }));
        await says(world, 'ScalingActive', 'ValidMetricFound');
      },
    },
  ];
}

/** Targets of all kinds. */
function targets(metricsOf: MetricsOf): readonly Scenario[] {
  const load = (world: World, value: string): void =>
    metricsOf(world).outside(world.namespace, 'queue', { labels: {}, value });
  const shelfTarget = { apiVersion: 'example.com/v1', kind: 'Shelf', name: 'shelf' };
  const report = async (world: World, status: Fields): Promise<void> => {
    await world.api.patchStatus('shelves', world.namespace, 'shelf', status);
  };
  return [
    {
      name: 'a target that is not there yet',
      async play(world) {
        load(world, '2');
        await world.create(autoscaler([external(averageOf('1'))]));
        await says(world, 'AbleToScale', 'FailedGetScale');
        await running(world, deployment(1));
        await sized(world, 2);
      },
    },
    {
      name: 'a kind that nobody serves, and one that can not be scaled',
      async play(world) {
        const at = (apiVersion: string, kind: string): Fields => ({
          scaleTargetRef: { apiVersion, kind, name: 'web' },
        });
        const metrics = [external(averageOf('1'))];
        await world.create(autoscaler(metrics, at('none.example.com/v1', 'Ghost'), 'ghost'));
        await world.create(autoscaler(metrics, at('apps/v1', 'DaemonSet'), 'daemons'));
        for (const name of ['ghost', 'daemons'])
          await says(world, 'AbleToScale', 'FailedGetScale', name);
      },
    },
    {
      name: 'a ReplicationController',
      async play(world) {
        await world.create(replicationController(1));
        await world.scaled('replicationcontrollers', 'web', 1);
        load(world, '2');
        const scaleTargetRef = { apiVersion: 'v1', kind: 'ReplicationController', name: 'web' };
        await world.create(autoscaler([external(averageOf('1'))], { scaleTargetRef }));
        await sized(world, 2, 'replicationcontrollers');
      },
    },
    {
      name: 'a Deployment whose kind is written in lower case',
      async play(world) {
        await running(world, deployment(1));
        load(world, '2');
        const fields = { scaleTargetRef: { ...TARGET, kind: 'deployment' } };
        await world.create(autoscaler([external(averageOf('1'))], fields));
        await sized(world, 2);
      },
    },
    {
      name: 'a custom resource',
      async play(world) {
        await world.create(shelf(2));
        await report(world, { replicas: 2, selector: 'app in (shelf)' });
        load(world, '4');
        const fields = { scaleTargetRef: shelfTarget };
        await world.create(autoscaler([external(averageOf('1'))], fields));
        await sized(world, 4, 'shelves', 'shelf');
      },
    },
    {
      name: 'a target without a selector, then with one that can not be read',
      async play(world) {
        await world.create(shelf(2));
        await report(world, { replicas: 2 });
        load(world, '4');
        const fields = { scaleTargetRef: shelfTarget };
        await world.create(autoscaler([external(averageOf('1'))], fields));
        await told(world, 'SelectorRequired');
        await report(world, { selector: 'app in shelf' });
        await says(world, 'AbleToScale', 'FailedGetScale');
        await told(world, 'FailedGetScale');
      },
    },
    {
      name: 'a target that refuses the new size',
      async play(world) {
        await world.create(shelf(2));
        await report(world, { replicas: 2, selector: 'app=shelf' });
        load(world, '30');
        const fields = { scaleTargetRef: shelfTarget, maxReplicas: 40 };
        const behavior = { scaleUp: { policies: [{ type: 'Pods', value: 50, periodSeconds: 5 }] } };
        await world.create(autoscaler([external(averageOf('1'))], { ...fields, behavior }));
        await says(world, 'AbleToScale', 'FailedUpdateScale');
        await told(world, 'FailedRescale');
      },
    },
    {
      name: 'two autoscalers of one target keep still',
      async play(world) {
        await running(world, deployment(1));
        load(world, '1');
        await world.create(autoscaler([external(averageOf('1'))], {}, 'first'));
        await says(world, 'ScalingActive', 'ValidMetricFound', 'first');
        await world.create(autoscaler([external(averageOf('1'))], {}, 'second'));
        for (const name of ['first', 'second']) {
          await says(world, 'ScalingActive', 'AmbiguousSelector', name);
        }
        load(world, '5');
      },
    },
  ];
}

/** All of them, over the metrics of the cluster they are played on. */
export function autoscalerScenarios(metricsOf: MetricsOf): readonly Scenario[] {
  return [...held(metricsOf), ...ofPods(metricsOf), ...ofOthers(metricsOf), ...targets(metricsOf)];
}
