/** Flags of the workload controllers. */
import { type FlagSection, positive } from './row.ts';

/** Sections of the workload controllers. */
export const WORKLOAD_SECTIONS: readonly FlagSection[] = [
  {
    name: 'deployment-controller',
    rows: [
      {
        name: 'concurrent-deployment-syncs',
        kind: 'int32',
        default: '5',
        unit: 'workers',
        help:
          'The number of deployment objects that are allowed to sync concurrently. Larger number ' +
          '= more responsive deployments, but more CPU (and network) load',
      },
    ],
  },
  {
    name: 'statefulset-controller',
    rows: [
      {
        name: 'concurrent-statefulset-syncs',
        kind: 'int32',
        default: '5',
        unit: 'workers',
        help:
          'The number of statefulset objects that are allowed to sync concurrently. Larger number ' +
          '= more responsive statefulsets, but more CPU (and network) load',
        check: positive,
      },
    ],
  },
  {
    name: 'daemonset-controller',
    rows: [
      {
        name: 'concurrent-daemonset-syncs',
        kind: 'int32',
        default: '2',
        unit: 'workers',
        help:
          'The number of daemonset objects that are allowed to sync concurrently. Larger number = ' +
          'more responsive daemonsets, but more CPU (and network) load',
        check: positive,
      },
    ],
  },
  {
    name: 'horizontal-pod-autoscaler-controller',
    rows: [
      {
        name: 'concurrent-horizontal-pod-autoscaler-syncs',
        kind: 'int32',
        default: '5',
        unit: 'workers',
        help:
          'The number of horizontal pod autoscaler objects that are allowed to sync concurrently. ' +
          'Larger number = more responsive horizontal pod autoscaler objects processing, but more ' +
          'CPU (and network) load.',
        check: positive,
      },
      {
        name: 'horizontal-pod-autoscaler-cpu-initialization-period',
        kind: 'duration',
        default: '5m',
        help: 'The period after pod start when CPU samples might be skipped.',
      },
      {
        name: 'horizontal-pod-autoscaler-downscale-stabilization',
        kind: 'duration',
        default: '5m',
        help:
          'The period for which autoscaler will look backwards and not scale down below any ' +
          'recommendation it made during that period.',
      },
      {
        name: 'horizontal-pod-autoscaler-initial-readiness-delay',
        kind: 'duration',
        default: '30s',
        help:
          'The period after pod start during which readiness changes will be treated as initial ' +
          'readiness.',
      },
      {
        name: 'horizontal-pod-autoscaler-sync-period',
        kind: 'duration',
        default: '15s',
        help: 'The period for syncing the number of pods in horizontal pod autoscaler.',
      },
      {
        name: 'horizontal-pod-autoscaler-tolerance',
        kind: 'float64',
        default: '0.1',
        unit: 'fraction',
        help:
          'The minimum change (from 1.0) in the desired-to-actual metrics ratio for the ' +
          'horizontal pod autoscaler to consider scaling.',
      },
    ],
  },
  {
    name: 'job-controller',
    rows: [
      {
        name: 'concurrent-job-syncs',
        kind: 'int32',
        default: '5',
        unit: 'workers',
        help:
          'The number of job objects that are allowed to sync concurrently. Larger number = more ' +
          'responsive jobs, but more CPU (and network) load',
        check: positive,
      },
    ],
  },
  {
    name: 'cronjob-controller',
    rows: [
      {
        name: 'concurrent-cron-job-syncs',
        kind: 'int32',
        default: '5',
        unit: 'workers',
        help:
          'The number of cron job objects that are allowed to sync concurrently. Larger number = ' +
          'more responsive jobs, but more CPU (and network) load',
        check: positive,
      },
    ],
  },
  {
    name: 'replicaset-controller',
    rows: [
      {
        name: 'concurrent-replicaset-syncs',
        kind: 'int32',
        default: '5',
        unit: 'workers',
        help:
          'The number of replica sets that are allowed to sync concurrently. Larger number = more ' +
          'responsive replica management, but more CPU (and network) load',
      },
    ],
  },
  {
    name: 'replicationcontroller-controller',
    rows: [
      {
        name: 'concurrent-rc-syncs',
        kind: 'int32',
        default: '5',
        unit: 'workers',
        help:
          'The number of replication controllers that are allowed to sync concurrently. Larger ' +
          'number = more responsive replica management, but more CPU (and network) load',
      },
    ],
  },
];
