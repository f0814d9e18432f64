/** What must hold once nothing goes wrong any more and everybody had time: checked at each calm. */
import {
  DAEMON_SETS,
  DEPLOYMENTS,
  JOBS,
  NODES,
  PODS,
  REPLICA_SETS,
  resourceId,
  STATEFUL_SETS,
} from '../../src/api/resource.ts';
import type { StorePort } from '../../src/runtime/ports.ts';
import type { Json, Obj } from '../rig/api.ts';
import { keyOf, type ModelApi } from './api-model.ts';
import { SERVED } from './cluster-data.ts';
import type { Ledger } from './ledger.ts';

/** Everything that is not as it should be, in words. */
export function unsettled(api: ModelApi, store: StorePort, ledger: Ledger): string[] {
  return [
    ...SERVED.flatMap((resource) => api.all(resource).flatMap(leftBehind)),
    ...api.all(DEPLOYMENTS).flatMap((one) => ofDeployment(api, one)),
    ...api.all(REPLICA_SETS).flatMap((one) => ofReplicaSet(api, one)),
    ...api.all(STATEFUL_SETS).flatMap((one) => ofStatefulSet(api, one)),
    ...api.all(DAEMON_SETS).flatMap((one) => ofDaemonSet(api, one)),
    ...api.all(JOBS).flatMap((one) => ofJob(api, one, ledger)),
    ...ofStore(store),
    ...ofCaches(api, store),
  ];
}

function leftBehind(object: Obj): string[] {
  const { deletionTimestamp, finalizers } = object.metadata;
  if (deletionTimestamp === undefined) return [];
  return [`${object.kind} ${keyOf(object)} is still going, finalizers ${finalizers}`];
}

/** Complains about each field that is not as expected. */
function differing(object: Obj, fields: Readonly<Record<string, [unknown, unknown]>>): string[] {
  return Object.entries(fields)
    .filter(([, [found, wanted]]) => (found ?? 0) !== wanted)
    .map(([name, [found, wanted]]) => {
      return `${object.kind} ${keyOf(object)}: ${name} is ${found}, should be ${wanted}`;
    });
}

function owned(api: ModelApi, owner: Obj): Obj[] {
  return api
    .all(PODS)
    .filter(({ metadata }) =>
      (metadata.ownerReferences ?? []).some((one: Json) => one.uid === owner.metadata.uid),
    );
}

function isOver(pod: Obj): boolean {
  return ['Succeeded', 'Failed'].includes(pod.status?.phase);
}

function live(api: ModelApi, owner: Obj): number {
  return owned(api, owner).filter((pod) => !isOver(pod)).length;
}

function ofDeployment(api: ModelApi, one: Obj): string[] {
  const { replicas } = one.spec;
  const sets = api
    .all(REPLICA_SETS)
    .filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === one.metadata.uid);
  const wanted = sets.reduce((sum, set) => sum + set.spec.replicas, 0);
  const filled = sets.filter((set) => set.spec.replicas > 0);
  const image = (object: Obj): string => object.spec.template.spec.containers[0].image;
  const other = filled.filter((set) => image(set) !== image(one));
  return [
    ...differing(one, {
      observedGeneration: [one.status?.observedGeneration, one.metadata.generation],
      replicas: [one.status?.replicas, replicas],
      updatedReplicas: [one.status?.updatedReplicas, replicas],
      availableReplicas: [one.status?.availableReplicas, replicas],
      'replicas of its sets': [wanted, replicas],
    }),
    ...other.map((set) => `${keyOf(one)} still has old pods in ${keyOf(set)}`),
  ];
}

function ofReplicaSet(api: ModelApi, one: Obj): string[] {
  const { replicas } = one.spec;
  return differing(one, {
    'live pods': [live(api, one), replicas],
    replicas: [one.status?.replicas, replicas],
    readyReplicas: [one.status?.readyReplicas, replicas],
    observedGeneration: [one.status?.observedGeneration, one.metadata.generation],
  });
}

function ofStatefulSet(api: ModelApi, one: Obj): string[] {
  const { replicas } = one.spec;
  return differing(one, {
    'live pods': [live(api, one), replicas],
    replicas: [one.status?.replicas, replicas],
    readyReplicas: [one.status?.readyReplicas, replicas],
    updatedReplicas: [one.status?.updatedReplicas, replicas],
    updateRevision: [one.status?.updateRevision, one.status?.currentRevision],
    observedGeneration: [one.status?.observedGeneration, one.metadata.generation],
  });
}

