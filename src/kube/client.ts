/** The verbs of the API over the transport. */

import { stringifyJson } from '../api/json.ts';
import { apiVersionOf, type Resource } from '../api/resource.ts';
import type { KubeObject, Status } from '../api/types/index.ts';
import { REQUEST_TIMEOUT_MS } from '../runtime/limits.ts';
import { apiErrorOf, decodeAnswer, isSuccess } from './answer.ts';
import { type ExchangeDeps, exchange, type FinalAnswer } from './exchange.ts';
import { acceptOf, type Query, resourcePath } from './paths.ts';
import type { Identity, Verb, WireRequest } from './transport.ts';
import type {
  DeleteOptions,
  KubeClient,
  ListOptions,
  ListPage,
  ObjectRef,
  PatchKind,
  RequestOptions,
  WatchOptions,
  WatchStream,
  WriteFence,
  WriteOptions,
} from './types.ts';
import { Watch } from './watch.ts';

/** What one client is made of. */
export interface ClientParts extends ExchangeDeps {
  readonly userAgent: string;
  readonly identity: Identity;
  readonly fence: WriteFence;
  /** Field manager of writes that name none. */
  readonly fieldManager: string;
}

const PATCH_TYPES: Readonly<Record<PatchKind, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

interface RawList {
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items?: readonly object[] | null;
}

/** A KubeClient over one transport, identity and rate limit. */
export class WireClient implements KubeClient {
  readonly userAgent: string;
  readonly #parts: ClientParts;

  constructor(parts: ClientParts) {
    this.#parts = parts;
    this.userAgent = parts.userAgent;
  }

