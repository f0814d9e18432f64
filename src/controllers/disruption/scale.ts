/** How many pods the controllers of some pods want in all. */
import { isNotFound } from '../../api/errors.ts';
import { quote } from '../../api/go-quote.ts';
import { controllerOf } from '../../api/meta.ts';
import { parseApiVersion, resourceId } from '../../api/resource.ts';
import type {
  Deployment,
  KubeObject,
  OwnerReference,
  Pod,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from '../../api/types/index.ts';
import type { SyncRun } from '../../runtime/controller.ts';
import type { Lister, PodRecord } from '../../runtime/informer/types.ts';
import type { Kinds } from '../_kit/scale/kinds.ts';
import type { Scale, Scales } from '../_kit/scale/scales.ts';

/** Where the sizes of the usual controllers are read, and how those of all others are. */
export interface ScaleSources {
  readonly pods: Lister<Pod, PodRecord>;
  readonly replicationControllers: Lister<ReplicationController>;
  readonly deployments: Lister<Deployment>;
  readonly replicaSets: Lister<ReplicaSet>;
  readonly statefulSets: Lister<StatefulSet>;
  readonly kinds: Kinds;
  readonly scales: Scales;
}

/** A controller and how many pods it wants. */
interface Sized {
  readonly uid: string;
  readonly replicas: number;
}

/** What the controllers of some pods want. */
export interface ExpectedScale {
  readonly replicas: number;
  /** Names of the pods without a controller. */
  readonly unmanaged: readonly string[];
}

/** The number of expected pods can't be worked out; its message is upstream's. */
export class CountProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CountProblem';
  }
}

type Scalable = KubeObject & { readonly spec?: { readonly replicas?: number } };

const RC_GROUPS = [''];
const WORKLOAD_GROUPS = ['apps', 'extensions'];
const STATEFUL_SET_GROUPS = ['apps'];

/**
 * Sums the sizes of the distinct controllers of these pods. Throws CountProblem for a pod whose
 * controller is not found, NoKindMatch and answers of the server for what can't be read.
 */
export async function expectedScale(
  sources: ScaleSources,
  run: SyncRun,
  pods: readonly PodRecord[],
): Promise<ExpectedScale> {
  const unmanaged = pods.filter(({ controller }) => controller === undefined);
  const sizes = new Map<string, number>();
  for (const { namespace, name, owner } of ownersOf(sources, pods)) {
    const sized = owner && (await sizeOf(sources, run, owner, namespace));
    if (sized === undefined) throw new CountProblem(`found no controllers for pod ${quote(name)}`);
    sizes.set(sized.uid, sized.replicas);
  }
  const replicas = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  return { replicas, unmanaged: unmanaged.map(({ name }) => name) };
}

/**
 * The distinct controllers of the pods, each with the first pod that names it. All are read at
 * once: while a live scale is awaited a pod may leave the cache, and it is counted all the same.
 */
function ownersOf(
  { pods: cache }: ScaleSources,
  pods: readonly PodRecord[],
): readonly { namespace: string; name: string; owner: OwnerReference | undefined }[] {
  const first = new Map<string, PodRecord>();
  for (const pod of pods) {
    const uid = pod.controller?.uid;
    if (uid !== undefined && !first.has(uid)) first.set(uid, pod);
  }
  return Array.from(first.values(), ({ key, namespace, name }) => {
    const pod = cache.get(key);
    return { namespace, name, owner: pod && controllerOf(pod) };
  });
}

/** Looks where upstream looks, in its order: the usual kinds in the cache, then any live scale. */
async function sizeOf(
  sources: ScaleSources,
  run: SyncRun,
  owner: OwnerReference,
  namespace: string,
): Promise<Sized | undefined> {
  const parsed = parseApiVersion(owner.apiVersion);
  if ('problem' in parsed) throw new CountProblem(parsed.problem);
  const { group, version } = parsed;
  const isKind = (kind: string, groups: readonly string[]): boolean =>
    owner.kind === kind && groups.includes(group);
  const key = `${namespace}/${owner.name}`;
  if (isKind('ReplicationController', RC_GROUPS)) {
    const found = sized(sources.replicationControllers, key, owner.uid);
    if (found !== undefined) return found;
  }
  if (isKind('ReplicaSet', WORKLOAD_GROUPS)) {
    const found = ofReplicaSet(sources, namespace, owner);
    if (found !== undefined) return found;
  }
  if (isKind('StatefulSet', STATEFUL_SET_GROUPS)) {
    const found = sized(sources.statefulSets, key, owner.uid);
    if (found !== undefined) return found;
  }
  return await ofAnyKind(sources, run, owner, { group, version, namespace });
}

function sized(lister: Lister<Scalable>, key: string, uid: string): Sized | undefined {
  if (lister.record(key)?.uid !== uid) return undefined;
  const object = lister.get(key);
  return object && { uid, replicas: object.spec?.replicas ?? 1 };
}

/** The size of its Deployment, or its own if no Deployment claims it. */
function ofReplicaSet(
  { replicaSets, deployments }: ScaleSources,
  namespace: string,
  { name, uid }: OwnerReference,
): Sized | undefined {
  const key = `${namespace}/${name}`;
  if (replicaSets.record(key)?.uid !== uid) return undefined;
  const set = replicaSets.get(key);
  const owner = set && controllerOf(set);
  if (owner?.kind !== 'Deployment') return sized(replicaSets, key, uid);
  const parsed = parseApiVersion(owner.apiVersion);
  if ('problem' in parsed) throw new CountProblem(parsed.problem);
  if (!WORKLOAD_GROUPS.includes(parsed.group)) return undefined;
  return sized(deployments, `${namespace}/${owner.name}`, owner.uid);
}

async function ofAnyKind(
  { kinds, scales }: ScaleSources,
  run: SyncRun,
  { kind, name, uid }: OwnerReference,
  at: { readonly group: string; readonly version: string; readonly namespace: string },
): Promise<Sized | undefined> {
  const resource = await kinds.mapping(at.group, at.version, kind);
  let scale: Scale;
  try {
    scale = await scales.get(run, resource, { namespace: at.namespace, name });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    // Either the object is missing or its kind has no scale.
    if (await scales.implemented(run, resource)) return undefined;
    const what = resourceId(resource);
    throw new CountProblem(`${what} does not implement the scale subresource`);
  }
  return scale.metadata.uid === uid ? { uid, replicas: scale.spec?.replicas ?? 0 } : undefined;
}
