/** The options of a process: everything its parts are built from, grouped, checked and frozen. */
import type { ControllerFlags } from '../runtime/controller.ts';
import { KUBERNETES_VERSION } from '../version.ts';
import { configzObject } from './configz.ts';
import { canonicalList } from './controllers.ts';
import type { FeatureGates } from './feature-gates.ts';
import { flagzMap } from './flagz.ts';
import type { NamedCertificate } from './kinds.ts';
import type { LeaderMigration } from './leader-migration.ts';
import { type LoggingOptions, loggingOptions } from './logging.ts';
import { type MetricsOptions, metricsOptions } from './metrics.ts';
import type { ReadText } from './read.ts';
import { CURVES, TLS_VERSIONS } from './tls-names.ts';
import type { EffectiveFlag, FlagValues } from './values.ts';
import type { EffectiveVersions } from './versions.ts';

/** The process as a whole, and how it talks to the API server. */
export interface GenericOptions {
  /** "" together with no `master`: in-cluster configuration. */
  readonly kubeconfig: string;
  /** Overrides the kubeconfig's server. */
  readonly master: string;
  /** Requests per second and burst, for each client. */
  readonly qps: number;
  readonly burst: number;
  readonly contentType: string;
  readonly minResyncPeriodMs: number;
  readonly controllerStartIntervalMs: number;
  /** 0: wait for ever. */
  readonly controllerShutdownTimeoutMs: number;
  readonly useServiceAccountCredentials: boolean;
  readonly profiling: boolean;
  readonly contentionProfiling: boolean;
}

export interface LeaderElectionOptions {
  /** false: controllers run at once. */
  readonly enabled: boolean;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly resourceName: string;
  readonly resourceNamespace: string;
  /** Absent unless --enable-leader-migration. */
  readonly migration: LeaderMigration | undefined;
}

export interface ServingOptions {
  /** 0: no HTTPS, and no authentication or authorization to set up. */
  readonly port: number;
  /** 0.0.0.0 and :: mean all addresses of all families. */
  readonly bindAddress: string;
  /** "": a certificate is made in memory, unless the files are named. */
  readonly certDir: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly namedCertificates: readonly NamedCertificate[];
  /** Names as in IANA's list; none: the runtime's own choice. */
  readonly cipherSuites: readonly string[];
  /** Names as OpenSSL has them; none: the runtime's own choice. */
  readonly curves: readonly string[];
  readonly minVersion: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';
  readonly http2: boolean;
  /** 0: the default, 100. */
  readonly http2StreamsMax: number;
  /** SO_REUSEPORT and SO_REUSEADDR. */
  readonly sharePort: boolean;
  readonly shareAddress: boolean;
}

export interface AuthenticationOptions {
  /** "": in-cluster, else no token reviews and no look-up of CAs. */
  readonly kubeconfig: string;
  readonly skipLookup: boolean;
  readonly tolerateLookupFailure: boolean;
  readonly tokenCacheTtlMs: number;
  readonly clientCaFile: string;
  readonly requestHeader: {
    readonly clientCaFile: string;
    readonly allowedNames: readonly string[];
    readonly usernameHeaders: readonly string[];
    readonly uidHeaders: readonly string[];
    readonly groupHeaders: readonly string[];
    readonly extraHeaderPrefixes: readonly string[];
  };
}

export interface AuthorizationOptions {
  /** "": in-cluster, else only system:masters and the paths below. */
  readonly kubeconfig: string;
  /** Paths for everyone; a trailing `*` makes a prefix. */
  readonly alwaysAllowPaths: readonly string[];
  readonly allowedTtlMs: number;
  readonly deniedTtlMs: number;
}

/** Where Holdfast's memory lies and how far it is trusted. */
export interface StateOptions {
  readonly dir: string;
  readonly runtimeDir: string;
  /** 0: resources are never verified as a whole. */
  readonly verifyIntervalMs: number;
  /** Longest downtime that remembered countdowns still count. */
  readonly downtimeCountedMs: number;
}

