/** A real control plane for tests: etcd and kube-apiserver on free ports in a fresh folder. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api, ApiFailure } from './api.ts';
import { type AuditEntry, type AuditFilter, readAudit } from './audit.ts';
import { binary } from './binaries.ts';
import { Child } from './child.ts';
import { type Ports, startApiServer, startEtcd, startKine } from './control-plane.ts';
import { type ClusterFiles, Identities } from './identities.ts';
import {
  type HoldfastManager,
  type HoldfastOptions,
  type Manager,
  type ManagerOptions,
  startHoldfast,
  startReference,
} from './manager.ts';
import { freePort } from './ports.ts';
import { guardFolder } from './watchdog.ts';

export interface ClusterOptions {
  /** Folder to use instead of a fresh temporary one; it is then kept at the end. */
  readonly dir?: string;
  /** Write the audit log (default true). Benchmarks turn it off. */
  readonly audit?: boolean;
  readonly apiServerFlags?: readonly string[];
  /** Service-account key, default RSA. */
  readonly serviceAccountKey?: 'rsa' | 'ecdsa';
}

const START_ATTEMPTS = 3;
const HEALTH_TIMEOUT_MS = 5_000;
/** "kine": every cluster stores in SQLite through kine, as k3s does. */
const STORAGE = process.env.HOLDFAST_RIG_STORAGE ?? 'etcd';
const KEEP = process.env.HOLDFAST_RIG_KEEP === '1';

/** What may be done to etcd while it is stopped. */
export interface EtcdRestart {
  /** Keep a copy of the data under this name. */
  readonly snapshot?: string;
  /** Go back to the data kept under this name. The API server must be restarted too. */
  readonly restore?: string;
}

/** A running rig. Make one with startCluster(). */
export class Cluster {
  readonly api: Api;
  readonly files: ClusterFiles;
  readonly caPem: string;
  readonly #children = new Set<Child>();
  readonly #cleanups: (() => unknown)[] = [];
  #serial = 0;
  #etcd: Child | undefined;
  #apiServer: Child | undefined;

  constructor(
    readonly dir: string,
    readonly server: string,
    readonly ports: Ports,
    readonly identities: Identities,
    private readonly options: ClusterOptions,
  ) {
    this.api = this.client('admin');
    this.files = identities.files;
    this.caPem = identities.authority.certPem;
  }

  /** The kubeconfig file of a user; with `server` a copy that goes there (through a proxy). */
  kubeconfig(user = 'admin', server?: string): string {
    return this.identities.kubeconfig(user, server);
  }

  /** Makes a further user; gives its kubeconfig file. */
  addUser(name: string, groups: readonly string[] = []): Promise<string> {
    return this.identities.add(name, name, groups);
  }

  /** A client of the API server as a user of the rig. */
  client(user = 'admin', server = this.server): Api {
    return new Api(server, this.identities.authority.certPem, this.identities.pair(user));
  }

