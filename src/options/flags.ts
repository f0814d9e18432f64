/** All flags, in the sections and the order of --help. */
import { CLUSTER_SECTIONS } from './flags/cluster.ts';
import { GENERIC_SECTIONS } from './flags/generic.ts';
import { IDENTITY_SECTIONS } from './flags/identity.ts';
import { NETWORK_SECTIONS } from './flags/network.ts';
import { PROCESS_SECTIONS } from './flags/process.ts';
import type { FlagRow, FlagSection } from './flags/row.ts';
import { SERVING_SECTIONS } from './flags/serving.ts';
import { STATE_SECTION } from './flags/state.ts';
import { STORAGE_SECTIONS } from './flags/storage.ts';
import { WORKLOAD_SECTIONS } from './flags/workloads.ts';
import type { FlagValue, Kind } from './kinds.ts';
import { KINDS } from './kinds.ts';

/** Upstream's order, in which it adds its sections; our own stands before the last. */
const SECTION_ORDER: readonly string[] = [
  'debugging',
  'leader-migration',
  'generic',
  'service-lb-controller',
  'secure serving',
  'authentication',
  'authorization',
  'persistentvolume-attach-detach-controller',
  'certificatesigningrequest-signing-controller',
  'deployment-controller',
  'device-taint-eviction-controller',
  'resourceclaim-controller',
  'statefulset-controller',
  'daemonset-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'ephemeral-volume-controller',
  'garbage-collector-controller',
  'horizontal-pod-autoscaler-controller',
  'job-controller',
  'cronjob-controller',
  'legacy-serviceaccount-token-cleaner-controller',
  'namespace-controller',
  'node-ipam-controller',
  'node-lifecycle-controller',
  'persistentvolume-binder-controller',
  'pod-garbage-collector-controller',
  'replicaset-controller',
  'replicationcontroller-controller',
  'resourcequota-controller',
  'serviceaccount-controller',
  'ttl-after-finished-controller',
  'validatingadmissionpolicy-status-controller',
  'metrics',
  'logs',
  'misc',
  'state',
  'global',
];

const ALL_SECTIONS: readonly FlagSection[] = [
  ...GENERIC_SECTIONS,
  ...SERVING_SECTIONS,
  ...WORKLOAD_SECTIONS,
  ...NETWORK_SECTIONS,
  ...STORAGE_SECTIONS,
  ...IDENTITY_SECTIONS,
  ...CLUSTER_SECTIONS,
  ...PROCESS_SECTIONS,
  STATE_SECTION,
];

/** Every section, in the order of --help. */
export const SECTIONS: readonly FlagSection[] = [...ALL_SECTIONS].sort(
  (a, b) => SECTION_ORDER.indexOf(a.name) - SECTION_ORDER.indexOf(b.name),
);

/** Every flag by its name with dashes, sorted by name. */
export const FLAGS: ReadonlyMap<string, FlagRow> = new Map(
  ALL_SECTIONS.flatMap(({ rows }) => rows)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((row) => [row.name, row]),
);

/** Names of the flags that kube-controller-manager doesn't have. */
export const OWN_FLAGS: ReadonlySet<string> = new Set(STATE_SECTION.rows.map(({ name }) => name));

/** The kind of a flag, for values whose type is only known at run time. */
export function kindOf(row: FlagRow): Kind<FlagValue> {
  return KINDS[row.kind] as Kind<FlagValue>;
}

const defaults = new Map<string, FlagValue>();

/** What a flag holds when nobody sets it. */
export function defaultOf(row: FlagRow): FlagValue {
  const known = defaults.get(row.name);
  if (known !== undefined) return known;
  const kind = kindOf(row);
  const value = row.default === undefined ? kind.zero : kind.parse(row.default, undefined);
  defaults.set(row.name, value);
  return value;
}
