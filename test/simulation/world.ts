/**
 * One cluster's life under Holdfast, from a seed. Real: the composition of leading and following
 * (app/leadership), informers, queues, workers, expectations, intents, pod control, memory, events,
 * the client's retries and rate limits, all controllers named in holdfast.ts, and the store with
 * SQLite in a folder in memory. Modelled: time, chance, the API server, the connection to it, the
 * Lease, the nodes, the people, and when a process or its machine dies.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LEASES, NAMESPACES } from '../../src/api/resource.ts';
import { ModelApi } from './api-model.ts';
import { Dice } from './dice.ts';
import { restoreFile } from './disk-model.ts';
import { Holdfast } from './holdfast.ts';
import { Lag } from './lag.ts';
import { Ledger, Violation } from './ledger.ts';
import { ModelNodes } from './nodes-model.ts';
import { ModelServer } from './server.ts';
import { aheadOfObjects, unsettled } from './settled.ts';
import { Timeline } from './timeline.ts';
import { Trace } from './trace.ts';
import { ModelUsers } from './users.ts';
import { CALM, drawWeather, type Weather } from './weather.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NODES_COUNT = 5;
const POD_CREATED = /^> POST \S+\/pods (\S+)$/;

/** What befalls the process or its surroundings, and how often. */
const ACCIDENTS = {
  kill: 5,
  killAtRequest: 8,
  killAtBarrier: 8,
  stop: 2,
  powerCut: 2,
  longOff: 1,
  loseLease: 3,
  foreignLease: 1,
  wallJump: 2,
  compact: 2,
  serverRestart: 1,
  snapshot: 6,
};
type Accident = keyof typeof ACCIDENTS;

/** Figures of a run. */
export interface Figures {
  readonly modelHours: number;
  readonly steps: number;
  readonly kills: number;
  readonly powerCuts: number;
  readonly podsCreated: number;
  readonly podsDeleted: number;
  readonly writes: number;
  readonly lists: number;
  /** Of everything that was said on the wire and done by people, in order. */
  readonly digest: string;
}

export class World {
  readonly #seed: number;
  readonly #dir: string;
  readonly #time = new Timeline();
  readonly #api: ModelApi;
  readonly #server: ModelServer;
  readonly #nodes: ModelNodes;
  readonly #users: ModelUsers;
  readonly #lag: Lag;
  readonly #ledger: Ledger;
  readonly #dice: Dice;
  readonly trace = new Trace();
  #weather: Weather = CALM;
  #process: Holdfast | undefined;
  #starts = 0;
  #boot = { id: 'boot-0', at: 0 };
  /** leaseTransitions. */
  #term = 0;
  /** Since this term nobody else has led. */
  #since = 0;
  #kills = 0;
  #powerCuts = 0;
  /** The process dies at the so many-th of these. */
  #killIn: { readonly at: 'request' | 'barrier'; left: number } | undefined;
  #snapshot: Uint8Array | undefined;
  /** A key was dropped after too many failures: it takes half a day to come again. */
  #dropped = false;

