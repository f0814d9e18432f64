/** A small admin client for tests, independent of the code under test. */
import type { Pair } from './certs.ts';
import { type EventuallyOptions, eventually } from './eventually.ts';
import { pathOf, type RigResource, resource, resourceOf } from './resources.ts';
import { jsonLines } from './stream.ts';

/** JSON as tests read it: any field may be looked at without a cast. */
// biome-ignore lint/suspicious/noExplicitAny: assertions look into arbitrary objects
export type Json = any;

/** An object as tests handle it. Typed models can be given as type arguments instead. */
export interface Obj {
  apiVersion?: string;
  kind?: string;
  metadata: Json;
  spec?: Json;
  status?: Json;
  [field: string]: Json;
}

/** What is sent: everything an object has, or a builder's result. */
export type Draft = { apiVersion?: string; kind?: string; metadata?: Json };

/** An answer other than 2xx. `status` is the HTTP code, `reason` the one of the Status object. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
    readonly body: string,
  ) {
    super(message);
  }
}

export interface ListQuery {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
}

export interface PatchQuery {
  /** Default "merge". "apply" needs a fieldManager. */
  readonly type?: 'merge' | 'json' | 'strategic' | 'apply';
  readonly subresource?: string;
  readonly fieldManager?: string;
  readonly force?: boolean;
}

export interface RemoveQuery {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly uid?: string;
}

export interface WatchEvent<T = Obj> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}

const PATCH_TYPES = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return path;
  const search = new URLSearchParams(
    given.map(([key, value]): [string, string] => [key, String(value)]),
  );
  return `${path}${path.includes('?') ? '&' : '?'}${search}`;
}

/** The client. Its connections live in a pool of their own. */
export class Api {
  readonly #session: Bun.FetchSession;

