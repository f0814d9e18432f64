/** The object under /configz: KubeControllerManagerConfiguration v1alpha1, key for key. */
import { canonicalList } from './controllers.ts';
import type { LeaderMigration } from './leader-migration.ts';
import type { FlagValues } from './values.ts';

const API_VERSION = 'kubecontrollermanager.config.k8s.io/v1alpha1';
/** The component configuration still has these; no flag sets them. */
const RECYCLER_RETRIES_MAX = 3;
const IGNORED_BY_GARBAGE_COLLECTOR = [
  { Group: '', Resource: 'events' },
  { Group: 'events.k8s.io', Resource: 'events' },
];

function generic(values: FlagValues, migration: LeaderMigration | undefined): object {
  return {
    Port: 0,
    Address: '0.0.0.0',
    MinResyncPeriod: values.print('min-resync-period'),
    ClientConnection: {
      kubeconfig: values.text('kubeconfig'),
      acceptContentTypes: '',
      contentType: values.text('kube-api-content-type'),
      qps: values.number('kube-api-qps'),
      burst: values.number('kube-api-burst'),
    },
    ControllerStartInterval: values.print('controller-start-interval'),
    LeaderElection: {
      leaderElect: values.bool('leader-elect'),
      leaseDuration: values.print('leader-elect-lease-duration'),
      renewDeadline: values.print('leader-elect-renew-deadline'),
      retryPeriod: values.print('leader-elect-retry-period'),
      resourceLock: values.text('leader-elect-resource-lock'),
      resourceName: values.text('leader-elect-resource-name'),
      resourceNamespace: values.text('leader-elect-resource-namespace'),
    },
    Controllers: canonicalList(values.list('controllers')),
    Debugging: {
      enableProfiling: values.bool('profiling'),
      enableContentionProfiling: values.bool('contention-profiling'),
    },
    LeaderMigrationEnabled: values.bool('enable-leader-migration'),
    LeaderMigration: migration ?? { leaderName: '', resourceLock: '', controllerLeaders: null },
  };
}

function cloudShared(values: FlagValues): object {
  return {
    CloudProvider: {
      Name: values.text('cloud-provider'),
      CloudConfigFile: values.text('cloud-config'),
    },
    ExternalCloudVolumePlugin: values.text('external-cloud-volume-plugin'),
    UseServiceAccountCredentials: values.bool('use-service-account-credentials'),
    AllowUntaggedCloud: values.bool('allow-untagged-cloud'),
    RouteReconciliationPeriod: values.print('route-reconciliation-period'),
    NodeMonitorPeriod: values.print('node-monitor-period'),
    ClusterName: values.text('cluster-name'),
    ClusterCIDR: values.text('cluster-cidr'),
    AllocateNodeCIDRs: values.bool('allocate-node-cidrs'),
    CIDRAllocatorType: values.text('cidr-allocator-type'),
    ConfigureCloudRoutes: values.bool('configure-cloud-routes'),
    NodeSyncPeriod: values.print('node-sync-period'),
  };
}

function signer(values: FlagValues, name: string): object {
  return {
    CertFile: values.text(`cluster-signing-${name}-cert-file`),
    KeyFile: values.text(`cluster-signing-${name}-key-file`),
  };
}

function signing(values: FlagValues): object {
  return {
    ClusterSigningCertFile: values.text('cluster-signing-cert-file'),
    ClusterSigningKeyFile: values.text('cluster-signing-key-file'),
    KubeletServingSignerConfiguration: signer(values, 'kubelet-serving'),
    KubeletClientSignerConfiguration: signer(values, 'kubelet-client'),
    KubeAPIServerClientSignerConfiguration: signer(values, 'kube-apiserver-client'),
    LegacyUnknownSignerConfiguration: signer(values, 'legacy-unknown'),
    ClusterSigningDuration: values.print('cluster-signing-duration'),
  };
}

function endpoints(values: FlagValues): object {
  return {
    EndpointController: {
      ConcurrentEndpointSyncs: values.number('concurrent-endpoint-syncs'),
      EndpointUpdatesBatchPeriod: values.print('endpoint-updates-batch-period'),
    },
    EndpointSliceController: {
      ConcurrentServiceEndpointSyncs: values.number('concurrent-service-endpoint-syncs'),
      MaxEndpointsPerSlice: values.number('max-endpoints-per-slice'),
      EndpointUpdatesBatchPeriod: values.print('endpointslice-updates-batch-period'),
    },
    EndpointSliceMirroringController: {
      MirroringConcurrentServiceEndpointSyncs: values.number(
        'mirroring-concurrent-service-endpoint-syncs',
      ),
      MirroringMaxEndpointsPerSubset: values.number('mirroring-max-endpoints-per-subset'),
      MirroringEndpointUpdatesBatchPeriod: values.print(
        'mirroring-endpointslice-updates-batch-period',
      ),
    },
  };
}

function autoscaler(values: FlagValues): object {
  const flag = (name: string) => values.print(`horizontal-pod-autoscaler-${name}`);
  return {
    ConcurrentHorizontalPodAutoscalerSyncs: values.number(
      'concurrent-horizontal-pod-autoscaler-syncs',
    ),
    HorizontalPodAutoscalerSyncPeriod: flag('sync-period'),
    HorizontalPodAutoscalerDownscaleStabilizationWindow: flag('downscale-stabilization'),
    HorizontalPodAutoscalerTolerance: values.number('horizontal-pod-autoscaler-tolerance'),
    HorizontalPodAutoscalerCPUInitializationPeriod: flag('cpu-initialization-period'),
    HorizontalPodAutoscalerInitialReadinessDelay: flag('initial-readiness-delay'),
  };
}

