/** Kills a Holdfast at a moment drawn by lot, and starts the next one on the same folders. */
import { existsSync, type FSWatcher, rmSync, watch } from 'node:fs';
import type { Random } from '../../src/runtime/random.ts';
import type { Cluster, HoldfastManager, HoldfastOptions } from '../rig/index.ts';

/** When to kill. */
export type Moment =
  /** So many milliseconds from now. */
  | { readonly after: number }
  /** At the n-th write to the WAL from now: in the middle of a commit, or right behind it. */
  | { readonly walWrites: number };

/** A Lease that is lost soon, so that what follows from it is soon seen. */
export const SHORT_LEASE = [
  '--leader-elect-lease-duration=6s',
  '--leader-elect-renew-deadline=4s',
  '--leader-elect-retry-period=500ms',
];

const AFTER_MS_MAX = 900;
const WAL_WRITES_MAX = 40;
/** A WAL that nothing more is written to must not hold the test up. */
const PATIENCE_MS = 1_500;

/** Draws a moment: half of them by the clock, half by commits. */
export function drawMoment(random: Random): Moment {
  if (random.next() < 0.5) return { after: Math.floor(random.next() ** 2 * AFTER_MS_MAX) };
  return { walWrites: 1 + Math.floor(random.next() ** 2 * WAL_WRITES_MAX) };
}

/** Holdfast processes one after the other on one state directory. */
export class Line {
  #current: HoldfastManager;
  kills = 0;
  /** Logs of the processes before the current one. */
  readonly #logs: string[] = [];

  private constructor(
    private readonly cluster: Cluster,
    private readonly options: HoldfastOptions,
    first: HoldfastManager,
  ) {
    this.#current = first;
  }

  /** Starts the first process; it may not have begun to serve. */
  static async start(cluster: Cluster, options: HoldfastOptions): Promise<Line> {
    return new Line(cluster, options, await cluster.startHoldfast(options));
  }

  get current(): HoldfastManager {
    return this.#current;
  }

  /** Everything that they all have printed. */
  logs(): string {
    return [...this.#logs, this.#current.log()].join('');
  }

  /** Kills at that moment; resolves when the process is dead. */
  async kill(moment: Moment): Promise<void> {
    if ('after' in moment) await Bun.sleep(moment.after);
    else await this.#walWrites(moment.walWrites);
    this.#current.kill('SIGKILL');
    await this.#current.waitExit();
    this.kills++;
  }

  /** Stops the process for so long, as a hypervisor may, and lets it go on. */
  async freeze(ms: number): Promise<void> {
    this.#current.kill('SIGSTOP');
    await Bun.sleep(ms);
    this.#current.kill('SIGCONT');
  }

  /** True if somebody else kills the process within so long. */
  async diesWithin(ms: number): Promise<boolean> {
    const exited = this.#current.waitExit().then(() => true);
    const died = await Promise.race([exited, Bun.sleep(ms).then(() => false)]);
    if (died) this.kills++;
    return died;
  }

  /** Kills the process, and no other follows. */
  async end(): Promise<void> {
    this.#current.kill('SIGKILL');
    await this.#current.waitExit();
  }

  /** Starts the next process. `rebooted`: what lay on the tmpfs is gone. */
  async restart({ rebooted = false } = {}): Promise<void> {
    const { stateDir, runtimeDir, port } = this.#current;
    if (rebooted) rmSync(runtimeDir, { recursive: true, force: true });
    const folders = { stateDir, runtimeDir, port };
    this.#logs.push(this.#current.log());
    this.#current = await this.cluster.startHoldfast({ ...this.options, ...folders });
  }

  /** Sends SIGKILL from within the notice of the n-th write, so that little can follow it. */
  async #walWrites(wanted: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { stateDir, pid } = this.#current;
    let watcher: FSWatcher | undefined;
    let left = wanted;
    const timer = setTimeout(resolve, PATIENCE_MS);
    if (existsSync(stateDir)) {
      watcher = watch(stateDir, (_event, file) => {
        if (file !== 'state.db-wal' || --left > 0) return;
        if (this.#current.running) process.kill(pid, 'SIGKILL');
        resolve();
      });
    }
    await promise;
    clearTimeout(timer);
    watcher?.close();
  }
}
