/** The sample of `make run`: a Deployment whose pods are shown as they come to life. */
import { deployment } from '../../test/builders/index.ts';
import type { Cluster, Obj } from '../../test/rig/index.ts';

export const NAMESPACE = 'demo';
export const NAME = 'web';

const READY_TIMEOUT_MS = 60_000;

/** Creates namespace and Deployment. */
export async function applySample(cluster: Cluster, replicas: number): Promise<void> {
  await cluster.namespace(NAMESPACE, true);
  await cluster.api.create(deployment(`${NAMESPACE}/${NAME}`, { spec: { replicas } }));
}

function isReady(pod: Obj): boolean {
  const conditions: Obj[] = pod.status?.conditions ?? [];
  return conditions.some((one) => one.type === 'Ready' && one.status === 'True');
}

/** Tells each step of the pods until `replicas` of them are ready. */
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

/** Waits until there are `count` pods; gives the time it took, in milliseconds. */
export async function untilPods(cluster: Cluster, count: number, timeoutMs: number) {
  const since = performance.now();
  const names = new Set<string>();
  await cluster.api.watchUntil(
    'pods',
    NAMESPACE,
    ({ type, object }) => {
      if (type === 'DELETED') names.delete(object.metadata.name);
      else names.add(object.metadata.name);
      return names.size >= count;
    },
    { timeoutMs },
  );
  return performance.now() - since;
}
