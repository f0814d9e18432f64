/** Shows the same data as a table for people, or as JSON or YAML for programs. */
import Table from 'cli-table3';
import { stringify } from 'yaml';
import { parseJson, stringifyJson } from '../api/json.ts';
import type { OptionRow } from './ports.ts';

/** Forms of output. */
export type Format = 'table' | 'json' | 'yaml';

const FORMATS: readonly Format[] = ['table', 'json', 'yaml'];

/** The option that every showing command has. */
export const OUTPUT_OPTION: OptionRow = {
  name: 'output',
  short: 'o',
  value: 'FORMAT',
  help: 'table (default), json or yaml',
  choices: FORMATS,
};

/** Something to show. */
export interface View {
  /** Lines above the table. */
  readonly notes: readonly string[];
  /** What people see: tables, or lines as they are. */
  readonly parts: readonly (TableView | string)[];
  /** What programs get. */
  readonly data: unknown;
}

/** One table. */
export interface TableView {
  readonly head: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
  /** Said instead of a table without rows. */
  readonly empty: string;
}

const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};
const JSON_INDENT = 2;
const NO_STYLE = { head: [], border: [], 'padding-left': 0, 'padding-right': 0 };

function oneLine(cell: string | number): string {
  return String(cell).replace(/\s*\n\s*/g, ' ');
}

/** The table as text with a line break at the end; the words for "nothing" if it has no rows. */
export function tableText({ head, rows, empty }: TableView): string {
  if (rows.length === 0) return `${empty}\n`;
  const table = new Table({ head: [...head], chars: NO_LINES, style: NO_STYLE });
  table.push(...rows.map((row) => row.map(oneLine)));
  const lines = table.toString().split('\n');
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** The view in one of the forms. */
export function render(view: View, format: Format): string {
  const json = stringifyJson(view.data, JSON_INDENT);
  if (format === 'json') return `${json}\n`;
  // Through JSON, so that both forms leave out the same undefined members.
  if (format === 'yaml') return stringify(parseJson(json), { lineWidth: 0 });
  const parts = view.parts.map((part) => (typeof part === 'string' ? part : tableText(part)));
  return [...view.notes.map((note) => `${note}\n`), ...parts].join('');
}
