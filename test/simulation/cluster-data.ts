/** The resources of the model API server, and the rules of their storage that are plain data. */
import {
  CONTROLLER_REVISIONS,
  CRON_JOBS,
  DAEMON_SETS,
  DEPLOYMENTS,
  JOBS,
  LEASES,
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  POD_DISRUPTION_BUDGETS,
  PODS,
  REPLICA_SETS,
  REPLICATION_CONTROLLERS,
  type Resource,
  STATEFUL_SETS,
} from '../../src/api/resource.ts';

const API_SERVICES: Resource = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  plural: 'apiservices',
  kind: 'APIService',
  namespaced: false,
};

/** Everything the model serves, except events, which are taken and forgotten. */
export const SERVED: readonly Resource[] = [
  NAMESPACES,
  NODES,
  PODS,
  PERSISTENT_VOLUME_CLAIMS,
  REPLICATION_CONTROLLERS,
  DEPLOYMENTS,
  REPLICA_SETS,
  STATEFUL_SETS,
  DAEMON_SETS,
  CONTROLLER_REVISIONS,
  JOBS,
  CRON_JOBS,
  POD_DISRUPTION_BUDGETS,
  LEASES,
  API_SERVICES,
];

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** The body of aggregated discovery for "/api" or "/apis". */
export function discoveryText(path: string): string {
  const isCore = path === '/api';
  const groups = [...new Set(SERVED.map(({ group }) => group))].filter(
    (group) => (group === '') === isCore,
  );
  const items = groups.map((group) => {
    const own = SERVED.filter((one) => one.group === group);
    const resources = own.map((one) => ({
      resource: one.plural,
      responseKind: { group, version: one.version, kind: one.kind },
      scope: one.namespaced ? 'Namespaced' : 'Cluster',
      singularResource: one.kind.toLowerCase(),
      verbs: VERBS,
      subresources: [{ subresource: 'status' }],
    }));
    const versions = [{ version: own[0]!.version, freshness: 'Current', resources }];
    return { metadata: { name: group }, versions };
  });
  return JSON.stringify({ kind: 'APIGroupDiscoveryList', items });
}

/** A request's path, taken apart. */
export interface Place {
  readonly resource: Resource;
  readonly namespace: string;
  /** "" for a collection. */
  readonly name: string;
  readonly subresource: string;
  readonly query: URLSearchParams;
}

/** Understands "/apis/apps/v1/namespaces/x/deployments/y/status?...". */
export function placeOf(path: string): Place | undefined {
  const [bare = '', query = ''] = path.split('?');
  const parts = bare
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const group = parts[0] === 'api' ? '' : (parts[1] ?? '');
  let rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  let namespace = '';
  if (rest[0] === 'namespaces' && rest.length > 2) {
    namespace = rest[1]!;
    rest = rest.slice(2);
  }
  const [plural, name = '', subresource = ''] = rest;
  const resource = SERVED.find((one) => one.group === group && one.plural === plural);
  if (resource === undefined) return undefined;
  return { resource, namespace, name, subresource, query: new URLSearchParams(query) };
}
