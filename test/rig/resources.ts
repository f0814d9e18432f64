/** Where the built-in kinds live on the API server, for the rig's own client. */

/** One resource: its API root ("/api/v1" or "/apis/GROUP/VERSION"), plural and scope. */
export interface RigResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

const ROWS: readonly (readonly [apiVersion: string, namespaced: string, cluster: string])[] = [
  [
    'v1',
    'Pod:pods Service:services Endpoints:endpoints ConfigMap:configmaps Secret:secrets Event:events ' +
      'ServiceAccount:serviceaccounts ReplicationController:replicationcontrollers ' +
      'PersistentVolumeClaim:persistentvolumeclaims ResourceQuota:resourcequotas ' +
      'LimitRange:limitranges PodTemplate:podtemplates',
    'Node:nodes Namespace:namespaces PersistentVolume:persistentvolumes',
  ],
  [
    'apps/v1',
    'Deployment:deployments ReplicaSet:replicasets StatefulSet:statefulsets DaemonSet:daemonsets ' +
      'ControllerRevision:controllerrevisions',
    '',
  ],
  ['batch/v1', 'Job:jobs CronJob:cronjobs', ''],
  ['policy/v1', 'PodDisruptionBudget:poddisruptionbudgets', ''],
  ['autoscaling/v2', 'HorizontalPodAutoscaler:horizontalpodautoscalers', ''],
  ['discovery.k8s.io/v1', 'EndpointSlice:endpointslices', ''],
  ['coordination.k8s.io/v1', 'Lease:leases', ''],
  ['networking.k8s.io/v1', 'NetworkPolicy:networkpolicies Ingress:ingresses', ''],
  [
    'networking.k8s.io/v1',
    '',
    'IngressClass:ingressclasses ServiceCIDR:servicecidrs IPAddress:ipaddresses',
  ],
  [
    'rbac.authorization.k8s.io/v1',
    'Role:roles RoleBinding:rolebindings',
    'ClusterRole:clusterroles ClusterRoleBinding:clusterrolebindings',
  ],
  [
    'storage.k8s.io/v1',
    'CSIStorageCapacity:csistoragecapacities',
    'StorageClass:storageclasses VolumeAttachment:volumeattachments CSINode:csinodes ' +
      'CSIDriver:csidrivers VolumeAttributesClass:volumeattributesclasses',
  ],
  ['certificates.k8s.io/v1', '', 'CertificateSigningRequest:certificatesigningrequests'],
  ['apiextensions.k8s.io/v1', '', 'CustomResourceDefinition:customresourcedefinitions'],
  ['apiregistration.k8s.io/v1', '', 'APIService:apiservices'],
  ['scheduling.k8s.io/v1', '', 'PriorityClass:priorityclasses'],
  ['flowcontrol.apiserver.k8s.io/v1', '', 'FlowSchema:flowschemas'],
  [
    'admissionregistration.k8s.io/v1',
    '',
    'ValidatingAdmissionPolicy:validatingadmissionpolicies ' +
      'ValidatingAdmissionPolicyBinding:validatingadmissionpolicybindings',
  ],
  ['resource.k8s.io/v1', 'ResourceClaim:resourceclaims', 'DeviceClass:deviceclasses'],
];

function rows(apiVersion: string, text: string, namespaced: boolean): RigResource[] {
  const words = text.split(' ').filter((word) => word !== '');
  return words.map((word) => {
    const [kind = '', plural = ''] = word.split(':');
    return { apiVersion, kind, plural, namespaced };
  });
}

const all = ROWS.flatMap(([apiVersion, namespaced, cluster]) => [
  ...rows(apiVersion, namespaced, true),
  ...rows(apiVersion, cluster, false),
]);
const byPlural = new Map(all.map((resource) => [resource.plural, resource]));
const byKind = new Map(
  all.map((resource) => [`${resource.apiVersion}/${resource.kind}`, resource]),
);

/** Makes a custom kind known to `resource` and `resourceOf`. */
export function registerResource(resource: RigResource): void {
  byPlural.set(resource.plural, resource);
  byKind.set(`${resource.apiVersion}/${resource.kind}`, resource);
}

/** The resource of a plural name ("deployments"). */
export function resource(plural: string): RigResource {
  const found = byPlural.get(plural);
  if (found) return found;
  throw new Error(`the rig knows no resource "${plural}": use registerResource() for custom ones`);
}

/** The resource an object belongs to, by its apiVersion and kind. */
export function resourceOf(object: { apiVersion?: string; kind?: string }): RigResource {
  const found = byKind.get(`${object.apiVersion}/${object.kind}`);
  if (found) return found;
  throw new Error(`the rig knows no kind ${object.apiVersion}/${object.kind}: registerResource()`);
}

/** The URL path of a collection or of one object, e.g. /apis/apps/v1/namespaces/x/deployments/y. */
export function pathOf(at: RigResource, namespace?: string, name?: string, sub?: string): string {
  const root = at.apiVersion.includes('/') ? `/apis/${at.apiVersion}` : `/api/${at.apiVersion}`;
  const scope = at.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `${root}${scope}/${at.plural}${object}${sub ? `/${sub}` : ''}`;
}
