/**
 * The fault campaign: a load in rounds, and during each round troubles of the wire, of the answers
 * and of the machine at the same time, by lot from a seed. After each round everything must be there
 * exactly once.
 */
import { type Random, seededRandom } from '../../src/runtime/random.ts';
import { Deck } from '../crash/deck.ts';
import { Mix } from '../crash/mix.ts';
import { complaintsAbout, readState } from '../crash/state-copy.ts';
import { type Cluster, eventually, notYet, simulateNodes } from '../rig/index.ts';
import { diagnose } from '../scenarios/diagnosis.ts';
import { Ledger } from '../scenarios/ledger.ts';
import { World } from '../scenarios/world.ts';
import { ANSWER_TROUBLES } from './answer-troubles.ts';
import { DISK_TROUBLES, PROCESS_TROUBLES } from './machine-troubles.ts';
import { patiently } from './patience.ts';
import { between, makeStand, type Scene, type Stand, type Trouble } from './stand.ts';
import { unexpectedIn } from './unexpected.ts';
import { WIRE_TROUBLES } from './wire-troubles.ts';

const NODES = 4;
const PER_LAYER_MAX = 2;
const PAUSE_MS_MAX = 800;
const REST_TIMEOUT_MS = 90_000;

/** What one kind of trouble works on; troubles of one layer come one after the other. */
class Layer {
  readonly #troubles: Readonly<Record<string, Trouble>>;
  readonly #deck: Deck<string>;
  readonly #scene: Scene;

  constructor(stand: Stand, random: Random, troubles: Readonly<Record<string, Trouble>>) {
    this.#scene = { ...stand, random };
    this.#troubles = troubles;
    const weights = Object.fromEntries(Object.keys(troubles).map((name) => [name, 1]));
    this.#deck = new Deck(random, weights);
  }

  /** Lets some happen; tells each name as it begins. */
  async round(tell: (name: string) => void): Promise<void> {
    const { random } = this.#scene;
    for (let left = between(random, 0, PER_LAYER_MAX); left > 0; left--) {
      await Bun.sleep(random.next() * PAUSE_MS_MAX);
      const name = this.#deck.draw();
      tell(name);
      await this.#troubles[name]?.(this.#scene);
    }
  }
}

/** One run. */
export class FaultCampaign {
  readonly #stand: Stand;
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #mix: Mix;
  readonly #layers: readonly Layer[];
  /** How often each trouble came. */
  readonly troubles = new Map<string, number>();
  #rounds = 0;

  private constructor(stand: Stand, world: World, ledger: Ledger, mix: Mix, seed: number) {
    this.#stand = stand;
    this.#world = world;
    this.#ledger = ledger;
    this.#mix = mix;
    const machine = stand.disk === undefined ? {} : DISK_TROUBLES;
    // Each layer has its own chance: how they interleave is left to the processes.
    this.#layers = [WIRE_TROUBLES, ANSWER_TROUBLES, { ...PROCESS_TROUBLES, ...machine }].map(
      (troubles, at) => new Layer(stand, seededRandom(seed * 10 + at), troubles),
    );
  }

  /** Starts all that is needed on a cluster without compaction. `compiled`: run dist/holdfast. */
  static async start(cluster: Cluster, seed: number, compiled: boolean): Promise<FaultCampaign> {
    await simulateNodes(cluster, { count: NODES, clearTaint: true, bind: true });
    const world = new World(cluster, await cluster.namespace('troubled'));
    const ledger = new Ledger(cluster.api, world.namespace, true);
    cluster.onStop(() => ledger.stop());
    const stand = await makeStand(cluster, compiled);
    const mix = new Mix(world, ledger, NODES);
    await mix.launch();
    return new FaultCampaign(stand, world, ledger, mix, seed);
  }

  /** Troubles so far. */
  get count(): number {
    return [...this.troubles.values()].reduce((sum, times) => sum + times, 0);
  }

  /** One round; gives what it has left wrong. */
  async round(): Promise<string[]> {
    const names: string[] = [];
    const tell = (name: string): void => {
      names.push(name);
      this.troubles.set(name, (this.troubles.get(name) ?? 0) + 1);
    };
    await this.#mix.begin();
    await Promise.all(this.#layers.map((layer) => layer.round(tell)));
    const during = (what: string): string => `round ${this.#rounds} (${names.join(', ')}): ${what}`;
    this.#rounds++;
    try {
      await patiently(() => this.#mix.settled());
    } catch (error) {
      return [during(`${error}\n${await diagnose(this.#world, this.#stand.line.current)}`)];
    }
    const complaints = await patiently(() => this.#mix.complaints());
    await patiently(() => this.#mix.cleanUp());
    return complaints.map(during);
  }

  /** What is wrong when all is over: with the process, its log, its file and the next process. */
  async end(): Promise<string[]> {
    const { line, proxy, cluster } = this.#stand;
    const complaints: string[] = [];
    await this.#atRest();
    await line.end();
    const state = readState(line.current.stateDir);
    if (state === undefined) complaints.push('there is no state file at the end');
    else complaints.push(...(await complaintsAbout(state, cluster.api)));
    complaints.push(...unexpectedIn(line.logs(), proxy.seen));
    await line.restart();
    await this.#atRest();
    this.#ledger.stop();
    return complaints;
  }

  /** What happened and what was looked at, for people. */
  table(): string {
    const rows = [...this.troubles].sort().map(([name, times]) => `${name.padEnd(48)}${times}`);
    const { workloads, pods, jobs } = this.#mix.judged;
    return [
      ...rows,
      `${this.count} troubles in ${this.#rounds} rounds, ${this.#stand.line.kills} deaths`,
      `workloads with exactly the pods they needed: ${workloads}, with ${pods} pods`,
      `Jobs with exact counts and no finalizer left: ${jobs}`,
    ].join('\n');
  }

  /** Nothing fails any more, and all is on the disk. */
  async #atRest(): Promise<void> {
    const { line } = this.#stand;
    const ask = async (page: string): Promise<unknown> => {
      const answer = await line.current.fetch(`/debug/holdfast/${page}`);
      return await answer.json();
    };
    await line.current.waitServing();
    await eventually(
      async () => {
        const lease = (await ask('lease')) as { state: string };
        const store = (await ask('store')) as { problem: string; pendingRows: number };
        const intents = (await ask('intents')) as unknown[];
        if (lease.state !== 'leading' || store.problem !== '') throw notYet({ lease, store });
        if (intents.length > 0) throw notYet(intents);
        return true;
      },
      { timeoutMs: REST_TIMEOUT_MS, describe: 'it leads, with its file whole' },
    );
  }
}
