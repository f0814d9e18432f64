/** The stage of a benchmark: a cluster of its own, nodes, a byte-counting proxy, one manager. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Child,
  type Cluster,
  freePort,
  HoldfastManager,
  type Manager,
  simulateNodesApart,
  startCluster,
  TcpProxy,
  type Usage,
} from '../rig/index.ts';
import type { Subject } from './figures.ts';

const MEMORY_FILE_SYSTEM = '/dev/shm';
const LIFTED = ['--kube-api-qps=2000', '--kube-api-burst=4000'];

/** Where a measurement began: what had been used by then. */
export interface Mark {
  /** Milliseconds of performance.now(). */
  readonly at: number;
  readonly usage: Usage;
  /** Bytes the API server has sent to the manager. */
  readonly bytesDown: number;
}

/** A subject on its stage. */
export class Stage {
  #manager: Manager | undefined;

  private constructor(
    readonly subject: Subject,
    readonly cluster: Cluster,
    private readonly proxy: TcpProxy | undefined,
  ) {}

  /**
   * `counting`: the manager's bytes are counted, by a proxy in this process. Not where wall time is
   * compared and this process looks at big lists: the manager would wait for both.
   */
  static async open(subject: Subject, nodes: number, counting: boolean): Promise<Stage> {
    const cluster = await startCluster({ audit: false });
    const proxy = counting
      ? await TcpProxy.start(await freePort(), cluster.ports.apiServer)
      : undefined;
    cluster.onStop(() => proxy?.stop());
    await cluster.startScheduler();
    // Taints are cleared so that no subject depends on its node controller being quick or there.
    await simulateNodesApart(cluster, { count: nodes, clearTaint: true });
    return new Stage(subject, cluster, proxy);
  }

  get manager(): Manager {
    if (this.#manager) return this.#manager;
    throw new Error('no manager was started on this stage');
  }

  /** Starts the subject; Holdfast goes on from the state of the one before. */
  async start(limits: 'lifted' | 'default'): Promise<void> {
    const before = this.#manager;
    const kubeconfig = this.cluster.kubeconfig('kube-controller-manager', this.proxy?.url);
    const options = { kubeconfig, flags: limits === 'lifted' ? LIFTED : [] };
    if (this.subject === 'reference') {
      this.#manager = await this.cluster.startReference(options);
      return;
    }
    const old = before instanceof HoldfastManager ? before : undefined;
    const stateDir = old?.stateDir;
    const runtimeDir = old?.runtimeDir ?? this.#memoryFolder();
    const compiled = true;
    this.#manager = await this.cluster.startHoldfast({
      ...options,
      compiled,
      stateDir,
      runtimeDir,
    });
  }

  /** As /run is on a real machine: writes there wear no flash and count as none. */
  #memoryFolder(): string | undefined {
    if (!existsSync(MEMORY_FILE_SYSTEM)) return undefined;
    const folder = mkdtempSync(join(MEMORY_FILE_SYSTEM, 'holdfast-bench-'));
    this.cluster.onStop(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }

  /** Bytes the API server has sent to the subject, over all its processes; 0 if not counted. */
  get bytesDown(): number {
    return this.proxy?.traffic.down ?? 0;
  }

  /** Registers nodes of a zone; the process that simulates them is given. */
  moreNodes(options: { count: number; prefix: string; zone: string }): Promise<Child> {
    return simulateNodesApart(this.cluster, { ...options, clearTaint: true });
  }

  /** What has been used up to now. */
  mark(): Mark {
    const usage = this.manager.usage();
    return { at: performance.now(), usage, bytesDown: this.bytesDown };
  }

  async close(): Promise<void> {
    await this.cluster.stop();
  }
}
