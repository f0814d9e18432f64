/** Hosts that stand for election in simulated time: each may be killed, stuck, cut off, rebooted. */
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Candidate } from '../../src/lease/candidate.ts';
import { Cells } from '../../src/lease/cells.ts';
import { type Elector, type Lead, runElected } from '../../src/lease/index.ts';
import { leaseLock } from '../../src/lease/lock.ts';
import { recordFile } from '../../src/lease/record.ts';
import type { StartThread } from '../../src/lease/thread.ts';
import type { Clock, Timer } from '../../src/runtime/clock.ts';
import type { Logger } from '../../src/runtime/log.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { type Random, seededRandom } from '../../src/runtime/random.ts';
import { type FakeClock, fakeClock } from '../../src/runtime/testing/fake-clock.ts';
import { FAIR, LeaseServer, simulatedClient, type Weather } from './api-server.ts';

export const TIMES = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 500 };
export const LEASE = { namespace: 'kube-system', name: 'kube-controller-manager' };
/** How long a message between two threads takes. */
const MESSAGE_MS = 1;
/** How long a host's controllers take to stop. */
const STOPPING_MS = 50;

const quiet: Logger = {
  info: () => undefined,
  warning: () => undefined,
  error: () => undefined,
  v: () => quiet,
  enabled: () => false,
  named: () => quiet,
};

/** A term that began on a host. */
export interface LeadEvent {
  readonly host: Host;
  readonly lead: Lead;
  readonly at: number;
}

export class World {
  readonly clock: FakeClock = fakeClock(Date.parse('2026-03-01T00:00:00Z'));
  readonly server = new LeaseServer();
  readonly leads: LeadEvent[] = [];
  readonly random: Random;
  readonly hosts: readonly Host[];
  weather: Weather = FAIR;

  /** Hosts 0, 1, ... whose clocks go at the given rates; their tmpfs lies in `directory`. */
  constructor(seed: number, directory: string, rates: readonly number[]) {
    this.random = seededRandom(seed);
    this.hosts = rates.map(
      (rate, index) => new Host(this, index, rate, join(directory, `${index}`)),
    );
  }

  /** Hosts that may write to the cluster at this moment. */
  writers(): Host[] {
    return this.hosts.filter((host) => host.elector?.fence.mayWrite());
  }

  /** Goes forward; throws if ever two hosts may write at once. */
  async run(ms: number, stepMs = 20): Promise<void> {
    for (let gone = 0; gone < ms; gone += stepMs) {
      await this.clock.advance(stepMs);
      const writers = this.writers();
      if (writers.length > 1) {
        const who = writers.map((host) => host.index).join(' and ');
        throw new Error(`hosts ${who} may write at once at ${this.clock.monotonic()}`);
      }
    }
  }
}

/** One machine with one state directory: at most one process at a time. */
export class Host {
  elector: Elector | undefined;
  cut = false;
  readonly facts = new Map<string, string>();
  readonly events: string[] = [];
  /** Of another machine it may have been copied from. */
  machineId: string;
  #boot = 1;
  #bootedAt: number;
  #wallOffset = 0;
  /** World time until which the main thread is stuck. */
  #stuckUntil = 0;
  #process = 0;
  #thread = 0;
  #killThread: () => void = () => undefined;

  constructor(
    readonly world: World,
    readonly index: number,
    readonly rate: number,
    readonly directory: string,
  ) {
    this.machineId = String(index).padStart(32, '0');
    this.#bootedAt = world.clock.monotonic() - 1_000 * (index + 1);
  }