export interface ControllersOptions {
  /** --controllers with canonical names; `selectControllers` reads it. */
  readonly list: readonly string[];
  /** Every flag with one plain value, by name; durations in milliseconds. */
  readonly flags: ControllerFlags;
}

/** What the environment says, as far as it matters. */
export interface EnvironmentOptions {
  /** Address of the API server inside a pod, "" elsewhere. */
  readonly serviceHost: string;
  readonly servicePort: string;
  /** systemd's socket for readiness, "" without systemd. */
  readonly notifySocket: string;
  /** Microseconds of silence that systemd's watchdog bears and whom it watches, "" without one. */
  readonly watchdogUsec: string;
  readonly watchdogPid: string;
}

export interface Options {
  /** Name the program was called by. */
  readonly program: string;
  /** Version to report, "v1.36.3" or what --version=v… says. */
  readonly kubernetesVersion: string;
  readonly versions: EffectiveVersions;
  readonly gates: FeatureGates;
  readonly generic: GenericOptions;
  readonly leaderElection: LeaderElectionOptions;
  readonly serving: ServingOptions;
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationOptions;
  readonly metrics: MetricsOptions;
  readonly logging: LoggingOptions;
  readonly state: StateOptions;
  readonly controllers: ControllersOptions;
  readonly environment: EnvironmentOptions;
  /** Every flag: its value as text and who set it; upstream logs them at start with -v 1. */
  readonly effective: readonly EffectiveFlag[];
  /** For /configz. */
  readonly configz: object;
  /** For /flagz. */
  readonly flagz: Readonly<Record<string, string>>;
  /** Things to log at start. */
  readonly warnings: readonly string[];
}

/** What options are made from. */
export interface OptionParts {
  readonly program: string;
  readonly values: FlagValues;
  readonly versions: EffectiveVersions;
  readonly gates: FeatureGates;
  readonly migration: LeaderMigration | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readText: ReadText;
}

function genericOptions(values: FlagValues): GenericOptions {
  return {
    kubeconfig: values.text('kubeconfig'),
    master: values.text('master'),
    qps: values.number('kube-api-qps'),
    burst: values.number('kube-api-burst'),
    contentType: values.text('kube-api-content-type'),
    minResyncPeriodMs: values.ms('min-resync-period'),
    controllerStartIntervalMs: values.ms('controller-start-interval'),
    controllerShutdownTimeoutMs: values.ms('controller-shutdown-timeout'),
    useServiceAccountCredentials: values.bool('use-service-account-credentials'),
    profiling: values.bool('profiling'),
    contentionProfiling: values.bool('contention-profiling'),
  };
}

function leaderElectionOptions(
  values: FlagValues,
  migration: LeaderMigration | undefined,
): LeaderElectionOptions {
  return {
    enabled: values.bool('leader-elect'),
    leaseDurationMs: values.ms('leader-elect-lease-duration'),
    renewDeadlineMs: values.ms('leader-elect-renew-deadline'),
    retryPeriodMs: values.ms('leader-elect-retry-period'),
    resourceName: values.text('leader-elect-resource-name'),
    resourceNamespace: values.text('leader-elect-resource-namespace'),
    migration,
  };
}

function servingOptions(values: FlagValues): ServingOptions {
  return {
    port: values.number('secure-port'),
    bindAddress: values.text('bind-address'),
    certDir: values.text('cert-dir'),
    certFile: values.text('tls-cert-file'),
    keyFile: values.text('tls-private-key-file'),
    namedCertificates: values.certificates('tls-sni-cert-key'),
    cipherSuites: values.list('tls-cipher-suites'),
    curves: values.numbers('tls-curve-preferences').map((id) => CURVES[id] ?? ''),
    minVersion: TLS_VERSIONS[values.text('tls-min-version')] ?? 'TLSv1.2',
    http2: !values.bool('disable-http2-serving'),
    http2StreamsMax: values.number('http2-max-streams-per-connection'),
    sharePort: values.bool('permit-port-sharing'),
    shareAddress: values.bool('permit-address-sharing'),
  };
}

