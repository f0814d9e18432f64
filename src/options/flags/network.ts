/** Flags of the controllers for services and addresses. */
import { between, type FlagSection } from './row.ts';

/** Sections of the controllers for services and addresses. */
export const NETWORK_SECTIONS: readonly FlagSection[] = [
  {
    name: 'service-lb-controller',
    rows: [
      {
        name: 'concurrent-service-syncs',
        kind: 'int32',
        default: '1',
        unit: 'workers',
        help:
          'The number of services that are allowed to sync concurrently. Larger number = more ' +
          'responsive service management, but more CPU (and network) load',
      },
    ],
  },
  {
    name: 'endpoints-controller',
    rows: [
      {
        name: 'concurrent-endpoint-syncs',
        kind: 'int32',
        default: '5',
        unit: 'workers',
        help:
          'The number of endpoint syncing operations that will be done concurrently. Larger ' +
          'number = faster endpoint updating, but more CPU (and network) load',
      },
      {
        name: 'endpoint-updates-batch-period',
        kind: 'duration',
        help:
          'The length of endpoint updates batching period. Processing of pod changes will be ' +
          'delayed by this duration to join them with potential upcoming updates and reduce the ' +
          'overall number of endpoints updates. Larger number = higher endpoint programming ' +
          'latency, but lower number of endpoints revision generated',
      },
    ],
  },
  {
    name: 'endpointslice-controller',
    rows: [
      {
        name: 'concurrent-service-endpoint-syncs',
        kind: 'int32',
        default: '5',
        unit: 'workers',
        help:
          'The number of service endpoint syncing operations that will be done concurrently. ' +
          'Larger number = faster endpoint slice updating, but more CPU (and network) load. ' +
          'Defaults to 5.',
        check: between(1, 50),
      },
      {
        name: 'endpointslice-updates-batch-period',
        kind: 'duration',
        help:
          'The length of endpoint slice updates batching period. Processing of pod changes will ' +
          'be delayed by this duration to join them with potential upcoming updates and reduce ' +
          'the overall number of endpoints updates. Larger number = higher endpoint programming ' +
          'latency, but lower number of endpoints revision generated',
      },
      {
        name: 'max-endpoints-per-slice',
        kind: 'int32',
        default: '100',
        unit: 'endpoints',
        help:
          'The maximum number of endpoints that will be added to an EndpointSlice. More endpoints ' +
          'per slice will result in less endpoint slices, but larger resources. Defaults to 100.',
        check: between(1, 1000),
      },
    ],
  },
  {
    name: 'endpointslice-mirroring-controller',
    rows: [
      {
        name: 'mirroring-concurrent-service-endpoint-syncs',
        kind: 'int32',
        default: '5',
        unit: 'workers',
        help:
          'The number of service endpoint syncing operations that will be done concurrently by ' +
          'the endpointslice-mirroring-controller. Larger number = faster endpoint slice ' +
          'updating, but more CPU (and network) load. Defaults to 5.',
        check: between(1, 50),
      },
      {
        name: 'mirroring-endpointslice-updates-batch-period',
        kind: 'duration',
        help:
          'The length of EndpointSlice updates batching period for ' +
          'endpointslice-mirroring-controller. Processing of EndpointSlice changes will be ' +
          'delayed by this duration to join them with potential upcoming updates and reduce the ' +
          'overall number of EndpointSlice updates. Larger number = higher endpoint programming ' +
          'latency, but lower number of endpoints revision generated',
      },
      {
        name: 'mirroring-max-endpoints-per-subset',
        kind: 'int32',
        default: '1000',
        unit: 'endpoints',
        help:
          'The maximum number of endpoints that will be added to an EndpointSlice by the ' +
          'endpointslice-mirroring-controller. More endpoints per slice will result in less ' +
          'endpoint slices, but larger resources. Defaults to 100.',
        check: between(1, 1000),
      },
    ],
  },
  {
    name: 'node-ipam-controller',
    rows: [
      {
        name: 'node-cidr-mask-size',
        kind: 'int32',
        unit: 'bits',
        help: 'Mask size for node cidr in cluster. Default is 24 for IPv4 and 64 for IPv6.',
      },
      {
        name: 'node-cidr-mask-size-ipv4',
        kind: 'int32',
        unit: 'bits',
        help: 'Mask size for IPv4 node cidr in dual-stack cluster. Default is 24.',
      },
      {
        name: 'node-cidr-mask-size-ipv6',
        kind: 'int32',
        unit: 'bits',
        help: 'Mask size for IPv6 node cidr in dual-stack cluster. Default is 64.',
      },
      {
        name: 'service-cluster-ip-range',
        kind: 'string',
        help:
          'CIDR Range for Services in cluster. Only used when --allocate-node-cidrs=true; if ' +
          'false, this option will be ignored.',
        check: (name, value) =>
          String(value).split(',').length > 2
            ? `--${name} can not contain more than two entries`
            : undefined,
      },
    ],
  },
];
