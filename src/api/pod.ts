/** What controllers ask about a pod: its record, active, terminating, ready, available. */
import { type JobPodFields, jobPodFields } from './job.ts';
import { parseJson, stringifyJson } from './json.ts';
import type { StringMap } from './meta.ts';
import { type RecordFields, recordFields } from './record.ts';
import { timeMs } from './time.ts';
import type { Pod, Toleration } from './types/index.ts';

/** What is read of a pod to say whether it counts. */
export interface PodState {
  readonly phase: string;
  /** deletionTimestamp is set. */
  readonly deleting: boolean;
}

/** What is read of a pod to say whether it is available. */
export interface PodReadiness {
  readonly ready: boolean;
  /** When the Ready condition last changed, milliseconds since the epoch; 0 if unknown. */
  readonly readySince: number;
}

/** What `podRecordFields` gives: the record that the pod informer holds. */
export interface PodRecordFields extends RecordFields, PodState, PodReadiness {
  readonly nodeName: string;
  readonly createdAt: number;
  readonly deletionAt: number;
  readonly restarts: number;
  readonly initRestarts: number;
  readonly deletionCost: number;
  readonly podIps: readonly string[];
  readonly job: JobPodFields | undefined;
  readonly hostname: string;
  readonly subdomain: string;
  readonly namedPorts: readonly NamedPort[];
  readonly disruptionTargetAt: number | undefined;
  readonly tolerations: string;
}

/** A container port that has a name. */
export interface NamedPort {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
}

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const COST_DIGITS = /^(?:-\d+|0|[1-9]\d*)$/;
const INT32_MAX = 2 ** 31 - 1;
const NO_IPS: readonly string[] = Object.freeze([]);
const NO_PORTS: readonly NamedPort[] = Object.freeze([]);
const UNSHARED: Share = (_id, value) => value;

/**
 * Gives an equal value that was given before, or this one, so that the records of many pods hold it
 * together. Equal ids mean equal values.
 */
export type Share = <T extends string | readonly NamedPort[]>(id: string, value: T) => T;

/** Succeeded or Failed: its containers have stopped for good. */
export function isTerminal(pod: Pick<PodState, 'phase'>): boolean {
  return pod.phase === 'Succeeded' || pod.phase === 'Failed';
}

/** Neither terminal nor being deleted. */
export function isActive(pod: PodState): boolean {
  return !pod.deleting && !isTerminal(pod);
}

/** Being deleted while its containers may still run. */
export function isTerminating(pod: PodState): boolean {
  return pod.deleting && !isTerminal(pod);
}

/** Ready for at least `minReadySeconds` at `now` (ms). With 0 seconds, ready is enough. */
export function isAvailable(pod: PodReadiness, minReadySeconds: number, now: number): boolean {
  if (!pod.ready) return false;
  if (minReadySeconds === 0) return true;
  return pod.readySince !== 0 && pod.readySince + minReadySeconds * 1000 <= now;
}

/**
 * Milliseconds until a ready pod becomes available; undefined if it is available, not ready, or
 * its ready time is unknown.
 */
export function availableIn(
  pod: PodReadiness,
  minReadySeconds: number,
  now: number,
): number | undefined {
  if (!pod.ready || minReadySeconds <= 0 || pod.readySince === 0) return undefined;
  const wait = pod.readySince + minReadySeconds * 1000 - now;
  return wait > 0 ? wait : undefined;
}

/**
 * Value of the pod-deletion-cost annotation; 0 if it is unset or no 32-bit integer in canonical
 * form ("+1" and "01" are refused as upstream does, "-01" is not).
 */
export function deletionCost(annotations: StringMap | undefined): number {
  const text = annotations?.[DELETION_COST];
  if (text === undefined || !COST_DIGITS.test(text)) return 0;
  const cost = Number(text);
  return cost > INT32_MAX || cost < -INT32_MAX - 1 ? 0 : cost;
}

/** Highest restart count of a pod's containers, and of its restartable init containers. */
function restartCounts(pod: Pod): { readonly restarts: number; readonly initRestarts: number } {
  let restarts = 0;
  for (const status of pod.status?.containerStatuses ?? []) {
    restarts = Math.max(restarts, status.restartCount);
  }
  let initRestarts = 0;
  for (const container of pod.spec?.initContainers ?? []) {
    if (container.restartPolicy !== 'Always') continue;
    const status = pod.status?.initContainerStatuses?.find((one) => one.name === container.name);
    initRestarts = Math.max(initRestarts, status?.restartCount ?? 0);
  }
  return { restarts, initRestarts };
}

function podIps(pod: Pod): readonly string[] {
  const ips = pod.status?.podIPs;
  if (ips !== undefined && ips.length > 0) return ips.map((entry) => entry.ip);
  return pod.status?.podIP ? [pod.status.podIP] : NO_IPS;
}

/** Named ports of the containers, then those of the restartable init containers. */
function namedPorts(pod: Pod, share: Share): readonly NamedPort[] {
  const sidecars = pod.spec?.initContainers?.filter((one) => one.restartPolicy === 'Always') ?? [];
  const ports: NamedPort[] = [];
  let id = 'ports';
  for (const container of [...(pod.spec?.containers ?? []), ...sidecars]) {
    for (const { name, containerPort, protocol = 'TCP' } of container.ports ?? []) {
      if (!name) continue;
      ports.push({ name, port: containerPort, protocol });
      id += ` ${name}/${containerPort}/${protocol}`;
    }
  }
  return ports.length === 0 ? NO_PORTS : share(id, ports);
}

/**
 * Since when the pod is said to be disrupted, milliseconds (0: it doesn't say); undefined if it
 * isn't. What the kubelet says is left out: it may take as long as it likes.
 */
function disruptionTargetAt(pod: Pod): number | undefined {
  const condition = pod.status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined;
  return timeMs(condition.lastTransitionTime);
}

function tolerationsText({ spec }: Pod, share: Share): string {
  const tolerations = spec?.tolerations ?? [];
  if (tolerations.length === 0) return '';
  const text = stringifyJson(tolerations);
  return share(text, text);
}

/** The tolerations that a pod's record keeps as text. */
export function tolerationsOf({ tolerations }: { readonly tolerations: string }): Toleration[] {
  return tolerations === '' ? [] : parseJson<Toleration[]>(tolerations);
}

/** The record of a whole pod. Times are milliseconds since the epoch, 0 where the pod has none. */
export function podRecordFields(pod: Pod, share: Share = UNSHARED): PodRecordFields {
  const ready = pod.status?.conditions?.find((condition) => condition.type === 'Ready');
  const { nodeName = '', hostname = '', subdomain = '' } = pod.spec ?? {};
  return {
    ...recordFields(pod),
    nodeName: share(nodeName, nodeName),
    phase: pod.status?.phase ?? '',
    ready: ready?.status === 'True',
    readySince: timeMs(ready?.lastTransitionTime),
    createdAt: timeMs(pod.metadata.creationTimestamp),
    deletionAt: timeMs(pod.metadata.deletionTimestamp),
    ...restartCounts(pod),
    deletionCost: deletionCost(pod.metadata.annotations),
    podIps: podIps(pod),
    job: jobPodFields(pod),
    hostname: hostname === pod.metadata.name ? pod.metadata.name : hostname,
    subdomain: share(subdomain, subdomain),
    namedPorts: namedPorts(pod, share),
    disruptionTargetAt: disruptionTargetAt(pod),
    tolerations: tolerationsText(pod, share),
  };
}
