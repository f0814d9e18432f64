/** What the composition root needs to know, made from the options. */
import { readFileSync } from 'node:fs';
import type { ServeOptions } from '../http/index.ts';
import type { ConfigInput } from '../kube/index.ts';
import type { ElectionOptions } from '../lease/index.ts';
import {
  type EffectiveFlag,
  type GateState,
  minorText,
  type Options,
  type SkippedController,
  selectControllers,
} from '../options/index.ts';
import type { ControllerDefinition, ControllerFlags } from '../runtime/controller.ts';
import type { LoggerOptions } from '../runtime/log.ts';
import { VERSION } from '../version.ts';

export interface RunConfig {
  readonly version: string;
  readonly versions: {
    readonly runtime: string;
    readonly binary: string;
    readonly emulation: string;
    readonly minCompat: string;
  };
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
  /** The controllers to run, chosen by --controllers and gates. */
  readonly definitions: readonly ControllerDefinition[];
  readonly startIntervalMs: number;
  readonly stopTimeoutMs: number;
  readonly rootCaPem: string;
  flagsOf(controller: string): ControllerFlags;
  gate(name: string): boolean;
  /** Every feature gate as it stands. */
  readonly gates: readonly GateState[];
  /** Every flag as it stands, for the log. */
  readonly effective: readonly EffectiveFlag[];
  readonly configz: object;
  readonly flagz: Readonly<Record<string, string>>;
}

/** Certificates of --root-ca-file, "" without that flag. Throws naming the flag. */
function readRootCa(path: string): string {
  if (path === '') return '';
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`--root-ca-file: cannot read ${path}: ${why}`, { cause });
  }
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
  return {
    version: VERSION,
    versions: {
      runtime: `bun${Bun.version}`,
      binary: options.kubernetesVersion.slice(1),
      emulation: minorText(options.versions.emulation),
      minCompat: minorText(options.versions.minCompatibility),
    },
    logging: options.logging,
    warnings: options.warnings,
    skipped: selection.skipped,
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
    definitions: controllers.filter(({ name }) => selection.started.includes(name)),
    startIntervalMs: generic.controllerStartIntervalMs,
    stopTimeoutMs: generic.controllerShutdownTimeoutMs,
    gates: options.gates.all(),
    effective: options.effective,
    rootCaPem: readRootCa(String(options.controllers.flags['root-ca-file'] ?? '')),
    flagsOf: () => options.controllers.flags,
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
