/** `holdfast help`: the list of commands, or one of them in full. */
import { helpText } from '../options/index.ts';
import { COMMANDS } from './commands.ts';
import { type CliPorts, type CommandRow, type OptionRow, UsageFault } from './ports.ts';
import { STATE_COMMANDS } from './state/commands.ts';

function list(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join('');
}

function commandList(commands: readonly CommandRow[]): string {
  return list(commands.map(({ name, summary }) => [name, summary]));
}

function optionLine({ name, short, value, help }: OptionRow): readonly [string, string] {
  const head = short === undefined ? `    --${name}` : `-${short}, --${name}`;
  return [value === undefined ? head : `${head} ${value}`, help];
}

function commandText(program: string, path: string, command: CommandRow): string {
  const operands = command.operands === '' ? '' : ` ${command.operands}`;
  const options = command.options.length === 0 ? '' : ' [options]';
  const usage = `Usage:\n  ${program} ${path}${operands}${options}\n`;
  const shown = command.options.length === 0 ? '' : `\nOptions:\n${optionText(command)}`;
  const first = command.summary.charAt(0).toUpperCase() + command.summary.slice(1);
  return `${first}.\n\n${usage}${shown}`;
}

function optionText({ options }: CommandRow): string {
  return list(options.map(optionLine));
}

/** The list of commands. */
export function overviewText(program: string): string {
  return (
    'Holdfast is a kube-controller-manager that remembers across restarts.\n\n' +
    `Usage:\n  ${program} [manager flags]\n  ${program} COMMAND ...\n\n` +
    `Commands:\n${commandList(COMMANDS)}\n` +
    `More: ${program} help COMMAND; ${program} --help lists the manager's flags.\n`
  );
}

function stateText(program: string): string {
  return (
    'Shows the state file of a manager; nothing but forget ever writes to it.\n\n' +
    `Usage:\n  ${program} state COMMAND [options]\n\n` +
    `Commands:\n${commandList(STATE_COMMANDS)}\n` +
    `More: ${program} help state COMMAND.\n`
  );
}

/** The text for `help` and the words after it. Throws UsageFault. */
export function helpFor(argv: readonly string[], ports: CliPorts): string {
  const { program, terminal } = ports;
  const [name, part] = argv;
  if (name === undefined) return overviewText(program);
  if (name === 'run') return helpText(program, terminal.columns);
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined) {
    const valid = COMMANDS.map((candidate) => candidate.name).join(', ');
    throw new UsageFault(`there is no command ${name}; valid are: ${valid}`);
  }
  if (name !== 'state') return commandText(program, name, command);
  if (part === undefined) return stateText(program);
  const subcommand = STATE_COMMANDS.find((candidate) => candidate.name === part);
  if (subcommand === undefined) {
    const valid = STATE_COMMANDS.map((candidate) => candidate.name).join(', ');
    throw new UsageFault(`there is no command state ${part}; valid are: ${valid}`);
  }
  return commandText(program, `state ${part}`, subcommand);
}