  constructor(
    readonly server: string,
    caPem: string,
    identity?: Pair | { readonly token: string },
  ) {
    const pair = identity && 'certPem' in identity ? identity : undefined;
    this.#token = identity && 'token' in identity ? identity.token : undefined;
    this.#session = new Bun.FetchSession({
      tls: { ca: caPem, ...(pair ? { cert: pair.certPem, key: pair.keyPem } : {}) },
    });
  }

  readonly #token: string | undefined;

  /** One request as it is; the answer may have any status. */
  raw(path: string, init: BunFetchRequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('Accept', headers.get('Accept') ?? 'application/json');
    if (this.#token !== undefined) headers.set('Authorization', `Bearer ${this.#token}`);
    return this.#session.fetch(this.server + path, { proxy: false, ...init, headers });
  }

  /** One request with a JSON answer; throws ApiFailure for anything but 2xx. */
  async request<T = Obj>(
    method: string,
    path: string,
    body?: unknown,
    contentType = 'application/json',
  ): Promise<T> {
    const response = await this.raw(path, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'Content-Type': contentType } }),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as T;
    let reason = '';
    let message = text;
    try {
      ({ reason = '', message = text } = JSON.parse(text) as Json);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    const what = `${method} ${path}: ${response.status} ${message}`;
    throw new ApiFailure(response.status, reason, what, text);
  }

  /** `namespace` is ignored for cluster-scoped resources. */
  get<T = Obj>(plural: string, namespace: string, name: string, sub?: string): Promise<T> {
    return this.request<T>('GET', pathOf(resource(plural), namespace, name, sub));
  }

  /** Like get, but undefined for 404. */
  async find<T = Obj>(plural: string, namespace: string, name: string): Promise<T | undefined> {
    try {
      return await this.get<T>(plural, namespace, name);
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 404) return undefined;
      throw error;
    }
  }

  /** All objects of a namespace ('' for all namespaces). */
  async list<T = Obj>(plural: string, namespace = '', query: ListQuery = {}): Promise<T[]> {
    return (await this.listPage<T>(plural, namespace, query)).items;
  }

  /** One LIST answer with its metadata. */
  listPage<T = Obj>(
    plural: string,
    namespace = '',
    query: ListQuery = {},
  ): Promise<{ metadata: { resourceVersion: string; continue?: string }; items: T[] }> {
    const path = pathOf(resource(plural), namespace || undefined);
    return this.request('GET', withQuery(path, { ...query }));
  }

  /** Creates an object where its apiVersion, kind and namespace say. */
  create<T = Obj>(object: Draft): Promise<T> {
    const at = resourceOf(object);
    return this.request<T>('POST', pathOf(at, object.metadata?.namespace ?? 'default'), object);
  }

  /** Replaces an object. */
  update<T = Obj>(object: Draft, subresource?: string): Promise<T> {
    const at = resourceOf(object);
    const path = pathOf(at, object.metadata?.namespace, object.metadata?.name, subresource);
    return this.request<T>('PUT', path, object);
  }

  /** Replaces the status of an object. */
  updateStatus<T = Obj>(object: Draft): Promise<T> {
    return this.update<T>(object, 'status');
  }

  patch<T = Obj>(
    plural: string,
    namespace: string,
    name: string,
    body: unknown,
    { type = 'merge', subresource, fieldManager, force }: PatchQuery = {},
  ): Promise<T> {
    const path = pathOf(resource(plural), namespace, name, subresource);
    const query = withQuery(path, { fieldManager, force });
    return this.request<T>('PATCH', query, body, PATCH_TYPES[type]);
  }

  /** Merge-patches the status. */
  patchStatus<T = Obj>(plural: string, namespace: string, name: string, status: unknown) {
    return this.patch<T>(plural, namespace, name, { status }, { subresource: 'status' });
  }

  /** Deletes an object; 404 is no error. */
  async remove(
    plural: string,
    namespace: string,
    name: string,
    { uid, ...options }: RemoveQuery = {},
  ): Promise<void> {
    const body = { ...options, ...(uid ? { preconditions: { uid } } : {}) };
    try {
      await this.request('DELETE', pathOf(resource(plural), namespace, name), body);
    } catch (error) {
      if (!(error instanceof ApiFailure && error.status === 404)) throw error;
    }
  }

  /** Scales through the scale subresource. */
  scale(plural: string, namespace: string, name: string, replicas: number): Promise<Obj> {
    const body = { spec: { replicas } };
    return this.patch(plural, namespace, name, body, { subresource: 'scale' });
  }

  /** Binds a pod to a node, as a scheduler does. */
  bind(namespace: string, pod: string, node: string): Promise<Obj> {
    return this.request('POST', pathOf(resource('pods'), namespace, pod, 'binding'), {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: pod },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    });
  }

  /** The events of one watch request, until the server or `signal` ends it. */
  async *watch<T = Obj>(
    at: RigResource | string,
    namespace = '',
    query: Query = {},
    signal?: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>> {
    const where = typeof at === 'string' ? resource(at) : at;
    const path = withQuery(pathOf(where, namespace || undefined), { ...query, watch: 1 });
    const response = await this.raw(path, { timeout: false, signal } as BunFetchRequestInit);
    if (!response.ok || response.body === null) {
      const text = await response.text();
      throw new ApiFailure(response.status, '', `WATCH ${path}: ${response.status} ${text}`, text);
    }
    for await (const line of jsonLines(response.body)) yield line as WatchEvent<T>;
  }

  /** Watches one resource until an event (the present objects come first) satisfies `wanted`. */
  async watchUntil<T = Obj>(
    plural: string,
    namespace: string,
    wanted: (event: WatchEvent<T>) => boolean,
    { timeoutMs = 30_000, ...query }: ListQuery & { readonly timeoutMs?: number } = {},
  ): Promise<WatchEvent<T>> {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), timeoutMs);
    let last: WatchEvent<T> | undefined;
    try {
      for await (const event of this.watch<T>(plural, namespace, { ...query }, stop.signal)) {
        last = event;
        if (wanted(event)) return event;
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
      stop.abort();
    }
    const seen = last ? shortText(last) : 'nothing';
    const now = await this.list(plural, namespace).then(shortText, String);
    throw new Error(
      `watch of ${plural} in "${namespace}": not within ${timeoutMs} ms; saw ${seen}; now ${now}`,
    );
  }

  /** Looks at one object until `wanted` holds. */
  waitFor<T = Obj>(
    plural: string,
    namespace: string,
    name: string,
    wanted: (object: T) => boolean,
    options: EventuallyOptions = {},
  ): Promise<T> {
    const describe = options.describe ?? `${plural} ${namespace}/${name}`;
    const look = async () => {
      const object = await this.get<T>(plural, namespace, name);
      if (wanted(object)) return object as NonNullable<T>;
      throw new Error(`it is ${JSON.stringify(object, null, 2)}`);
    };
    return eventually(look, { ...options, describe });
  }

  /** Waits until an object no longer exists. */
  async waitGone(plural: string, namespace: string, name: string, options: EventuallyOptions = {}) {
    const describe = options.describe ?? `${plural} ${namespace}/${name} gone`;
    const look = async () => (await this.find(plural, namespace, name)) === undefined;
    await eventually(look, { ...options, describe });
  }

  /** Closes the idle connections. */
  close(): void {
    this.#session.close();
  }
}

/** Enough of an object, without the owners of its fields, to see what state it is in. */
function shortText(value: unknown): string {
  const omit = (key: string, member: unknown) => (key === 'managedFields' ? undefined : member);
  return JSON.stringify(value, omit).slice(0, 3_000);
}