function ofDaemonSet(api: ModelApi, one: Obj): string[] {
  const nodes = api.all(NODES).length;
  return differing(one, {
    'live pods': [live(api, one), nodes],
    desiredNumberScheduled: [one.status?.desiredNumberScheduled, nodes],
    numberReady: [one.status?.numberReady, nodes],
    updatedNumberScheduled: [one.status?.updatedNumberScheduled, nodes],
    observedGeneration: [one.status?.observedGeneration, one.metadata.generation],
  });
}

function ofJob(api: ModelApi, one: Obj, ledger: Ledger): string[] {
  const { status = {}, spec, metadata } = one;
  const conditions: Json[] = status.conditions ?? [];
  const has = (type: string): boolean =>
    conditions.some((condition) => condition.type === type && condition.status === 'True');
  const name = `Job ${keyOf(one)}`;
  if (!has('Complete') && !has('Failed'))
    return [`${name} has not ended: ${JSON.stringify(status)}`];
  const pods = owned(api, one);
  const held = pods.filter((pod) => (pod.metadata.finalizers ?? []).length > 0);
  const uncounted = status.uncountedTerminatedPods ?? {};
  const open = [...(uncounted.succeeded ?? []), ...(uncounted.failed ?? [])];
  const indexed = spec.completionMode === 'Indexed';
  const counted = ledger.succeededOf(metadata.uid);
  const tooMany = (status.succeeded ?? 0) > counted;
  return [
    ...differing(one, {
      active: [status.active, 0],
      ...(has('Complete')
        ? { 'enough succeeded': [status.succeeded >= spec.completions, true] }
        : {}),
      ...(indexed && has('Complete') ? { succeeded: [status.succeeded, spec.completions] } : {}),
    }),
    ...(tooMany ? [`${name} counts ${status.succeeded} pods, ${counted} succeeded`] : []),
    ...(open.length > 0 ? [`${name} has uncounted pods: ${open}`] : []),
    ...held.map((pod) => `${name}: pod ${keyOf(pod)} keeps its finalizer`),
  ];
}

function ofStore(store: StorePort): string[] {
  return [
    ...store.intents.all().map((row) => `open intent: ${JSON.stringify(row)}`),
    ...store.expectations
      .all()
      .filter((row) => row.adds > 0 || row.deletes > 0 || row.deleteKeys.length > 0)
      .map((row) => `open expectation: ${JSON.stringify(row)}`),
    ...store.work
      .all()
      .filter((row) => row.failures > 0 || row.dirty)
      .map((row) => `open work: ${JSON.stringify(row)}`),
  ];
}

/** Each stored resource is what the server has. */
function ofCaches(api: ModelApi, store: StorePort): string[] {
  return SERVED.flatMap((resource) => {
    const id = resourceId(resource);
    if (store.objects.resumePoint(id) === undefined) return [];
    const wanted = api.all(resource).map((one) => `${keyOf(one)}@${one.metadata.resourceVersion}`);
    const found = [...store.objects.heads(id)].map((head) => `${head.key}@${head.resourceVersion}`);
    return wanted.sort().join() === found.sort().join()
      ? []
      : [`the stored ${id} differ from the server's: ${found} instead of ${wanted}`];
  });
}

/**
 * What is stored may be resumed: each resource is at least as new as its resume point says, and holds
 * nothing that was gone by then.
 */
export function aheadOfObjects(api: ModelApi, store: StorePort): string[] {
  return SERVED.flatMap((resource) => {
    const id = resourceId(resource);
    const point = store.objects.resumePoint(id);
    const version = Number(point?.resourceVersion ?? 0);
    if (point === undefined || version < api.oldest) return [];
    const then = new Map(api.all(resource).map((object) => [keyOf(object), object]));
    for (const change of [...api.history(id)].reverse()) {
      if (change.version <= version) break;
      if (change.before === undefined) then.delete(keyOf(change.object));
      else then.set(keyOf(change.object), change.before);
    }
    const rows = new Map([...store.objects.heads(id)].map((head) => [head.key, head]));
    const missing = [...then].filter(([key, object]) => {
      const row = rows.get(key);
      return row === undefined
        ? api.find(resource, key)?.metadata.uid === object.metadata.uid
        : Number(row.resourceVersion) < Number(object.metadata.resourceVersion);
    });
    const zombies = [...rows.values()].filter(
      (row) => Number(row.resourceVersion) <= version && !then.has(row.key),
    );
    return [
      ...missing.map(([key]) => `${id} ${key} is older in the file than its point ${version}`),
      ...zombies.map(({ key }) => `${id} ${key} is in the file, but was gone at ${version}`),
    ];
  });
}
