/** Stories of Deployments, StatefulSets and DaemonSets whose versions change. */
import { expect } from 'bun:test';
import { eventually, notYet, type Obj } from '../rig/index.ts';
import { deployment } from '../scenarios/world.ts';
import { processesOfPod } from './machine.ts';
import {
  daemonSet,
  endpointsOf,
  follow,
  labels,
  PATIENCE,
  podsOf,
  readyAddresses,
  type Stage,
  server,
  service,
  statefulSet,
  versionAt,
} from './stage.ts';

/** Waits until a Service's slices have exactly an app's pods as ready, all of that version. */
async function served(stage: Stage, app: string, count: number, version: string): Promise<void> {
  const wanted = async (): Promise<boolean> => {
    const pods = await podsOf(stage, app);
    const addresses = pods.map(({ status }) => status?.podIP as string).sort();
    const ready = await readyAddresses(stage, app);
    const versions = await Promise.all(ready.map(versionAt));
    const same = JSON.stringify(addresses) === JSON.stringify(ready);
    const right = versions.every((one) => one === version);
    if (same && right && ready.length === count) return true;
    throw notYet({ addresses, ready, versions });
  };
  await eventually(wanted, {
    ...PATIENCE,
    describe: `the slices of ${app} have version ${version}`,
  });
}

/** Watches how many endpoints of a Service are ready; gives the fewest there were. */
function fewestEndpoints(stage: Stage, name: string, from: number): () => Promise<number> {
  let fewest = from;
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const stop = follow(stage, 'endpointslices', labelSelector, ({ type, object }) => {
    if (type === 'DELETED') return;
    const endpoints: Obj[] = object.endpoints ?? [];
    const ready = endpoints.filter(({ conditions }) => conditions?.ready === true);
    fewest = Math.min(fewest, ready.length);
  });
  return async () => {
    await stop();
    return fewest;
  };
}

/** Containers of pods that are gone have no process any more. */
async function dead(pods: readonly { readonly uid: string }[]): Promise<void> {
  const alive = () => pods.flatMap(({ uid }) => processesOfPod(uid));
  await eventually(() => alive().length === 0, { describe: 'the containers of old pods ended' });
}

/** A Deployment rolls over to a new version, sticks at a broken one, and goes back. */
export async function deploymentRollsOver(stage: Stage): Promise<void> {
  const { world, ledger } = stage;
  const rollingUpdate = { maxSurge: 1, maxUnavailable: 1 };
  await world.create(service('web'));
  await world.create(
    deployment(4, {
      selector: { matchLabels: labels('web') },
      template: server('web', '1'),
      strategy: { type: 'RollingUpdate', rollingUpdate },
      progressDeadlineSeconds: 20,
    }),
  );
  await world.rolledOut('web');
  await served(stage, 'web', 4, '1');
  const first = ledger.of('web');
  expect(first.map(({ uid }) => processesOfPod(uid).length > 0)).toEqual([true, true, true, true]);

  ledger.bound('web', { asked: 5, ready: 3 });
  const fewest = fewestEndpoints(stage, 'web', 4);
  await world.merge('deployments', 'web', { spec: { template: server('web', '2') } });
  await world.rolledOut('web');
  await served(stage, 'web', 4, '2');
  await ledger.reach();
  expect(first.map(({ gone }) => gone)).toEqual([true, true, true, true]);
  await dead(first);
  expect(ledger.of('web')).toHaveLength(8);
  expect(await fewest()).toBeGreaterThan(0);

  await world.merge('deployments', 'web', { spec: { template: server('web', 'broken') } });
  await world.condition('deployments', 'web', 'Progressing', 'ProgressDeadlineExceeded');
  await threeServed(stage);
  await world.merge('deployments', 'web', { spec: { template: server('web', '2') } });
  await world.rolledOut('web');
  await served(stage, 'web', 4, '2');
  await ledger.reach();
  ledger.bound('web', undefined);
  expect(ledger.breaches).toEqual([]);
  expect(await world.list('replicasets')).toHaveLength(3);
}

