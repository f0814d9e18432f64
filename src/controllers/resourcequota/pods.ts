/** What a pod costs: itself, and what it requests and is limited to as long as it may run. */
import { labelKeyProblems } from '../../api/label-syntax.ts';
import { type Amounts, amountsOf, podLimits, podRequests } from '../../api/pod-resources.ts';
import type { Quantity } from '../../api/quantity.ts';
import { secondsMs } from '../../api/time.ts';
import type { Pod } from '../../api/types/index.ts';
import { countName, ONE } from './amounts.ts';
import type { Charge, ScopeFacts } from './charge.ts';

const REQUESTS = 'requests.';
const LIMITS = 'limits.';
const HUGE_PAGES = 'hugepages-';
const DEVICE_CLASS = 'deviceclass.resource.kubernetes.io/';
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const POD_COUNT = countName('pods');
const KNOWN = new Set([
  POD_COUNT,
  'pods',
  ...COMPUTE,
  ...COMPUTE.map((name) => `${REQUESTS}${name}`),
  ...COMPUTE.map((name) => `${LIMITS}${name}`),
]);
/** Of a pod that will not run (any more) only the object counts. */
const ONLY_ITSELF: Amounts = new Map([[POD_COUNT, ONE]]);

/** Feature gates that change what a pod costs. */
export interface PodGates {
  readonly inPlaceResize: boolean;
  readonly podLevelResources: boolean;
}

/** True for the names that pods are charged for. */
export function isPodName(name: string): boolean {
  const isHugePages = name.startsWith(HUGE_PAGES) || name.startsWith(`${REQUESTS}${HUGE_PAGES}`);
  return KNOWN.has(name) || isHugePages || isExtendedName(name);
}

/** "requests.example.com/gpu": extended resources, and those that stand for a device class. */
export function isExtendedName(name: string): boolean {
  const isForeign = name.includes('/') && !name.includes('kubernetes.io/');
  return name.startsWith(REQUESTS) && (isForeign || name.startsWith(`${REQUESTS}${DEVICE_CLASS}`));
}

/** True if the phase lets a pod count; a deletion is a matter of time. */
export function isChargedPhase(phase: string | undefined): boolean {
  return phase !== 'Failed' && phase !== 'Succeeded';
}

/** The price of a pod. */
export function podCharge(pod: Pod, gates: PodGates): Charge {
  const facts = factsOf(pod, gates);
  if (!isChargedPhase(pod.status?.phase)) {
    return { amounts: ONLY_ITSELF, facts, until: 0, amountsAfter: ONLY_ITSELF };
  }
  const options = { useStatus: gates.inPlaceResize, usePodLevel: gates.podLevelResources };
  const amounts = new Map<string, Quantity>([...ONLY_ITSELF, ['pods', ONE]]);
  for (const [name, quantity] of podRequests(pod, options)) {
    if (COMPUTE.includes(name) || name.startsWith(HUGE_PAGES)) amounts.set(name, quantity);
    if (isChargedByRequest(name)) amounts.set(`${REQUESTS}${name}`, quantity);
  }
  for (const [name, quantity] of podLimits(pod, options)) {
    if (COMPUTE.includes(name)) amounts.set(`${LIMITS}${name}`, quantity);
  }
  return { amounts, facts, until: endOfGrace(pod), amountsAfter: ONLY_ITSELF };
}

function isChargedByRequest(name: string): boolean {
  if (COMPUTE.includes(name) || name.startsWith(HUGE_PAGES)) return true;
  if (name.startsWith(DEVICE_CLASS)) return true;
  const isExtended =
    name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith(REQUESTS);
  return isExtended && labelKeyProblems(`${REQUESTS}${name}`).length === 0;
}

/** When a pod that is being deleted stops to count though it may hang; 0 if it isn't deleted. */
function endOfGrace({ metadata }: Pod): number {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return 0;
  return Date.parse(deletionTimestamp) + secondsMs(deletionGracePeriodSeconds);
}

function factsOf(pod: Pod, gates: PodGates): ScopeFacts {
  const { activeDeadlineSeconds, priorityClassName = '' } = pod.spec ?? {};
  return {
    pod: {
      terminating: activeDeadlineSeconds !== undefined && activeDeadlineSeconds >= 0,
      bestEffort: isBestEffort(pod, gates),
      priorityClass: priorityClassName,
      crossNamespaceAffinity: looksIntoNamespaces(pod),
    },
  };
}

function isBestEffort({ spec, status }: Pod, gates: PodGates): boolean {
  if (status?.qosClass) return status.qosClass === 'BestEffort';
  const wholePod = gates.podLevelResources ? spec?.resources : undefined;
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const all = wholePod === undefined ? containers.map(({ resources }) => resources) : [wholePod];
  return !all.some((resources) => asksForCompute(resources?.requests, resources?.limits));
}

type Texts = Readonly<Record<string, string>> | undefined;

function asksForCompute(...lists: readonly Texts[]): boolean {
  return lists.some((list) => {
    const amounts = amountsOf(list);
    return ['cpu', 'memory'].some((name) => (amounts.get(name)?.nanos ?? 0n) > 0n);
  });
}

interface Term {
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: object;
}

/** A term of its affinity to pods names namespaces or selects them. */
function looksIntoNamespaces({ spec }: Pod): boolean {
  const sides = [spec?.affinity?.podAffinity, spec?.affinity?.podAntiAffinity];
  const terms: readonly Term[] = sides.flatMap((side) => [
    ...(side?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(side?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      ({ podAffinityTerm }) => podAffinityTerm,
    ),
  ]);
  return terms.some(
    ({ namespaces, namespaceSelector }) =>
      (namespaces ?? []).length > 0 || namespaceSelector !== undefined,
  );
}