function nodes(values: FlagValues): object {
  return {
    NodeIPAMController: {
      ServiceCIDR: values.text('service-cluster-ip-range'),
      SecondaryServiceCIDR: '',
      NodeCIDRMaskSize: values.number('node-cidr-mask-size'),
      NodeCIDRMaskSizeIPv4: values.number('node-cidr-mask-size-ipv4'),
      NodeCIDRMaskSizeIPv6: values.number('node-cidr-mask-size-ipv6'),
    },
    NodeLifecycleController: {
      NodeEvictionRate: values.number('node-eviction-rate'),
      SecondaryNodeEvictionRate: values.number('secondary-node-eviction-rate'),
      NodeStartupGracePeriod: values.print('node-startup-grace-period'),
      NodeMonitorGracePeriod: values.print('node-monitor-grace-period'),
      PodEvictionTimeout: '0s',
      LargeClusterSizeThreshold: values.number('large-cluster-size-threshold'),
      UnhealthyZoneThreshold: values.number('unhealthy-zone-threshold'),
    },
  };
}

function volumes(values: FlagValues): object {
  return {
    PVClaimBinderSyncPeriod: values.print('pvclaimbinder-sync-period'),
    VolumeConfiguration: {
      EnableHostPathProvisioning: values.bool('enable-hostpath-provisioner'),
      EnableDynamicProvisioning: values.bool('enable-dynamic-provisioning'),
      PersistentVolumeRecyclerConfiguration: {
        MaximumRetry: RECYCLER_RETRIES_MAX,
        MinimumTimeoutNFS: values.number('pv-recycler-minimum-timeout-nfs'),
        PodTemplateFilePathNFS: values.text('pv-recycler-pod-template-filepath-nfs'),
        IncrementTimeoutNFS: values.number('pv-recycler-increment-timeout-nfs'),
        PodTemplateFilePathHostPath: values.text('pv-recycler-pod-template-filepath-hostpath'),
        MinimumTimeoutHostPath: values.number('pv-recycler-minimum-timeout-hostpath'),
        IncrementTimeoutHostPath: values.number('pv-recycler-timeout-increment-hostpath'),
      },
      FlexVolumePluginDir: values.text('flex-volume-plugin-dir'),
    },
  };
}

function workloads(values: FlagValues): object {
  const workers = (name: string) => values.number(`concurrent-${name}-syncs`);
  return {
    HPAController: autoscaler(values),
    JobController: { ConcurrentJobSyncs: workers('job') },
    CronJobController: { ConcurrentCronJobSyncs: workers('cron-job') },
    LegacySATokenCleaner: {
      CleanUpPeriod: values.print('legacy-service-account-token-clean-up-period'),
    },
    NamespaceController: {
      NamespaceSyncPeriod: values.print('namespace-sync-period'),
      ConcurrentNamespaceSyncs: workers('namespace'),
    },
  };
}

function others(values: FlagValues): object {
  const workers = (name: string) => values.number(`concurrent-${name}-syncs`);
  return {
    PodGCController: { TerminatedPodGCThreshold: values.number('terminated-pod-gc-threshold') },
    ReplicaSetController: { ConcurrentRSSyncs: workers('replicaset') },
    ReplicationController: { ConcurrentRCSyncs: workers('rc') },
    ResourceQuotaController: {
      ResourceQuotaSyncPeriod: values.print('resource-quota-sync-period'),
      ConcurrentResourceQuotaSyncs: workers('resource-quota'),
    },
    SAController: {
      ServiceAccountKeyFile: values.text('service-account-private-key-file'),
      ConcurrentSATokenSyncs: workers('serviceaccount-token'),
      RootCAFile: values.text('root-ca-file'),
    },
    ServiceController: { ConcurrentServiceSyncs: workers('service') },
    TTLAfterFinishedController: { ConcurrentTTLSyncs: workers('ttl-after-finished') },
    ValidatingAdmissionPolicyStatusController: {
      ConcurrentPolicySyncs: workers('validating-admission-policy-status'),
    },
    DeviceTaintEvictionController: { ConcurrentSyncs: workers('device-taint-eviction') },
    ResourceClaimController: { ConcurrentSyncs: workers('resourceclaim') },
  };
}

/** The configuration that the flags came to; keys stand in upstream's order. */
export function configzObject(values: FlagValues, migration: LeaderMigration | undefined): object {
  const workers = (name: string) => values.number(`concurrent-${name}-syncs`);
  return {
    kind: 'KubeControllerManagerConfiguration',
    apiVersion: API_VERSION,
    Generic: generic(values, migration),
    KubeCloudShared: cloudShared(values),
    AttachDetachController: {
      DisableAttachDetachReconcilerSync: values.bool('disable-attach-detach-reconcile-sync'),
      ReconcilerSyncLoopPeriod: values.print('attach-detach-reconcile-sync-period'),
      disableForceDetachOnTimeout: values.bool('disable-force-detach-on-timeout'),
    },
    CSRSigningController: signing(values),
    DaemonSetController: { ConcurrentDaemonSetSyncs: workers('daemonset') },
    DeploymentController: { ConcurrentDeploymentSyncs: workers('deployment') },
    StatefulSetController: { ConcurrentStatefulSetSyncs: workers('statefulset') },
    DeprecatedController: {},
    ...endpoints(values),
    EphemeralVolumeController: { ConcurrentEphemeralVolumeSyncs: workers('ephemeralvolume') },
    GarbageCollectorController: {
      EnableGarbageCollector: values.bool('enable-garbage-collector'),
      ConcurrentGCSyncs: workers('gc'),
      GCIgnoredResources: IGNORED_BY_GARBAGE_COLLECTOR,
    },
    ...workloads(values),
    ...nodes(values),
    PersistentVolumeBinderController: volumes(values),
    ...others(values),
  };
}
