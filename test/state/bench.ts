/** What the tests of the state directory share: a cluster, a world, and processes on chosen folders. */
import {
  type Cluster,
  eventually,
  type HoldfastManager,
  type HoldfastOptions,
  simulateNodes,
  startCluster,
} from '../rig/index.ts';
import { diagnose } from '../scenarios/diagnosis.ts';
import { Ledger } from '../scenarios/ledger.ts';
import { World } from '../scenarios/world.ts';

const FLAGS = [
  '--controllers=deployment,replicaset,replicationcontroller',
  '--leader-elect-lease-duration=4s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=500ms',
  '-v=2',
];

/** How the store sees its file, from /debug/holdfast/store. */
export interface StoreState {
  readonly problem: string;
  readonly opened: string;
  readonly pendingRows: number;
  readonly walBytes: number;
  readonly tornResources: readonly string[];
}

/** One cluster with a namespace, a ledger of it, and a Holdfast now and then. */
export class Bench {
  private constructor(
    readonly cluster: Cluster,
    readonly world: World,
    readonly ledger: Ledger,
  ) {}

  static async start(name: string): Promise<Bench> {
    const cluster = await startCluster();
    await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true, readyDelayMs: 100 });
    const world = new World(cluster, await cluster.namespace(name));
    const ledger = new Ledger(cluster.api, world.namespace);
    cluster.onStop(() => ledger.stop());
    return new Bench(cluster, world, ledger);
  }

  /** Starts Holdfast, on the folders of an earlier one if given. */
  async holdfast(options: HoldfastOptions = {}): Promise<HoldfastManager> {
    const flags = [...FLAGS, ...(options.flags ?? [])];
    return await this.cluster.startHoldfast({ ...options, flags });
  }

  /** Starts the next process on the folders of a dead one. */
  async again({ stateDir, runtimeDir }: HoldfastManager): Promise<HoldfastManager> {
    return await this.holdfast({ stateDir, runtimeDir });
  }

  /** Waits until a Deployment is rolled out; tells what `process` says of itself if it never is. */
  async rolledOut(process: HoldfastManager, name = 'web'): Promise<void> {
    try {
      await this.world.rolledOut(name);
    } catch (error) {
      throw new Error(`${error}\n${await diagnose(this.world, process)}`);
    }
    await this.ledger.reach();
  }

  /** Pods ever created for an app, and those of them that were deleted. */
  pods(app = 'web'): { created: number; deleted: number } {
    const all = this.ledger.of(app);
    return { created: all.length, deleted: all.filter(({ deleting }) => deleting).length };
  }
}

/** Kills a process and waits for its end. */
export async function kill(process: HoldfastManager): Promise<void> {
  process.kill('SIGKILL');
  await process.waitExit();
}

/** Asks a process about its store. */
export async function storeOf(process: HoldfastManager): Promise<StoreState> {
  const answer = await process.fetch('/debug/holdfast/store');
  return (await answer.json()) as StoreState;
}

/** Waits until the store of a process is as wanted. */
export async function untilStore(
  process: HoldfastManager,
  wanted: (store: StoreState) => boolean,
  describe: string,
): Promise<StoreState> {
  return await eventually(
    async () => {
      const store = await storeOf(process);
      return wanted(store) ? store : undefined;
    },
    { describe },
  );
}

/** The text of /statusz. */
export async function statusz(process: HoldfastManager): Promise<string> {
  await process.waitServing('/healthz');
  const answer = await process.fetch('/statusz', 'admin', { headers: { Accept: 'text/plain' } });
  return await answer.text();
}

/** `leading`, `standby`, and how a term was won. */
export async function leaseOf(
  process: HoldfastManager,
): Promise<{ readonly state: string; readonly how?: string }> {
  const answer = await process.fetch('/debug/holdfast/lease');
  return (await answer.json()) as { state: string; how?: string };
}

/** How each cache came to be: "resumed", "listed", "delta". */
export async function cachesOf(process: HoldfastManager): Promise<Record<string, string>> {
  const answer = await process.fetch('/debug/holdfast/watches');
  const rows = (await answer.json()) as { resource: string; how: string }[];
  return Object.fromEntries(rows.map(({ resource, how }) => [resource, how]));
}
