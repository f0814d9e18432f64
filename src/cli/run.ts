/** `holdfast run`, and what happens without a subcommand: the controller manager itself. */
import { helpText, type Options, parseOptions, type Refusal, usageText } from '../options/index.ts';
import { createLogger } from '../runtime/log.ts';
import type { CliPorts, CommandRow } from './ports.ts';
import { kubernetesVersionText } from './version.ts';

/** What help and completion show. */
export const RUN_COMMAND: CommandRow = {
  name: 'run',
  operands: '[manager flags]',
  summary: 'run the controllers (also without this word); --help lists the flags',
  options: [],
};

/** Says why a command line is refused, where and how upstream does. */
async function reportRefusal({ stage, message }: Refusal, ports: CliPorts): Promise<void> {
  const { terminal, program, clock, pid } = ports;
  if (stage === 'setup') {
    const lines: string[] = [];
    const write = (line: string) => lines.push(`${line}\n`);
    const log = createLogger({ format: 'text', verbosity: 0, write, clock, pid, module: 'run' });
    log.error('command failed', message);
    await terminal.err(lines.join(''));
    return;
  }
  const usage = stage === 'syntax' ? `${usageText(program, terminal.columns)}\n` : '';
  await terminal.err(`${usage}Error: ${message}\n`);
}

/** Throws an Error where the first reading would have been refused. */
function optionsAgain(argv: readonly string[], { env, program }: CliPorts): Options {
  const result = parseOptions(argv, env, { program });
  if (result.kind === 'options') return result.options;
  throw new Error(result.kind === 'refused' ? result.refusal.message : 'no options were given');
}

/** Runs the manager with its flags; gives the exit code. */
export async function runManagerCommand(argv: readonly string[], ports: CliPorts): Promise<number> {
  const { terminal, program } = ports;
  const result = parseOptions(argv, ports.env, { program });
  for (const notice of result.notices) await terminal.err(`${notice}\n`);
  switch (result.kind) {
    case 'help':
      await terminal.out(helpText(program, terminal.columns));
      return 0;
    case 'version':
      await terminal.out(kubernetesVersionText(result.form));
      return 0;
    case 'refused':
      await reportRefusal(result.refusal, ports);
      return 1;
    case 'options':
      return ports.runManager(result.options, () => optionsAgain(argv, ports));
  }
}