/** Of a Deployment that sticks, the old pods that may stay are served and no others. */
async function threeServed(stage: Stage): Promise<void> {
  const ready = await readyAddresses(stage, 'web');
  expect(await Promise.all(ready.map(versionAt))).toEqual(['2', '2', '2']);
}

/** Names of pods as they came and became ready, e.g. "db-0 1 new", "db-0 1 ready", "db-0 1 gone". */
function recordOrder(stage: Stage, app: string): { lines: string[]; stop: () => Promise<void> } {
  const lines: string[] = [];
  const note = (line: string): void => {
    if (!lines.includes(line)) lines.push(line);
  };
  const stop = follow(stage, 'pods', `app=${app}`, ({ type, object }) => {
    const { name, deletionTimestamp } = object.metadata;
    const version = object.spec.containers[0].image.split(':')[1];
    const conditions: Obj[] = object.status?.conditions ?? [];
    const ready = conditions.some((one) => one.type === 'Ready' && one.status === 'True');
    if (type === 'ADDED') note(`${name} ${version} new`);
    if (ready && !deletionTimestamp) note(`${name} ${version} ready`);
    if (type === 'DELETED') note(`${name} ${version} gone`);
  });
  return { lines, stop };
}

/** A StatefulSet comes up one pod after the other, and rolls over from the last to the first. */
export async function statefulSetInOrder(stage: Stage): Promise<void> {
  const { world } = stage;
  const order = recordOrder(stage, 'db');
  await world.create(service('db', true));
  await world.create(statefulSet('db', 3, server('db', '1')));
  const settled = (version: string) => async (): Promise<boolean> => {
    const { metadata, status } = await world.get('statefulsets', 'db');
    const current = status?.observedGeneration === metadata.generation;
    if (!current || status.readyReplicas !== 3 || status.updatedReplicas !== 3)
      throw notYet(status);
    await served(stage, 'db', 3, version);
    return status.currentRevision === status.updateRevision;
  };
  await eventually(settled('1'), { ...PATIENCE, describe: 'StatefulSet db has 3 pods' });
  const hostnames = (await endpointsOf(stage, 'db')).map(({ hostname }) => hostname);
  expect(hostnames.sort()).toEqual(['db-0', 'db-1', 'db-2']);
  await world.merge('statefulsets', 'db', { spec: { template: server('db', '2') } });
  await eventually(settled('2'), { ...PATIENCE, describe: 'StatefulSet db has rolled over' });
  await order.stop();
  const up = ['db-0', 'db-1', 'db-2'].flatMap((name) => [`${name} 1 new`, `${name} 1 ready`]);
  const over = ['db-2', 'db-1', 'db-0'].flatMap((name) => [
    `${name} 1 gone`,
    `${name} 2 new`,
    `${name} 2 ready`,
  ]);
  expect(order.lines).toEqual([...up, ...over]);
}

/** A DaemonSet has one pod on each node, also after its version changed. */
export async function daemonSetOnEachNode(stage: Stage): Promise<void> {
  const { world, nodes } = stage;
  await world.create(daemonSet('agent', server('agent', '1')));
  const names = nodes.map(({ name }) => name);
  const onEach = async (version: string): Promise<void> => {
    await world.until('daemonsets', 'agent', ({ metadata, status }) => {
      const current = status?.observedGeneration === metadata.generation;
      return current && status.numberReady === 2 && status.updatedNumberScheduled === 2;
    });
    const pods = (await podsOf(stage, 'agent')).filter((pod) => !pod.metadata.deletionTimestamp);
    expect(pods.map(({ spec }) => spec?.nodeName).sort()).toEqual(names);
    const answers = pods.map(({ status }) => versionAt(status?.podIP));
    expect(await Promise.all(answers)).toEqual([version, version]);
  };
  await onEach('1');
  await world.merge('daemonsets', 'agent', { spec: { template: server('agent', '2') } });
  await onEach('2');
  await stage.ledger.reach();
  expect(stage.ledger.of('agent')).toHaveLength(4);
}