  get<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    options: RequestOptions = {},
  ): Promise<T> {
    const path = resourcePath(resource, at, { resourceVersion: options.resourceVersion });
    return this.#decoded('GET', path, options, acceptOf(options.metadataOnly, false));
  }

  async list<T extends KubeObject>(
    resource: Resource,
    options: ListOptions = {},
  ): Promise<ListPage<T>> {
    const path = resourcePath(resource, { namespace: options.namespace }, listQuery(options));
    const accept = acceptOf(options.metadataOnly, true);
    const raw = await this.#decoded<RawList>('GET', path, options, accept);
    return {
      items: (raw.items ?? []).map((item) => typed<T>(resource, item)),
      resourceVersion: raw.metadata?.resourceVersion ?? '',
      continue: raw.metadata?.continue ?? '',
      remainingItemCount: raw.metadata?.remainingItemCount,
    };
  }

  create<T extends KubeObject>(
    resource: Resource,
    at: { namespace?: string; name?: string; subresource?: string },
    body: object,
    options: WriteOptions = {},
  ): Promise<T> {
    // Only subresources are created under a name; an object's name is in its body.
    const target = at.subresource === undefined ? { namespace: at.namespace } : at;
    if (resource.namespaced && (at.namespace ?? '') === '') {
      throw new Error(`create ${resource.plural}: a namespace is needed`);
    }
    const path = resourcePath(resource, target, this.#manager(options));
    return this.#written('POST', path, options, body, !isUnstored(resource, at.subresource));
  }

  update<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    body: object,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#written('PUT', resourcePath(resource, at, this.#manager(options)), options, body);
  }

  patch<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    kind: PatchKind,
    body: object,
    options: WriteOptions & { force?: boolean } = {},
  ): Promise<T> {
    const query = { ...this.#manager(options), force: options.force };
    const path = resourcePath(resource, at, query);
    return this.#written('PATCH', path, options, body, true, PATCH_TYPES[kind]);
  }

  delete(
    resource: Resource,
    at: ObjectRef,
    options: DeleteOptions = {},
  ): Promise<KubeObject | Status> {
    return this.#written('DELETE', resourcePath(resource, at), options, deleteBody(options));
  }

  async deleteCollection(resource: Resource, options: ListOptions & DeleteOptions): Promise<void> {
    const path = resourcePath(resource, { namespace: options.namespace }, listQuery(options));
    // The server names all that it deletes: of that only the metadata is sent, and nothing is read.
    const accept = acceptOf(true, true);
    const answer = await this.#sent('DELETE', path, options, deleteBody(options), { accept });
    if (!isSuccess(answer.code)) throw apiErrorOf(`DELETE ${path}`, answer);
  }

  watch<T extends KubeObject>(resource: Resource, options: WatchOptions): WatchStream<T> {
    const { identity, userAgent } = this.#parts;
    return new Watch<T>(this.#parts, { resource, options, identity, userAgent });
  }

  async getPath(path: string, options: RequestOptions & { accept?: string } = {}): Promise<string> {
    const request = this.#request('GET', path, options, { Accept: options.accept ?? '*/*' });
    const answer = await exchange(this.#parts, request);
    if (!isSuccess(answer.code)) throw apiErrorOf(`GET ${path}`, answer);
    return answer.text;
  }

  #manager(options: WriteOptions): Query {
    return { fieldManager: options.fieldManager ?? this.#parts.fieldManager };
  }

  async #decoded<T>(verb: Verb, path: string, options: RequestOptions, accept: string): Promise<T> {
    const answer = await exchange(
      this.#parts,
      this.#request(verb, path, options, { Accept: accept }),
    );
    return decodeAnswer<T>(`${verb} ${path}`, answer);
  }

  async #written<T>(
    verb: Verb,
    path: string,
    options: RequestOptions,
    body: object,
    fenced = true,
    contentType = 'application/json',
  ): Promise<T> {
    const accept = acceptOf(options.metadataOnly, false);
    const answer = await this.#sent(verb, path, options, body, { accept, contentType, fenced });
    return decodeAnswer<T>(`${verb} ${path}`, answer);
  }

  #sent(
    verb: Verb,
    path: string,
    options: RequestOptions,
    body: object,
    how: { readonly accept: string; readonly contentType?: string; readonly fenced?: boolean },
  ): Promise<FinalAnswer> {
    const { accept, contentType = 'application/json', fenced = true } = how;
    const headers = { Accept: accept, 'Content-Type': contentType };
    return exchange(this.#parts, {
      ...this.#request(verb, path, options, headers),
      body: stringifyJson(body),
      ...(fenced ? { fence: this.#parts.fence } : {}),
    });
  }

  #request(
    verb: Verb,
    path: string,
    options: RequestOptions,
    headers: Readonly<Record<string, string>>,
  ): WireRequest {
    const { userAgent, identity } = this.#parts;
    return {
      verb,
      path,
      headers: { ...headers, 'User-Agent': userAgent },
      identity,
      timeoutMs: options.timeoutMs ?? REQUEST_TIMEOUT_MS,
      signal: options.signal,
    };
  }
}

function listQuery(options: ListOptions): Query {
  return {
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    limit: options.limit,
    continue: options.continue,
    resourceVersion: options.resourceVersion,
  };
}

/** Reviews and tokens are asked with POST but leave nothing behind: no fence needed. */
function isUnstored(resource: Resource, subresource: string | undefined): boolean {
  const { group } = resource;
  return (
    subresource === 'token' || group === 'authentication.k8s.io' || group === 'authorization.k8s.io'
  );
}

/** Items of a typed list come without apiVersion and kind; watched objects have them. */
function typed<T extends KubeObject>(resource: Resource, item: object): T {
  if ('kind' in item && 'apiVersion' in item) return item as T;
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...item } as unknown as T;
}

function deleteBody(options: DeleteOptions): object {
  const { uid, preconditionResourceVersion: resourceVersion } = options;
  const { gracePeriodSeconds, propagationPolicy } = options;
  const unconditional = uid === undefined && resourceVersion === undefined;
  const preconditions = unconditional ? undefined : { uid, resourceVersion };
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    gracePeriodSeconds,
    preconditions,
    propagationPolicy,
  };
}
