/** Flags of the process as a whole: what it runs, how it talks and leads, cloud leftovers. */

import { gateHelpLines } from '../feature-gates.ts';
import { quote } from '../go/quote.ts';
import { KNOWN_CONTROLLERS } from '../known-controllers.ts';
import { allowedRange, DEFAULT_VERSIONS } from '../versions.ts';
import type { FlagCheck, FlagSection } from './row.ts';

const externalOnly: FlagCheck = (_name, value) =>
  value === '' || value === 'external'
    ? undefined
    : `cloud provider ${quote(String(value))} was specified, but built-in cloud providers are ` +
      'disabled. Please set --cloud-provider=external and migrate to an external cloud provider';

const rangeOnly: FlagCheck = (_name, value) =>
  value === '' || value === 'RangeAllocator'
    ? undefined
    : `built-in cloud providers are disabled. The ipam ${value} is not available`;

function controllersHelp(): string {
  const off = KNOWN_CONTROLLERS.filter(({ enabledByDefault }) => !enabledByDefault);
  const namesOf = (list: readonly { name: string }[]) => list.map(({ name }) => name).join(', ');
  return (
    "A list of controllers to enable. '*' enables all on-by-default controllers, 'foo' enables " +
    "the controller named 'foo', '-foo' disables the controller named 'foo'.\n" +
    `All controllers: ${namesOf(KNOWN_CONTROLLERS)}\n` +
    `Disabled-by-default controllers: ${namesOf(off)}`
  );
}

function emulatedVersionHelp(): string {
  return (
    'The versions different components emulate their capabilities (APIs, features, ...) of.\n' +
    'If set, the component will emulate the behavior of this version instead of the underlying ' +
    'binary version.\n' +
    'Version format could only be major.minor, for example: ' +
    "'--emulated-version=wardle=1.2,kube=1.31'.\n" +
    `Options are: kube=${allowedRange(DEFAULT_VERSIONS.emulation)}\n` +
    'If the component is not specified, defaults to "kube"'
  );
}

function minCompatibilityVersionHelp(): string {
  return (
    'The min version of control plane components the server should be compatible with.\n' +
    'Must be less or equal to the emulated-version. Version format could only be major.minor, ' +
    "for example: '--min-compatibility-version=wardle=1.2,kube=1.31'.\n" +
    `Options are: kube=${allowedRange(DEFAULT_VERSIONS.minCompatibility)}\n` +
    'If the component is not specified, defaults to "kube"'
  );
}

function featureGatesHelp(): string {
  return [
    'Comma-separated list of component:key=value pairs that describe feature gates for ' +
      'alpha/experimental features of different components.',
    'If the component is not specified, defaults to "kube". This flag can be repeatedly invoked. ' +
      "For example: --feature-gates 'wardle:featureA=true,wardle:featureB=false' " +
      "--feature-gates 'kube:featureC=true'Options are:",
    ...gateHelpLines(),
  ].join('\n');
}

