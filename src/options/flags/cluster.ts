/** Flags of the controllers for nodes, garbage, quota and claims. */
import type { FlagSection } from './row.ts';

/** Sections of the controllers for nodes, garbage, quota and claims. */
export const CLUSTER_SECTIONS: readonly FlagSection[] = [
  {
    name: 'device-taint-eviction-controller',
    rows: [
      {
        name: 'concurrent-device-taint-eviction-syncs',
        kind: 'int32',
        default: '8',
        unit: 'workers',
        help:
          'The number of operations (evicting pods, updating DeviceTaintRule status) allowed to ' +
          'run concurrently. Greater number = more responsive, but more CPU (and network) load',
        check: (name, value) =>
          Number(value) <= 0 ? `${name} must be greater than zero, got ${value}` : undefined,
      },
    ],
  },
  {
    name: 'resourceclaim-controller',
    rows: [
      {
        name: 'concurrent-resourceclaim-syncs',
        kind: 'int32',
        default: '50',
        unit: 'workers',
        help:
          'The number of operations (creating or deleting ResourceClaims) allowed to run ' +
          'concurrently. Larger number = more responsive, but more CPU (and network) load',
        check: (name, value) =>
          Number(value) <= 0 ? `${name} must be larger than 0, got ${value}` : undefined,
      },
    ],
  },
  {
    name: 'garbage-collector-controller',
    rows: [
      {
        name: 'concurrent-gc-syncs',
        kind: 'int32',
        default: '20',
        unit: 'workers',
        help: 'The number of garbage collector workers that are allowed to sync concurrently.',
      },
      {
        name: 'enable-garbage-collector',
        kind: 'bool',
        default: 'true',
        help:
          'Enables the generic garbage collector. MUST be synced with the corresponding flag of ' +
          'the kube-apiserver.',
      },
    ],
  },
  {
    name: 'namespace-controller',
    rows: [
      {
        name: 'concurrent-namespace-syncs',
        kind: 'int32',
        default: '10',
        unit: 'workers',
        help:
          'The number of namespace objects that are allowed to sync concurrently. Larger number = ' +
          'more responsive namespace termination, but more CPU (and network) load',
      },
      {
        name: 'namespace-sync-period',
        kind: 'duration',
        default: '5m',
        help: 'The period for syncing namespace life-cycle updates',
      },
    ],
  },
  {
    name: 'node-lifecycle-controller',
    rows: [
      {
        name: 'large-cluster-size-threshold',
        kind: 'int32',
        default: '50',
        unit: 'nodes',
        help:
          'Number of nodes from which node-lifecycle-controller treats the cluster as large for ' +
          'the eviction logic purposes. --secondary-node-eviction-rate is implicitly overridden ' +
          'to 0 for clusters this size or smaller. Notice: If nodes reside in multiple zones, ' +
          'this threshold will be considered as zone node size threshold for each zone to ' +
          'determine node eviction rate independently.',
      },
      {
        name: 'node-eviction-rate',
        kind: 'float32',
        default: '0.1',
        unit: 'nodes per second',
        help:
          'Number of nodes per second on which pods are deleted in case of node failure when a ' +
          'zone is healthy (see --unhealthy-zone-threshold for definition of healthy/unhealthy). ' +
          'Zone refers to entire cluster in non-multizone clusters.',
      },
      {
        name: 'node-monitor-grace-period',
        kind: 'duration',
        default: '50s',
        help:
          'Amount of time which we allow running Node to be unresponsive before marking it ' +
          "unhealthy. Must be N times more than kubelet's nodeStatusUpdateFrequency, where N " +
          'means number of retries allowed for kubelet to post node status. This value should ' +
          'also be greater than the sum of HTTP2_PING_TIMEOUT_SECONDS and ' +
          'HTTP2_READ_IDLE_TIMEOUT_SECONDS',
      },
      {
        name: 'node-startup-grace-period',
        kind: 'duration',
        default: '1m',
        help:
          'Amount of time which we allow starting Node to be unresponsive before marking it ' +
          'unhealthy.',
      },
      {
        name: 'secondary-node-eviction-rate',
        kind: 'float32',
        default: '0.01',
        unit: 'nodes per second',
        help:
          'Number of nodes per second on which pods are deleted in case of node failure when a ' +
          'zone is unhealthy (see --unhealthy-zone-threshold for definition of ' +
          'healthy/unhealthy). Zone refers to entire cluster in non-multizone clusters. This ' +
          'value is implicitly overridden to 0 if the cluster size is smaller than ' +
          '--large-cluster-size-threshold.',
      },
      {
        name: 'unhealthy-zone-threshold',
        kind: 'float32',
        default: '0.55',
        unit: 'fraction of nodes',
        help:
          'Fraction of Nodes in a zone which needs to be not Ready (minimum 3) for zone to be ' +
          'treated as unhealthy. ',
      },
    ],
  },
  {
    name: 'pod-garbage-collector-controller',
    rows: [
      {
        name: 'terminated-pod-gc-threshold',
        kind: 'int32',
        default: '12500',
        unit: 'pods',
        help:
          'Number of terminated pods that can exist before the terminated pod garbage collector ' +
          'starts deleting terminated pods. If <= 0, the terminated pod garbage collector is ' +
          'disabled.',
      },
    ],
  },
  {
    name: 'resourcequota-controller',
    rows: [
      {
        name: 'concurrent-resource-quota-syncs',
        kind: 'int32',
        default: '5',
        unit: 'workers',
        help:
          'The number of resource quotas that are allowed to sync concurrently. Larger number = ' +
          'more responsive quota management, but more CPU (and network) load',
      },
      {
        name: 'resource-quota-sync-period',
        kind: 'duration',
        default: '5m',
        help: 'The period for syncing quota usage status in the system',
      },
    ],
  },
  {
    name: 'ttl-after-finished-controller',
    rows: [
      {
        name: 'concurrent-ttl-after-finished-syncs',
        kind: 'int32',
        default: '5',
        unit: 'workers',
        help:
          'The number of ttl-after-finished-controller workers that are allowed to sync ' +
          'concurrently.',
      },
    ],
  },
  {
    name: 'validatingadmissionpolicy-status-controller',
    rows: [
      {
        name: 'concurrent-validating-admission-policy-status-syncs',
        kind: 'int32',
        default: '5',
        unit: 'workers',
        help:
          'The number of ValidatingAdmissionPolicyStatusController workers that are allowed to ' +
          'sync concurrently.',
      },
    ],
  },
];
