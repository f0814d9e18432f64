/** `holdfast state …`: looking into the memory of a process, also while it runs or after it died. */
import { type Format, OUTPUT_OPTION, render } from '../output.ts';
import { type CliPorts, type CommandRow, type OptionRow, UsageFault } from '../ports.ts';
import { readWords } from '../words.ts';
import { FORGET_OPTIONS, forgetState } from './forget.ts';
import { LEASE_OPTIONS, showLease } from './lease.ts';
import {
  CONTROLLER_OPTION,
  JOURNAL_OPTIONS,
  type Show,
  showExpectations,
  showIntents,
  showJournal,
  showMemory,
  showQueues,
  showWatches,
} from './lists.ts';
import { OBJECTS_OPTIONS, showExplanation, showObjects } from './objects.ts';
import { PLACE_OPTIONS, withState } from './source.ts';
import { showCheck, showExport, showStats } from './upkeep.ts';

interface StateCommand extends CommandRow {
  /** Absent for the two that do more than show. */
  readonly show?: Show;
}

function showing(
  name: string,
  operands: string,
  summary: string,
  show: Show,
  options: readonly OptionRow[] = [],
): StateCommand {
  const all = [...options, OUTPUT_OPTION, ...PLACE_OPTIONS];
  return { name, operands, summary, options: all, show };
}

const FAILING_OPTION: OptionRow = { name: 'failing', help: 'only keys whose last sync failed' };

/** The subcommands of `state`, in the order of help. */
export const STATE_COMMANDS: readonly StateCommand[] = [
  showing('queues', '[QUEUE]', 'keys that wait, fail or are due, by queue', showQueues, [
    FAILING_OPTION,
  ]),
  showing('expectations', '', 'what controllers wait to see before they go on', showExpectations, [
    CONTROLLER_OPTION,
  ]),
  showing('intents', '', 'announced creates and deletes without an answer yet', showIntents, [
    CONTROLLER_OPTION,
  ]),
  showing('watches', '', 'cached resources and where their watches go on', showWatches),
  showing(
    'objects',
    '[KIND [[NAMESPACE/]NAME] | KIND/[NAMESPACE/]NAME]',
    'cached objects, or one of them; -o yaml shows them whole',
    showObjects,
    OBJECTS_OPTIONS,
  ),
  showing('memory', '', 'what controllers remember across restarts', showMemory, [
    CONTROLLER_OPTION,
  ]),
  showing(
    'lease',
    '',
    'who led last on this state, and what the Lease may show of it',
    showLease,
    LEASE_OPTIONS,
  ),
  showing('journal', '', 'the last reconciles, newest first', showJournal, JOURNAL_OPTIONS),
  showing(
    'explain',
    'KIND/[NAMESPACE/]NAME',
    'all that is known about one object, and why it is so',
    showExplanation,
  ),
  {
    name: 'check',
    operands: '',
    summary: 'whether the file is sound; exit code 1 if not',
    options: [OUTPUT_OPTION, ...PLACE_OPTIONS],
  },
  showing(
    'stats',
    '',
    'sizes of the file, its tables and resources, and how much is written',
    showStats,
  ),
  showing(
    'export',
    '',
    'a bundle for support: everything but the objects themselves, without secrets',
    showExport,
  ),
  {
    name: 'forget',
    operands: 'RESOURCE | --all',
    summary: 'throw a part of the state away, also while the process runs; it is listed anew',
    options: [...FORGET_OPTIONS, ...PLACE_OPTIONS],
  },
];

function formatOf(command: StateCommand, wanted: string | undefined): Format {
  const format = (wanted ?? 'table') as Format;
  return command.name === 'export' && format === 'table' ? 'json' : format;
}

/** Runs `state` with the words after it; gives the exit code. Throws UsageFault. */
export async function runState(argv: readonly string[], ports: CliPorts): Promise<number> {
  const [name, ...rest] = argv;
  const command = STATE_COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined) {
    const valid = STATE_COMMANDS.map((candidate) => candidate.name).join(', ');
    const found = name === undefined ? 'what of the state?' : `there is no state ${name};`;
    throw new UsageFault(`${found} valid are: ${valid}`);
  }
  const words = readWords(rest, command.options);
  if (command.name === 'forget') {
    await ports.terminal.out(await forgetState(words, ports));
    return 0;
  }
  const format = formatOf(command, words.value('output'));
  const { text, code } = withState(words, ports, (source) => {
    if (command.show !== undefined) {
      return { text: render(command.show(source, words), format), code: 0 };
    }
    const { view, sound } = showCheck(source, words);
    return { text: render(view, format), code: sound ? 0 : 1 };
  });
  await ports.terminal.out(text);
  return code;
}