/** Sections of the process as a whole. */
export const GENERIC_SECTIONS: readonly FlagSection[] = [
  {
    name: 'debugging',
    rows: [
      {
        name: 'contention-profiling',
        kind: 'bool',
        help: 'Enable block profiling, if profiling is enabled',
      },
      {
        name: 'profiling',
        kind: 'bool',
        default: 'true',
        help: 'Enable profiling via web interface host:port/debug/pprof/',
      },
    ],
  },
  {
    name: 'leader-migration',
    rows: [
      {
        name: 'enable-leader-migration',
        kind: 'bool',
        help: 'Whether to enable controller leader migration.',
      },
      {
        name: 'leader-migration-config',
        kind: 'string',
        help:
          'Path to the config file for controller leader migration, or empty to use the value ' +
          'that reflects default configuration of the controller manager. The config file should ' +
          'be of type LeaderMigrationConfiguration, group controllermanager.config.k8s.io, ' +
          'version v1alpha1.',
      },
    ],
  },
  {
    name: 'generic',
    rows: [
      {
        name: 'allocate-node-cidrs',
        kind: 'bool',
        help:
          'Should CIDRs for Pods be allocated and set on the cloud provider. Requires ' +
          '--cluster-cidr.',
      },
      {
        name: 'allow-untagged-cloud',
        kind: 'bool',
        help:
          'Allow the cluster to run without the cluster-id on cloud instances. This is a legacy ' +
          'mode of operation and a cluster-id will be required in the future.',
        deprecated:
          'This flag is deprecated and will be removed in a future release. A cluster-id will ' +
          'be required on cloud instances.',
      },
      {
        name: 'cidr-allocator-type',
        kind: 'string',
        default: 'RangeAllocator',
        help: 'Type of CIDR allocator to use',
        check: rangeOnly,
      },
      {
        name: 'cloud-config',
        kind: 'string',
        help:
          'The path to the cloud provider configuration file. Empty string for no configuration ' +
          'file.',
      },
      {
        name: 'cloud-provider',
        kind: 'string',
        help: 'The provider for cloud services. Empty string for no provider.',
        check: externalOnly,
      },
      {
        name: 'cluster-cidr',
        kind: 'string',
        help:
          'CIDR Range for Pods in cluster. Only used when --allocate-node-cidrs=true; if false, ' +
          'this option will be ignored.',
      },
      {
        name: 'cluster-name',
        kind: 'string',
        default: 'kubernetes',
        help: 'The instance prefix for the cluster.',
      },
      {
        name: 'configure-cloud-routes',
        kind: 'bool',
        default: 'true',
        help: 'Should CIDRs allocated by allocate-node-cidrs be configured on the cloud provider.',
      },
      {
        name: 'controller-shutdown-timeout',
        kind: 'duration',
        default: '10s',
        help: 'Time to wait for the controllers to shut down before terminating the executable',
      },
      {
        name: 'controller-start-interval',
        kind: 'duration',
        help: 'Interval between starting controller managers.',
      },
      {
        name: 'controllers',
        kind: 'strings',
        default: '*',
        help: controllersHelp(),
      },
      {
        name: 'emulated-version',
        kind: 'strings',
        help: emulatedVersionHelp(),
      },
      {
        name: 'external-cloud-volume-plugin',
        kind: 'string',
        help:
          'The plugin to use when cloud provider is set to external. Can be empty, should only be ' +
          'set when cloud-provider is external. Currently used to allow node-ipam-controller, ' +
          'persistentvolume-binder-controller, persistentvolume-expander-controller and ' +
          'attach-detach-controller to work for in tree cloud providers.',
      },
      {
        name: 'feature-gates',
        kind: 'prefixed',
        help: featureGatesHelp(),
      },
      {
        name: 'kube-api-burst',
        kind: 'int32',
        default: '30',
        unit: 'requests',
        help: 'Burst to use while talking with kubernetes apiserver.',
      },
      {
        name: 'kube-api-content-type',
        kind: 'string',
        default: 'application/vnd.kubernetes.protobuf',
        help: 'Content type of requests sent to apiserver.',
      },
      {
        name: 'kube-api-qps',
        kind: 'float32',
        default: '20',
        unit: 'requests per second',
        help: 'QPS to use while talking with kubernetes apiserver.',
      },
      {
        name: 'leader-elect',
        kind: 'bool',
        default: 'true',
        help:
          'Start a leader election client and gain leadership before executing the main loop. ' +
          'Enable this when running replicated components for high availability.',
      },
      {
        name: 'leader-elect-lease-duration',
        kind: 'duration',
        default: '15s',
        help:
          'The duration that non-leader candidates will wait after observing a leadership renewal ' +
          'until attempting to acquire leadership of a led but unrenewed leader slot. This is ' +
          'effectively the maximum duration that a leader can be stopped before it is replaced by ' +
          'another candidate. This is only applicable if leader election is enabled.',
      },
      {
        name: 'leader-elect-renew-deadline',
        kind: 'duration',
        default: '10s',
        help:
          'The interval between attempts by the acting master to renew a leadership slot before ' +
          'it stops leading. This must be less than the lease duration. This is only applicable ' +
          'if leader election is enabled.',
      },
      {
        name: 'leader-elect-resource-lock',
        kind: 'string',
        default: 'leases',
        help:
          'The type of resource object that is used for locking during leader election. Supported ' +
          "options are 'leases'.",
      },
      {
        name: 'leader-elect-resource-name',
        kind: 'string',
        default: 'kube-controller-manager',
        help: 'The name of resource object that is used for locking during leader election.',
      },
      {
        name: 'leader-elect-resource-namespace',
        kind: 'string',
        default: 'kube-system',
        help: 'The namespace of resource object that is used for locking during leader election.',
      },
      {
        name: 'leader-elect-retry-period',
        kind: 'duration',
        default: '2s',
        help:
          'The duration the clients should wait between attempting acquisition and renewal of a ' +
          'leadership. This is only applicable if leader election is enabled.',
      },
      {
        name: 'min-compatibility-version',
        kind: 'strings',
        help: minCompatibilityVersionHelp(),
      },
      {
        name: 'min-resync-period',
        kind: 'duration',
        default: '12h',
        help:
          'The resync period in reflectors will be random between MinResyncPeriod and ' +
          '2*MinResyncPeriod.',
      },
      {
        name: 'node-monitor-period',
        kind: 'duration',
        default: '5s',
        help: 'The period for syncing NodeStatus in cloud-node-lifecycle-controller.',
      },
      {
        name: 'node-sync-period',
        kind: 'duration',
        help:
          'This flag is deprecated and will be removed in future releases. See ' +
          'node-monitor-period for Node health checking or route-reconciliation-period for ' +
          "cloud provider's route configuration settings.",
        deprecated: 'This flag is currently no-op and will be deleted.',
      },
      {
        name: 'route-reconciliation-period',
        kind: 'duration',
        default: '10s',
        help: 'The period for reconciling routes created for Nodes by cloud provider.',
      },
      {
        name: 'use-service-account-credentials',
        kind: 'bool',
        help: 'If true, use individual service account credentials for each controller.',
      },
    ],
  },
];
