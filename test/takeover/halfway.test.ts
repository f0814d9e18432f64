/**
 * Work that is half done goes from the reference manager to Holdfast and back: an indexed Job, and
 * a Deployment, a StatefulSet and a DaemonSet whose rollouts are stuck. Each goes on where it was.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Cluster, type Manager, type Obj, simulateNodes, startCluster } from '../rig/index.ts';
import { deployment, type Fields, hanging, template, World } from '../scenarios/world.ts';
import { versionsOf } from './versions.ts';

setDefaultTimeout(180_000);

const FLAGS = [
  '--controllers=deployment,replicaset,statefulset,daemonset,job,cronjob,serviceaccount',
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];
const WATCHED = [
  'pods',
  'jobs',
  'cronjobs',
  'deployments',
  'replicasets',
  'statefulsets',
  'daemonsets',
  'controllerrevisions',
];
const INDEX = 'batch.kubernetes.io/job-completion-index';
const MARKER = 'marker';
const COMPLETIONS = 6;

let cluster: Cluster;
let nodes: Awaited<ReturnType<typeof simulateNodes>>;
let world: World;
let marker = 0;

beforeAll(async () => {
  cluster = await startCluster();
  nodes = await simulateNodes(cluster, { count: 3, clearTaint: true, bind: true });
  world = new World(cluster, await cluster.namespace('halfway'));
});

afterAll(async () => {
  await cluster.stop();
});

function rolling(kind: string, app: string, replicas?: number): Fields {
  const labels = { app };
  const fields = { selector: { matchLabels: labels }, template: template('1', {}, labels) };
  const { spec, ...rest } = deployment(replicas ?? 1, fields, app) as { spec: Fields };
  const { replicas: _, ...withoutSize } = spec;
  return { ...rest, kind, spec: replicas === undefined ? withoutSize : spec };
}

const job: Fields = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'pi' },
  spec: {
    completions: COMPLETIONS,
    parallelism: 2,
    completionMode: 'Indexed',
    template: template('1', { restartPolicy: 'Never' }, { app: 'pi' }),
  },
};

const cronJob: Fields = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'yearly' },
  spec: {
    schedule: '0 0 29 2 *',
    jobTemplate: { spec: { template: template('1', { restartPolicy: 'Never' }) } },
  },
};

async function podsOf(app: string): Promise<Obj[]> {
  return (await world.list('pods')).filter(({ metadata }) => metadata.labels?.app === app);
}

/** Lets the running pod of this index end well, and waits until that is counted. */
async function finish(index: number): Promise<void> {
  const isIt = ({ metadata }: Obj): boolean => metadata.annotations?.[INDEX] === String(index);
  const pods = await world.untilList(
    'pods',
    (all) => all.some((pod) => isIt(pod) && pod.status?.phase === 'Running'),
    `a running pod of index ${index}`,
  );
  const name = pods.find(isIt)?.metadata.name;
  nodes.orderPod(world.namespace, name, { behaviour: 'finish' });
  await world.until('jobs', 'pi', ({ status }) => {
    const running = Math.min(2, COMPLETIONS - index - 1);
    const { succeeded, active = 0, ready = 0 } = status;
    return succeeded === index + 1 && active === running && ready === running;
  });
}

async function startAll(): Promise<void> {
  await world.create(rolling('Deployment', 'web', 4));
  const { spec, ...set } = rolling('StatefulSet', 'db', 3) as { spec: Fields };
  await world.create({ ...set, spec: { ...spec, serviceName: 'db' } });
  await world.create(rolling('DaemonSet', 'agent'));
  await world.create(job);
  await world.create(cronJob);
  await world.rolledOut();
  await world.until('statefulsets', 'db', ({ status }) => status?.availableReplicas === 3);
  await world.until('daemonsets', 'agent', ({ status }) => status?.numberAvailable === 3);
  await finish(0);
}

/** New templates whose pods hang: each rollout stops after its first step. */
async function startStuckRollouts(): Promise<void> {
  const stuck = (app: string): Fields => {
    const { metadata, spec } = hanging('2') as { metadata: Fields; spec: Fields };
    return { spec: { template: { metadata: { ...metadata, labels: { app } }, spec } } };
  };
  await world.merge('deployments', 'web', stuck('web'));
  await world.merge('statefulsets', 'db', stuck('db'));
  await world.merge('daemonsets', 'agent', stuck('agent'));
  const one = ({ metadata, status }: Obj): boolean =>
    status.observedGeneration === metadata.generation;
  const updated = (count: number) => (object: Obj) =>
    one(object) && object.status.updatedReplicas === count;
  await world.until('deployments', 'web', updated(2));
  await world.until('statefulsets', 'db', updated(1));
  await world.until(
    'daemonsets',
    'agent',
    (object) => one(object) && object.status.updatedNumberScheduled === 1,
  );
}

/** The manager leads and works: it rolls out a Deployment of its own. */
async function works(manager: Manager): Promise<void> {
  const name = `${MARKER}-${++marker}`;
  await world.create(rolling('Deployment', name, 1));
  await world.rolledOut(name).catch((error: Error) => {
    throw new Error(`${manager.name} does not work: ${error.message}\n${manager.tail()}`);
  });
}

/** Name, UID and version of everything a manager might have rewritten. */
function versions(): Promise<string[]> {
  return versionsOf(world, WATCHED, (name) => name.startsWith(MARKER));
}

test('taken over and given back, what is half done is neither restarted nor rewritten', async () => {
  const first = await cluster.startReference({ flags: FLAGS });
  await startAll();
  await startStuckRollouts();
  await works(first);
  const byReference = await versions();
  first.kill('SIGKILL');
  await first.waitExit();

  const holdfast = await cluster.startHoldfast({ flags: FLAGS });
  await works(holdfast);
  expect(await versions()).toEqual(byReference);
  for (const index of [1, 2]) await finish(index);
  await works(holdfast);
  const byHoldfast = await versions();
  expect(await holdfast.stop()).toMatchObject({ code: 0 });

  const second = await cluster.startReference({ flags: FLAGS });
  await works(second);
  expect(await versions()).toEqual(byHoldfast);
  for (const index of [3, 4, 5]) await finish(index);
  const done = await world.condition('jobs', 'pi', 'Complete', 'CompletionsReached');
  expect(done.status).toMatchObject({ succeeded: COMPLETIONS, completedIndexes: '0-5' });
  expect(done.status.failed ?? 0).toBe(0);
  expect(await podsOf('pi')).toHaveLength(COMPLETIONS);
  expect(await podsOf('web')).toHaveLength(5);
});
