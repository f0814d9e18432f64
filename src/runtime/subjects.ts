/**
 * Which object a key is about. Most keys are "namespace/name" of one resource, but not all: so that
 * a reader of the state file, and the page of the process, can tell what `default/web` in a queue
 * means, each queue is named here with its controller, its resource and the form of its keys.
 */

/**
 * - `object`: "namespace/name" or "name" of the resource.
 * - `longer`: the same with more behind it ("namespace/name/uid/…").
 * - `identity`: a JSON list [apiVersion, kind, namespace, name, uid], of any resource.
 * - `last-word`: "… name": what comes after the last space.
 * - `none`: about no object ("all pods").
 */
type Form = 'object' | 'longer' | 'identity' | 'last-word' | 'none';

interface QueueRow {
  readonly controller: string;
  /** Id of the resource, "" where the key itself says it or there is none. */
  readonly resource: string;
  readonly form: Form;
}

/** What a key is about. */
export interface Subject {
  /** Id of the resource, e.g. "deployments.apps"; "" if only the kind is known. */
  readonly resource: string;
  /** Kind, where the key tells it instead of the resource. */
  readonly kind: string;
  /** API group of the kind, "" for the core group or if the resource is known. */
  readonly group: string;
  readonly key: string;
  /** "" if the key doesn't tell. */
  readonly uid: string;
}

function row(controller: string, resource: string, form: Form = 'object'): QueueRow {
  return { controller, resource, form };
}

const DISRUPTION = 'disruption-controller';
const GARBAGE = 'garbage-collector-controller';
const JOBS = 'job-controller';
const NODES = 'node-lifecycle-controller';
const POD_GARBAGE = 'pod-garbage-collector-controller';
const QUOTAS = 'resourcequota-controller';
const TAINTS = 'taint-eviction-controller';
const TOKENS = 'serviceaccount-token-controller';
const OLD_TOKENS = 'legacy-serviceaccount-token-cleaner-controller';

/** Every queue by what its work is stored as. */
const QUEUES: Readonly<Record<string, QueueRow>> = {
  ClusterRoleAggregator: row(
    'clusterrole-aggregation-controller',
    'clusterroles.rbac.authorization.k8s.io',
  ),
  cronjob: row('cronjob-controller', 'cronjobs.batch'),
  daemonset: row('daemonset-controller', 'daemonsets.apps'),
  'daemonset-node-updates': row('daemonset-controller', 'nodes'),
  deployment: row('deployment-controller', 'deployments.apps'),
  disruption: row(DISRUPTION, 'poddisruptionbudgets.policy'),
  disruption_recheck: row(DISRUPTION, 'poddisruptionbudgets.policy'),
  stale_pod_disruption: row(DISRUPTION, 'pods'),
  endpoint: row('endpoints-controller', 'services'),
  endpoint_slice: row('endpointslice-controller', 'services'),
  endpoint_slice_mirroring: row('endpointslice-mirroring-controller', 'endpoints'),
  garbage_collector_attempt_to_delete: row(GARBAGE, '', 'identity'),
  garbage_collector_attempt_to_orphan: row(GARBAGE, '', 'identity'),
  garbage_collector_graph_changes: row(GARBAGE, '', 'identity'),
  horizontalpodautoscaler: row(
    'horizontal-pod-autoscaler-controller',
    'horizontalpodautoscalers.autoscaling',
  ),
  job: row(JOBS, 'jobs.batch'),
  job_orphan_pod: row(JOBS, 'pods'),
  [OLD_TOKENS]: row(OLD_TOKENS, '', 'none'),
  namespace: row('namespace-controller', 'namespaces'),
  node_lifecycle_controller: row(NODES, 'nodes'),
  node_lifecycle_controller_pods: row(NODES, 'pods'),
  node_lifecycle_monitor: row(NODES, '', 'none'),
  node_lifecycle_taints: row(NODES, '', 'none'),
  podgc: row(POD_GARBAGE, '', 'none'),
  orphaned_pods_nodes: row(POD_GARBAGE, 'nodes'),
  replicaset: row('replicaset-controller', 'replicasets.apps'),
  replicationmanager: row('replicationcontroller-controller', 'replicationcontrollers'),
  resourcequota_primary: row(QUOTAS, 'resourcequotas'),
  resourcequota_priority: row(QUOTAS, 'resourcequotas'),
  resource_quota_controller_resource_changes: row(QUOTAS, 'namespaces', 'last-word'),
  root_ca_cert_publisher: row('root-ca-certificate-publisher-controller', 'namespaces'),
  serviceaccount: row('serviceaccount-controller', 'namespaces'),
  'serviceaccount_tokens_service/accounts': row(TOKENS, 'serviceaccounts', 'longer'),
  'serviceaccount_tokens_service/secrets': row(TOKENS, 'secrets', 'longer'),
  statefulset: row('statefulset-controller', 'statefulsets.apps'),
  noexec_taint_node: row(TAINTS, 'nodes'),
  noexec_taint_pod: row(TAINTS, 'pods'),
  ttlcontroller: row('ttl-controller', 'nodes'),
  ttl_jobs_to_delete: row('ttl-after-finished-controller', 'jobs.batch'),
};

