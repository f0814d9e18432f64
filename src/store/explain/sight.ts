/** What an object says of itself, in sentences: how many, in which phase, what is wrong. */
import * as resources from '../../api/resource.ts';
import { type Resource, resourceId } from '../../api/resource.ts';
import { timeMs } from '../../api/time.ts';
import type { CronJob, KubeObject } from '../../api/types/index.ts';
import { durationText } from '../../runtime/age.ts';
import { cronSight } from './cron-sight.ts';

/** Any object, looked at without knowing its kind. */
interface Loose {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

const KINDS: ReadonlyMap<string, string> = new Map(
  Object.values(resources)
    .filter((each): each is Resource => typeof each === 'object' && 'plural' in each)
    .map((each) => [resourceId(each), each.kind]),
);

const CRON_JOBS_ID = resourceId(resources.CRON_JOBS);

/** Conditions that are trouble when they are True; all others are when they are False. */
const BAD_WHEN_TRUE =
  /^(Failed|FailureTarget|ReplicaFailure|Suspended|.*Pressure|NetworkUnavailable|DisruptionTarget|ScalingLimited|.*Failure|.*Remaining)$/;

/** The kind of an object, or of its resource; the resource's id where neither is known. */
export function kindOf(resource: string, object?: KubeObject): string {
  return object?.kind ?? KINDS.get(resource) ?? resource;
}

/** What an object says of itself; none where it says nothing that is worth a sentence. */
export function sightOf(resource: string, object: KubeObject, now: number): string[] {
  const loose = object as KubeObject & Loose;
  return [
    ...deletionOf(object, now),
    ...generationOf(loose, object),
    ...numbersOf(resource, loose),
    ...(resource === CRON_JOBS_ID ? cronSight(object as CronJob, now) : []),
    ...troubleOf(loose).map(
      ({ type, status, reason, message }) =>
        `It says of itself: ${type} is ${status}` +
        `${reason ? ` (${reason})` : ''}${message ? `: ${message.trim()}` : ''}`,
    ),
  ];
}

/** Its conditions, one line each. */
export function conditionLines(object: KubeObject): string[] {
  return conditionsOf(object as KubeObject & Loose).map(
    ({ type, status, reason, message }) =>
      `${type} ${status}${reason ? ` ${reason}` : ''}${message ? `: ${message.trim()}` : ''}`,
  );
}

function deletionOf({ metadata }: KubeObject, now: number): string[] {
  const at = timeMs(metadata.deletionTimestamp);
  if (at === 0) return [];
  const finalizers = metadata.finalizers ?? [];
  const held =
    finalizers.length === 0 ? '' : `; these finalizers hold it: ${finalizers.join(', ')}`;
  const when = at <= now ? `since ${durationText(now - at)}` : `within ${durationText(at - now)}`;
  return [`It is being deleted ${when}${held}.`];
}

function generationOf({ status }: Loose, { metadata }: KubeObject): string[] {
  const observed = status?.observedGeneration;
  const { generation } = metadata;
  if (generation === undefined || typeof observed !== 'number' || observed >= generation) return [];
  return [`Its newest spec (generation ${generation}) is not in its status yet (${observed}).`];
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function numbersOf(resource: string, { spec = {}, status = {} }: Loose): string[] {
  switch (resource) {
    case 'pods':
      return [podText(spec, status)];
    case 'deployments.apps':
    case 'replicasets.apps':
    case 'statefulsets.apps':
    case 'replicationcontrollers': {
      const paused = spec.paused === true ? ' Its rollout is paused.' : '';
      const wanted = spec.replicas ?? 1;
      const updated =
        status.updatedReplicas === undefined ? '' : `, ${status.updatedReplicas} up to date`;
      return [
        `It wants ${wanted} ${wanted === 1 ? 'replica' : 'replicas'}: ` +
          `${count(status.replicas)} there${updated}, ` +
          `${count(status.readyReplicas)} ready.${paused}`,
      ];
    }
    case 'daemonsets.apps':
      return [
        `It wants a pod on ${count(status.desiredNumberScheduled)} nodes: ` +
          `${count(status.currentNumberScheduled)} have one, ${count(status.numberReady)} ready.`,
      ];
    case 'jobs.batch':
      return [
        `${count(status.active)} pods are active, ${count(status.succeeded)} have succeeded of ` +
          `${spec.completions ?? 'any number'}, ${count(status.failed)} failed` +
          `${spec.suspend === true ? '; it is suspended' : ''}.`,
      ];
    case 'horizontalpodautoscalers.autoscaling':
      return [
        `It has ${count(status.currentReplicas)} replicas and wants ` +
          `${count(status.desiredReplicas)} (${spec.minReplicas ?? 1} to ${spec.maxReplicas}).`,
      ];
    case 'poddisruptionbudgets.policy':
      return [
        `${count(status.currentHealthy)} of ${count(status.expectedPods)} pods are healthy, ` +
          `${count(status.desiredHealthy)} must be: ${count(status.disruptionsAllowed)} may go.`,
      ];
    case 'nodes':
      return nodeText(spec);
    default:
      return typeof status.phase === 'string' ? [`Its phase is ${status.phase}.`] : [];
  }
}

function podText(spec: Record<string, unknown>, status: Record<string, unknown>): string {
  const node = typeof spec.nodeName === 'string' ? `on node ${spec.nodeName}` : 'on no node yet';
  const states = Array.isArray(status.containerStatuses) ? status.containerStatuses : [];
  const stuck = states.flatMap(
    ({ name, state }: { name?: string; state?: { waiting?: Partial<Condition> } }) => {
      const { reason, message } = state?.waiting ?? {};
      if (reason === undefined) return [];
      return [`${name} (${reason}${message ? `: ${message.trim()}` : ''})`];
    },
  );
  const waiting = stuck.length === 0 ? '' : `; containers wait: ${stuck.join(', ')}`;
  return `It is ${status.phase ?? 'without a phase'} ${node}${waiting}.`;
}

function nodeText(spec: Record<string, unknown>): string[] {
  const taints = Array.isArray(spec.taints) ? spec.taints : [];
  const texts = taints.map(
    ({ key, value, effect }: { key: string; value?: string; effect: string }) =>
      `${key}${value ? `=${value}` : ''}:${effect}`,
  );
  return texts.length === 0 ? [] : [`It has the taints ${texts.join(', ')}.`];
}

function conditionsOf({ status }: Loose): Condition[] {
  const conditions = status?.conditions;
  return Array.isArray(conditions) ? (conditions as Condition[]) : [];
}

/** A Job or pod that has ended well is not Ready either, and that is no trouble. */
function troubleOf(loose: Loose): Condition[] {
  if (loose.status?.phase === 'Succeeded') return [];
  const trouble = conditionsOf(loose).filter(({ type, status, reason }) =>
    BAD_WHEN_TRUE.test(type)
      ? status === 'True'
      : status === 'Unknown' || (status === 'False' && reason !== 'TooFewReplicas'),
  );
  const ready = trouble.find(({ type }) => type === 'Ready');
  // Ready says the same again, with its reason.
  return trouble.filter(
    ({ type, reason }) => type !== 'ContainersReady' || reason !== ready?.reason,
  );
}

/** True for what is not (yet) as its spec wants it, by its own word. */
export function lacksSomething(resource: string, object: KubeObject): boolean {
  const loose = object as KubeObject & Loose;
  const { spec = {}, status = {} } = loose;
  const wanted = count(spec.replicas ?? 1);
  if (troubleOf(loose).length > 0) return true;
  switch (resource) {
    case 'deployments.apps':
      return count(status.readyReplicas) < wanted || count(status.updatedReplicas) < wanted;
    case 'replicasets.apps':
    case 'statefulsets.apps':
    case 'replicationcontrollers':
      return count(status.readyReplicas) < wanted;
    case 'daemonsets.apps':
      return count(status.numberReady) < count(status.desiredNumberScheduled);
    case 'jobs.batch':
      return count(status.failed) > 0 && !isComplete(loose);
    default:
      return false;
  }
}

/** True for what needs no pod (any more): an old ReplicaSet, a Job that is complete. */
export function needsNoPod(object: KubeObject): boolean {
  const loose = object as KubeObject & Loose;
  return isComplete(loose) || (loose.spec?.replicas === 0 && count(loose.status?.replicas) === 0);
}

function isComplete(loose: Loose): boolean {
  return conditionsOf(loose).some(({ type, status }) => type === 'Complete' && status === 'True');
}
