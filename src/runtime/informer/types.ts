/** Informers as controllers see them: records in memory, whole objects by key, handlers. */
import type { ClusterRoleRecordFields } from '../../api/cluster-role.ts';
import type { JobPodFields, JobRecordFields } from '../../api/job.ts';
import type { LeaseRecordFields } from '../../api/lease.ts';
import type { NodeRecordFields } from '../../api/node.ts';
import type { NamedPort } from '../../api/pod.ts';
import type { Resource } from '../../api/resource.ts';
import type { SecretRecordFields } from '../../api/secret.ts';
import type { ServiceRecordFields } from '../../api/service.ts';
import type { KubeObject, OwnerReference } from '../../api/types/index.ts';
import type { ServedResource } from '../controller.ts';

/** What ties an object to others; the same ties of many objects are one object in memory. */
export interface Ties {
  /** All owner references, in order. */
  readonly owners: readonly OwnerReference[];
  /** Has the finalizer "foregroundDeletion". */
  readonly foreground: boolean;
  /** Has the finalizer "orphan". */
  readonly orphan: boolean;
}

/** What memory holds of every cached object. Resources may declare a richer projection. */
export interface ObjectRecord {
  /** "namespace/name" or "name". */
  readonly key: string;
  /** "" for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The controller owner reference, if any. */
  readonly controller?: { readonly kind: string; readonly name: string; readonly uid: string };
  /** deletionTimestamp is set. */
  readonly deleting: boolean;
  /** Kept by all caches if a controller follows ties, else by none. */
  readonly ties?: Ties;
}

/** A pod's projection: what controllers decide on without reading the whole object. */
export interface PodRecord extends ObjectRecord {
  readonly nodeName: string;
  readonly phase: string;
  /** Ready condition is True. */
  readonly ready: boolean;
  /** Ready condition's lastTransitionTime, ms since the epoch; 0 if there is none. */
  readonly readySince: number;
  readonly createdAt: number;
  /** deletionTimestamp in ms, 0 if none. */
  readonly deletionAt: number;
  /** Highest restart count of containers, and of restartable init containers. */
  readonly restarts: number;
  readonly initRestarts: number;
  /** controller.kubernetes.io/pod-deletion-cost, 0 if unset or invalid. */
  readonly deletionCost: number;
  readonly podIps: readonly string[];
  /** spec.hostname and spec.subdomain, "" if unset. */
  readonly hostname: string;
  readonly subdomain: string;
  /** Of containers, then of restartable init containers; one list for all pods that have the same. */
  readonly namedPorts: readonly NamedPort[];
  /** spec.tolerations as JSON, "" if there are none; one text for all pods that have the same. */
  readonly tolerations: string;
  /** Undefined for pods that no Job ever had anything to do with. */
  readonly job: JobPodFields | undefined;
  /**
   * Since when its DisruptionTarget condition is True, ms (0: unknown); undefined if it isn't, or
   * if the kubelet set it.
   */
  readonly disruptionTargetAt: number | undefined;
}

/** A Job's projection. */
export interface JobRecord extends ObjectRecord, JobRecordFields {}

/** A ClusterRole's projection. */
export interface ClusterRoleRecord extends ObjectRecord, ClusterRoleRecordFields {}

/** A Secret's projection. */
export interface SecretRecord extends ObjectRecord, SecretRecordFields {}
/** A Node's projection. */
export interface NodeRecord extends ObjectRecord, NodeRecordFields {}

/** A Lease's projection: all there is of it, for whole Leases are never stored. */
export interface LeaseRecord extends ObjectRecord, LeaseRecordFields {}

/** A Service's projection. */
export interface ServiceRecord extends ObjectRecord, ServiceRecordFields {}

export interface Handler<R extends ObjectRecord> {
  /** `initial`: true for objects that were there when the handler was added. */
  add?(record: R, initial: boolean): void;
  /** `before` whole object is read lazily: only call it if the records don't tell enough. */
  update?(record: R, previous: R): void;
  /** `record` is the last state known; `stale` if the deletion itself was not seen (tombstone). */
  delete?(record: R, stale: boolean): void;
}

/** Reads one resource from the cache. Results are read-only and must not be kept across awaits. */
export interface Lister<T extends KubeObject, R extends ObjectRecord = ObjectRecord> {
  /** The whole object, or undefined. Throws ObjectUnavailable if the disk lost it (the worker heals that). */
  get(key: string): T | undefined;
  record(key: string): R | undefined;
  /** Records of a namespace ("" = all). */
  list(namespace: string): readonly R[];
  /** Records of a namespace ("" = all) whose labels match; each set of labels that many share is asked once. */
  selected(namespace: string, matches: (labels: R['labels']) => boolean): readonly R[];
  /** Records controlled by this UID. */
  controlledBy(uid: string): readonly R[];
  /** Records in this namespace without a controller. */
  orphans(namespace: string): readonly R[];
  /** Records under a value of a named extra index (e.g. "nodeName"). */
  byIndex(index: string, value: string): readonly R[];
}

export interface Informer<T extends KubeObject, R extends ObjectRecord = ObjectRecord> {
  readonly resource: Resource;
  readonly lister: Lister<T, R>;
  /** Handlers get an add for each stored object on start, then changes. Removed when the lead ends. */
  addHandler(handler: Handler<R>): void;
  /** Holds a complete state of some moment. */
  synced(): boolean;
  /** All that the server had when asked has been applied. */
  caughtUp(): boolean;
  /** Version up to which this cache is complete. */
  resourceVersion(): string;
}

/**
 * A resource that is followed because discovery found it. Its informer is the one of `of` if there
 * is one; else its whole objects are PartialObjectMetadata, unless whole ones were asked for.
 */
export interface Followed {
  readonly resource: ServedResource;
  readonly informer: Informer<KubeObject>;
}

/** What came of asking the server once more what it serves. */
export interface DiscoveryLook {
  readonly added: readonly Followed[];
  readonly removed: readonly Followed[];
  readonly learned: 'all' | 'part' | 'nothing';
  /** Why not all was learned, "" if it was. */
  readonly problem: string;
}

/** The resources that controllers follow as discovery finds and loses them. */
export interface FollowedResources {
  /** In their preferred versions, in the server's order; empty before the first look. */
  list(): readonly Followed[];
  /** Hears of each look, every 30 s, also if nothing changed; forgotten when the lead ends. */
  onLook(listener: (look: DiscoveryLook) => void): void;
  /** What serves this kind in exactly this version, as of the last look. */
  serving(apiVersion: string, kind: string): ServedResource | undefined;
}

/** The informers of the process; asking twice gives the same one. */
export interface InformerSet {
  pods(): Informer<import('../../api/types/index.ts').Pod, PodRecord>;
  /** `R` is what the resource's records hold (api/projection.ts), e.g. JobRecord. */
  of<T extends KubeObject, R extends ObjectRecord = ObjectRecord>(
    resource: Resource,
  ): Informer<T, R>;
  /** Empty unless a controller's definition says what it follows. */
  readonly followed: FollowedResources;
}