/** The controller that a queue belongs to, "" if it is not known. */
export function controllerOfQueue(queue: string): string {
  return Object.hasOwn(QUEUES, queue) ? (QUEUES[queue]?.controller ?? '') : '';
}

/** What a queue's key is about; undefined if it is about no object, or the queue is not known. */
export function subjectOfWork(queue: string, key: string): Subject | undefined {
  const known = Object.hasOwn(QUEUES, queue) ? QUEUES[queue] : undefined;
  return known === undefined ? undefined : subjectIn(known, key);
}

/** What a key in a controller's journal may be about: it has one queue or several. */
export function subjectsOfSync(controller: string, key: string): Subject[] {
  const found: Subject[] = [];
  for (const queue of Object.values(QUEUES)) {
    if (queue.controller !== controller) continue;
    const subject = subjectIn(queue, key);
    if (subject === undefined) continue;
    const known = found.some((one) => one.resource === subject.resource && one.key === subject.key);
    if (!known) found.push(subject);
  }
  return found;
}

function subjectIn({ resource, form }: QueueRow, key: string): Subject | undefined {
  const plain = { resource, kind: '', group: '', uid: '' };
  switch (form) {
    case 'object':
      return { ...plain, key };
    case 'longer': {
      const [namespace, name, uid = ''] = key.split('/');
      return name === undefined ? undefined : { ...plain, key: `${namespace}/${name}`, uid };
    }
    case 'last-word':
      return { ...plain, key: key.slice(key.lastIndexOf(' ') + 1) };
    case 'identity':
      return ofIdentity(key);
    case 'none':
      return undefined;
  }
}

function ofIdentity(key: string): Subject | undefined {
  const parts = listOf(key);
  const [apiVersion, kind, namespace, name, uid] = parts;
  if (apiVersion === undefined || kind === undefined || name === undefined) return undefined;
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const place = namespace ? `${namespace}/${name}` : name;
  return { resource: '', kind, group, key: place, uid: uid ?? '' };
}

function listOf(key: string): readonly (string | undefined)[] {
  try {
    const parts: unknown = JSON.parse(key);
    return Array.isArray(parts) && parts.every((part) => typeof part === 'string') ? parts : [];
  } catch {
    return [];
  }
}

/** Names that the plural of a kind may have, all in lower case, the kind itself among them. */
export function pluralsOf(kind: string): string[] {
  const word = kind.toLowerCase();
  return [word, `${word}s`, `${word}es`, word.replace(/y$/, 'ies')];
}

/** True if a resource (by its id) may be what serves this kind of this group. */
export function mayServe(resource: string, kind: string, group: string): boolean {
  const dot = resource.indexOf('.');
  const plural = dot < 0 ? resource : resource.slice(0, dot);
  const ofGroup = dot < 0 ? '' : resource.slice(dot + 1);
  return ofGroup === group && pluralsOf(kind).includes(plural);
}

/** True if the subject is this object. `uid` is "" if it is not known. */
export function isAbout(
  subject: Subject,
  object: { readonly resource: string; readonly key: string; readonly uid: string },
): boolean {
  if (subject.key !== object.key) return false;
  if (subject.uid !== '' && object.uid !== '' && subject.uid !== object.uid) return false;
  return subject.resource === ''
    ? mayServe(object.resource, subject.kind, subject.group)
    : subject.resource === object.resource;
}
