/** The story of a node that loses its power: its pods move, and it comes back. */
import { expect } from 'bun:test';
import { eventually, notYet, type Obj } from '../rig/index.ts';
import { deployment, type Fields } from '../scenarios/world.ts';
import { processesOfPod } from './machine.ts';
import type { RealNode } from './real-node.ts';
import {
  daemonSet,
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

const LEFT_AFTER_SECONDS = 2;
const OUT_OF_SERVICE = {
  key: 'node.kubernetes.io/out-of-service',
  value: 'nodeshutdown',
  effect: 'NoExecute',
};

/** How long pods stay on a node that is not heard of. */
function leaving(): Fields {
  const tolerations = ['not-ready', 'unreachable'].map((name) => ({
    key: `node.kubernetes.io/${name}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: LEFT_AFTER_SECONDS,
  }));
  return { tolerations };
}

/** Prefers to spread an app over the nodes, so that each has some of it. */
function spread(app: string): Fields {
  const rule = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: labels(app) },
  };
  return { topologySpreadConstraints: [rule] };
}

async function settle({ world }: Stage): Promise<void> {
  const template = server('moving', '1', { ...leaving(), ...spread('moving') });
  const selector = { matchLabels: labels('moving') };
  await world.create(service('moving'));
  await world.create(deployment(4, { selector, template }, 'moving'));
  await world.create(statefulSet('solo', 1, server('solo', '1', leaving())));
  // Of itself a DaemonSet's pod stays on a node that is silent, not on one that is said to be off.
  const staying = [{ key: OUT_OF_SERVICE.key, operator: 'Exists' }];
  await world.create(daemonSet('warden', server('warden', '1', { tolerations: staying })));
  await world.rolledOut('moving');
  await world.until('statefulsets', 'solo', ({ status }) => status?.readyReplicas === 1);
  await world.until('daemonsets', 'warden', ({ status }) => status?.numberReady === 2);
}

function soleOn(pods: readonly Obj[], node: RealNode): Obj[] {
  return pods.filter(({ spec }) => spec?.nodeName === node.name);
}

/** The pods of the Deployment are served from the node that lives, the Service knows no others. */
async function moved(stage: Stage, alive: RealNode): Promise<void> {
  const wanted = async (): Promise<boolean> => {
    const ready = await readyAddresses(stage, 'moving');
    const prefix = `10.210.${alive.shape.index}.`;
    const there = ready.length === 4 && ready.every((address) => address.startsWith(prefix));
    if (!there) throw notYet(ready);
    const versions = await Promise.all(ready.map(versionAt));
    return versions.every((version) => version === '1');
  };
  await eventually(wanted, { ...PATIENCE, describe: `all are served from ${alive.name}` });
  await stage.world.until('deployments', 'moving', ({ status }) => status?.readyReplicas === 4);
}

async function solo({ world }: Stage): Promise<Obj> {
  return world.get('pods', 'solo-0');
}

/** Of a node that isn't heard of nobody knows what still runs: a StatefulSet's pod has no second. */
async function isMarked({ world }: Stage, lost: RealNode): Promise<void> {
  const { status, spec } = await world.api.get('nodes', '', lost.name);
  const ready = status.conditions.find((one: Obj) => one.type === 'Ready');
  expect(ready).toMatchObject({ status: 'Unknown', reason: 'NodeStatusUnknown' });
  const taints = (spec.taints as Obj[]).map(({ key, effect }) => `${key}:${effect}`).sort();
  expect(taints).toEqual([
    'node.kubernetes.io/unreachable:NoExecute',
    'node.kubernetes.io/unreachable:NoSchedule',
  ]);
}

/** Waits until the pod garbage collector has looked at all pods as they are now, and done its work. */
async function garbageIsCollected({ world }: Stage): Promise<void> {
  const name = 'orphan';
  const spec = { nodeName: 'nowhere', containers: [{ name, image: name }] };
  await world.create({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
  await world.api.waitGone('pods', world.namespace, name, PATIENCE);
}

/** A node is killed: pods move when their tolerations have run out, and it is taken in again. */
export async function nodeIsLost(stage: Stage): Promise<void> {
  const { world, nodes } = stage;
  await settle(stage);
  const before = await solo(stage);
  const lost = nodes.find(({ name }) => name === before.spec?.nodeName) as RealNode;
  const alive = nodes.find((node) => node !== lost) as RealNode;
  const was = await podsOf(stage, 'moving');
  const gone = soleOn(was, lost);
  expect(gone.length).toBeGreaterThan(0);
  const [warden] = soleOn(await podsOf(stage, 'warden'), lost);

  await lost.kill();
  expect([...gone, before].flatMap(({ metadata }) => processesOfPod(metadata.uid))).toEqual([]);
  await moved(stage, alive);
  await isMarked(stage, lost);
  const left = await eventually(async () => {
    const pod = await solo(stage);
    if (pod.metadata.deletionTimestamp) return pod;
    throw notYet(pod.metadata);
  });
  expect(left.metadata.uid).toBe(before.metadata.uid);
  await garbageIsCollected(stage);
  expect((await solo(stage)).metadata.uid).toBe(before.metadata.uid);
  const kept = await podsOf(stage, 'moving');
  const stayed = kept.filter(({ metadata }) => !metadata.deletionTimestamp);
  expect(soleOn(stayed, alive)).toHaveLength(4);
  const [silent] = soleOn(await podsOf(stage, 'warden'), lost);
  expect(silent?.metadata).toMatchObject({ uid: warden?.metadata.uid });
  expect(silent?.metadata.deletionTimestamp).toBeUndefined();
  await world.until('daemonsets', 'warden', ({ status }) => status?.numberReady === 1);

  // Somebody has looked: the machine is off.
  await world.api.patch('nodes', '', lost.name, taintsWith(await taintsOf(stage, lost)));
  const wanted = ({ metadata, spec, status }: Obj): boolean =>
    metadata.uid !== before.metadata.uid &&
    spec?.nodeName === alive.name &&
    status?.containerStatuses?.[0]?.ready === true;
  await world.until('pods', 'solo-0', wanted);
  await eventually(async () => soleOn(await podsOf(stage, 'moving'), lost).length === 0, PATIENCE);

  const others = (await taintsOf(stage, lost)).filter(({ key }) => key !== OUT_OF_SERVICE.key);
  await world.api.patch('nodes', '', lost.name, { spec: { taints: others } });
  lost.boot();
  await lost.ready();
  await world.until('daemonsets', 'warden', ({ status }) => status?.numberReady === 2);
  const [back] = soleOn(await podsOf(stage, 'warden'), lost);
  expect(back?.metadata.uid).toBe(warden?.metadata.uid);
  expect(back?.status.containerStatuses[0].restartCount).toBeGreaterThan(0);
  expect(processesOfPod(back?.metadata.uid)).not.toEqual([]);
  expect([...gone, before].flatMap(({ metadata }) => processesOfPod(metadata.uid))).toEqual([]);
}

async function taintsOf({ world }: Stage, node: RealNode): Promise<Obj[]> {
  return (await world.api.get('nodes', '', node.name)).spec.taints ?? [];
}

function taintsWith(taints: readonly Obj[]): object {
  return { spec: { taints: [...taints, OUT_OF_SERVICE] } };
}
