/** All subcommands, for help and completion. */
import { CONFIG_COMMAND } from './config.ts';
import type { CommandRow } from './ports.ts';
import { RUN_COMMAND } from './run.ts';
import { STATE_COMMANDS } from './state/commands.ts';
import { VERSION_COMMAND } from './version.ts';

/** Shells that completion can be made for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** `state` as a whole; its parts are in STATE_COMMANDS. */
export const STATE_COMMAND: CommandRow = {
  name: 'state',
  operands: STATE_COMMANDS.map(({ name }) => name).join('|'),
  summary: 'what is remembered, also while a process runs or after it died',
  options: [],
};

/** `completion`. */
export const COMPLETION_COMMAND: CommandRow = {
  name: 'completion',
  operands: SHELLS.join('|'),
  summary: 'a script that completes commands and flags in a shell',
  options: [],
};

/** `help`. */
export const HELP_COMMAND: CommandRow = {
  name: 'help',
  operands: '[COMMAND...]',
  summary: 'this list, or more about one command',
  options: [],
};

/** Every subcommand, in the order of help. */
export const COMMANDS: readonly CommandRow[] = [
  RUN_COMMAND,
  CONFIG_COMMAND,
  STATE_COMMAND,
  VERSION_COMMAND,
  COMPLETION_COMMAND,
  HELP_COMMAND,
];
