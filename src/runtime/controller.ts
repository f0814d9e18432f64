/** The contract between the framework and a controller: what it declares and what it is handed. */
import type { Resource } from '../api/resource.ts';
import type { KubeObject, ObjectReference, Pod } from '../api/types/index.ts';
import type { KubeClient, ObjectRef, PatchKind, TokenSigner } from '../kube/types.ts';
import type { Clock } from './clock.ts';
import type { Countdowns } from './countdown.ts';
import type { InformerSet, ObjectRecord } from './informer/types.ts';
import type { Logger } from './log.ts';
import type { Memory } from './memory.ts';
import type { Metrics } from './metrics.ts';
import type { Random } from './random.ts';
import type { DebugPage, HealthCheck } from './status.ts';

/** A flag of one controller; `options/` parses it. Names with dashes. */
export interface ControllerFlags {
  readonly [flag: string]: number | string | boolean;
}

/** A controller's passport. `build` wires observe, decide and act; it may answer undefined: disabled. */
export interface ControllerDefinition {
  /** Canonical name, e.g. "replicaset-controller". */
  readonly name: string;
  readonly aliases: readonly string[];
  /** Feature gates that must all be on. */
  readonly gates: readonly string[];
  readonly enabledByDefault: boolean;
  /** ServiceAccount in kube-system for --use-service-account-credentials; also the user-agent suffix. */
  readonly account: string;
  /** Multiplies --kube-api-qps and --kube-api-burst. */
  readonly limits?: { readonly qps: number; readonly burst: number };
  readonly watches: readonly Resource[];
  /** What it follows besides, as discovery finds it; undefined if these flags switch that off. */
  follows?(flags: ControllerFlags): Follows | undefined;
  /** What it writes, for people: "pods create/delete/patch". */
  readonly writes: readonly string[];
  /** Names of the flags it reads. */
  readonly flags: readonly string[];
  /** Its client is never one of its own account, whatever --use-service-account-credentials says. */
  readonly rootClient?: boolean;
  /** Why these flags leave it nothing to do: then it isn't started and nothing is watched for it. */
  idle?(flags: ControllerFlags): string | undefined;
  /** What upstream says of flags when it builds the controller and ends; here the start is refused. */
  refuses?(flags: ControllerFlags): string | undefined;
  build(context: ControllerContext): Controller | undefined;
}

/** Resources that a controller finds in `informers.followed`. */
export interface Follows {
  /** Asked for each resource that can be listed and watched, in its preferred version. */
  wants(resource: ServedResource): 'whole' | 'metadata' | undefined;
  /** All records of all caches must carry `ties`. */
  readonly ties?: boolean;
}

/** A built controller: its queues, and what else it offers. */
export interface Controller {
  readonly queues: readonly QueueDefinition[];
  /** Called once after its caches are synced and before workers start. */
  start?(signal: AbortSignal): Promise<void> | void;
  /** Its own health check instead of the always-true one. */
  readonly health?: HealthCheck;
  readonly debug?: (path: string, query: URLSearchParams) => DebugPage | undefined;
}

/** One workqueue and the function that syncs a key of it. */
export interface QueueDefinition {
  readonly queue: WorkQueue;
  readonly workers: number;
  /** Requeues before a failing key is dropped, unless it waits for a cache; absent: for ever. */
  readonly retriesMax?: number;
  /** An error for which a key is dropped at once. */
  dropAtOnce?(error: unknown): boolean;
  /**
   * Its syncs announce nothing: each write names the UID, and the version it was decided on where
   * that matters, so that nothing need be in the file before it is sent. Spares a commit a sync.
   */
  readonly announcesNothing?: boolean;
  /** A wish to be called again replaces the rate-limited retry of an error (cronjob). */
  readonly wishBeatsError?: boolean;
  reconcile(key: string, run: SyncRun): Promise<void>;
}

/** The queue as controllers see it: they add keys, the framework takes them. */
export interface WorkQueue {
  readonly name: string;
  add(key: string, priority?: number): void;
  addAfter(key: string, delayMs: number, because?: string): void;
  addRateLimited(key: string): void;
  /** Ends the failure history of a key. */
  forget(key: string): void;
  failures(key: string): number;
}

/** How a queue delays failing keys. */
export interface QueueLimiterOptions {
  /** Per-item exponential: base doubling up to max, milliseconds. Defaults 5 and 1,000,000. */
  readonly baseDelayMs?: number;
  readonly maxDelayMs?: number;
  /** Shared token bucket; null: none. Defaults 10 per second, burst 100. */
  readonly bucket?: { readonly perSecond: number; readonly burst: number } | null;
}

