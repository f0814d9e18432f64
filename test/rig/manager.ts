/** Controller managers under test: the reference and Holdfast behind the same handle. */
import { join } from 'node:path';
import { binary, REPOSITORY } from './binaries.ts';
import { Child, type ChildOptions } from './child.ts';
import type { Identities } from './identities.ts';
import { freePort } from './ports.ts';

export interface ManagerOptions {
  /** Further flags; they come last, so they win over the rig's own. */
  readonly flags?: readonly string[];
  /** Kubeconfig file, default the one of system:kube-controller-manager. */
  readonly kubeconfig?: string;
  /** Short name for logs, default "reference-N" or "holdfast-N". */
  readonly name?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Put before the command line, e.g. ['strace', '-f', '-o', path] or ['taskset', '-c', '0']. */
  readonly wrap?: readonly string[];
  /** Default: a free port. A restart of the same manager may want the old one. */
  readonly port?: number;
}

export interface HoldfastOptions extends ManagerOptions {
  /** Default: a fresh folder. Give the one of an earlier process to start it again. */
  readonly stateDir?: string;
  readonly runtimeDir?: string;
  /** Run dist/holdfast (made by `make build`) instead of `bun src/main.ts`. */
  readonly compiled?: boolean;
}

/** What is started as Holdfast in each test, instead of its source or dist/holdfast. */
const PROGRAM = process.env.HOLDFAST_RIG_PROGRAM || undefined;

/** A process that doesn't answer must not hold up the test that asks it why. */
const ANSWER_TIMEOUT_MS = 20_000;

type Endpoint = { readonly port: number; readonly identities: Identities };

/** A running manager. */
export class Manager extends Child {
  readonly port: number;
  readonly url: string;
  readonly startedAt = performance.now();
  readonly #identities: Identities;

  constructor(options: ChildOptions, { port, identities }: Endpoint) {
    super(options);
    this.port = port;
    this.url = `https://127.0.0.1:${port}`;
    this.#identities = identities;
  }

  /** Asks one of its endpoints, as `as` (a rig user, default admin) or without credentials (null). */
  fetch(path: string, as: string | null = 'admin', init: RequestInit = {}): Promise<Response> {
    const pair = as === null ? undefined : this.#identities.pair(as);
    return fetch(this.url + path, {
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      ...init,
      proxy: false,
      tls: {
        ca: this.#identities.authority.certPem,
        ...(pair ? { cert: pair.certPem, key: pair.keyPem } : {}),
      },
    });
  }

  /** Waits until an endpoint answers 200, failing at once when the process ends. */
  async waitServing(path = '/healthz', timeoutMs = 60_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    let last: unknown = 'no answer';
    while (performance.now() < deadline) {
      if (!this.running) throw new Error(`${this.name} ended while starting\n${this.tail()}`);
      try {
        const answer = await this.fetch(path);
        last = `${answer.status} ${await answer.text()}`;
        if (answer.ok) return;
      } catch (error) {
        last = error;
      }
      await Bun.sleep(50);
    }
    throw new Error(`${this.name} ${path} not 200 in ${timeoutMs} ms (${last})\n${this.tail()}`);
  }

  /** The text of /metrics. */
  async metrics(): Promise<string> {
    const answer = await this.fetch('/metrics');
    if (!answer.ok) throw new Error(`${this.name} /metrics: ${answer.status}`);
    return answer.text();
  }
}

/** A Holdfast process, with the folders a later one can be started on. */
export class HoldfastManager extends Manager {
  constructor(
    options: ChildOptions,
    endpoint: Endpoint,
    readonly stateDir: string,
    readonly runtimeDir: string,
  ) {
    super(options, endpoint);
  }
}

/** The flags that a reference and a Holdfast are started with alike. */
export function managerFlags(identities: Identities, kubeconfig: string, port: number): string[] {
  const { files } = identities;
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--service-account-private-key-file=${files.serviceAccountKey}`,
    `--root-ca-file=${files.ca}`,
    `--client-ca-file=${files.ca}`,
    `--requestheader-client-ca-file=${files.frontProxyCa}`,
    `--cluster-signing-cert-file=${files.signingCert}`,
    `--cluster-signing-key-file=${files.signingKey}`,
    `--tls-cert-file=${files.servingCert}`,
    `--tls-private-key-file=${files.servingKey}`,
    '--use-service-account-credentials=true',
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
  ];
}

type Made = { dir: string; identities: Identities; serial: number };

function wrapped(options: ManagerOptions, command: string[]): string[] {
  return [...(options.wrap ?? []), ...command, ...(options.flags ?? [])];
}

/** Starts the reference kube-controller-manager; returns as soon as the process runs. */
export async function startReference(made: Made, options: ManagerOptions): Promise<Manager> {
  const { dir, identities, serial } = made;
  const port = options.port ?? (await freePort());
  const name = options.name ?? `reference-${serial}`;
  const kubeconfig = options.kubeconfig ?? identities.kubeconfig('kube-controller-manager');
  const command = wrapped(options, [
    await binary('kube-controller-manager'),
    ...managerFlags(identities, kubeconfig, port),
  ]);
  const logPath = join(dir, `${name}.log`);
  return new Manager({ name, command, logPath, cwd: dir, env: options.env }, { port, identities });
}

/** Starts Holdfast from source or compiled; returns as soon as the process runs. */
export async function startHoldfast(
  made: Made,
  options: HoldfastOptions,
): Promise<HoldfastManager> {
  const { dir, identities, serial } = made;
  const port = options.port ?? (await freePort());
  const name = options.name ?? `holdfast-${serial}`;
  const kubeconfig = options.kubeconfig ?? identities.kubeconfig('kube-controller-manager');
  const stateDir = options.stateDir ?? join(dir, `${name}-state`);
  const runtimeDir = options.runtimeDir ?? join(dir, `${name}-run`);
  const compiled = PROGRAM ?? join(REPOSITORY, 'dist', 'holdfast');
  const program =
    options.compiled || PROGRAM
      ? [compiled]
      : [process.execPath, join(REPOSITORY, 'src', 'main.ts')];
  const command = wrapped(options, [
    ...program,
    ...managerFlags(identities, kubeconfig, port),
    `--state-dir=${stateDir}`,
    `--state-runtime-dir=${runtimeDir}`,
  ]);
  const logPath = join(dir, `${name}.log`);
  const child = { name, command, logPath, cwd: dir, env: options.env };
  return new HoldfastManager(child, { port, identities }, stateDir, runtimeDir);
}
