/** Figures of a benchmark and how they are shown: one table, reference beside Holdfast. */
import Table from 'cli-table3';

export type Subject = 'reference' | 'holdfast';

export type Unit = 's' | 'MiB' | 'MB' | 'kB' | 'CPU s';

/** What Holdfast is meant to stay within. */
export interface Goal {
  /** At most so much of what the reference needs. */
  readonly ratioMax?: number;
  /** At most so much, in the figure's unit. */
  readonly max?: number;
}

/** One measured value; lower is better for all of them. */
export interface Figure {
  /** What was measured, e.g. "rollout of 1000 pods: wall time". */
  readonly what: string;
  readonly unit: Unit;
  readonly value: number;
  readonly goal?: Goal;
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

/** Bytes as kB, for what one object costs. */
export function kilobytes(what: string, bytes: number): Figure {
  return { what, unit: 'kB', value: bytes / 1e3 };
}

/** The same figure with a goal. */
export function within(goal: Goal, figure: Figure): Figure {
  return { ...figure, goal };
}

/** Three digits of a value, whole numbers from a hundred on. */
export function shown(value: number | undefined): string {
  if (value === undefined) return '';
  if (value === 0) return '0';
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** "0.25": what Holdfast needs where the reference needs one. */
function ratio(reference: number | undefined, holdfast: number | undefined): string {
  if (reference === undefined || holdfast === undefined || reference === 0) return '';
  return (holdfast / reference).toFixed(2);
}

/** "≤ 0.5 met": the goal, and whether this run has reached it. */
function verdict(goal: Goal, reference: number | undefined, holdfast: number | undefined): string {
  const { ratioMax, max } = goal;
  const limits: string[] = [];
  if (ratioMax !== undefined) limits.push(`ratio ≤ ${Number(ratioMax.toPrecision(2))}`);
  if (max !== undefined) limits.push(`≤ ${max}`);
  const text = limits.join(', ');
  if (holdfast === undefined || (ratioMax !== undefined && reference === undefined)) return text;
  // A reference of 0 leaves no room for a ratio, and none is asked for without one.
  const most = ratioMax === undefined ? Infinity : ratioMax * (reference ?? 1);
  const isMet = holdfast <= (max ?? holdfast) && holdfast <= most;
  return `${text}: ${isMet ? 'met' : 'missed'}`;
}

/** The table of several reports; rows in the order of the first report that has them. */
export function tableOf(reports: readonly Report[]): string {
  const found = (subject: Subject, what: string) =>
    reports
      .find((report) => report.subject === subject)
      ?.figures.find((figure) => figure.what === what)?.value;
  const rows = new Map<string, Figure>();
  for (const { figures } of reports) for (const figure of figures) rows.set(figure.what, figure);
  const table = new Table({
    head: ['', 'unit', 'reference', 'holdfast', 'ratio', 'goal'],
    colAligns: ['left', 'left', 'right', 'right', 'right', 'left'],
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
    style: { head: [], border: [] },
  });
  for (const [what, { unit, goal }] of rows) {
    const reference = found('reference', what);
    const holdfast = found('holdfast', what);
    const judged = goal === undefined ? '' : verdict(goal, reference, holdfast);
    const both = [shown(reference), shown(holdfast), ratio(reference, holdfast)];
    table.push([what, unit, ...both, judged]);
  }
  return table.toString();
}