function authenticationOptions(values: FlagValues): AuthenticationOptions {
  return {
    kubeconfig: values.text('authentication-kubeconfig'),
    skipLookup: values.bool('authentication-skip-lookup'),
    tolerateLookupFailure: values.bool('authentication-tolerate-lookup-failure'),
    tokenCacheTtlMs: values.ms('authentication-token-webhook-cache-ttl'),
    clientCaFile: values.text('client-ca-file'),
    requestHeader: {
      clientCaFile: values.text('requestheader-client-ca-file'),
      allowedNames: values.list('requestheader-allowed-names'),
      usernameHeaders: values.list('requestheader-username-headers'),
      uidHeaders: values.list('requestheader-uid-headers'),
      groupHeaders: values.list('requestheader-group-headers'),
      extraHeaderPrefixes: values.list('requestheader-extra-headers-prefix'),
    },
  };
}

function authorizationOptions(values: FlagValues): AuthorizationOptions {
  return {
    kubeconfig: values.text('authorization-kubeconfig'),
    alwaysAllowPaths: values.list('authorization-always-allow-paths'),
    allowedTtlMs: values.ms('authorization-webhook-cache-authorized-ttl'),
    deniedTtlMs: values.ms('authorization-webhook-cache-unauthorized-ttl'),
  };
}

/** Warns of request headers that API aggregation needs, as upstream does. */
function headerWarnings(values: FlagValues): string[] {
  const standard = [
    ['requestheader-username-headers', 'X-Remote-User', 'header'],
    ['requestheader-group-headers', 'X-Remote-Group', 'header'],
    ['requestheader-extra-headers-prefix', 'X-Remote-Extra-', 'header prefix'],
  ] as const;
  return standard.flatMap(([name, header, what]) => {
    const list = values.list(name).map((text) => text.toLowerCase());
    if (list.length === 0 || list.includes(header.toLowerCase())) return [];
    return [
      `--${name} is set without specifying the standard ${header} ${what} - ` +
        'API aggregation will not work',
    ];
  });
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype && !Array.isArray(value)) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}

/** The frozen options; the flags must have passed every check. */
export function buildOptions(parts: OptionParts): Options {
  const { program, values, versions, gates, migration, env, readText } = parts;
  const wanted = values.text('version');
  return frozen({
    program,
    kubernetesVersion: wanted.startsWith('v') ? wanted : KUBERNETES_VERSION,
    versions,
    gates,
    generic: genericOptions(values),
    leaderElection: leaderElectionOptions(values, migration),
    serving: servingOptions(values),
    authentication: authenticationOptions(values),
    authorization: authorizationOptions(values),
    metrics: metricsOptions(values, readText),
    logging: loggingOptions(values),
    state: {
      dir: values.text('state-dir'),
      runtimeDir: values.text('state-runtime-dir'),
      verifyIntervalMs: values.ms('state-verify-interval'),
      downtimeCountedMs: values.ms('state-downtime-counted'),
    },
    controllers: { list: canonicalList(values.list('controllers')), flags: values.scalars() },
    environment: {
      serviceHost: env.KUBERNETES_SERVICE_HOST ?? '',
      servicePort: env.KUBERNETES_SERVICE_PORT ?? '',
      notifySocket: env.NOTIFY_SOCKET ?? '',
      watchdogUsec: env.WATCHDOG_USEC ?? '',
      watchdogPid: env.WATCHDOG_PID ?? '',
    },
    effective: values.effective(),
    configz: configzObject(values, migration),
    flagz: flagzMap(values),
    warnings: [...gates.warnings, ...headerWarnings(values)],
  });
}
