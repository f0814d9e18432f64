/**
 * What a pod asks for and is limited to, summed over its containers as scheduling and quota do:
 * init containers run one after the other, sidecars stay, overhead comes on top.
 */
import { addQuantities, parseQuantity, type Quantity } from './quantity.ts';
import type { Pod } from './types/index.ts';

/** Amounts by resource name ("cpu", "hugepages-2Mi", "example.com/gpu"). */
export type Amounts = ReadonlyMap<string, Quantity>;

/** Which parts of the API count. */
export interface PodResourcesOptions {
  /** What the kubelet reports counts as well: containers can be resized in place. */
  readonly useStatus: boolean;
  /** Resources given for the pod as a whole replace the sum of its containers. */
  readonly usePodLevel: boolean;
}

type Texts = Readonly<Record<string, string>> | undefined;
type Kind = 'requests' | 'limits';
type Container = NonNullable<NonNullable<Pod['spec']>['containers']>[number];
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

const HUGE_PAGES = 'hugepages-';

/** Everything the pod requests, with its overhead. */
export function podRequests(pod: Pod, options: PodResourcesOptions): Amounts {
  const total = sumOfContainers(pod, 'requests', options);
  replaceByPodLevel(total, pod, 'requests', options);
  add(total, amountsOf(pod.spec?.overhead));
  return total;
}

/** Everything the pod is limited to; the overhead counts where there is a limit. */
export function podLimits(pod: Pod, options: PodResourcesOptions): Amounts {
  const total = sumOfContainers(pod, 'limits', options);
  replaceByPodLevel(total, pod, 'limits', options);
  for (const [name, quantity] of amountsOf(pod.spec?.overhead)) {
    const limit = total.get(name);
    if (limit !== undefined && limit.nanos !== 0n) total.set(name, addQuantities(limit, quantity));
  }
  return total;
}

/** The amounts of a resource list; texts that are no quantities are left out. */
export function amountsOf(list: Texts): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>();
  for (const [name, text] of Object.entries(list ?? {})) {
    const quantity = parseQuantity(text);
    if (quantity !== undefined) amounts.set(name, quantity);
  }
  return amounts;
}

function sumOfContainers(
  pod: Pod,
  kind: Kind,
  options: PodResourcesOptions,
): Map<string, Quantity> {
  const statuses = options.useStatus ? statusesOf(pod) : new Map<string, ContainerStatus>();
  const isInfeasible = isResizeInfeasible(pod);
  const needOf = (container: Container): Map<string, Quantity> =>
    effective(container, statuses.get(container.name), kind, isInfeasible);
  const total = new Map<string, Quantity>();
  for (const container of pod.spec?.containers ?? []) add(total, needOf(container));
  const sidecars = new Map<string, Quantity>();
  const peak = new Map<string, Quantity>();
  for (const container of pod.spec?.initContainers ?? []) {
    if (container.restartPolicy === 'Always') {
      const need = needOf(container);
      add(total, need);
      add(sidecars, need);
      raise(peak, sidecars);
    } else {
      const need = amountsOf(container.resources?.[kind]);
      add(need, sidecars);
      raise(peak, need);
    }
  }
  raise(total, peak);
  return total;
}

function statusesOf({ status }: Pod): Map<string, ContainerStatus> {
  const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  return new Map(all.map((one) => [one.name, one]));
}

/** The largest of what is wanted, what is in effect and what is set aside. */
function effective(
  container: Container,
  status: ContainerStatus | undefined,
  kind: Kind,
  isInfeasible: boolean,
): Map<string, Quantity> {
  const wanted = container.resources?.[kind];
  if (status?.resources === undefined) return amountsOf(wanted);
  const need = isInfeasible ? new Map<string, Quantity>() : amountsOf(wanted);
  raise(need, amountsOf(status.resources[kind]));
  if (kind === 'requests') raise(need, amountsOf(status.allocatedResources));
  return need;
}

/** The node can never give what was wanted last. */
function isResizeInfeasible({ status }: Pod): boolean {
  const pending = status?.conditions?.find(({ type }) => type === 'PodResizePending');
  return pending?.reason === 'Infeasible';
}

function replaceByPodLevel(
  total: Map<string, Quantity>,
  pod: Pod,
  kind: Kind,
  options: PodResourcesOptions,
): void {
  if (!options.usePodLevel) return;
  for (const [name, quantity] of amountsOf(pod.spec?.resources?.[kind])) {
    if (isPodLevel(name)) total.set(name, quantity);
  }
}

function isPodLevel(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith(HUGE_PAGES);
}

function add(total: Map<string, Quantity>, more: Amounts): void {
  for (const [name, quantity] of more) {
    const known = total.get(name);
    total.set(name, known === undefined ? quantity : addQuantities(known, quantity));
  }
}

function raise(total: Map<string, Quantity>, least: Amounts): void {
  for (const [name, quantity] of least) {
    const known = total.get(name);
    if (known === undefined || quantity.nanos > known.nanos) total.set(name, quantity);
  }
}
