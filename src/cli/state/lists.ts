/** Views of the state file's tables: queues, expectations, intents, watches, memory, journal. */
import { ageText, dueText, durationText, momentText, parseAge } from '../../runtime/age.ts';
import type { TableView, View } from '../output.ts';
import { type OptionRow, UsageFault } from '../ports.ts';
import { operandsUpTo, type Words, wholeNumber } from '../words.ts';
import { aboutSource, type StateSource } from './source.ts';

/** Makes a view out of an open state file and the words of the command. */
export type Show = (source: StateSource, words: Words) => View;

/** Narrows a list to one controller. */
export const CONTROLLER_OPTION: OptionRow = {
  name: 'controller',
  value: 'NAME',
  help: 'only rows of this controller',
};

/** Bounds a list. */
export const LIMIT_OPTION: OptionRow = { name: 'limit', value: 'N', help: 'at most N rows' };

/** A view of one table. */
export function listView(source: StateSource, table: TableView, items: unknown): View {
  return {
    notes: [source.note, ''],
    parts: [table],
    data: { ...aboutSource(source), items },
  };
}

function controllerOf(words: Words): { controller?: string } {
  const controller = words.value('controller');
  return controller === undefined ? {} : { controller };
}

function keysOfQueue(source: StateSource, words: Words, queue: string | undefined): View {
  const failing = words.has('failing');
  const { inspector, now } = source;
  const items = inspector.work({ ...(queue === undefined ? {} : { queue }), failing });
  const rows = items.map((row) => [
    row.queue,
    row.key,
    row.dirty ? 'yes' : '',
    row.failures,
    dueText(row.dueAt, now),
    ageText(row.updatedAt, now),
    row.lastError || row.because,
  ]);
  const head = ['QUEUE', 'KEY', 'DIRTY', 'FAILURES', 'DUE', 'CHANGED', 'BECAUSE'];
  return listView(source, { head, rows, empty: 'No keys.' }, items);
}

/** Queues in short, or the keys of one queue, or all failing keys. */
export const showQueues: Show = (source, words) => {
  const [queue] = operandsUpTo(words, 1, 'state queues [QUEUE]');
  if (queue !== undefined || words.has('failing')) return keysOfQueue(source, words, queue);
  const { inspector, now } = source;
  const items = inspector.queues(now);
  const rows = items.map((row) => [
    row.queue,
    row.keys,
    row.dirty,
    row.failing,
    row.failuresHighest,
    row.nextDueAt === undefined ? '' : dueText(row.nextDueAt, now),
  ]);
  const head = ['QUEUE', 'KEYS', 'DIRTY', 'FAILING', 'FAILURES', 'NEXT'];
  return listView(source, { head, rows, empty: 'No keys in any queue.' }, items);
};

/** What controllers wait to see before they sync an owner again. */
export const showExpectations: Show = (source, words) => {
  operandsUpTo(words, 0, 'state expectations');
  const items = source.inspector.expectations(controllerOf(words));
  const rows = items.map((row) => [
    row.controller,
    row.key,
    row.adds,
    row.deletes,
    row.deleteKeys.join(', '),
    ageText(row.setAt, source.now),
    row.term,
  ]);
  const head = ['CONTROLLER', 'KEY', 'ADDS', 'DELETES', 'AWAITED', 'SET', 'TERM'];
  return listView(source, { head, rows, empty: 'Nothing is awaited.' }, items);
};

/** Creates and deletes that were announced and whose outcome isn't known yet. */
export const showIntents: Show = (source, words) => {
  operandsUpTo(words, 0, 'state intents');
  const items = source.inspector.intents(controllerOf(words));
  const rows = items.map((row) => [
    row.controller,
    row.verb,
    row.resource,
    row.namespace,
    row.name,
    row.slot,
    row.sentAt === 0 ? 'not sent' : ageText(row.sentAt, source.now),
    row.term,
  ]);
  const head = ['CONTROLLER', 'VERB', 'RESOURCE', 'NAMESPACE', 'NAME', 'SLOT', 'SENT', 'TERM'];
  return listView(source, { head, rows, empty: 'No open intents.' }, items);
};

/** How the last process came by a cache. */
const HOW: Readonly<Record<string, string>> = {
  resumed: 'resumed',
  listed: 'listed',
  delta: 'compared',
  none: 'not yet',
};

/** Cached resources, where their watches go on, and how they were begun. */
export const showWatches: Show = (source, words) => {
  operandsUpTo(words, 0, 'state watches');
  const items = source.inspector.watches(source.now);
  const rows = items.map((row) => [
    row.resource,
    row.resourceVersion || 'to be listed',
    row.rows,
    row.ageMs === undefined ? '' : durationText(row.ageMs),
    HOW[row.how] ?? '',
  ]);
  const head = ['RESOURCE', 'VERSION', 'OBJECTS', 'SEEN', 'HOW'];
  return listView(source, { head, rows, empty: 'Nothing is watched.' }, items);
};

/** What controllers remember across restarts. */
export const showMemory: Show = (source, words) => {
  operandsUpTo(words, 0, 'state memory');
  const { inspector, now } = source;
  const items = inspector.memory(controllerOf(words));
  const rows = items.map((row) => [
    row.controller,
    row.key,
    row.value,
    row.expiresAt === 0 ? '' : dueText(row.expiresAt, now),
    ageText(row.updatedAt, now),
    row.term,
  ]);
  const head = ['CONTROLLER', 'KEY', 'VALUE', 'EXPIRES', 'CHANGED', 'TERM'];
  return listView(source, { head, rows, empty: 'Nothing is remembered.' }, items);
};

/** Options of `state journal`. */
export const JOURNAL_OPTIONS: readonly OptionRow[] = [
  CONTROLLER_OPTION,
  { name: 'key', value: 'KEY', help: 'only reconciles of this key, e.g. default/web' },
  { name: 'since', value: 'AGE', help: 'only the last AGE: 90s, 10m, 2h, 1d' },
  { name: 'failed', help: 'only reconciles that did not end well' },
  LIMIT_OPTION,
];

function sinceOf(words: Words, now: number): { since?: number } {
  const text = words.value('since');
  if (text === undefined) return {};
  const age = parseAge(text);
  if (age !== undefined) return { since: now - age };
  throw new UsageFault(`--since is ${JSON.stringify(text)}; valid are ages like 90s, 10m, 2h, 1d`);
}

/** The last reconciles, newest first, with the writes they made. */
export const showJournal: Show = (source, words) => {
  operandsUpTo(words, 0, 'state journal');
  const key = words.value('key');
  const limit = wholeNumber(words, 'limit');
  const items = source.inspector.journal({
    ...controllerOf(words),
    ...sinceOf(words, source.now),
    ...(key === undefined ? {} : { key }),
    ...(limit === undefined ? {} : { limit }),
    failed: words.has('failed'),
  });
  const rows = items.map((row) => [
    momentText(row.startedAt),
    row.controller,
    row.key,
    row.outcome,
    `${Math.round(row.durationMs)} ms`,
    row.writes.length,
    row.error || row.because,
  ]);
  const head = ['STARTED', 'CONTROLLER', 'KEY', 'OUTCOME', 'TOOK', 'WRITES', 'BECAUSE'];
  return listView(source, { head, rows, empty: 'No reconcile is noted.' }, items);
};
