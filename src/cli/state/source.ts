/** The state file that a command shows: where it lies, how old it is, and its inspector. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseOptions } from '../../options/index.ts';
import { durationText, momentText } from '../../runtime/age.ts';
import { type Inspector, openInspector, STATE_FILE } from '../../store/index.ts';
import { type CliPorts, type OptionRow, UsageFault } from '../ports.ts';
import type { Words } from '../words.ts';

/** Options that say where the state is, as the manager's own flags do. */
export const PLACE_OPTIONS: readonly OptionRow[] = [
  { name: 'state-dir', value: 'DIR', help: 'directory of the state (default /var/lib/holdfast)' },
  { name: 'config', value: 'FILE', help: 'the --config file of the manager, which may name it' },
];

/** An open state file. */
export interface StateSource {
  readonly inspector: Inspector;
  readonly file: string;
  /** Wall time of the last write to the disk, ms. */
  readonly writtenAt: number;
  readonly now: number;
  /** One line about what is shown and how old it is. */
  readonly note: string;
}

/** Directory of the state, by the same flags and file that the manager takes. Throws UsageFault. */
export function stateDir(words: Words, ports: CliPorts): string {
  const flags = PLACE_OPTIONS.flatMap(({ name }) => {
    const value = words.value(name);
    return value === undefined ? [] : [`--${name}=${value}`];
  });
  const result = parseOptions(flags, ports.env);
  if (result.kind === 'refused') throw new UsageFault(result.refusal.message);
  if (result.kind !== 'options') throw new UsageFault('--config must not ask for help or version');
  return result.options.state.dir;
}

/** The last write to the database or its log; committed rows lie in the log first. */
function lastWrite(file: string): number {
  const times = [file, `${file}-wal`].map(
    (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  return Math.round(Math.max(...times));
}

/** Opens the state file for reading and hands it to `show`; closes it afterwards. */
export function withState<T>(words: Words, ports: CliPorts, show: (source: StateSource) => T): T {
  const dir = stateDir(words, ports);
  const file = join(dir, STATE_FILE);
  const inspector = openInspector(dir);
  try {
    const now = ports.clock.now();
    const writtenAt = lastWrite(file);
    const age = durationText(now - writtenAt);
    const note = `${file}, last written ${age} ago (${momentText(writtenAt)})`;
    return show({ inspector, file, writtenAt, now, note });
  } finally {
    inspector.close();
  }
}

/** What JSON and YAML say about the source, before the data themselves. */
export function aboutSource({ file, writtenAt, now }: StateSource) {
  const ageMs = Math.max(0, now - writtenAt);
  return { file, writtenAt: momentText(writtenAt), ageMs };
}
