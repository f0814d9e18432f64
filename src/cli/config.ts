/** `holdfast config`: the effective configuration, and who set each part of it. */
import { parseOptions } from '../options/index.ts';
import { type Format, OUTPUT_OPTION, render, type View } from './output.ts';
import { type CliPorts, type CommandRow, UsageFault } from './ports.ts';
import { readWords } from './words.ts';

/** What help and completion show. */
export const CONFIG_COMMAND: CommandRow = {
  name: 'config',
  operands: '[manager flags]',
  summary: 'the configuration that the given flags and --config file come to',
  options: [OUTPUT_OPTION, { name: 'changed', help: 'only what is not left at its default' }],
};

/** Takes our own options out of the words; the others are the manager's. */
function splitWords(argv: readonly string[]): { own: string[]; manager: string[] } {
  const own: string[] = [];
  const manager: string[] = [];
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '-o' || word === '--output') own.push(word, ...rest.splice(0, 1));
    else if (/^(?:-o|--output=|--changed$)/.test(word)) own.push(word);
    else manager.push(word);
  }
  return { own, manager };
}

/** Runs `config`; gives the exit code. Throws UsageFault for flags that the manager would refuse. */
export async function runConfig(argv: readonly string[], ports: CliPorts): Promise<number> {
  const { own, manager } = splitWords(argv);
  const words = readWords(own, CONFIG_COMMAND.options);
  const result = parseOptions(manager, ports.env, { program: ports.program });
  for (const notice of result.notices) await ports.terminal.err(`${notice}\n`);
  if (result.kind === 'refused') throw new UsageFault(result.refusal.message);
  if (result.kind !== 'options') throw new UsageFault(`--${result.kind} has no effect here`);
  const { effective, controllers, gates, warnings } = result.options;
  const flags = effective.filter(({ from }) => !words.has('changed') || from !== 'default');
  const view: View = {
    notes: [],
    parts: [
      {
        head: ['FLAG', 'VALUE', 'FROM'],
        rows: flags.map(({ name, value, from, unit }) => [
          name,
          unit === undefined ? value : `${value} ${unit}`,
          from,
        ]),
        empty: 'Everything is left at its default.',
      },
    ],
    data: { flags, controllers: controllers.list, featureGates: gates.all(), warnings },
  };
  const format = (words.value('output') ?? 'table') as Format;
  await ports.terminal.out(render(view, format));
  return 0;
}
