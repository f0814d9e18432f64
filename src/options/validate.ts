/** All checks of flag values after they could be read, in upstream's words and order. */
import { checkControllers } from './controllers.ts';
import type { FeatureGates } from './feature-gates.ts';
import { FLAGS, OWN_FLAGS } from './flags.ts';
import { quote } from './go/quote.ts';
import { checkMetrics } from './metrics.ts';
import type { ReadText } from './read.ts';
import { tlsProblem } from './tls-names.ts';
import type { FlagValues } from './values.ts';
import { checkVersions, type EffectiveVersions } from './versions.ts';

/** Several messages as upstream shows them: "a", or "[a, b]" without repetitions. */
export function aggregate(messages: readonly string[]): string {
  const distinct = [...new Set(messages)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`;
}

function checkRows(values: FlagValues, names: Iterable<string>): string[] {
  return [...names].flatMap((name) => {
    const complaint = FLAGS.get(name)?.check?.(name, values.raw(name));
    return complaint === undefined ? [] : [complaint];
  });
}

/** Flags of one value each, in the order upstream's components come; signing stands between. */
const CHECKED_FIRST = ['attach-detach-reconcile-sync-period'];
const CHECKED_LATER = [
  'concurrent-daemonset-syncs',
  'concurrent-device-taint-eviction-syncs',
  'concurrent-resourceclaim-syncs',
  'concurrent-statefulset-syncs',
  'concurrent-service-endpoint-syncs',
  'max-endpoints-per-slice',
  'mirroring-concurrent-service-endpoint-syncs',
  'mirroring-max-endpoints-per-subset',
  'concurrent-ephemeralvolume-syncs',
  'concurrent-horizontal-pod-autoscaler-syncs',
  'concurrent-job-syncs',
  'concurrent-cron-job-syncs',
  'service-cluster-ip-range',
  'secure-port',
];
const CHECKED_LAST = ['cloud-provider', 'cidr-allocator-type'];

/** Flags whose rows carry a check that `checkValues` asks. */
export const CHECKED_FLAGS: readonly string[] = [
  ...CHECKED_FIRST,
  ...CHECKED_LATER,
  ...CHECKED_LAST,
  ...OWN_FLAGS,
];

/** Signers: the part of their flags' names, and the one in upstream's messages. */
const SIGNERS = [
  ['kubelet-serving', 'kubelet-serving'],
  ['kubelet-client', 'kube-apiserver-client'],
  ['kube-apiserver-client', 'kube-apiserver'],
  ['legacy-unknown', 'legacy-unknown'],
] as const;

function checkSigning(values: FlagValues): string[] {
  const errors: string[] = [];
  let specific = false;
  for (const [flag, shown] of SIGNERS) {
    const cert = values.text(`cluster-signing-${flag}-cert-file`) !== '';
    const key = values.text(`cluster-signing-${flag}-key-file`) !== '';
    specific ||= cert || key;
    if (cert === key) continue;
    const what = cert ? 'cannot specify cert without key' : 'cannot specify key without cert';
    errors.push(`${quote(`cluster-signing-${shown}`)}: ${what}`);
  }
  const common = ['cluster-signing-cert-file', 'cluster-signing-key-file'];
  if (specific && common.some((name) => values.text(name) !== '')) {
    errors.push(
      'cannot specify --cluster-signing-{cert,key}-file and other --cluster-signing-*-file ' +
        'flags at the same time',
    );
  }
  return errors;
}

function checkRequestHeaders(values: FlagValues, gates: FeatureGates): string[] {
  const blanks = (name: string) =>
    values.list(name).some((text) => text.trim() === '') ? [`empty value in ${quote(name)}`] : [];
  const errors = [
    ...blanks('requestheader-username-headers'),
    ...blanks('requestheader-group-headers'),
    ...blanks('requestheader-extra-headers-prefix'),
    ...blanks('requestheader-allowed-names'),
  ];
  const name = 'requestheader-uid-headers';
  const uids = values.list(name);
  if (!gates.enabled('RemoteRequestHeaderUID')) {
    if (uids.length === 0) return errors;
    return [...errors, `--${name} requires the "RemoteRequestHeaderUID" feature to be enabled`];
  }
  errors.push(...blanks(name));
  if (uids.length > 0 && !uids.some((header) => header.toLowerCase() === 'x-remote-uid')) {
    errors.push(
      `--${name} is set without specifying the standard X-Remote-Uid header - ` +
        'API aggregation will not work',
    );
  }
  return errors;
}

/** Everything that upstream validates at once before it starts; empty: all fine. */
export function checkValues(
  values: FlagValues,
  versions: EffectiveVersions,
  gates: FeatureGates,
  readText: ReadText,
): string[] {
  const lock = values.text('leader-elect-resource-lock');
  const locked = values.bool('leader-elect') && lock !== 'leases';
  return [
    ...checkVersions(versions),
    ...(locked ? ['resourceLock value must be "leases"'] : []),
    ...checkControllers(values.list('controllers')),
    ...checkRows(values, CHECKED_FIRST),
    ...checkSigning(values),
    ...checkRows(values, CHECKED_LATER),
    ...checkRequestHeaders(values, gates),
    ...checkMetrics(values, readText),
    ...checkRows(values, CHECKED_LAST),
    ...checkRows(values, OWN_FLAGS),
  ];
}

/** Renewing must be given up this much later than one try. */
const RETRY_JITTER = 1.2;

function leaseProblem(values: FlagValues): string | undefined {
  if (!values.bool('leader-elect')) return undefined;
  const lease = values.ms('leader-elect-lease-duration');
  const deadline = values.ms('leader-elect-renew-deadline');
  const retry = values.ms('leader-elect-retry-period');
  if (lease <= deadline) return 'leaseDuration must be greater than renewDeadline';
  if (deadline <= retry * RETRY_JITTER) {
    return 'renewDeadline must be greater than retryPeriod*JitterFactor';
  }
  return values.duration('leader-elect-retry-period') < 1n
    ? 'retryPeriod must be greater than zero'
    : undefined;
}

function pathProblem(paths: readonly string[]): string | undefined {
  const bad = paths.map((path) => path.replace(/^\//, '')).find((path) => /\*./s.test(path));
  return bad === undefined ? undefined : `only trailing * allowed in ${quote(bad)}`;
}

/** The first thing that upstream would stumble over while it sets itself up. */
export function setupProblem(values: FlagValues): string | undefined {
  const serving = values.number('secure-port') !== 0;
  const tls = tlsProblem(
    values.list('tls-cipher-suites'),
    values.numbers('tls-curve-preferences'),
    values.text('tls-min-version'),
  );
  const served = serving
    ? (tls ?? pathProblem(values.list('authorization-always-allow-paths')))
    : undefined;
  return served ?? leaseProblem(values);
}
