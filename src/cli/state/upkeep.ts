/** Looking after the state file: its size, its soundness, a copy as text, and forgetting it. */
import { bytesText } from '../../runtime/age.ts';
import type { View } from '../output.ts';
import { operandsUpTo, type Words } from '../words.ts';
import type { Show } from './lists.ts';
import { aboutSource, type StateSource } from './source.ts';

/** Sizes of the file, its tables and its resources. */
export const showStats: Show = (source, words) => {
  operandsUpTo(words, 0, 'state stats');
  const stats = source.inspector.stats();
  const total = bytesText(stats.databaseBytes);
  const free = bytesText(stats.freeBytes);
  const tables = stats.tables.map((row) => [row.table, row.rows, bytesText(row.bytes)]);
  const resources = stats.resources.map((row) => [
    row.resource,
    row.rows,
    bytesText(row.jsonBytes),
  ]);
  return {
    notes: [source.note, `${total}, of it ${free} free; log ${bytesText(stats.walBytes)}`, ''],
    parts: [
      { head: ['TABLE', 'ROWS', 'SIZE'], rows: tables, empty: 'No tables.' },
      '\n',
      { head: ['RESOURCE', 'OBJECTS', 'SIZE'], rows: resources, empty: 'No objects are cached.' },
    ],
    data: { ...aboutSource(source), ...stats },
  };
};

/** A view together with the verdict that makes the exit code. */
export interface CheckedView {
  readonly view: View;
  readonly sound: boolean;
}

/** Checks pages, indexes and rules; not sound if anything was found. */
export function showCheck(source: StateSource, words: Words): CheckedView {
  operandsUpTo(words, 0, 'state check');
  const report = source.inspector.check(source.now);
  const rows = [
    ...report.integrity.map((complaint) => ['the file is damaged', complaint]),
    ...report.findings.map(({ what, where }) => [what, where.join(', ')]),
  ];
  const sound = rows.length === 0;
  const head = ['FOUND', 'WHERE'];
  const empty = 'Nothing wrong: pages, indexes and rows are as they should be.';
  const view = {
    notes: [source.note, ''],
    parts: [{ head, rows, empty }],
    data: { ...aboutSource(source), sound, ...report },
  };
  return { view, sound };
}

/** Everything but the objects' JSON, for a report or for comparing two moments. */
export const showExport: Show = (source, words) => {
  operandsUpTo(words, 0, 'state export');
  const { inspector, now } = source;
  const all = Number.MAX_SAFE_INTEGER;
  const watches = inspector.watches(now);
  const data = {
    ...aboutSource(source),
    facts: inspector.facts(),
    watches,
    work: inspector.work(),
    expectations: inspector.expectations(),
    intents: inspector.intents(),
    ownWrites: inspector.ownWrites(),
    memory: inspector.memory(),
    journal: inspector.journal({ limit: all }),
    objects: watches.flatMap(({ resource }) => inspector.objects({ resource, limit: all })),
  };
  return { notes: [], parts: [], data };
};
