/** One process of Holdfast in the model: everything real between the wire and the disk. */

import { runConfig } from '../../src/app/config.ts';
import { Leadership } from '../../src/app/leadership.ts';
import { CONTROLLERS } from '../../src/controllers/registry.ts';
import { WireClient } from '../../src/kube/client.ts';
import { createLimiter } from '../../src/kube/limiter.ts';
import { clientMetrics } from '../../src/kube/metrics.ts';
import type { Transport } from '../../src/kube/transport.ts';
import type { ClientFactory, WriteFence } from '../../src/kube/types.ts';
import type { Elector, Lead } from '../../src/lease/index.ts';
import { parseOptions } from '../../src/options/index.ts';
import type { Logger } from '../../src/runtime/log.ts';
import { createMetrics, type ServedMetrics } from '../../src/runtime/metrics.ts';
import type { JournalRow } from '../../src/runtime/ports.ts';
import { type Random, seededRandom } from '../../src/runtime/random.ts';
import { Dice } from './dice.ts';
import { ModelDisk } from './disk-model.ts';
import type { ModelServer } from './server.ts';
import type { Life, ModelClock, Timeline } from './timeline.ts';
import type { Weather } from './weather.ts';
import { ModelWire } from './wire.ts';

/** The controllers that run. */
const RUNNING = [
  'deployment-controller',
  'replicaset-controller',
  'replicationcontroller-controller',
  'statefulset-controller',
  'daemonset-controller',
  'job-controller',
  'cronjob-controller',
  'garbage-collector-controller',
  'pod-garbage-collector-controller',
  'ttl-after-finished-controller',
];

export interface ProcessDeps {
  readonly time: Timeline;
  readonly server: ModelServer;
  /** State and runtime directories. */
  readonly dir: string;
  readonly runtimeDir: string;
  readonly boot: { readonly id: string; readonly at: number };
  readonly seed: number;
  weather(): Weather;
  told(what: string): void;
  atBarrier(): void;
  journaled(row: JournalRow): void;
  log(line: string): void;
}

/** An Elector that does as the world says. */
class ModelElector implements Elector {
  readonly identity: string;
  readonly fence: WriteFence;
  #abort: AbortController | undefined;
  #lead: Lead | undefined;
  readonly #onLead: ((lead: Lead) => void)[] = [];
  readonly #onLost: ((because: string) => void | Promise<void>)[] = [];
  #losing: Promise<unknown> = Promise.resolve();

