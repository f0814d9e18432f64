/** Looking after the state file: its size, its soundness, a copy as text, and forgetting it. */
import { bytesText, momentText } from '../../runtime/age.ts';
import type { NotedWrites } from '../../store/index.ts';
import { VERSION } from '../../version.ts';
import type { View } from '../output.ts';
import { operandsUpTo, type Words } from '../words.ts';
import type { Show } from './lists.ts';
import { scrubbed } from './scrub.ts';
import { aboutSource, type StateSource } from './source.ts';

const HOUR_MS = 3_600_000;

/** Sizes of the file, its tables and its resources, and what its last writer counted. */
export const showStats: Show = (source, words) => {
  operandsUpTo(words, 0, 'state stats');
  const { inspector } = source;
  const stats = inspector.stats();
  const writes = writesOf(inspector.notedWrites());
  const total = bytesText(stats.databaseBytes);
  const free = bytesText(stats.freeBytes);
  const tables = stats.tables.map((row) => [
    row.table,
    row.rows,
    bytesText(row.bytes),
    writes === undefined ? '' : perHour(writes.rowsPerHour[row.table] ?? 0),
  ]);
  const resources = stats.resources.map((row) => [
    row.resource,
    row.rows,
    bytesText(row.jsonBytes),
  ]);
  const sizes = `${total}, of it ${free} free; log ${bytesText(stats.walBytes)}`;
  return {
    notes: [source.note, sizes, writesText(writes), ''],
    parts: [
      { head: ['TABLE', 'ROWS', 'SIZE', 'WRITES/H'], rows: tables, empty: 'No tables.' },
      '\n',
      { head: ['RESOURCE', 'OBJECTS', 'SIZE'], rows: resources, empty: 'No objects are cached.' },
    ],
    data: { ...aboutSource(source), ...stats, writes },
  };
};

/** Rows put or deleted in an hour by table, as the process counted them while it ran. */
interface Writes {
  readonly since: string;
  readonly until: string;
  readonly bytesPerHour: number;
  readonly commitsPerHour: number;
  readonly rowsPerHour: Readonly<Record<string, number>>;
}

/** Undefined where no process has noted any, or over too short a time to tell. */
function writesOf(noted: NotedWrites | undefined): Writes | undefined {
  if (noted === undefined || noted.until <= noted.since) return undefined;
  const hours = (noted.until - noted.since) / HOUR_MS;
  const rows = Object.entries(noted.rows).map(([table, count]) => [table, count / hours] as const);
  return {
    since: momentText(noted.since),
    until: momentText(noted.until),
    bytesPerHour: noted.bytes / hours,
    commitsPerHour: noted.commits / hours,
    rowsPerHour: Object.fromEntries(rows),
  };
}

function perHour(rate: number): string {
  return rate >= 10 || rate === 0 ? String(Math.round(rate)) : rate.toFixed(1);
}

function writesText(writes: Writes | undefined): string {
  if (writes === undefined) {
    return 'writes per hour: not noted yet (the first time 10 minutes after a start, or at its end)';
  }
  const { since, until, bytesPerHour, commitsPerHour } = writes;
  const rate = `${bytesText(Math.round(bytesPerHour))} and ${perHour(commitsPerHour)} commits`;
  return `written per hour: ${rate}, as counted by a process from ${since} to ${until}`;
}

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

/**
 * A bundle for support, or for comparing two moments: everything but the objects' JSON, and what
 * looks like a secret in texts is taken out.
 */
export const showExport: Show = (source, words) => {
  operandsUpTo(words, 0, 'state export');
  const { inspector, now } = source;
  const all = Number.MAX_SAFE_INTEGER;
  const watches = inspector.watches(now);
  const data = {
    ...aboutSource(source),
    version: VERSION,
    stats: inspector.stats(),
    check: inspector.check(now),
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
  return { notes: [], parts: [], data: scrubbed(data) };
};
