/** What a pod requests of a resource, as utilization is counted. Pure. */
import { podRequests } from '../../api/pod-resources.ts';
import { quantityMilli } from '../../api/quantity.ts';
import type { Pod } from '../../api/types/index.ts';
import { MetricProblem } from './proposal.ts';

/** Which request is asked for. */
export interface RequestQuery {
  /** "cpu", "memory", ... */
  readonly resource: string;
  /** "" for the whole pod. */
  readonly container: string;
  /** Feature gate PodLevelResources. */
  readonly usePodLevel: boolean;
}

const NANOS_PER_MILLI = 1_000_000n;

/**
 * Thousandths of what a pod, or one container of it, requests. What the pod requests as a whole
 * comes before its containers. Throws MetricProblem if anything in question requests nothing.
 */
export function requestOf(pod: Pod, query: RequestQuery): bigint {
  const { resource, container, usePodLevel } = query;
  const isWhole = container === '' && usePodLevel && hasPodLevelRequests(pod);
  return isWhole ? podLevelRequest(pod, resource) : containersRequest(pod, query);
}

function hasPodLevelRequests({ spec }: Pod): boolean {
  const names = Object.keys(spec?.resources?.requests ?? {});
  return names.some((name) => /^(cpu|memory|hugepages-.*)$/.test(name));
}

function podLevelRequest(pod: Pod, resource: string): bigint {
  const amounts = podRequests(pod, { useStatus: false, usePodLevel: true });
  const amount = amounts.get(resource);
  if (amount === undefined) {
    const { name } = pod.metadata;
    throw new MetricProblem(`missing pod-level request for ${resource} in Pod ${name}`);
  }
  return (amount.nanos + NANOS_PER_MILLI - 1n) / NANOS_PER_MILLI;
}

function containersRequest(pod: Pod, { resource, container }: RequestQuery): bigint {
  const { name } = pod.metadata;
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  const asked = [...containers, ...sidecars].filter(
    (one) => container === '' || container === one.name,
  );
  if (container !== '' && asked.length === 0) {
    throw new MetricProblem(`container ${container} not found in Pod ${name}`);
  }
  let sum = 0n;
  for (const one of asked) {
    const milli = quantityMilli(one.resources?.requests?.[resource] ?? '');
    if (milli === undefined) {
      throw new MetricProblem(
        `missing request for ${resource} in container ${one.name} of Pod ${name}`,
      );
    }
    sum += milli;
  }
  return sum;
}
