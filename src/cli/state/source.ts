/** The state file that a command shows: where it lies, how old it is, and its inspector. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseOptions } from '../../options/index.ts';
import { durationText, momentText } from '../../runtime/age.ts';
import { type Inspector, openInspector, processUsing, STATE_FILE } from '../../store/index.ts';
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
  readonly runtimeDir: string;
  /** Wall time of the last write to the file, ms, as far as the file itself tells. */
  readonly writtenAt: number;
  /** The process that uses the file now, "" if none of this machine is known to. */
  readonly usedBy: string;
  readonly now: number;
  /** One line about what is shown and how old it is. */
  readonly note: string;
}

/** Directories of the state, by the same flags and file that the manager takes. Throws UsageFault. */
export function stateDirs(words: Words, ports: CliPorts) {
  const flags = [...PLACE_OPTIONS, { name: 'state-runtime-dir' }].flatMap(({ name }) => {
    const value = words.value(name);
    return value === undefined ? [] : [`--${name}=${value}`];
  });
  const result = parseOptions(flags, ports.env);
  if (result.kind === 'refused') throw new UsageFault(result.refusal.message);
  if (result.kind !== 'options') throw new UsageFault('--config must not ask for help or version');
  const { dir, runtimeDir } = result.options.state;
  return { dir, runtimeDir };
}

/**
 * When the file was last written. The newest entry tells, wherever the file was copied to; a file
 * without any has only its own time, which reading it (an empty log) must not change.
 */
function lastWrite(file: string, newestEntryAt: number): number {
  if (newestEntryAt > 0) return newestEntryAt;
  return Math.round(statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
}

/** Opens the state file for reading and hands it to `show`; closes it afterwards. */
export function withState<T>(words: Words, ports: CliPorts, show: (source: StateSource) => T): T {
  const { dir, runtimeDir } = stateDirs(words, ports);
  const file = join(dir, STATE_FILE);
  const inspector = openInspector(dir);
  try {
    const now = ports.clock.now();
    const usedBy = processUsing(dir);
    const writtenAt = lastWrite(file, inspector.newestEntryAt());
    const age = durationText(now - writtenAt);
    const user = usedBy === '' ? 'no process here uses it' : `in use by ${usedBy}`;
    const note = `${file}, last written ${age} ago (${momentText(writtenAt)}); ${user}`;
    return show({ inspector, file, runtimeDir, writtenAt, usedBy, now, note });
  } finally {
    inspector.close();
  }
}

/** What JSON and YAML say about the source, before the data themselves. */
export function aboutSource({ file, writtenAt, usedBy, now }: StateSource) {
  const ageMs = Math.max(0, now - writtenAt);
  return { file, writtenAt: momentText(writtenAt), ageMs, usedBy };
}