/** A queue beyond its name. */
export interface QueueOptions extends QueueLimiterOptions {
  /**
   * What its work is remembered by; default: its name. Queues that share a name, and so their
   * series, need one each. A queue named "" has no series, and needs one too.
   */
  readonly storedAs?: string;
}

/** Options every write must carry: why it is made. */
export interface BecauseOptions {
  /** A short plain sentence made from the values that decided it; the journal keeps it. */
  readonly because: string;
  /** Owner whose next sync must see this write first (read-your-writes guard). */
  readonly guard?: { readonly ownerKey: string; readonly ownerUid: string };
}

/**
 * The API server for one sync: as KubeClient, but each write says why, is preceded by the commit
 * barrier (once per sync), is noted in the journal, and every delete names the UID. With
 * `metadataOnly` the answer to a write has nothing else: less to send, and to read.
 */
export interface SyncClient {
  get<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    options?: { readonly metadataOnly?: boolean },
  ): Promise<T>;
  /** All pages, live. */
  listAll<T extends KubeObject>(
    resource: Resource,
    options: {
      namespace?: string;
      labelSelector?: string;
      fieldSelector?: string;
      metadataOnly?: boolean;
    },
  ): Promise<readonly T[]>;
  create<T extends KubeObject>(
    resource: Resource,
    at: { namespace?: string; name?: string; subresource?: string },
    body: object,
    options: BecauseOptions & { readonly metadataOnly?: boolean },
  ): Promise<T>;
  update<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    body: object,
    options: BecauseOptions & { readonly metadataOnly?: boolean },
  ): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    kind: PatchKind,
    body: object,
    options: BecauseOptions & {
      readonly metadataOnly?: boolean;
      /** Default: the manager's own. A server-side apply may want another, and force. */
      readonly fieldManager?: string;
      readonly force?: boolean;
    },
  ): Promise<T>;
  delete(
    resource: Resource,
    at: ObjectRef,
    options: BecauseOptions & {
      uid: string;
      resourceVersion?: string;
      propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
      gracePeriodSeconds?: number;
    },
  ): Promise<void>;
  deleteCollection(
    resource: Resource,
    namespace: string,
    options: BecauseOptions & { propagationPolicy?: 'Orphan' | 'Background' | 'Foreground' },
  ): Promise<void>;
}

/** What a reconcile of one key is handed. */
export interface SyncRun {
  readonly client: SyncClient;
  /** Aborts when the process stops leading or shuts down. */
  readonly signal: AbortSignal;
  /** Wall time at the start of this sync, milliseconds; `decide` uses this as `now`. */
  readonly now: number;
  /** Asks for another sync of this key after `delayMs`, and says why; the earliest wish wins. */
  again(delayMs: number, because: string): void;
  /** A sentence for the journal about this sync as a whole. */
  note(because: string): void;
  /**
   * Commit barrier by hand, for records put before calls that go through other ports. Resolves when
   * they are in the file.
   */
  barrier(): Promise<void>;
}

/** Event recorder of one controller (component name in `source`). Dedupe, combine, spam limit inside. */
export interface EventRecorder {
  event(about: ObjectReference, type: 'Normal' | 'Warning', reason: string, message: string): void;
}

/** Counting expectations, remembered (upstream's ControllerExpectations). */
export interface Expectations {
  /** Sets both counters (overwriting); `deleteKeys` are pod keys awaited to go. */
  expect(key: string, ownerUid: string, adds: number, deleteKeys: readonly string[]): void;
  creationObserved(key: string): void;
  deletionObserved(key: string, podKey: string): void;
  /** Fulfilled, expired (5 min), never set, or set for another owner UID than the one given. */
  satisfied(key: string, ownerUid?: string): boolean;
  forget(key: string): void;
}

/** How a memory is stored, and how far it is trusted after a restart. */
export interface ControllerMemoryOptions<T> {
  encode(value: T): string;
  /** Throws for a text it can't read; that row is dropped. */
  decode(text: string): T;
  /**
   * 'lead' (default): what the term directly before remembered is taken over. 'fence': only if that
   * process died a moment ago, and only until the caches have caught up: for what a cache that lags
   * can't show yet.
   */
  readonly holds?: 'lead' | 'fence';
}

/** What a controller remembers beyond a restart; a value of another UID is never given. */
export type ControllerMemory<T> = Pick<Memory<T>, 'get' | 'set' | 'delete' | 'all'>;

/** What a pod is created from. */
export interface PodCreation {
  readonly namespace: string;
  /** Object that owns it; becomes the controller reference. */
  readonly owner: { apiVersion: string; kind: string; name: string; uid: string };
  readonly template: object;
  /** Labels and annotations etc. are already in the template. */
  readonly generateName: string;
  /** Fixed name (StatefulSet, Job index); absent: chosen from generateName. */
  readonly name?: string;
  readonly finalizers?: readonly string[];
  /** Intent slot: what this pod is for; same slot may be reused after a crash. */
  readonly slot: string;
  /** Whether a pod of this owner was made for this slot; default: any was. */
  ofSlot?(pod: Pod): boolean;
  readonly because: string;
}

