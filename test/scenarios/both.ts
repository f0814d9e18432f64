/** Plays scenarios under the reference manager and under Holdfast, each on a cluster of its own. */

import { type Cluster, type ClusterOptions, simulateNodes, startCluster } from '../rig/index.ts';
import { alike } from './alike.ts';
import { canPlay } from './servers.ts';
import { type Snapshot, settledSnapshot } from './snapshot.ts';
import { type Scenario, World } from './world.ts';

/** What both came to: the reference's snapshot, then Holdfast's. */
export type Pair = readonly [Snapshot, Snapshot];

export interface BothOptions {
  readonly scenarios: readonly Scenario[];
  /** Names for --controllers. */
  readonly controllers: readonly string[];
  /** How many scenarios play at once. */
  readonly atOnce: number;
  /** Further flags for both managers. */
  readonly flags?: readonly string[];
  readonly cluster?: ClusterOptions;
  /** Furnishes each cluster before its manager starts; default nodes and a garbage collector. */
  prepare?(cluster: Cluster): Promise<unknown>;
  /** What is compared at the end of a scenario; default `settledSnapshot`. */
  look?(world: World): Promise<Snapshot>;
}

const LIMITS = ['--kube-api-qps=500', '--kube-api-burst=1000'];

/** Two clusters with a manager each; both play every scenario. */
export class Both {
  readonly #clusters: readonly [Cluster, Cluster];
  readonly #look: (world: World) => Promise<Snapshot>;
  readonly #played: ReadonlyMap<string, Promise<Pair>>;

  private constructor(clusters: readonly [Cluster, Cluster], options: BothOptions) {
    this.#clusters = clusters;
    this.#look = options.look ?? settledSnapshot;
    this.#played = this.#playAll(options);
  }

  /** Starts the clusters and managers, and begins to play. */
  static async start(options: BothOptions): Promise<Both> {
    const start = (): Promise<Cluster> => startCluster(options.cluster);
    const clusters = await Promise.all([start(), start()]);
    const [reference, holdfast] = clusters;
    await Promise.all(clusters.map(options.prepare ?? prepare));
    const { controllers, flags: more = [] } = options;
    const flags = [`--controllers=${controllers.join(',')}`, ...LIMITS, ...more];
    const managers = [
      await reference.startReference({ flags }),
      await holdfast.startHoldfast({ flags }),
    ];
    await Promise.all(managers.map((manager) => manager.waitServing()));
    return new Both(clusters, options);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clusters.map((cluster) => cluster.stop()));
  }

  /** Resolves when both have played this scenario. */
  of(scenario: Scenario): Promise<Pair> {
    const pair = this.#played.get(scenario.name);
    if (pair === undefined) throw new Error(`nobody plays "${scenario.name}"`);
    return pair;
  }

  #playAll({ scenarios, atOnce }: BothOptions): ReadonlyMap<string, Promise<Pair>> {
    const waiting = scenarios.filter((scenario) => canPlay(scenario));
    const settlers = new Map(
      scenarios.map(({ name }) => [name, Promise.withResolvers<Pair>()] as const),
    );
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const settler = settlers.get(next.name);
        await this.#playBoth(next).then(settler?.resolve, settler?.reject);
      }
    };
    for (let i = 0; i < atOnce; i++) void worker();
    for (const settler of settlers.values()) settler.promise.catch(() => undefined);
    return new Map([...settlers].map(([name, settler]) => [name, settler.promise]));
  }

  async #playBoth(scenario: Scenario): Promise<Pair> {
    const [reference, holdfast] = this.#clusters;
    return await alike(scenario.name, () =>
      Promise.all([this.#play(scenario, reference), this.#play(scenario, holdfast)]),
    );
  }

  async #play(scenario: Scenario, cluster: Cluster): Promise<Snapshot> {
    const world = new World(cluster, await cluster.namespace('play'));
    await scenario.play(world);
    return withoutEvents(await this.#look(world), scenario.raced ?? []);
  }
}

function withoutEvents(seen: Snapshot, reasons: readonly string[]): Snapshot {
  if (reasons.length === 0) return seen;
  const isRaced = (event: string): boolean => reasons.some((reason) => event.includes(reason));
  return { ...seen, events: seen.events.filter((event: string) => !isRaced(event)) };
}

/** Nodes, and a garbage collector of the reference's on both sides. */
async function prepare(cluster: Cluster): Promise<void> {
  await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
  const flags = ['--controllers=garbage-collector-controller', '--leader-elect=false'];
  await cluster.startReference({ flags, name: 'garbage-collector' });
}
