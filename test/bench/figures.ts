/** Figures of a benchmark and how they are shown: one table, reference beside Holdfast. */
import Table from 'cli-table3';

export type Subject = 'reference' | 'holdfast';

export type Unit = 's' | 'MiB' | 'MB' | 'CPU s';

/** One measured value; lower is better for all of them. */
export interface Figure {
  /** What was measured, e.g. "rollout of 1000 pods: wall time". */
  readonly what: string;
  readonly unit: Unit;
  readonly value: number;
}

/** All figures of one subject. */
export interface Report {
  readonly subject: Subject;
  readonly figures: readonly Figure[];
}

const MIB = 1024 * 1024;

/** Bytes as MiB, for memory. */
export function mebibytes(what: string, bytes: number): Figure {
  return { what, unit: 'MiB', value: bytes / MIB };
}

/** Bytes as MB, for traffic and disk. */
export function megabytes(what: string, bytes: number): Figure {
  return { what, unit: 'MB', value: bytes / 1e6 };
}

/** Milliseconds as seconds. */
export function seconds(what: string, ms: number): Figure {
  return { what, unit: 's', value: ms / 1000 };
}

export function cpuSeconds(what: string, value: number): Figure {
  return { what, unit: 'CPU s', value };
}

function shown(value: number | undefined): string {
  if (value === undefined) return '';
  if (value === 0) return '0';
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** "0.25": what Holdfast needs where the reference needs one. */
function ratio(reference: number | undefined, holdfast: number | undefined): string {
  if (reference === undefined || holdfast === undefined || reference === 0) return '';
  return (holdfast / reference).toFixed(2);
}

/** The table of several reports; rows in the order of the first report that has them. */
export function tableOf(reports: readonly Report[]): string {
  const found = (subject: Subject, what: string) =>
    reports
      .find((report) => report.subject === subject)
      ?.figures.find((figure) => figure.what === what)?.value;
  const rows = new Map<string, Unit>();
  for (const { figures } of reports) for (const { what, unit } of figures) rows.set(what, unit);
  const table = new Table({
    head: ['', 'unit', 'reference', 'holdfast', 'ratio'],
    colAligns: ['left', 'left', 'right', 'right', 'right'],
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
    style: { head: [], border: [] },
  });
  for (const [what, unit] of rows) {
    const reference = found('reference', what);
    const holdfast = found('holdfast', what);
    table.push([what, unit, shown(reference), shown(holdfast), ratio(reference, holdfast)]);
  }
  return table.toString();
}
