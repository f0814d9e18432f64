/** Informers as controllers see them: records in memory, whole objects by key, handlers. */
import type { Resource } from '../../api/resource.ts';
import type { KubeObject } from '../../api/types/index.ts';

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
}

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
  /** All that the server had when asked has been applied. */
  caughtUp(): boolean;
  /** Version up to which this cache is complete. */
  resourceVersion(): string;
}

/** The informers of the process; asking twice gives the same one. */
export interface InformerSet {
  pods(): Informer<import('../../api/types/index.ts').Pod, PodRecord>;
  of<T extends KubeObject>(resource: Resource): Informer<T>;
}