  constructor(identity: string) {
    this.identity = identity;
    const closed = new AbortController();
    closed.abort();
    this.fence = {
      mayWrite: () => this.#abort !== undefined,
      signal: () => (this.#abort ?? closed).signal,
    };
  }

  state() {
    return this.#abort === undefined ? ('standby' as const) : ('leading' as const);
  }

  onLead(callback: (lead: Lead) => void): void {
    this.#onLead.push(callback);
    if (this.#lead !== undefined) callback(this.#lead);
  }

  onLost(callback: (because: string) => void | Promise<void>): void {
    this.#onLost.push(callback);
  }

  health(): undefined {
    return undefined;
  }

  heartbeat(): void {}

  async release(): Promise<void> {
    this.#abort?.abort();
    this.#abort = undefined;
  }

  leaseInfo() {
    return {
      identity: this.identity,
      state: this.state(),
      lease: '',
      holder: '',
      term: 0,
      heldForMs: 0,
      since: 0,
      holderSince: 0,
    };
  }

  win(lead: Lead): void {
    void this.#losing.then(() => {
      this.#abort = new AbortController();
      this.#lead = lead;
      for (const callback of this.#onLead) callback(lead);
    });
  }

  lose(because: string): void {
    if (this.#abort === undefined) return;
    this.#abort.abort();
    this.#abort = undefined;
    this.#lead = undefined;
    this.#losing = Promise.allSettled(this.#onLost.map(async (callback) => callback(because)));
  }
}

const parsed = parseOptions([`--controllers=${RUNNING.join(',')}`, '--kubeconfig=/model'], {});
if (parsed.kind !== 'options') throw new Error(JSON.stringify(parsed));
const CONFIG = runConfig(parsed.options, CONTROLLERS, {});

/** From its start to its death. */
export class Holdfast {
  readonly life: Life = { dead: false };
  readonly clock: ModelClock;
  readonly elector: ModelElector;
  readonly #deps: ProcessDeps;
  readonly #wire: ModelWire;
  readonly #random: Random;
  readonly #metrics: ServedMetrics = createMetrics({ process: 'none' });
  readonly #log: Logger;
  disk: ModelDisk | undefined;
  leadership: Leadership | undefined;

  constructor(deps: ProcessDeps) {
    const { time, boot, seed } = deps;
    this.#deps = deps;
    this.clock = time.clock(this.life, boot.at);
    this.#random = seededRandom(seed);
    this.#log = modelLog(deps.log);
    this.elector = new ModelElector(`model_${this.#random.uuid()}`);
    this.#wire = new ModelWire({ ...deps, life: this.life, dice: new Dice(seed, 'wire') });
  }

  /** Opens the file and follows the API server; leads once the elector has won. */
  async start(): Promise<void> {
    const { dir, runtimeDir, boot, atBarrier, journaled } = this.#deps;
    const { clock, life } = this;
    const log = this.#log;
    const random = this.#random;
    this.disk = await ModelDisk.open({
      dir,
      runtimeDir,
      bootId: boot.id,
      clock,
      random,
      log,
      life,
      atBarrier,
      journaled,
    });
    const config = { ...CONFIG, state: { ...CONFIG.state, dir, runtimeDir } };
    const always = new AbortController().signal;
    const open = this.#factory({ mayWrite: () => true, signal: () => always });
    const fenced = this.#factory(this.elector.fence);
    this.leadership = new Leadership({
      config,
      clock,
      random,
      log,
      metrics: this.#metrics,
      opened: this.disk.opened,
      elector: this.elector,
      open,
      fenced,
    });
    this.leadership.start();
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    this.life.dead = true;
    this.#wire.drop();
    this.#metrics.registry.clear();
    await this.disk?.die();
  }

  /** SIGTERM. */
  async stop(): Promise<void> {
    await this.leadership?.stop();
    this.disk?.opened.store.commit();
    await this.elector.release();
    this.disk?.opened.store.close();
    await this.disk?.opened.gone;
    this.disk?.closed();
    await this.kill();
  }

  #factory(fence: WriteFence): ClientFactory {
    const { clock } = this;
    const log = this.#log;
    const metrics = clientMetrics(this.#metrics, 'model');
    const identity = {
      present: async () => ({ headers: {}, tls: {} }),
      atHand: () => ({ headers: {}, tls: {} }),
      refused: () => undefined,
    };
    return {
      server: 'https://model',
      caHash: 'model',
      caPem: '',
      close: () => undefined,
      client: (name, { qps = CONFIG.client.qps, burst = CONFIG.client.burst } = {}) =>
        new WireClient({
          transport: this.#wire as unknown as Transport,
          limiter: createLimiter(qps, burst, clock),
          clock,
          log,
          metrics,
          userAgent: name,
          identity,
          fence,
          fieldManager: 'kube-controller-manager',
        }),
    };
  }
}

function modelLog(write: (line: string) => void): Logger {
  const say = (level: string, name: string) => (message: string, fields?: object) =>
    write(`${level} ${name} ${message} ${fields === undefined ? '' : JSON.stringify(fields)}`);
  const named = (name: string): Logger => ({
    info: say('I', name),
    warning: say('W', name),
    error: (message, error, fields) =>
      say('E', name)(`${message}: ${String(error)}`, fields as object | undefined),
    v: () => ({ info: () => undefined }),
    enabled: () => false,
    named: (inner) => named(inner),
  });
  return named('');
}
