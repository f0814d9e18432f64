/** The API server as the rest of the process sees it: verbs over plain objects, watch streams. */
import type { Resource } from '../api/resource.ts';
import type { KubeObject, Status } from '../api/types/index.ts';

/** Where a request goes inside a resource. */
export interface ObjectRef {
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
  readonly name: string;
  /** e.g. "status", "scale", "finalize". */
  readonly subresource?: string;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Overall limit of one attempt, milliseconds. */
  readonly timeoutMs?: number;
  /** Ask for PartialObjectMetadata(List) instead of whole objects. */
  readonly metadataOnly?: boolean;
  /** 0 reads from the server's cache; unset is a consistent read. */
  readonly resourceVersion?: string;
}

export interface ListOptions extends RequestOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Token of the next page, "" at the end. */
  readonly continue: string;
  readonly remainingItemCount?: number;
}

export interface WriteOptions extends RequestOptions {
  readonly fieldManager?: string;
}

export type PatchKind = 'json' | 'merge' | 'strategic' | 'apply';

export interface DeleteOptions extends RequestOptions {
  readonly uid?: string;
  readonly preconditionResourceVersion?: string;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly gracePeriodSeconds?: number;
}

export interface WatchOptions {
  readonly namespace?: string;
  readonly resourceVersion?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly metadataOnly?: boolean;
  /**
   * Ask the server to end the stream after this long (default WATCH_TIMEOUT_SECONDS_MAX); it sends
   * a bookmark 2 s before if anything is newer.
   */
  readonly timeoutSeconds?: number;
  /** sendInitialEvents with resourceVersionMatch=NotOlderThan: a watch-list. */
  readonly sendInitialEvents?: boolean;
  readonly signal?: AbortSignal;
}

/** One event of a watch. */
export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | {
      readonly type: 'BOOKMARK';
      readonly resourceVersion: string;
      readonly initialEventsEnd: boolean;
    };

/**
 * A watch, opened when iteration begins; it can be iterated once. Iterating yields chunks: all
 * events that arrived together (1..WATCH_CHUNK_EVENTS_MAX). Ends normally when the server closes
 * the stream, and when it is stopped (`close`, the signal); throws ApiError for an ERROR event or
 * a refusal (410 is `isExpired`), TransportError for a cut, half a line, or silence beyond
 * timeoutSeconds plus WATCH_SILENCE_GRACE_MS.
 */
export interface WatchStream<T extends KubeObject = KubeObject>
  extends AsyncIterable<readonly WatchEvent<T>[]> {
  close(): void;
}

/**
 * A client with one identity, user-agent and rate limit (upstream's semantics: QPS and burst are
 * per client). Every verb throws ApiError for a definite error answer, TransportError where no
 * answer came, FencedError for a write that the fence stopped.
 */
export interface KubeClient {
  readonly userAgent: string;
  get<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    options?: RequestOptions,
  ): Promise<T>;
  /** One page. */
  list<T extends KubeObject>(resource: Resource, options?: ListOptions): Promise<ListPage<T>>;
  create<T extends KubeObject>(
    resource: Resource,
    at: { namespace?: string; name?: string; subresource?: string },
    body: object,
    options?: WriteOptions,
  ): Promise<T>;
  update<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    body: object,
    options?: WriteOptions,
  ): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    kind: PatchKind,
    body: object,
    options?: WriteOptions & { force?: boolean },
  ): Promise<T>;
  delete(resource: Resource, at: ObjectRef, options?: DeleteOptions): Promise<KubeObject | Status>;
  /** What the server says it deleted isn't read: whatever a good answer holds will do. */
  deleteCollection(resource: Resource, options: ListOptions & DeleteOptions): Promise<void>;
  watch<T extends KubeObject>(resource: Resource, options: WatchOptions): WatchStream<T>;
  /** A plain GET of a path such as "/healthz" or "/apis"; the body as text. */
  getPath(path: string, options?: RequestOptions & { accept?: string }): Promise<string>;
}

/** Makes JSON Web Tokens with one private key. */
export interface TokenSigner {
  /** The compact form of a token with these claims, written as Go does: keys sorted, no blanks. */
  sign(claims: Readonly<Record<string, string>>): string;
}

/** Says whether this process may write now, and cuts writes under way when it may not. */
export interface WriteFence {
  /** Checked when a request leaves, after all waiting for limits. */
  mayWrite(): boolean;
  /** Aborts when writing must stop; a new one is given for each term. */
  signal(): AbortSignal;
}

/** Makes clients that share one connection pool, kubeconfig and write fence. */
export interface ClientFactory {
  /** A client for a controller: user-agent `<binary>/<version> (...)/<name>`, own limiter. */
  client(name: string, options?: { qps?: number; burst?: number; account?: string }): KubeClient;
  /** Base URL of the API server. */
  readonly server: string;
  /** SHA-256 (hex) of the CA bundle in use, "" if none: part of the cluster's identity. */
  readonly caHash: string;
  /** PEM of the CA bundle in use, "" if none. */
  readonly caPem: string;
  close(): void;
}
