/** `holdfast state forget`: throwing a part of the memory away, also of a running process. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FORGET_ANSWER_WAIT_MS } from '../../runtime/limits.ts';
import {
  forgetStored,
  leaveForgetRequest,
  openInspector,
  type ProcessLock,
  resourceNamed,
  STATE_FILE,
  takeForgetAnswer,
  takeProcessLock,
  withdrawForgetRequest,
} from '../../store/index.ts';
import { type CliPorts, type OptionRow, UsageFault } from '../ports.ts';
import { operandsUpTo, type Words } from '../words.ts';
import { stateDirs } from './source.ts';

/** Options of `state forget`. */
export const FORGET_OPTIONS: readonly OptionRow[] = [
  { name: 'all', help: 'everything; with --yes' },
  { name: 'yes', help: 'really forget everything' },
  {
    name: 'force',
    help: 'forget even where no lock can tell whether a process uses the state',
  },
];

const ANSWER_LOOK_MS = 100;
const USAGE = 'state forget RESOURCE | --all --yes';

/** Forgets one resource or everything; gives what to say. Throws UsageFault. */
export async function forgetState(words: Words, ports: CliPorts): Promise<string> {
  const [word] = operandsUpTo(words, 1, USAGE);
  if (word === undefined && !words.has('all')) {
    throw new UsageFault(`forget what? valid are a resource, or --all; usage: ${USAGE}`);
  }
  if (word !== undefined && words.has('all')) {
    throw new UsageFault(`${JSON.stringify(word)} and --all: say one of them; usage: ${USAGE}`);
  }
  const { dir } = stateDirs(words, ports);
  if (filesIn(dir).length === 0) return `There is no state in ${dir}.\n`;
  const resource = word === undefined ? '' : resourceIn(dir, word);
  if (resource === '' && !words.has('yes')) {
    throw new UsageFault(`nothing was forgotten; --all --yes forgets everything in ${dir}`);
  }
  const lock = takeProcessLock(dir, `holdfast state forget (pid ${ports.pid})`);
  if (!lock.held && lock.reason === 'locked') return await askProcess(dir, resource, lock, ports);
  if (!lock.held && !words.has('force')) {
    const why = `no lock can be had in ${dir} (${lock.detail})`;
    throw new UsageFault(`${why}; --force forgets anyway`);
  }
  try {
    return resource === '' ? deleteFiles(dir) : forgetRows(dir, resource);
  } finally {
    if (lock.held) lock.release();
  }
}

function filesIn(dir: string): string[] {
  const names = existsSync(dir) ? readdirSync(dir) : [];
  return names.filter((name) => name.startsWith(STATE_FILE));
}

function resourceIn(dir: string, word: string): string {
  const inspector = openInspector(dir);
  try {
    const named = resourceNamed(inspector, word);
    if ('problem' in named) throw new UsageFault(named.problem);
    return named.resource;
  } finally {
    inspector.close();
  }
}

function deleteFiles(dir: string): string {
  const found = filesIn(dir);
  for (const name of found) rmSync(join(dir, name));
  return `Deleted ${found.join(', ')} in ${dir}. The next start reads everything anew.\n`;
}

function forgetRows(dir: string, resource: string): string {
  const objects = forgetStored(dir, resource);
  return `Forgot ${resource} (${objects} objects). The next start lists it anew.\n`;
}

/** Only the process may write its file, so it is asked to; it looks every second. */
async function askProcess(
  dir: string,
  resource: string,
  { holder }: Extract<ProcessLock, { held: false }>,
  { clock, pid }: CliPorts,
): Promise<string> {
  const who = holder || 'a process that left no name';
  const until = clock.now() + FORGET_ANSWER_WAIT_MS;
  const id = `${pid}-${clock.now()}`;
  if (!leaveForgetRequest(dir, { id, resource })) {
    throw new UsageFault(
      `another request to forget waits in ${dir}; try again when it is answered`,
    );
  }
  for (;;) {
    const answer = takeForgetAnswer(dir, id);
    if (answer !== undefined) {
      if (answer.problem !== '') throw new UsageFault(`${who} says: ${answer.problem}`);
      const what = resource === '' ? 'everything' : resource;
      const listed = answer.listed
        ? 'It is listed anew.'
        : 'It is listed anew as soon as the API server answers.';
      return `${who} forgot ${what} while running. ${listed}\n`;
    }
    if (clock.now() >= until) {
      withdrawForgetRequest(dir, id);
      throw new UsageFault(`${who} uses ${dir} and does not answer; is it of this version?`);
    }
    await clock.sleep(ANSWER_LOOK_MS);
  }
}
