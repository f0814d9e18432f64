/** Resources of the API (group, version, plural) and the well-known ones Holdfast reads and writes. */

/** One resource of the API server, as discovery describes it. */
export interface Resource {
  /** API group, "" for core. */
  readonly group: string;
  readonly version: string;
  /** Plural, lower-case name as in URLs, e.g. "replicasets". */
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** "apps/v1" or "v1": what an object of this resource carries as apiVersion. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** Group and version of an apiVersion ("apps/v1", "v1", ""), or what is wrong with it. */
export function parseApiVersion(
  text: string,
): { readonly group: string; readonly version: string } | { readonly problem: string } {
  if (text === '' || text === '/') return { group: '', version: '' };
  const parts = text.split('/');
  const [first = '', second = ''] = parts;
  if (parts.length === 1) return { group: '', version: first };
  if (parts.length === 2) return { group: first, version: second };
  return { problem: `unexpected GroupVersion string: ${text}` };
}

/** Stable id of a resource for rows, metrics and logs: "deployments.apps", "pods". */
export function resourceId(resource: Resource): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

function resource(
  group: string,
  version: string,
  plural: string,
  kind: string,
  namespaced: boolean,
): Resource {
  return Object.freeze({ group, version, plural, kind, namespaced });
}

export const PODS = resource('', 'v1', 'pods', 'Pod', true);
export const NODES = resource('', 'v1', 'nodes', 'Node', false);
export const NAMESPACES = resource('', 'v1', 'namespaces', 'Namespace', false);
export const SERVICES = resource('', 'v1', 'services', 'Service', true);
export const ENDPOINTS = resource('', 'v1', 'endpoints', 'Endpoints', true);
export const SERVICE_ACCOUNTS = resource('', 'v1', 'serviceaccounts', 'ServiceAccount', true);
export const CONFIG_MAPS = resource('', 'v1', 'configmaps', 'ConfigMap', true);
export const SECRETS = resource('', 'v1', 'secrets', 'Secret', true);
export const EVENTS = resource('', 'v1', 'events', 'Event', true);
export const PERSISTENT_VOLUME_CLAIMS = resource(
  '',
  'v1',
  'persistentvolumeclaims',
  'PersistentVolumeClaim',
  true,
);
export const RESOURCE_QUOTAS = resource('', 'v1', 'resourcequotas', 'ResourceQuota', true);
export const REPLICATION_CONTROLLERS = resource(
  '',
  'v1',
  'replicationcontrollers',
  'ReplicationController',
  true,
);
export const DEPLOYMENTS = resource('apps', 'v1', 'deployments', 'Deployment', true);
export const REPLICA_SETS = resource('apps', 'v1', 'replicasets', 'ReplicaSet', true);
export const STATEFUL_SETS = resource('apps', 'v1', 'statefulsets', 'StatefulSet', true);
export const DAEMON_SETS = resource('apps', 'v1', 'daemonsets', 'DaemonSet', true);
export const CONTROLLER_REVISIONS = resource(
  'apps',
  'v1',
  'controllerrevisions',
  'ControllerRevision',
  true,
);
export const JOBS = resource('batch', 'v1', 'jobs', 'Job', true);
export const CRON_JOBS = resource('batch', 'v1', 'cronjobs', 'CronJob', true);
export const POD_DISRUPTION_BUDGETS = resource(
  'policy',
  'v1',
  'poddisruptionbudgets',
  'PodDisruptionBudget',
  true,
);
export const HORIZONTAL_POD_AUTOSCALERS = resource(
  'autoscaling',
  'v2',
  'horizontalpodautoscalers',
  'HorizontalPodAutoscaler',
  true,
);
export const ENDPOINT_SLICES = resource(
  'discovery.k8s.io',
  'v1',
  'endpointslices',
  'EndpointSlice',
  true,
);
export const CLUSTER_ROLES = resource(
  'rbac.authorization.k8s.io',
  'v1',
  'clusterroles',
  'ClusterRole',
  false,
);
export const LEASES = resource('coordination.k8s.io', 'v1', 'leases', 'Lease', true);
export const TOKEN_REVIEWS = resource(
  'authentication.k8s.io',
  'v1',
  'tokenreviews',
  'TokenReview',
  false,
);
export const SUBJECT_ACCESS_REVIEWS = resource(
  'authorization.k8s.io',
  'v1',
  'subjectaccessreviews',
  'SubjectAccessReview',
  false,
);
