/** One process started by the rig: its log, its end, what it has used. */
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { guardProcess, releaseProcess } from './watchdog.ts';

/** How a process ended: an exit code, or the signal that killed it. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | number | null;
}

/** What a process has used so far, as the kernel counts it. */
export interface Usage {
  readonly rssBytes: number;
  readonly peakRssBytes: number;
  readonly anonymousBytes: number;
  readonly cpuSeconds: number;
  readonly threads: number;
  /** Bytes read from and written to storage, not counting the page cache. */
  readonly diskReadBytes: number;
  readonly diskWrittenBytes: number;
}

export interface ChildOptions {
  readonly name: string;
  readonly command: readonly string[];
  readonly logPath: string;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

const TAIL_LINES = 25;
const CLOCK_TICKS_PER_SECOND = 100;
const STOP_TIMEOUT_MS = 20_000;

function number(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? 0);
}

/** Whoever was wrapped (by strace, say) must not outlive the wrapper. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A running (or ended) process in a process group of its own. */
export class Child {
  readonly name: string;
  readonly pid: number;
  readonly logPath: string;
  readonly command: readonly string[];
  #exit: Exit | undefined;
  /** Settles with its end, whenever that is. */
  readonly ended: Promise<Exit>;

  constructor(options: ChildOptions) {
    this.name = options.name;
    this.logPath = options.logPath;
    this.command = options.command;
    const log = openSync(options.logPath, 'a');
    try {
      const process_ = Bun.spawn([...options.command], {
        cwd: options.cwd,
        env: { ...process.env, ...options.env },
        stdio: ['ignore', log, log],
        detached: true,
      });
      this.pid = process_.pid;
      guardProcess(this.pid);
      this.ended = process_.exited.then(() => {
        endGroup(this.pid);
        releaseProcess(this.pid);
        const exit = { code: process_.exitCode, signal: process_.signalCode };
        this.#exit = exit;
        return exit;
      });
      process_.unref();
    } finally {
      closeSync(log);
    }
  }

  /** How it ended, undefined while it runs. */
  get exit(): Exit | undefined {
    return this.#exit;
  }

  get running(): boolean {
    return this.#exit === undefined;
  }

  /** Sends a signal to the process alone; nothing happens if it has ended. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    if (this.running) process.kill(this.pid, signal);
  }

  /** Waits for the end; throws with the last lines of the log when it takes longer. */
  async waitExit(timeoutMs = STOP_TIMEOUT_MS): Promise<Exit> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), timeoutMs);
    });
    const exit = await Promise.race([this.ended, late]);
    clearTimeout(timer);
    if (exit) return exit;
    throw new Error(`${this.name} still runs after ${timeoutMs} ms\n${this.tail()}`);
  }

  /** SIGTERM, then SIGKILL when that is not obeyed in time. */
  async stop(timeoutMs = STOP_TIMEOUT_MS): Promise<Exit> {
    this.kill('SIGCONT');
    this.kill('SIGTERM');
    try {
      return await this.waitExit(timeoutMs);
    } catch {
      this.kill('SIGKILL');
      return this.waitExit();
    }
  }

  /** Everything it has printed, standard output and error together. */
  log(): string {
    return existsSync(this.logPath) ? readFileSync(this.logPath, 'utf8') : '';
  }

  /** The last lines of its log, headed by what it is. */
  tail(lines = TAIL_LINES): string {
    const end = this.exit ? ` (ended: ${this.exit.signal ?? `exit code ${this.exit.code}`})` : '';
    const last = this.log().trimEnd().split('\n').slice(-lines);
    return `last lines of ${this.logPath}${end}:\n${last.map((line) => `  ${line}`).join('\n')}`;
  }

  /** Memory, processor and storage use of the process; throws when it has ended. */
  usage(): Usage {
    const read = (file: string) => readFileSync(`/proc/${this.pid}/${file}`, 'utf8');
    const status = read('status');
    const stat = read('stat');
    const io = read('io');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return {
      rssBytes: number(status, /VmRSS:\s+(\d+)/) * 1024,
      peakRssBytes: number(status, /VmHWM:\s+(\d+)/) * 1024,
      anonymousBytes: number(status, /RssAnon:\s+(\d+)/) * 1024,
      threads: number(status, /Threads:\s+(\d+)/),
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND,
      diskReadBytes: number(io, /^read_bytes: (\d+)/m),
      diskWrittenBytes: number(io, /^write_bytes: (\d+)/m),
    };
  }
}
