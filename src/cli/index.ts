/** The command line: the manager itself, and the commands that look into its memory. */
import { completionScript } from './completion.ts';
import { runConfig } from './config.ts';
import { helpFor } from './help.ts';
import { type CliPorts, UsageFault } from './ports.ts';
import { runManagerCommand } from './run.ts';
import { runState } from './state/commands.ts';
import { runVersion } from './version.ts';

export type { CliPorts, Terminal } from './ports.ts';
export { processTerminal } from './terminal.ts';

type Command = (argv: readonly string[], ports: CliPorts) => Promise<number>;

async function runText(text: string, ports: CliPorts): Promise<number> {
  await ports.terminal.out(text);
  return 0;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  run: runManagerCommand,
  config: runConfig,
  state: runState,
  version: runVersion,
  completion: async (argv, ports) => runText(completionScript(argv, ports), ports),
  help: async (argv, ports) => runText(helpFor(argv, ports), ports),
};

const HELP_WORDS = ['-h', '--help'];

async function dispatch(argv: readonly string[], ports: CliPorts): Promise<number> {
  const [name = '', ...rest] = argv;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) return runManagerCommand(argv, ports);
  if (name !== 'run' && rest.some((word) => HELP_WORDS.includes(word))) {
    const words = rest.filter((word) => !word.startsWith('-'));
    return runText(helpFor([name, ...words], ports), ports);
  }
  return command(rest, ports);
}

/**
 * Runs a command line without the program's name; gives the exit code: 1 for every refusal.
 * Without a subcommand it is the manager's own command line, as kube-controller-manager has it.
 */
export async function runCli(argv: readonly string[], ports: CliPorts): Promise<number> {
  try {
    return await dispatch(argv, ports);
  } catch (error) {
    if (!(error instanceof UsageFault) && argv[0] !== 'state') throw error;
    const message = error instanceof Error ? error.message : String(error);
    await ports.terminal.err(`Error: ${message}\n`);
    return 1;
  }
}
