/**
 * Budgets and autoscalers go from the reference manager to Holdfast and back: what is right is not
 * written again, and no target is scaled.
 */
import { afterAll, beforeAll, setDefaultTimeout, test } from 'bun:test';
import {
  atRest,
  type Cluster,
  type Manager,
  METRICS_CLUSTER,
  MetricsApi,
  simulateNodes,
  startCluster,
} from '../rig/index.ts';
import { autoscaler, external } from '../scenarios/autoscalers.ts';
import { SHELVES, shelf } from '../scenarios/scaled.ts';
import { deployment, type Fields, template, World } from '../scenarios/world.ts';
import { backAndForth, versionsOf } from './versions.ts';

setDefaultTimeout(240_000);

const FLAGS = [
  '--controllers=disruption,horizontalpodautoscaling,deployment,replicaset,serviceaccount',
  '--horizontal-pod-autoscaler-sync-period=1s',
  '--horizontal-pod-autoscaler-cpu-initialization-period=1ms',
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];
const WATCHED = [
  'deployments',
  'shelves',
  'pods',
  'poddisruptionbudgets',
  'horizontalpodautoscalers',
];
const MARKER = 'marker';
const ONE_EACH = external({ type: 'AverageValue', averageValue: '1' });
const CALM_LOOKS = 4;
/** Longer than two rounds of the autoscaler. */
const CALM_EVERY_MS = 700;

let cluster: Cluster;
let world: World;
let marker = 0;

beforeAll(async () => {
  cluster = await startCluster(METRICS_CLUSTER);
  await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
  await cluster.api.create(SHELVES);
  const metrics = await MetricsApi.serve(cluster);
  world = new World(cluster, await cluster.namespace('takeover'));
  metrics.outside(world.namespace, 'queue', { labels: {}, value: '3' });
  metrics.usage(world.namespace, () => ({ web: { cpu: '52m' } }));
});

afterAll(async () => {
  await cluster?.stop();
});

function budget(spec: Fields, name: string, app = 'web'): Fields {
  const full = { selector: { matchLabels: { app } }, ...spec };
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec: full };
}

/** Name, UID and version of everything a manager might have rewritten. */
function versions(): Promise<string[]> {
  return versionsOf(world, WATCHED, (name) => name.startsWith(MARKER));
}

/** The same versions for a while: several rounds have passed. */
function settled(): Promise<string[]> {
  const options = { looks: CALM_LOOKS, everyMs: CALM_EVERY_MS, describe: 'versions at rest' };
  return atRest(() => versions(), options);
}

/** The manager leads and works: a new budget is counted, a new autoscaler scales a shelf. */
async function works(manager: Manager): Promise<void> {
  const name = `${MARKER}-${++marker}`;
  const scaleTargetRef = { apiVersion: 'example.com/v1', kind: 'Shelf', name };
  await world.create(budget({ minAvailable: 1 }, name, name));
  await world.create(shelf(1, name));
  const selector = `app=${name}`;
  await world.api.patchStatus('shelves', world.namespace, name, { replicas: 1, selector });
  await world.create(autoscaler([ONE_EACH], { scaleTargetRef }, name));
  const done = async (): Promise<void> => {
    await world.until('shelves', name, ({ spec }) => spec.replicas === 3);
    await world.until('poddisruptionbudgets', name, ({ status }) => status?.conditions?.length > 0);
  };
  await done().catch((error: Error) => {
    throw new Error(`${manager.name} does not work: ${error.message}\n${manager.tail()}`);
  });
}

/** A Deployment with budgets and an autoscaler of several metrics, and one that fails. */
async function furnish(): Promise<void> {
  const requests = { cpu: '100m' };
  const containers = [{ name: 'web', image: 'web:1', resources: { requests } }];
  await world.create(deployment(2, { template: template('1', { containers }) }));
  await world.rolledOut();
  await world.create(budget({ maxUnavailable: '40%' }, 'relative'));
  await world.create(
    budget({ maxUnavailable: 1, selector: { matchLabels: { app: 'none' } } }, 'none'),
  );
  const target = { type: 'Utilization', averageUtilization: 50 };
  const metrics = [ONE_EACH, { type: 'Resource', resource: { name: 'cpu', target } }];
  await world.create(autoscaler(metrics, { behavior: { scaleUp: { tolerance: '50m' } } }));
  const absent = external({ type: 'Value', value: '1' }, 'absent');
  const scaleTargetRef = { apiVersion: 'example.com/v1', kind: 'Shelf', name: 'shelf' };
  await world.create(shelf(2));
  const status = { replicas: 2, selector: 'app=shelf' };
  await world.api.patchStatus('shelves', world.namespace, 'shelf', status);
  await world.create(autoscaler([absent], { scaleTargetRef }, 'failing'));
  await world.until('deployments', 'web', (one) => one.status?.readyReplicas === 3);
}

test('taken over and given back twice, nothing is rewritten and nothing is scaled', async () => {
  await backAndForth({ cluster, flags: FLAGS, furnish, works, versions: settled });
});