  /** Starts a process; the one before must be dead. */
  start(): void {
    const life = ++this.#process;
    const alive = () => this.#process === life;
    const clock = this.#clock(alive, () => this.#stuckUntil);
    const elector = runElected({
      lease: LEASE,
      times: TIMES,
      config: { server: '', namespace: '', source: '', insecureSkipTlsVerify: false },
      runtimeDirectory: this.directory,
      lockId: 'lock',
      facts: {
        get: (name) => this.facts.get(name),
        set: (name, text) => this.facts.set(name, text),
      },
      clock,
      random: this.world.random,
      log: quiet,
      metrics: createMetrics({ process: 'none' }),
      events: { event: (_about, _type, _reason, message) => this.events.push(message) },
      machine: {
        bootId: `boot-${this.index}-${this.#boot}`,
        machineId: this.machineId,
        hostName: `host-${this.machineId.slice(-1)}`,
      },
      startThread: this.#threads(alive, clock),
    });
    elector.onLead((lead) => {
      this.world.leads.push({ host: this, lead, at: this.world.clock.monotonic() });
    });
    elector.onLost(() => clock.sleep(STOPPING_MS));
    this.elector = elector;
  }

  /** kill -9. */
  kill(): void {
    this.#process++;
    this.elector = undefined;
    this.#stuckUntil = 0;
  }

  /** Power off and on: the tmpfs is gone, the clocks start anew. */
  reboot(): void {
    this.kill();
    this.#boot++;
    this.#bootedAt = this.world.clock.monotonic();
    rmSync(this.directory, { recursive: true, force: true });
  }

  stick(ms: number): void {
    this.#stuckUntil = this.world.clock.monotonic() + ms;
  }

  jumpWall(ms: number): void {
    this.#wallOffset += ms;
  }

  /** The candidate's thread dies, and the process lives. */
  killThread(): void {
    this.#killThread();
  }

  /** Takes over everything that stands on the disk and the tmpfs of `other`. */
  copyFrom(other: Host): void {
    this.facts.clear();
    for (const [name, text] of other.facts) this.facts.set(name, text);
    mkdirSync(other.directory, { recursive: true });
    rmSync(this.directory, { recursive: true, force: true });
    if (existsSync(other.directory)) cpSync(other.directory, this.directory, { recursive: true });
  }

  #clock(alive: () => boolean, stuckUntil: () => number): Clock {
    const world = this.world.clock;
    const after = (delayMs: number, fire: () => void): Timer => {
      const go = () => {
        const stuckMs = stuckUntil() - world.monotonic();
        if (!alive()) return;
        if (stuckMs > 0) timer = world.after(Math.ceil(stuckMs), go);
        else fire();
      };
      let timer = world.after(delayMs / this.rate, go);
      return { cancel: () => timer.cancel() };
    };
    return {
      now: () => world.now() + this.#wallOffset,
      monotonic: () => (world.monotonic() - this.#bootedAt) * this.rate,
      after,
      sleep: (delayMs, signal) => {
        if (signal?.aborted) return Promise.resolve();
        return new Promise((resolve) => {
          const timer = after(delayMs, resolve);
          const wake = () => {
            timer.cancel();
            resolve();
          };
          signal?.addEventListener('abort', wake, { once: true });
        });
      },
    };
  }

  #threads(processAlive: () => boolean, mainClock: Clock): StartThread {
    return (setup, on) => {
      const life = ++this.#thread;
      const alive = () => processAlive() && this.#thread === life;
      const clock = this.#clock(alive, () => 0);
      const { world } = this;
      const client = simulatedClient(
        world.server,
        world.clock,
        world.random,
        () => world.weather,
        () => this.cut,
        alive,
      );
      const candidate = new Candidate(setup, {
        lock: leaseLock(client, setup.lease),
        records: recordFile(setup.runtimeDirectory, setup.lease),
        cells: new Cells(setup.cells),
        clock,
        random: world.random,
        tell: (message) => {
          const said = structuredClone(message);
          mainClock.after(MESSAGE_MS, () => on.message(said));
        },
      });
      this.#killThread = () => {
        if (!alive()) return;
        this.#thread++;
        mainClock.after(MESSAGE_MS, () => on.died('killed'));
      };
      void candidate.run();
      return {
        post: (message) => {
          clock.after(MESSAGE_MS, () => {
            if (message.kind === 'release') candidate.release();
            else candidate.standBy(message.round, message.remembered);
          });
        },
        stop: () => {
          if (this.#thread === life) this.#thread++;
        },
      };
    };
  }
}
