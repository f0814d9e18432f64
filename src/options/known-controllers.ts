/** Every controller name that --controllers knows, whether or not this program has it. */

/** What the shell knows of a controller before any code of it runs. */
export interface KnownController {
  /** Canonical name. */
  readonly name: string;
  /** Names from before 1.28, still accepted. */
  readonly aliases: readonly string[];
  /** Feature gates that must all be on. */
  readonly gates: readonly string[];
  readonly enabledByDefault: boolean;
  /** Moved to cloud-controller-manager: known, but never started. */
  readonly cloud: boolean;
  /** With a gate off it isn't off but a part of this one, and is on and off with it. */
  readonly partOf?: string;
}

interface Traits {
  readonly alias?: string;
  readonly gates?: readonly string[];
  readonly off?: boolean;
  readonly cloud?: boolean;
  readonly partOf?: string;
}

function known(name: string, traits: Traits = {}): KnownController {
  const { alias, gates = [], off = false, cloud = false, partOf } = traits;
  const aliases = alias === undefined ? [] : [alias];
  const part = partOf === undefined ? {} : { partOf };
  return { name, aliases, gates, enabledByDefault: !off, cloud, ...part };
}

/** Sorted by name. */
export const KNOWN_CONTROLLERS: readonly KnownController[] = [
  known('bootstrap-signer-controller', { alias: 'bootstrapsigner', off: true }),
  known('certificatesigningrequest-approving-controller', { alias: 'csrapproving' }),
  known('certificatesigningrequest-cleaner-controller', { alias: 'csrcleaner' }),
  known('certificatesigningrequest-signing-controller', { alias: 'csrsigning' }),
  known('cloud-node-lifecycle-controller', { alias: 'cloud-node-lifecycle', cloud: true }),
  known('clusterrole-aggregation-controller', { alias: 'clusterrole-aggregation' }),
  known('cronjob-controller', { alias: 'cronjob' }),
  known('daemonset-controller', { alias: 'daemonset' }),
  known('deployment-controller', { alias: 'deployment' }),
  known('device-taint-eviction-controller', {
    gates: ['DynamicResourceAllocation', 'DRADeviceTaints'],
  }),
  known('disruption-controller', { alias: 'disruption' }),
  known('endpoints-controller', { alias: 'endpoint' }),
  known('endpointslice-controller', { alias: 'endpointslice' }),
  known('endpointslice-mirroring-controller', { alias: 'endpointslicemirroring' }),
  known('ephemeral-volume-controller', { alias: 'ephemeral-volume' }),
  known('garbage-collector-controller', { alias: 'garbagecollector' }),
  known('horizontal-pod-autoscaler-controller', { alias: 'horizontalpodautoscaling' }),
  known('job-controller', { alias: 'job' }),
  known('kube-apiserver-serving-clustertrustbundle-publisher-controller', {
    gates: ['ClusterTrustBundle'],
  }),
  known('legacy-serviceaccount-token-cleaner-controller', {
    alias: 'legacy-service-account-token-cleaner',
  }),
  known('namespace-controller', { alias: 'namespace' }),
  known('node-ipam-controller', { alias: 'nodeipam' }),
  known('node-lifecycle-controller', { alias: 'nodelifecycle' }),
  known('node-route-controller', { alias: 'route', cloud: true }),
  known('persistentvolume-attach-detach-controller', { alias: 'attachdetach' }),
  known('persistentvolume-binder-controller', { alias: 'persistentvolume-binder' }),
  known('persistentvolume-expander-controller', { alias: 'persistentvolume-expander' }),
  known('persistentvolume-protection-controller', { alias: 'pv-protection' }),
  known('persistentvolumeclaim-protection-controller', { alias: 'pvc-protection' }),
  known('pod-garbage-collector-controller', { alias: 'podgc' }),
  known('podcertificaterequest-cleaner-controller', { gates: ['PodCertificateRequest'] }),
  known('podgroup-protection-controller', { gates: ['GenericWorkload'] }),
  known('replicaset-controller', { alias: 'replicaset' }),
  known('replicationcontroller-controller', { alias: 'replicationcontroller' }),
  known('resourceclaim-controller', {
    alias: 'resource-claim-controller',
    gates: ['DynamicResourceAllocation'],
  }),
  known('resourcepoolstatusrequest-controller', { gates: ['DRAResourcePoolStatus'] }),
  known('resourcequota-controller', { alias: 'resourcequota' }),
  known('root-ca-certificate-publisher-controller', { alias: 'root-ca-cert-publisher' }),
  known('selinux-warning-controller', { gates: ['SELinuxChangePolicy'], off: true }),
  known('service-cidr-controller', { gates: ['MultiCIDRServiceAllocator'] }),
  known('service-lb-controller', { alias: 'service', cloud: true }),
  known('serviceaccount-controller', { alias: 'serviceaccount' }),
  known('serviceaccount-token-controller', { alias: 'serviceaccount-token' }),
  known('statefulset-controller', { alias: 'statefulset' }),
  known('storage-version-migrator-controller', { alias: 'svm', gates: ['StorageVersionMigrator'] }),
  known('storageversion-garbage-collector-controller', {
    alias: 'storage-version-gc',
    gates: ['APIServerIdentity', 'StorageVersionAPI'],
  }),
  known('taint-eviction-controller', {
    gates: ['SeparateTaintEvictionController'],
    partOf: 'node-lifecycle-controller',
  }),
  known('token-cleaner-controller', { alias: 'tokencleaner', off: true }),
  known('ttl-after-finished-controller', { alias: 'ttl-after-finished' }),
  known('ttl-controller', { alias: 'ttl' }),
  known('validatingadmissionpolicy-status-controller'),
  known('volumeattributesclass-protection-controller', { gates: ['VolumeAttributesClass'] }),
];
