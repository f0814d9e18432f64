/** What a service manager hears of this process, in the words of sd_notify(3). */
import type { Clock, Timer } from '../runtime/clock.ts';
import {
  SERVICE_LOOK_INTERVAL_MS,
  SERVICE_START_EXTENSION_MS,
  SERVICE_START_LOOK_MS,
} from '../runtime/limits.ts';
import type { NotifySocket } from './socket.ts';

/** How the process is doing. */
export interface ServiceState {
  /** It does what it was started for; once true it is not taken back. */
  readonly ready: boolean;
  /** One line for people. */
  readonly status: string;
}

/** Tells the service manager; does nothing where there is none. */
export interface Service {
  /** Looks at the process from now on, regularly, and tells what has changed. */
  follow(look: () => ServiceState): void;
  /** Looks at once. */
  look(): void;
  /** Runs `work` between RELOADING=1 and READY=1. */
  reload(work: () => void): void;
  /** The end has begun; `status` says why. The watchdog is fed on. */
  stopping(status: string): void;
  close(): void;
}

export interface NotifierDeps {
  readonly socket: NotifySocket;
  readonly clock: Pick<Clock, 'after'>;
  /** CLOCK_MONOTONIC, microseconds. */
  readonly monotonicUs: () => number;
  /** Silence for this long is taken for a hang; 0: there is no watchdog. */
  readonly watchdogMs: number;
}

const STARTING: ServiceState = { ready: false, status: 'Starting' };

/**
 * A Service over a socket. All of it happens on the event loop of the thread that made it: a loop
 * that is stuck feeds no watchdog, and asks for no longer start either.
 */
export class Notifier implements Service {
  readonly #deps: NotifierDeps;
  #state: () => ServiceState = () => STARTING;
  #ready = false;
  #stopping = false;
  #said = '';
  /** What did not leave yet, for the next turn. */
  #unsent: string[] = [];
  #timer: Timer | undefined;

  constructor(deps: NotifierDeps) {
    this.#deps = deps;
    this.#turn();
  }

  follow(look: () => ServiceState): void {
    this.#state = look;
    this.look();
  }

  look(): void {
    const lines: string[] = [];
    if (!this.#stopping) {
      const { ready, status } = this.#state();
      if (ready && !this.#ready) {
        this.#ready = true;
        lines.push('READY=1');
      }
      if (status !== this.#said) lines.push(this.#status(status));
    }
    this.#send(lines);
  }

  reload(work: () => void): void {
    if (!this.#ready || this.#stopping) {
      work();
      return;
    }
    this.#send(['RELOADING=1', `MONOTONIC_USEC=${this.#deps.monotonicUs()}`]);
    try {
      work();
    } finally {
      this.#send(['READY=1']);
    }
  }

  stopping(status: string): void {
    this.#stopping = true;
    this.#send(['STOPPING=1', this.#status(status)]);
  }

  close(): void {
    this.#timer?.cancel();
    this.#deps.socket.close();
  }

  #turn(): void {
    const { clock, watchdogMs } = this.#deps;
    this.look();
    const lines = watchdogMs > 0 ? ['WATCHDOG=1'] : [];
    const isStarting = !this.#ready && !this.#stopping;
    if (isStarting) lines.push(`EXTEND_TIMEOUT_USEC=${SERVICE_START_EXTENSION_MS * 1_000}`);
    this.#send(lines);
    const look = isStarting ? SERVICE_START_LOOK_MS : SERVICE_LOOK_INTERVAL_MS;
    const ms = watchdogMs > 0 ? Math.min(watchdogMs / 2, look) : look;
    this.#timer = clock.after(ms, () => this.#turn(), { background: true });
  }

  #status(status: string): string {
    this.#said = status;
    return `STATUS=${status.replaceAll('\n', ' ')}`;
  }

  #send(lines: readonly string[]): void {
    const all = [...this.#unsent, ...lines];
    if (all.length === 0) return;
    const sent = this.#deps.socket.send(all.join('\n'));
    // A watchdog that is fed late says nothing new.
    this.#unsent = sent ? [] : all.filter((line) => !/^(WATCHDOG|EXTEND_TIMEOUT)/.test(line));
  }
}
