/** What the composition root needs to know, made from the options. */
import { readFileSync } from 'node:fs';
import type { ServeOptions } from '../http/index.ts';
import {
  type ConfigInput,
  certificatesProblem,
  createTokenSigner,
  type TokenSigner,
} from '../kube/index.ts';
import type { ElectionOptions } from '../lease/index.ts';
import {
  type EffectiveFlag,
  type GateState,
  minorText,
  type Options,
  readProblem,
  type SkippedController,
  selectControllers,
} from '../options/index.ts';
import type { ControllerDefinition, ControllerFlags } from '../runtime/controller.ts';
import type { LoggerOptions } from '../runtime/log.ts';
import type { MetricRules } from '../runtime/metric-rules.ts';
import type { ServiceEnvironment } from '../service/index.ts';
import { VERSION } from '../version.ts';

/** Whoever runs it needs its key; others needn't be able to read that. */
const TOKEN_CONTROLLER = 'serviceaccount-token-controller';
const KEY_FLAG = 'service-account-private-key-file';

export interface RunConfig {
  readonly version: string;
  readonly versions: {
    readonly runtime: string;
    readonly binary: string;
    readonly emulation: string;
    readonly minCompat: string;
  };
  readonly metricRules: MetricRules;
  readonly logging: Pick<LoggerOptions, 'format' | 'verbosity' | 'vmodule'>;
  /** Things to say at the start. */
  readonly warnings: readonly string[];
  /** Controllers that don't start, and why. */
  readonly skipped: readonly SkippedController[];
  readonly state: {
    readonly dir: string;
    readonly runtimeDir: string;
    readonly verifyIntervalMs: number;
    readonly downtimeCountedMs: number;
  };
  readonly client: ConfigInput & {
    readonly qps: number;
    readonly burst: number;
    readonly useServiceAccountCredentials: boolean;
    readonly authenticationKubeconfig: string;
    readonly authorizationKubeconfig: string;
    /** Running in a pod: the missing kubeconfigs are the pod's account. */
    readonly inCluster: boolean;
    /** --authentication-skip-lookup */
    readonly skipTrustLookup: boolean;
    readonly tolerateTrustLookupFailure: boolean;
  };
  readonly election: Pick<ElectionOptions, 'lease' | 'times'> & { readonly enabled: boolean };
  readonly serving: ServeOptions;
  /** What systemd said in the environment. */
  readonly service: ServiceEnvironment;
  /** The controllers to run, chosen by --controllers and gates. */
  readonly definitions: readonly ControllerDefinition[];
  readonly startIntervalMs: number;
  readonly stopTimeoutMs: number;
  readonly rootCaPem: string;
  readonly tokenSigner: TokenSigner | undefined;
  flagsOf(controller: string): ControllerFlags;
  gate(name: string): boolean;
  /** Every feature gate as it stands. */
  readonly gates: readonly GateState[];
  /** Every flag as it stands, for the log. */
  readonly effective: readonly EffectiveFlag[];
  readonly configz: object;
  readonly flagz: Readonly<Record<string, string>>;
}

/** Certificates of --root-ca-file, "" without that flag. Throws in upstream's words. */
function readRootCa(path: string): string {
  if (path === '') return '';
  const parsing = `error parsing root-ca-file at ${path}`;
  let pem: string;
  try {
    pem = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`${parsing}: ${readProblem('open', path, cause)}`, { cause });
  }
  const problem = certificatesProblem(pem);
  if (problem === undefined) return pem;
  const none = 'data does not contain any valid RSA or ECDSA certificates';
  throw new Error(`${parsing}: ${problem.startsWith('holds no') ? none : `it ${problem}`}`);
}

/** Signs with the key of --service-account-private-key-file. Throws in upstream's words. */
function readTokenSigner(path: string): TokenSigner | undefined {
  if (path === '') return undefined;
  const reading = 'error reading key for service account token controller';
  let pem: string;
  try {
    pem = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`${reading}: ${readProblem('open', path, cause)}`, { cause });
  }
  try {
    return createTokenSigner(pem);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    if (why.startsWith('data ')) {
      throw new Error(`${reading}: error reading private key file ${path}: ${why}`, { cause });
    }
    throw new Error(`failed to build token generator: ${why}`, { cause });
  }
}

