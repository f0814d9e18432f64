/** @jsxImportSource hono/jsx */
/** What all pages share: the frame, tables, ages, links to objects. */
import type { Child } from 'hono/jsx';
import { durationText, momentText } from '../../runtime/age.ts';
import type { ObjectLink } from '../../runtime/overview.ts';
import { STYLE } from './style.ts';

/** A stem that holds on to a rock. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
  "%3Cpath d='M8 1v9M4 3v3q0 3 4 4 4-1 4-4V3M3 14q2-4 5-4t5 4' fill='none' stroke='%231a6e44' " +
  "stroke-width='1.8' stroke-linecap='round'/%3E%3C/svg%3E";

interface FrameProps {
  readonly title: string;
  /** Seconds after which the page reads itself again; absent: never. */
  readonly refresh?: number;
  readonly children?: Child;
}

/** A whole page, with its doctype. */
export function pageText(props: FrameProps): string {
  return `<!doctype html>${(<Frame {...props} />).toString()}`;
}

function Frame({ title, refresh, children }: FrameProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {refresh === undefined ? null : <meta http-equiv="refresh" content={String(refresh)} />}
        <title>{title}</title>
        <link rel="icon" href={ICON} />
        {/* The sheet is a constant of ours, and the policy allows it by its hash. */}
        <style dangerouslySetInnerHTML={{ __html: STYLE }} />
      </head>
      <body>{children}</body>
    </html>
  );
}

/** One column of a table. */
export interface Column {
  readonly title: string;
  readonly kind?: 'num' | 'wide' | 'tight';
}

/** One cell: what it shows, and whether a narrow page may leave it out. */
export type Cell = Child | { readonly show: Child; readonly quiet: boolean };

function isDetailed(cell: Cell): cell is { readonly show: Child; readonly quiet: boolean } {
  return typeof cell === 'object' && cell !== null && 'quiet' in cell;
}

interface TableProps {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  readonly bad?: boolean;
}

/** A table that a narrow page shows as a list, each value with its column's title. */
export function Table({ columns, rows, bad = false }: TableProps) {
  return (
    <div class={bad ? 'card bad' : 'card'}>
      <table>
        <thead>
          <tr>
            {columns.map(({ title, kind }) => (
              <th scope="col" class={kind === 'num' ? 'num' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr>
              {cells.map((cell, at) => (
                <Data column={columns[at]} cell={cell} first={at === 0} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Data({ column, cell, first }: { column?: Column; cell: Cell; first: boolean }) {
  const detailed = isDetailed(cell);
  const quiet = detailed && cell.quiet ? 'quiet' : '';
  const classes = [column?.kind ?? '', quiet].filter((name) => name !== '').join(' ');
  const label = first || column?.kind === 'wide' ? undefined : column?.title;
  return (
    <td class={classes || undefined} data-label={label}>
      {detailed ? cell.show : cell}
    </td>
  );
}

/** A number; nothing to see is pale, and a narrow page leaves it out. */
export function countCell(count: number, kind: '' | 'bad' | 'warn' = ''): Cell {
  if (count === 0) return { show: <span class="zero">0</span>, quiet: true };
  const text = count.toLocaleString('en');
  return kind === '' ? text : <span class={kind}>{text}</span>;
}

/** How long ago, with the moment to hover over; a dash for never. */
export function Ago({ at, now }: { at: number; now: number }) {
  if (at === 0) return <span class="zero">–</span>;
  return (
    <time datetime={momentText(at)} title={momentText(at)}>
      {durationText(now - at)} ago
    </time>
  );
}

/** The path of the page that tells about an object. */
export function explainPath({ resource, key }: ObjectLink): string {
  const parts = [resource, ...key.split('/')].map(encodeURIComponent);
  return `/debug/holdfast/explain/${parts.join('/')}`;
}

/** A key, linked to what is told about its object. */
export function Key({ text, object }: { text: string; object: ObjectLink | undefined }) {
  const shown = <span class="mono">{text}</span>;
  return object === undefined ? shown : <a href={explainPath(object)}>{shown}</a>;
}

/** A heading with a number behind it. */
export function Heading({ title, count }: { title: string; count?: string }) {
  return (
    <h2>
      {title}
      {count === undefined ? null : <span class="count">{count}</span>}
    </h2>
  );
}
