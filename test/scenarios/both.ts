/**
 * Plays scenarios under Holdfast and compares them with what the reference manager makes of them. That
 * is kept as files. What comes out otherwise than kept is played under both managers, each on a
 * cluster of its own, side by side: that comparison decides.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Cluster, type ClusterOptions, simulateNodes } from '../rig/index.ts';
import { alike } from './alike.ts';
import { asKept, KeptSnapshots, keeping, referenceVersion } from './kept.ts';
import { canPlay, skippedName } from './servers.ts';
import { type Leader, Side } from './side.ts';
import type { Scenario, World } from './world.ts';

/** What both came to: the reference's snapshot, then Holdfast's. */
export type Pair<S> = readonly [S, S];

export interface BothOptions<W extends World, S> {
  /** Names the file of what the reference came to. */
  readonly suite: string;
  readonly scenarios: readonly Scenario<W>[];
  /** Names for --controllers. */
  readonly controllers: readonly string[];
  /** How many scenarios play at once; 1 where they share what the whole cluster decides. */
  readonly atOnce: number;
  /** Played one by one once all others are done. */
  readonly alone?: readonly Scenario<W>[];
  /** Further flags for both managers. */
  readonly flags?: readonly string[];
  readonly cluster?: ClusterOptions;
  /** Furnishes each cluster before its manager starts. */
  prepare?(cluster: Cluster): Promise<unknown>;
  /** What a scenario is handed. */
  readonly world: new (
    cluster: Cluster,
    namespace: string,
  ) => W;
  /** What is compared at the end of a scenario. */
  look(world: W, scenario: Scenario<W>): Promise<S>;
}

/** Plays all scenarios, a few at a time; each test waits for its own. */
class Both<W extends World, S> {
  readonly #options: BothOptions<W, S>;
  readonly #keeping = keeping();
  readonly #kept: KeptSnapshots;
  readonly #sides = new Map<Leader, Promise<Side<W, S>>>();
  readonly #played: ReadonlyMap<string, PromiseWithResolvers<Pair<S>>>;

  private constructor(options: BothOptions<W, S>) {
    this.#options = options;
    this.#kept = new KeptSnapshots(options.suite, referenceVersion());
    const { scenarios, alone = [] } = options;
    const settlers = [...scenarios, ...alone].map(
      ({ name }) => [name, Promise.withResolvers<Pair<S>>()] as const,
    );
    this.#played = new Map(settlers);
    for (const { promise } of this.#played.values()) promise.catch(() => undefined);
  }

  /** Starts what is needed, and begins to play. */
  static async start<W extends World, S>(options: BothOptions<W, S>): Promise<Both<W, S>> {
    const both = new Both(options);
    const leaders: Leader[] = ['holdfast'];
    if (both.#keeping !== 'compare') leaders.push('reference');
    await Promise.all(leaders.map((leader) => both.#side(leader)));
    void both.#playAll();
    return both;
  }

  /** Stops the clusters; what was to be kept is written first. */
  async stop(): Promise<void> {
    if (this.#keeping === 'write') await this.#kept.write([...this.#played.keys()]);
    const sides = await Promise.allSettled(this.#sides.values());
    await Promise.all(
      sides.map((side) => (side.status === 'fulfilled' ? side.value.stop() : undefined)),
    );
  }

  /** Resolves when this scenario has been played. */
  of({ name }: Scenario<W>): Promise<Pair<S>> {
    const settler = this.#played.get(name);
    if (settler === undefined) throw new Error(`nobody plays "${name}"`);
    return settler.promise;
  }

  #side(leader: Leader): Promise<Side<W, S>> {
    const side = this.#sides.get(leader) ?? Side.start(leader, this.#options);
    this.#sides.set(leader, side);
    return side;
  }

  async #playAll(): Promise<void> {
    const { scenarios, alone = [], atOnce } = this.#options;
    const waiting = scenarios.filter((scenario) => canPlay(scenario));
    await Promise.all(Array.from({ length: atOnce }, () => this.#work(waiting)));
    await this.#work(alone.filter((scenario) => canPlay(scenario)));
  }

  async #work(waiting: Scenario<W>[]): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const settler = this.#played.get(next.name);
      await this.#compare(next).then(settler?.resolve, settler?.reject);
    }
  }

  async #compare(scenario: Scenario<W>): Promise<Pair<S>> {
    const { name } = scenario;
    const kept = this.#keeping === 'compare' ? this.#kept.of(name) : undefined;
    if (kept !== undefined) {
      const found = await this.#play('holdfast', scenario).catch((error: unknown) => {
        console.log(`"${name}" failed: ${error}`);
        return undefined;
      });
      if (found !== undefined && Bun.deepEquals(kept, found)) return [kept as S, found];
    }
    if (this.#keeping === 'compare') {
      console.log(`"${name}" is ${kept ? 'not as kept' : 'kept nowhere'}: played under both`);
    }
    const pair = await alike(name, () =>
      Promise.all([this.#play('reference', scenario), this.#play('holdfast', scenario)]),
    );
    if (this.#keeping === 'write') this.#kept.keep(name, pair[0]);
    return pair;
  }

  async #play(leader: Leader, scenario: Scenario<W>): Promise<S> {
    const side = await this.#side(leader);
    return asKept(await side.play(scenario));
  }
}

/**
 * A test a scenario: what Holdfast comes to must be what the reference comes to. `check` looks at
 * what both came to.
 */
export function compareAll<W extends World, S>(
  title: string,
  options: BothOptions<W, S>,
  check?: (wanted: S) => void,
): void {
  describe(title, () => {
    let both: Both<W, S>;
    beforeAll(async () => {
      both = await Both.start(options);
    });
    afterAll(async () => {
      await both?.stop();
    });
    for (const scenario of [...options.scenarios, ...(options.alone ?? [])]) {
      if (!canPlay(scenario)) {
        test.skip(skippedName(scenario), () => undefined);
        continue;
      }
      test(scenario.name, async () => {
        const [wanted, found] = await both.of(scenario);
        expect(found).toEqual(wanted);
        check?.(wanted);
      });
    }
  });
}

/** Furnishes a cluster with nodes, and with a garbage collector of the reference's on both sides. */
export async function nodesAndCollector(cluster: Cluster): Promise<void> {
  await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
  const flags = ['--controllers=garbage-collector-controller', '--leader-elect=false'];
  await cluster.startReference({ flags, name: 'garbage-collector' });
}
