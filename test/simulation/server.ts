/** The model API server's answers: verbs, lists in pages, errors as Status. */
import { LEASES, resourceId } from '../../src/api/resource.ts';
import type { Json, Obj } from '../rig/api.ts';
import { type Actor, keyOf, type ModelApi, Refused } from './api-model.ts';
import { discoveryText, type Place, placeOf } from './cluster-data.ts';

/** A request as it reaches the server. */
export interface Asked {
  readonly verb: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer {
  readonly code: number;
  readonly text: string;
  readonly retryAfter?: number;
}

interface Snapshot {
  readonly version: number;
  readonly rest: readonly Obj[];
}

const EVENTS_PATH = /\/events(\/|\?|$)/;

/** An error answer with its Status. */
export function refusal(refused: Refused, retryAfter?: number): Answer {
  const { code, reason, message, details } = refused;
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message };
  const text = JSON.stringify({ ...status, details });
  return { code, text, ...(retryAfter === undefined ? {} : { retryAfter }) };
}

/** Only the metadata, as clients ask that need no more. */
export function metadataOf(object: Obj): Obj {
  const { metadata } = object;
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
}

export class ModelServer {
  readonly api: ModelApi;
  /** Pages that clients may still ask for. */
  readonly #snapshots = new Map<string, Snapshot>();
  #tokens = 0;
  /** LISTs of whole resources that were answered. */
  lists = 0;
  /** Writes that changed something or tried to, events left out. */
  writes = 0;
  /** Complaints about requests that no controller may make. */
  onBadRequest: (what: string) => void = () => undefined;

  constructor(api: ModelApi) {
    this.api = api;
  }

  /** Carries a request out, now. */
  answer(asked: Asked, actor: Actor): Answer {
    try {
      return this.#answer(asked, actor);
    } catch (error) {
      if (error instanceof Refused) return refusal(error);
      throw error;
    }
  }

  /** Forgets old versions; pages under way end with 410. */
  compact(version: number): void {
    this.api.compact(version);
    this.#snapshots.clear();
  }

  #answer(asked: Asked, actor: Actor): Answer {
    const { verb, path, body } = asked;
    if (path === '/api' || path === '/apis') return { code: 200, text: discoveryText(path) };
    if (EVENTS_PATH.test(path)) return { code: verb === 'POST' ? 201 : 200, text: body ?? '{}' };
    const place = placeOf(path);
    if (place === undefined) throw new Refused(404, 'NotFound', `nothing at ${path}`);
    if (verb === 'GET' && place.name === '') return this.#list(asked, place);
    if (verb !== 'GET') this.writes++;
    const object = this.#carryOut(asked, place, actor);
    const shown = wantsMetadata(asked) ? metadataOf(object) : object;
    return { code: verb === 'POST' ? 201 : 200, text: JSON.stringify(shown) };
  }

  #carryOut({ verb, body, path, headers }: Asked, place: Place, actor: Actor): Obj {
    const { resource, namespace, name, subresource } = place;
    const key = resource.namespaced ? `${namespace}/${name}` : name;
    const sent: Json = body === undefined ? {} : JSON.parse(body);
    if (verb === 'GET') return this.api.get(resource, key);
    if (verb === 'POST') return this.api.create(resource, namespace, sent, actor);
    if (verb === 'PUT') return this.api.update(resource, key, sent, subresource, actor);
    if (verb === 'PATCH') {
      const kind = headers['Content-Type'] ?? '';
      return this.api.patch(resource, key, sent, { kind, subresource, actor });
    }
    if (name === '') throw new Error(`the model can't delete collections: ${path}`);
    const { uid, resourceVersion } = sent.preconditions ?? {};
    if (actor === 'holdfast' && uid === undefined) this.onBadRequest(`DELETE ${path} without UID`);
    return this.api.delete(resource, key, { ...sent, uid, resourceVersion }, actor);
  }

  #list(asked: Asked, { resource, namespace, query }: Place): Answer {
    const limit = Number(query.get('limit') ?? 0) || Number.POSITIVE_INFINITY;
    const token = query.get('continue');
    let items: readonly Obj[];
    let { version } = this.api;
    if (token === null) {
      items = this.api.all(resource).filter(matcher(query, namespace));
      items = [...items].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      if (query.get('fieldSelector') === null && resource !== LEASES) this.lists++;
    } else {
      const snapshot = this.#snapshots.get(token);
      if (snapshot === undefined)
        throw new Refused(410, 'Expired', 'the continue token is too old');
      this.#snapshots.delete(token);
      items = snapshot.rest;
      version = snapshot.version;
    }
    const page = items.slice(0, limit);
    const rest = items.slice(page.length);
    let next = '';
    if (rest.length > 0) {
      next = `token-${++this.#tokens}`;
      this.#snapshots.set(next, { version, rest });
    }
    const metadata = { resourceVersion: String(version), continue: next };
    const shown = wantsMetadata(asked) ? page.map(metadataOf) : page;
    return {
      code: 200,
      text: JSON.stringify({ kind: `${resource.kind}List`, metadata, items: shown }),
    };
  }
}

export function wantsMetadata({ headers }: Pick<Asked, 'headers'>): boolean {
  return (headers.Accept ?? '').includes('as=PartialObjectMetadata');
}

/** Which objects a list or watch means. Throws for selectors that the model doesn't know. */
function matcher(query: URLSearchParams, namespace: string): (object: Obj) => boolean {
  const field = query.get('fieldSelector');
  const name = field === null ? undefined : /^metadata\.name=(.*)$/.exec(field)?.[1];
  if (field !== null && name === undefined) throw new Error(`field selector ${field}`);
  const labels = (query.get('labelSelector') ?? '')
    .split(',')
    .filter((part) => part !== '')
    .map((part) => part.split(/==?/));
  return ({ metadata }) =>
    (namespace === '' || metadata.namespace === namespace) &&
    (name === undefined || metadata.name === name) &&
    labels.every(([label, value]) => metadata.labels?.[label as string] === value);
}

/** Id of the resource of a watch, and what it wants. */
export function watchOf(path: string): { id: string; query: URLSearchParams } | undefined {
  const place = placeOf(path);
  return place && { id: resourceId(place.resource), query: place.query };
}