/** The chosen controllers, those left out that these flags leave nothing to do. Throws a refusal. */
function chooseControllers(
  controllers: readonly ControllerDefinition[],
  selection: ReturnType<typeof selectControllers>,
  flags: ControllerFlags,
): Pick<RunConfig, 'definitions' | 'skipped'> {
  const started = controllers.filter(({ name }) => selection.started.includes(name));
  for (const { name, refuses } of started) {
    const refusal = refuses?.(flags);
    if (refusal !== undefined)
      throw new Error(`Error initializing a controller: ${name}: ${refusal}`);
  }
  const idle = started.flatMap(({ name, idle }): SkippedController[] => {
    const because = idle?.(flags);
    return because === undefined ? [] : [{ name, because, notAvailable: false }];
  });
  const isIdle = new Set(idle.map(({ name }) => name));
  return {
    definitions: started.filter(({ name }) => !isIdle.has(name)),
    skipped: [...selection.skipped, ...idle],
  };
}

/** Sorts the options into what each part needs. Throws naming the flag whose file is unreadable. */
export function runConfig(
  options: Options,
  controllers: readonly ControllerDefinition[],
  env: Readonly<Record<string, string | undefined>>,
): RunConfig {
  const { generic, authentication, authorization, environment } = options;
  const gate = (name: string): boolean => options.gates.enabled(name);
  const implemented = new Set(controllers.map(({ name }) => name));
  const selection = selectControllers(options.controllers.list, gate, implemented);
  const { flags } = options.controllers;
  const chosen = chooseControllers(controllers, selection, flags);
  const signs = chosen.definitions.some(({ name }) => name === TOKEN_CONTROLLER);
  return {
    ...chosen,
    version: VERSION,
    versions: {
      runtime: `bun${Bun.version}`,
      binary: options.kubernetesVersion.slice(1),
      emulation: minorText(options.versions.emulation),
      minCompat: minorText(options.versions.minCompatibility),
    },
    metricRules: options.metrics,
    logging: options.logging,
    warnings: options.warnings,
    state: options.state,
    client: {
      kubeconfig: generic.kubeconfig,
      master: generic.master,
      env,
      qps: generic.qps,
      burst: generic.burst,
      useServiceAccountCredentials: generic.useServiceAccountCredentials,
      authenticationKubeconfig: authentication.kubeconfig,
      authorizationKubeconfig: authorization.kubeconfig,
      inCluster: environment.serviceHost !== '',
      skipTrustLookup: authentication.skipLookup,
      tolerateTrustLookupFailure: authentication.tolerateLookupFailure,
    },
    election: electionOf(options),
    serving: servingOf(options, authentication, authorization),
    service: environment,
    startIntervalMs: generic.controllerStartIntervalMs,
    stopTimeoutMs: generic.controllerShutdownTimeoutMs,
    gates: options.gates.all(),
    effective: options.effective,
    rootCaPem: readRootCa(String(flags['root-ca-file'] ?? '')),
    tokenSigner: signs ? readTokenSigner(String(flags[KEY_FLAG] ?? '')) : undefined,
    flagsOf: () => flags,
    gate,
    configz: options.configz,
    flagz: options.flagz,
  };
}

function electionOf({ leaderElection }: Options): RunConfig['election'] {
  const { enabled, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = leaderElection;
  const { resourceName: name, resourceNamespace: namespace } = leaderElection;
  return {
    enabled,
    lease: { namespace, name },
    times: { leaseDurationMs, renewDeadlineMs, retryPeriodMs },
  };
}

function servingOf(
  { serving, generic }: Options,
  authentication: Options['authentication'],
  authorization: Options['authorization'],
): ServeOptions {
  const { clientCaFile: caFile, ...headers } = authentication.requestHeader;
  return {
    ...serving,
    clientCaFile: authentication.clientCaFile,
    requestHeader: { ...headers, caFile },
    alwaysAllowPaths: authorization.alwaysAllowPaths,
    tokenCacheTtlMs: authentication.tokenCacheTtlMs,
    authorizedTtlMs: authorization.allowedTtlMs,
    unauthorizedTtlMs: authorization.deniedTtlMs,
    profiling: generic.profiling,
  };
}
