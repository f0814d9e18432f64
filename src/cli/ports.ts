/** What the command line needs from outside, and how a command is described. */
import type { Options } from '../options/index.ts';
import type { Clock } from '../runtime/clock.ts';

/** Where output goes. */
export interface Terminal {
  /** Resolves when the text has left; a reader that has gone away is no error. */
  out(text: string): Promise<void>;
  err(text: string): Promise<void>;
  /** Width of the terminal that `out` writes to, 0 if it is none. */
  readonly columns: number;
}

/** Handed in by main. */
export interface CliPorts {
  /** Name the program was called by, without its directory. */
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly pid: number;
  /**
   * Runs the controllers until the process is to end; gives the exit code. `reread` understands the
   * command line and the file of --config anew; it throws what is refused.
   */
  runManager(options: Options, reread: () => Options): Promise<number>;
}

/** One option of a subcommand. */
export interface OptionRow {
  /** Without dashes. */
  readonly name: string;
  readonly short?: string;
  /** What stands for the value in help; absent: a switch. */
  readonly value?: string;
  readonly help: string;
  readonly choices?: readonly string[];
}

/** A subcommand, as help and completion show it. */
export interface CommandRow {
  readonly name: string;
  /** What may follow the name, e.g. "[QUEUE]". */
  readonly operands: string;
  readonly summary: string;
  readonly options: readonly OptionRow[];
}

/** The user asked for something impossible; the message says what would be valid. */
export class UsageFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageFault';
  }
}
