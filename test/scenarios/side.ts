/** One side of a comparison: a cluster, the manager that leads it, and plays in namespaces of it. */
import { type Cluster, type Manager, startCluster } from '../rig/index.ts';
import type { BothOptions } from './both.ts';
import type { Scenario, World } from './world.ts';

/** Which manager leads. */
export type Leader = 'reference' | 'holdfast';

const LIMITS = ['--kube-api-qps=500', '--kube-api-burst=1000'];

/** A cluster under one manager, with what its scenarios need. */
export class Side<W extends World, S> {
  readonly #cluster: Cluster;
  readonly #manager: Manager;
  readonly #options: BothOptions<W, S>;

  private constructor(cluster: Cluster, manager: Manager, options: BothOptions<W, S>) {
    this.#cluster = cluster;
    this.#manager = manager;
    this.#options = options;
  }

  /** Starts and furnishes the cluster, then its manager; resolves once that serves. */
  static async start<W extends World, S>(
    leader: Leader,
    options: BothOptions<W, S>,
  ): Promise<Side<W, S>> {
    const cluster = await startCluster(options.cluster);
    try {
      await options.prepare?.(cluster);
      const { controllers, flags: more = [] } = options;
      const flags = [`--controllers=${controllers.join(',')}`, ...LIMITS, ...more];
      const manager =
        leader === 'reference'
          ? await cluster.startReference({ flags })
          : await cluster.startHoldfast({ flags });
      await manager.waitServing();
      return new Side(cluster, manager, options);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Plays a scenario in a namespace of its own and gives how things stand at its end. */
  async play(scenario: Scenario<W>): Promise<S> {
    const { world: Place, look } = this.#options;
    const world = new Place(this.#cluster, await this.#cluster.namespace('play'));
    try {
      await scenario.play(world);
      return await look(world, scenario);
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      throw new Error(`under ${this.#manager.name}: ${cause}\n${this.#manager.tail()}`);
    } finally {
      await world.end();
    }
  }

  async stop(): Promise<void> {
    await this.#cluster.stop();
  }
}