  /** Whether the control plane runs and can write. */
  async healthy(): Promise<boolean> {
    if (!this.#etcd?.running || !this.#apiServer?.running) return false;
    try {
      const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
      return (await this.api.raw('/readyz', { signal })).ok;
    } catch {
      return false;
    }
  }

  /** Starts etcd and the API server; used by startCluster(). */
  async start(): Promise<void> {
    await this.#startEtcd();
    await this.#startApiServer();
  }

  async startScheduler(flags: readonly string[] = []): Promise<Child> {
    const port = await freePort();
    const kubeconfig = this.kubeconfig('kube-scheduler');
    return this.spawn('kube-scheduler', [
      await binary('kube-scheduler'),
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      '--kube-api-qps=2000',
      '--kube-api-burst=4000',
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      ...flags,
    ]);
  }

  /** Starts the reference manager. Give flags, or an object with more. */
  async startReference(given: readonly string[] | ManagerOptions = {}): Promise<Manager> {
    const options = Array.isArray(given) ? { flags: given } : (given as ManagerOptions);
    return this.adopt(await startReference(this.#made(), options));
  }

  /** Starts Holdfast. */
  async startHoldfast(options: HoldfastOptions = {}): Promise<HoldfastManager> {
    return this.adopt(await startHoldfast(this.#made(), options));
  }

  /** Starts any other process that shall end with this cluster; its log is NAME.log in `dir`. */
  spawn(name: string, command: readonly string[], env?: Record<string, string>): Child {
    const logPath = join(this.dir, `${name}.log`);
    return this.adopt(new Child({ name, command, logPath, cwd: this.dir, env }));
  }

  /** Lets a process end with this cluster. */
  adopt<T extends Child>(child: T): T {
    this.#children.add(child);
    return child;
  }

  /** Calls `cleanup` when the cluster stops. */
  onStop(cleanup: () => unknown): void {
    this.#cleanups.push(cleanup);
  }

  /** Stops (SIGTERM, or the given signal) and starts the API server on the same port. */
  async restartApiServer(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.stopApiServer(signal);
    await this.#startApiServer();
  }

  /** Stops the API server until startApiServer(). */
  async stopApiServer(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#apiServer?.kill(signal);
    await this.#apiServer?.waitExit();
    this.api.close();
  }

  /** Starts the API server again after stopApiServer(). */
  startApiServer(): Promise<void> {
    return this.#startApiServer();
  }

  /** Stops and starts etcd; in between its data can be kept or put back. */
  async restartEtcd({ snapshot, restore }: EtcdRestart = {}): Promise<void> {
    // A killed etcd loses nothing it has acknowledged; a polite stop waits seconds for clients.
    this.#etcd?.kill('SIGKILL');
    await this.#etcd?.waitExit();
    const data = join(this.dir, 'etcd');
    if (snapshot !== undefined) {
      rmSync(this.#snapshot(snapshot), { recursive: true, force: true });
      cpSync(data, this.#snapshot(snapshot), { recursive: true });
    }
    if (restore !== undefined) {
      const kept = this.#snapshot(restore);
      if (!existsSync(kept)) throw new Error(`no etcd snapshot "${restore}" in ${this.dir}`);
      rmSync(data, { recursive: true, force: true });
      cpSync(kept, data, { recursive: true });
    }
    await this.#startEtcd();
  }

  /** Takes the whole control plane back to a kept snapshot, as after restoring a backup. */
  async rewind(snapshot: string): Promise<void> {
    await this.stopApiServer();
    await this.restartEtcd({ restore: snapshot });
    await this.#startApiServer();
  }

  /** The requests the API server has recorded; scheduler and health checks are left out. */
  auditEntries(filter: AuditFilter = {}): AuditEntry[] {
    if (this.options.audit === false) throw new Error('this cluster was started with audit: false');
    return readAudit(this.files.auditLog, filter);
  }

  /**
   * A fresh namespace with its `default` ServiceAccount; gives its name, which is the prefix and
   * something random, or with `exactly` the prefix itself.
   */
  async namespace(prefix = 'test', exactly = false): Promise<string> {
    const made = await this.api.create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: exactly ? { name: prefix } : { generateName: `${prefix}-` },
    });
    const { name } = made.metadata;
    try {
      const metadata = { name: 'default', namespace: name };
      await this.api.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    } catch (error) {
      if (!(error instanceof ApiFailure && error.status === 409)) throw error;
    }
    return name;
  }

  /** Kills everything and removes the folder (kept with HOLDFAST_RIG_KEEP=1 or a given `dir`). */
  async stop(): Promise<void> {
    for (const cleanup of this.#cleanups.splice(0).reverse()) await cleanup();
    this.api.close();
    const running = [...this.#children].filter((child) => child.running);
    this.#children.clear();
    for (const child of running) child.kill('SIGKILL');
    await Promise.all(running.map((child) => child.waitExit()));
    if (!KEEP && this.options.dir === undefined) rmSync(this.dir, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #snapshot(name: string): string {
    return join(this.dir, 'snapshots', name);
  }

  #made(): { dir: string; identities: Identities; serial: number } {
    this.#serial += 1;
    return { dir: this.dir, identities: this.identities, serial: this.#serial };
  }

  async #startEtcd(): Promise<void> {
    const start = STORAGE === 'kine' ? startKine : startEtcd;
    this.#etcd = this.adopt(await start(this.dir, join(this.dir, 'etcd'), this.ports));
  }

  async #startApiServer(): Promise<void> {
    const { dir, files, ports, api } = this;
    const { audit = true, apiServerFlags: flags = [] } = this.options;
    this.#apiServer = this.adopt(await startApiServer({ dir, files, ports, audit, flags, api }));
  }
}

async function startOnce(options: ClusterOptions): Promise<Cluster> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'holdfast-rig-'));
  mkdirSync(dir, { recursive: true });
  if (options.dir === undefined && !KEEP) guardFolder(dir);
  const ports = {
    etcd: await freePort(),
    etcdPeer: await freePort(),
    apiServer: await freePort(),
  };
  const server = `https://127.0.0.1:${ports.apiServer}`;
  const identities = await Identities.create(dir, server, options.serviceAccountKey ?? 'rsa');
  const cluster = new Cluster(dir, server, ports, identities, options);
  try {
    await cluster.start();
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

/**
 * Starts a control plane (about three seconds). End it with stop() or `await using`; whatever
 * happens to this process, nothing of it survives.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(options);
    } catch (error) {
      const taken = /address already in use/.test(String(error));
      if (!taken || attempt === START_ATTEMPTS) throw error;
    }
  }
}
