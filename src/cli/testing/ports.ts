/** A command line with everything outside replaced: what it writes is kept. */
import type { Options } from '../../options/index.ts';
import { type CliPorts, runCli } from '../index.ts';

/** How a command line ended. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Options that the manager was run with. */
  readonly ran: readonly Options[];
}

/** Wall time of the command line, ms. */
export const NOW = Date.parse('2026-01-01T00:10:00Z');

/** Runs a command line; `changes` replace single ports. */
export async function runLine(
  argv: readonly string[],
  changes: Partial<CliPorts> = {},
): Promise<Ended> {
  const out: string[] = [];
  const err: string[] = [];
  const ran: Options[] = [];
  const code = await runCli(argv, {
    program: 'holdfast',
    env: {},
    terminal: {
      out: async (text) => void out.push(text),
      err: async (text) => void err.push(text),
      columns: 0,
    },
    clock: { now: () => NOW, sleep: (ms) => Bun.sleep(ms) },
    pid: 42,
    runManager: async (options) => {
      ran.push(options);
      return 7;
    },
    ...changes,
  });
  return { code, out: out.join(''), err: err.join(''), ran };
}