/** Creating and deleting pods exactly once: names chosen here, intents committed before sending. */
export interface PodControl {
  /** Announces (one barrier) then creates in slow-start batches 1, 2, 4, ...; calls `failed` per pod not created. */
  createPods(
    run: SyncRun,
    owner: KubeObject,
    ownerKey: string,
    pods: readonly PodCreation[],
  ): Promise<PodBatchResult>;
  /** Announces then deletes all at once; not-found is no error. */
  deletePods(
    run: SyncRun,
    owner: KubeObject,
    pods: readonly { record: ObjectRecord; because: string }[],
  ): Promise<PodBatchResult>;
  /** UIDs under an open deletion intent: count them as already going. */
  deleting(ownerUid: string): ReadonlySet<string>;
}

/** What an object with a generated name is created from. */
export interface GeneratedCreation {
  readonly resource: Resource;
  readonly namespace: string;
  /** UID of the object that the body names as its controller. */
  readonly ownerUid: string;
  /** What this object is for; the same slot may be taken up again after a crash. */
  readonly slot: string;
  /** Whether an object of this owner was made for this slot; default: any was. */
  ofSlot?(object: KubeObject): boolean;
  readonly generateName: string;
  /** The object without its name. */
  readonly body: { readonly metadata?: object };
  readonly because: string;
  readonly guard?: BecauseOptions['guard'];
}

/** Creating objects with generated names exactly once: names chosen here, intents committed first. */
export interface ExactCreates {
  /**
   * The stored object. `found`: an earlier attempt had made it, and its content may be another than
   * this body's. Throws as SyncClient does.
   */
  create<T extends KubeObject>(
    run: SyncRun,
    creation: GeneratedCreation,
  ): Promise<{ readonly object: T; readonly found: boolean }>;
}

export interface PodBatchResult {
  readonly done: number;
  /** Pod keys (deletes) or "" (creates) for which nothing was done, so their expectation must be lowered. */
  readonly notDone: readonly string[];
  /** Calls that ended in an error; of those not done the others were not sent, or the pod was gone. */
  readonly failed?: number;
  /** Creates: how many a namespace that is being deleted refused; they count as done. */
  readonly refused?: number;
  /** The first of these refusals. */
  readonly terminating?: unknown;
  readonly error?: unknown;
}

/** One resource of one group version, as discovery tells. */
export interface ServedResource extends Resource {
  /** What it supports: "list", "delete", "deletecollection", ... */
  readonly verbs: readonly string[];
}

/** What the API server serves right now. */
export interface DiscoveryResult {
  /** "" is the core group. */
  readonly groups: readonly { readonly name: string; readonly preferredVersion: string }[];
  /** Of all versions that could be read, in the server's order. */
  readonly resources: readonly ServedResource[];
  /** Group versions that could not be read, and why; the others are complete. */
  readonly failed: ReadonlyMap<string, string>;
}

/** Everything a controller is handed when built. */
export interface ControllerContext {
  readonly name: string;
  readonly informers: InformerSet;
  readonly flags: ControllerFlags;
  /** True if the feature gate is on. */
  gate(name: string): boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Raw client for reads outside a sync; writes go through SyncRun. */
  readonly client: KubeClient;
  queue(name: string, options?: QueueOptions): WorkQueue;
  events(component: string): EventRecorder;
  expectations(): Expectations;
  /** A memory of this controller by the name of what is remembered; ask once for each. */
  memory<T>(what: string, options: ControllerMemoryOptions<T>): ControllerMemory<T>;
  /** Durations that go on after a restart and count only time that was watched. */
  readonly countdowns: Countdowns;
  /** True unless an informer is behind our own writes for this owner; counts a skip if not. */
  caughtUp(ownerKey: string, ownerUid: string): boolean;
  podControl(events: EventRecorder, options: { guard: boolean }): PodControl;
  /** Creates objects of a resource that this controller watches; ask once for each. */
  exactCreates(resource: Resource): ExactCreates;
  /** Signs legacy tokens with --service-account-private-key-file; undefined without that flag. */
  readonly tokenSigner: TokenSigner | undefined;
  /** PEM of the CA bundle of the kubeconfig, "" if none. */
  readonly caPem: string;
  /** PEM of --root-ca-file, or of the kubeconfig's CA bundle without that flag; "" if none. */
  readonly rootCaPem: string;
  /** Asks the API server what it serves, live. Throws if even the list of groups can't be read. */
  discovery(): Promise<DiscoveryResult>;
}
