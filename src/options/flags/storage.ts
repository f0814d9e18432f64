/** Flags of the storage controllers. */
import { type FlagSection, positive } from './row.ts';

const SECOND = 1_000_000_000n;
const TOO_SHORT =
  'duration time must be greater than one second as set via command line option ' +
  'reconcile-sync-loop-period';

/** Sections of the storage controllers. */
export const STORAGE_SECTIONS: readonly FlagSection[] = [
  {
    name: 'persistentvolume-attach-detach-controller',
    rows: [
      {
        name: 'attach-detach-reconcile-sync-period',
        kind: 'duration',
        default: '1m',
        help:
          'The reconciler sync wait time between volume attach detach. This duration must be ' +
          'larger than one second, and increasing this value from the default may allow for ' +
          'volumes to be mismatched with pods.',
        check: (_name, value) => (BigInt(String(value)) < SECOND ? TOO_SHORT : undefined),
      },
      {
        name: 'disable-attach-detach-reconcile-sync',
        kind: 'bool',
        help:
          'Disable volume attach detach reconciler sync. Disabling this may cause volumes to be ' +
          'mismatched with pods. Use wisely.',
      },
      {
        name: 'disable-force-detach-on-timeout',
        kind: 'bool',
        help:
          'Prevent force detaching volumes based on maximum unmount time and node status. If this ' +
          'flag is set to true, the non-graceful node shutdown feature must be used to recover ' +
          'from node failure. See https://k8s.io/docs/storage-disable-force-detach-on-timeout/.',
      },
    ],
  },
  {
    name: 'ephemeral-volume-controller',
    rows: [
      {
        name: 'concurrent-ephemeralvolume-syncs',
        kind: 'int32',
        default: '5',
        unit: 'workers',
        help:
          'The number of ephemeral volume syncing operations that will be done concurrently. ' +
          'Larger number = faster ephemeral volume updating, but more CPU (and network) load',
        check: positive,
      },
    ],
  },
  {
    name: 'persistentvolume-binder-controller',
    rows: [
      {
        name: 'enable-dynamic-provisioning',
        kind: 'bool',
        default: 'true',
        help: 'Enable dynamic provisioning for environments that support it.',
      },
      {
        name: 'enable-hostpath-provisioner',
        kind: 'bool',
        help:
          'Enable HostPath PV provisioning when running without a cloud provider. This allows ' +
          'testing and development of provisioning features.  HostPath provisioning is not ' +
          "supported in any way, won't work in a multi-node cluster, and should not be used for " +
          'anything other than testing or development.',
      },
      {
        name: 'flex-volume-plugin-dir',
        kind: 'string',
        default: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
        help:
          'Full path of the directory in which the flex volume plugin should search for ' +
          'additional third party volume plugins.',
      },
      {
        name: 'pv-recycler-increment-timeout-nfs',
        kind: 'int32',
        default: '30',
        unit: 'seconds',
        help: 'the increment of time added per Gi to ActiveDeadlineSeconds for an NFS scrubber pod',
      },
      {
        name: 'pv-recycler-minimum-timeout-hostpath',
        kind: 'int32',
        default: '60',
        unit: 'seconds',
        help:
          'The minimum ActiveDeadlineSeconds to use for a HostPath Recycler pod.  This is for ' +
          'development and testing only and will not work in a multi-node cluster.',
      },
      {
        name: 'pv-recycler-minimum-timeout-nfs',
        kind: 'int32',
        default: '300',
        unit: 'seconds',
        help: 'The minimum ActiveDeadlineSeconds to use for an NFS Recycler pod',
      },
      {
        name: 'pv-recycler-pod-template-filepath-hostpath',
        kind: 'string',
        help:
          'The file path to a pod definition used as a template for HostPath persistent volume ' +
          'recycling. This is for development and testing only and will not work in a multi-node ' +
          'cluster.',
      },
      {
        name: 'pv-recycler-pod-template-filepath-nfs',
        kind: 'string',
        help:
          'The file path to a pod definition used as a template for NFS persistent volume ' +
          'recycling',
      },
      {
        name: 'pv-recycler-timeout-increment-hostpath',
        kind: 'int32',
        default: '30',
        unit: 'seconds',
        help:
          'the increment of time added per Gi to ActiveDeadlineSeconds for a HostPath scrubber ' +
          'pod.  This is for development and testing only and will not work in a multi-node ' +
          'cluster.',
      },
      {
        name: 'pvclaimbinder-sync-period',
        kind: 'duration',
        default: '15s',
        help: 'The period for syncing persistent volumes and persistent volume claims',
      },
    ],
  },
];
