/** The sample of `make run`: workloads of each kind, shown as they come to life. */
import {
  cronJob,
  daemonSet,
  deployment,
  job,
  service,
  statefulSet,
} from '../../test/builders/index.ts';
import type { Cluster, Obj } from '../../test/rig/index.ts';

export const NAMESPACE = 'demo';
export const NAME = 'web';

const READY_TIMEOUT_MS = 60_000;
const MEMBERS = 2;
const COMPLETIONS = 3;

/** Creates the namespace and one of each: Deployment, Service, StatefulSet, DaemonSet, Job, CronJob. */
export async function applySample(cluster: Cluster, replicas: number): Promise<void> {
  await cluster.namespace(NAMESPACE, true);
  const objects = [
    deployment(`${NAMESPACE}/${NAME}`, { spec: { replicas } }),
    service(`${NAMESPACE}/${NAME}`),
    statefulSet(`${NAMESPACE}/db`, { spec: { replicas: MEMBERS } }),
    daemonSet(`${NAMESPACE}/agent`),
    job(`${NAMESPACE}/once`, { spec: { completions: COMPLETIONS, parallelism: 2 } }),
    cronJob(`${NAMESPACE}/tick`),
  ];
  for (const object of objects) await cluster.api.create(object);
}

/** What the others must look like in the end, besides the Deployment's pods. */
const GOALS: readonly {
  readonly resource: string;
  readonly name: string;
  readonly says: string;
  reached(object: Obj, nodes: number, replicas: number): boolean;
}[] = [
  {
    resource: 'statefulsets',
    name: 'db',
    says: `StatefulSet db: ${MEMBERS} pods ready, one after the other`,
    reached: ({ status }) => status?.readyReplicas === MEMBERS,
  },
  {
    resource: 'daemonsets',
    name: 'agent',
    says: 'DaemonSet agent: a pod ready on each node',
    reached: ({ status }, nodes) => status?.numberReady === nodes,
  },
  {
    resource: 'endpointslices',
    name: NAME,
    says: `Service ${NAME}: its slice lists all ready pods`,
    reached: ({ endpoints }, _nodes, replicas) =>
      (endpoints ?? []).filter((one: Obj) => one.conditions.ready).length === replicas,
  },
  {
    resource: 'jobs',
    name: 'once',
    says: `Job once: ${COMPLETIONS} pods finished, complete`,
    reached: ({ status }) => status?.succeeded === COMPLETIONS && Boolean(status.completionTime),
  },
];

/** Tells of each of the others when it is as it should be. */
export async function showOthers(
  cluster: Cluster,
  replicas: number,
  tell: (line: string) => void,
): Promise<void> {
  const since = performance.now();
  const nodes = (await cluster.api.list('nodes')).length;
  const waits = GOALS.map(async ({ resource, name, says, reached }) => {
    await cluster.api.watchUntil(
      resource,
      NAMESPACE,
      ({ object }) => object.metadata.name.startsWith(name) && reached(object, nodes, replicas),
      { timeoutMs: READY_TIMEOUT_MS },
    );
    tell(`  ${((performance.now() - since) / 1000).toFixed(2)} s  ${says}`);
  });
  await Promise.all(waits);
  tell('  CronJob tick starts a Job at each full minute');
}

function isOfDeployment(pod: Obj): boolean {
  return pod.metadata.labels?.app === NAME;
}

function isReady(pod: Obj): boolean {
  const conditions: Obj[] = pod.status?.conditions ?? [];
  return conditions.some((one) => one.type === 'Ready' && one.status === 'True');
}

/** Tells each step of the Deployment's pods until `replicas` of them are ready. */
export async function showPods(
  cluster: Cluster,
  replicas: number,
  tell: (line: string) => void,
): Promise<void> {
  const since = performance.now();
  const shown = new Map<string, string>();
  const ready = new Set<string>();
  await cluster.api.watchUntil(
    'pods',
    NAMESPACE,
    ({ type, object: pod }) => {
      if (!isOfDeployment(pod)) return false;
      const { name } = pod.metadata;
      if (type === 'DELETED') ready.delete(name);
      else if (isReady(pod)) ready.add(name);
      const step = isReady(pod)
        ? `ready on ${pod.spec.nodeName}`
        : pod.spec.nodeName
          ? `bound to ${pod.spec.nodeName}`
          : 'created';
      if (type !== 'DELETED' && shown.get(name) !== step) {
        shown.set(name, step);
        tell(`  ${((performance.now() - since) / 1000).toFixed(2)} s  pod ${name} ${step}`);
      }
      return ready.size >= replicas;
    },
    { timeoutMs: READY_TIMEOUT_MS },
  );
}

/** Asks for one pod more and gives how many are wanted then. */
export async function scaleUp(cluster: Cluster): Promise<number> {
  const { spec } = await cluster.api.get('deployments', NAMESPACE, NAME);
  await cluster.api.scale('deployments', NAMESPACE, NAME, spec.replicas + 1);
  return spec.replicas + 1;
}

/** Waits until the Deployment has `count` pods; gives the time it took, in milliseconds. */
export async function untilPods(cluster: Cluster, count: number, timeoutMs: number) {
  const since = performance.now();
  const names = new Set<string>();
  await cluster.api.watchUntil(
    'pods',
    NAMESPACE,
    ({ type, object }) => {
      if (type === 'DELETED') names.delete(object.metadata.name);
      else if (isOfDeployment(object)) names.add(object.metadata.name);
      return names.size >= count;
    },
    { timeoutMs },
  );
  return performance.now() - since;
}