  constructor(seed: number) {
    this.#seed = seed;
    const memory = '/dev/shm';
    const base = Bun.file(memory).name === memory ? memory : tmpdir();
    this.#dir = mkdtempSync(join(base, 'holdfast-simulation-'));
    this.#dice = new Dice(seed, 'world');
    this.#api = new ModelApi(this.#time, seed);
    this.#server = new ModelServer(this.#api);
    this.#server.onBadRequest = (what) => {
      throw new Violation(what);
    };
    this.#lag = new Lag(this.#time, this.#api);
    this.#ledger = new Ledger(this.#api, () => this.#lag.from);
    this.#nodes = new ModelNodes(this.#time, this.#api, new Dice(seed, 'nodes'));
    this.#users = new ModelUsers(this.#api, new Dice(seed, 'users'));
  }

  /** Lives so many model hours in turns of storm and calm. Throws what does not hold. */
  async live(hours: number): Promise<Figures> {
    this.#setUp();
    await this.#start('created', 0);
    while (this.#time.now < hours * HOUR) {
      await this.#stormy();
      await this.#calm();
    }
    await this.#process?.kill();
    return {
      modelHours: this.#time.now / HOUR,
      steps: this.#time.steps,
      kills: this.#kills,
      powerCuts: this.#powerCuts,
      podsCreated: this.#ledger.created,
      podsDeleted: this.#ledger.deleted,
      writes: this.#server.writes,
      lists: this.#server.lists,
      digest: this.trace.digest(),
    };
  }

  /** Removes what the run left on the disk. */
  async end(): Promise<void> {
    await this.#process?.kill();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  #setUp(): void {
    for (const name of ['kube-system', 'default']) {
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, status: {} };
      this.#api.create(NAMESPACES, '', body, 'user');
    }
    this.#serverIdentity();
    for (let at = 0; at < NODES_COUNT; at++) this.#nodes.add(`node-${at}`);
    for (let at = 0; at < 6; at++) this.#tell(`user ${this.#users.act()}`);
  }

  /** Each process of the API server has a Lease of its own. */
  #serverIdentity(): void {
    for (const lease of this.#api.all(LEASES)) {
      const { name } = lease.metadata;
      this.#api.delete(LEASES, `kube-system/${name}`, {}, 'user');
    }
    const labels = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' };
    const id = this.#dice.random.text(8, 'abcdef');
    const metadata = { name: `apiserver-${id}`, labels };
    const spec = { holderIdentity: `apiserver-${id}_${this.#dice.random.uuid()}` };
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    this.#api.create(LEASES, 'kube-system', body, 'user');
  }

  async #stormy(): Promise<void> {
    this.#nodes.troubled = true;
    const end = this.#time.now + this.#dice.between(10, 60) * MINUTE;
    this.#again(end, 20_000, 10 * MINUTE, () => this.#tell(`user ${this.#users.act()}`));
    this.#again(end, 2 * MINUTE, 10 * MINUTE, () => {
      this.#weather = drawWeather(this.#dice);
      this.#tell(`weather ${JSON.stringify(this.#weather)}`);
    });
    this.#again(end, 90_000, 15 * MINUTE, () => this.#accident());
    await this.#run(end);
  }

  /** Repeats something until `end`, each time after another pause. */
  #again(end: number, typicalMs: number, maxMs: number, act: () => void): void {
    const next = (): void => {
      const pause = this.#dice.longTail(typicalMs, maxMs);
      if (this.#time.now + pause >= end) return;
      this.#time.after(pause, () => {
        act();
        next();
      });
    };
    next();
  }

  #accident(): void {
    const what = this.#dice.weighted(ACCIDENTS);
    this.#tell(`accident ${what}`);
    if (this.#process !== undefined) this.#befalls(this.#process)[what]();
  }

  #befalls(process: Holdfast): Readonly<Record<Accident, () => void>> {
    const dice = this.#dice;
    const downMs = dice.longTail(500, 30_000);
    return {
      kill: () => this.#die(downMs),
      killAtRequest: () => {
        this.#killIn = { at: 'request', left: dice.whole(1, 30) };
      },
      killAtBarrier: () => {
        this.#killIn = { at: 'barrier', left: dice.whole(1, 20) };
      },
      longOff: () => this.#die(dice.between(0.5, 5) * HOUR),
      stop: () => this.#stop(downMs),
      powerCut: () => this.#cutPower(),
      loseLease: () => this.#loseLease(false),
      foreignLease: () => this.#loseLease(true),
      wallJump: () => {
        process.clock.wallOffset += dice.between(-1, 1) * 10 * HOUR;
      },
      compact: () => this.#server.compact(this.#api.version - dice.whole(0, 40)),
      serverRestart: () => {
        this.#serverIdentity();
        this.#server.compact(this.#api.version);
      },
      snapshot: () => {
        this.#snapshot = process.disk?.snapshot();
      },
    };
  }

  /** SIGKILL, and the next process after `downMs`. */
  #die(downMs: number): void {
    const process = this.#process;
    if (process === undefined) return;
    this.#process = undefined;
    this.#killIn = undefined;
    process.life.dead = true;
    this.#kills++;
    this.#tell('killed');
    this.#time.after(0, () => void process.kill());
    this.#time.after(downMs + 1, () => void this.#start('instant', this.#dice.longTail(50, 2_000)));
  }

  #stop(downMs: number): void {
    const process = this.#process;
    if (process === undefined) return;
    this.#process = undefined;
    this.#killIn = undefined;
    void process.stop().then(() => {
      this.#tell('stopped');
      this.#time.after(downMs + 1, () => void this.#start('instant', 10));
    });
  }

  #cutPower(): void {
    const process = this.#process;
    if (process === undefined) return;
    this.#process = undefined;
    this.#killIn = undefined;
    process.life.dead = true;
    this.#powerCuts++;
    this.#time.after(0, () => void process.kill());
    const offMs = this.#dice.longTail(30_000, HOUR);
    this.#time.after(offMs + 1, () => {
      rmSync(join(this.#dir, 'run'), { recursive: true, force: true });
      restoreFile(join(this.#dir, 'state'), this.#snapshot);
      this.#boot = { id: `boot-${this.#powerCuts}`, at: this.#time.now };
      this.#tell(`power back, file of ${this.#snapshot?.length ?? 0} bytes`);
      void this.#start('reboot', 4_000);
    });
  }

  #loseLease(toOther: boolean): void {
    const process = this.#process;
    if (process === undefined || process.elector.state() !== 'leading') return;
    process.elector.lose('the model says so');
    const how = toOther ? 'expired' : 'regained';
    if (toOther) this.#term += 2;
    if (toOther) this.#since = this.#term;
    const terms = { term: this.#term, since: this.#since };
    const lead = { ...terms, leaseUid: 'lease', how, followsOwn: !toOther } as const;
    this.#time.after(this.#dice.longTail(5_000, 5 * MINUTE), () => {
      if (process.life.dead) return;
      if (toOther) this.#ledger.forgets();
      process.elector.win(lead);
    });
  }

  async #start(how: 'created' | 'instant' | 'reboot', winsAfterMs: number): Promise<void> {
    const process = new Holdfast({
      time: this.#time,
      server: this.#server,
      dir: join(this.#dir, 'state'),
      runtimeDir: join(this.#dir, 'run'),
      boot: this.#boot,
      seed: (this.#seed * 1_000 + this.#starts++) >>> 0,
      weather: () => this.#weather,
      told: (what) => {
        this.#tell(what);
        const [, pod] = POD_CREATED.exec(what) ?? [];
        if (pod !== undefined) this.#ledger.asked(pod);
        if (what.startsWith('>')) this.#countDown('request', process);
      },
      atBarrier: () => this.#countDown('barrier', process),
      journaled: (row) => this.#tell(`sync ${JSON.stringify(row)}`),
      log: (line) => {
        this.#dropped ||= line.includes('Dropping the key');
        this.#tell(line);
      },
    });
    this.#process = process;
    await process.start();
    const { store } = process.disk!;
    const ahead = aheadOfObjects(this.#api, store);
    if (ahead.length > 0) this.#fail(`The file can't be resumed:\n${ahead.join('\n')}`);
    this.#tell(`started ${how} in term ${this.#term}, ${store.health().opened}`);
    this.#time.after(
      winsAfterMs,
      () => {
        const followsOwn = store.facts.get('manager.term') === String(this.#term);
        this.#term++;
        if (!followsOwn || how === 'reboot') this.#ledger.forgets();
        if (!followsOwn) this.#since = this.#term;
        const terms = { term: this.#term, since: this.#since };
        process.elector.win({ ...terms, leaseUid: 'lease', how, followsOwn });
      },
      process.life,
    );
  }

  #countDown(at: 'request' | 'barrier', process: Holdfast): void {
    const armed = this.#killIn;
    if (armed?.at !== at || process !== this.#process || --armed.left > 0) return;
    this.#die(this.#dice.longTail(300, 30_000));
  }

  async #calm(): Promise<void> {
    this.#weather = CALM;
    this.#killIn = undefined;
    this.#nodes.troubled = false;
    this.#tell('calm');
    // A process that is down, or without the Lease, comes back by itself.
    const isLed = (): boolean => this.#process?.elector.state() === 'leading';
    for (let tries = 0; tries < 40 && !isLed(); tries++)
      await this.#run(this.#time.now + 10 * MINUTE);
    this.#users.calmDown();
    await this.#run(this.#time.now + (this.#dropped ? 14 * HOUR : 2 * HOUR));
    this.#dropped = false;
    const process = this.#process;
    if (process?.elector.state() !== 'leading') this.#fail('nobody leads after a long calm');
    const before = this.#server.writes;
    await this.#run(this.#time.now + 20 * MINUTE);
    const writes = this.#server.writes - before;
    const { store } = process!.disk!;
    store.commit();
    const wrong = unsettled(this.#api, store, this.#ledger);
    if (writes > 0) wrong.push(`${writes} writes in twenty quiet minutes`);
    if (wrong.length > 0) this.#fail(`Not settled after a long calm:\n${wrong.join('\n')}`);
  }

  async #run(until: number): Promise<void> {
    await this.#time.run(until, () => {
      this.#lag.look(this.#process?.leadership?.informers);
      if (this.#failure !== undefined) throw this.#failure;
    });
  }

  #failure: Violation | undefined;

  /** Ends the run; what is thrown inside a process would be caught there. */
  #fail(what: string): void {
    this.#failure ??= new Violation(what);
    throw this.#failure;
  }

  #tell(what: string): void {
    this.trace.add(this.#time.now, what.replaceAll(this.#dir, ''));
  }
}
