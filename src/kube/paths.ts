/** Paths, queries and headers of requests about resources. */
import type { Resource } from '../api/resource.ts';

/** Values of a query; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Where a request about a resource goes. */
export interface Target {
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

const JSON_TYPE = 'application/json';

/**
 * "/apis/apps/v1/namespaces/x/deployments/y/status?...". Throws for a target that would reach
 * something else than was meant: an empty name, a path in a name, a missing namespace.
 */
export function resourcePath(resource: Resource, target: Target, query: Query = {}): string {
  const { group, version, plural, namespaced } = resource;
  const parts = group === '' ? ['api', version] : ['apis', group, version];
  if (target.namespace !== undefined && target.namespace !== '') {
    if (!namespaced) throw new Error(`${plural} have no namespace, got "${target.namespace}"`);
    parts.push('namespaces', segment(target.namespace, `namespace of ${plural}`));
  } else if (namespaced && target.name !== undefined) {
    throw new Error(`${plural} "${target.name}": a namespace is needed`);
  }
  parts.push(plural);
  if (target.name !== undefined) parts.push(segment(target.name, `name of ${plural}`));
  if (target.subresource !== undefined) parts.push(segment(target.subresource, 'subresource'));
  return `/${parts.map(encodeURIComponent).join('/')}${queryText(query)}`;
}

/** The rule of the server for what may stand between two slashes. */
function segment(text: string, what: string): string {
  if (text === '' || text === '.' || text === '..' || /[/%]/.test(text)) {
    throw new Error(`${what} can't be ${JSON.stringify(text)}`);
  }
  return text;
}

/** "?a=1&b=x", or "" without values. */
export function queryText(query: Query): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** What we accept for one object (or watch event), or for a list. */
export function acceptOf(metadataOnly: boolean | undefined, list: boolean): string {
  if (metadataOnly !== true) return JSON_TYPE;
  const kind = `PartialObjectMetadata${list ? 'List' : ''}`;
  return `${JSON_TYPE};as=${kind};g=meta.k8s.io;v=v1,${JSON_TYPE}`;
}
