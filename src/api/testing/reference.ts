/** Reads what the reference answered: files of one JSON value a line, made by `test/rig/gen`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the answers came from: versions, and how they were made. */
export interface Source {
  readonly cron: string;
  readonly go: string;
  readonly kubernetes: string;
  /** The zone of the process that answered. */
  readonly local: string;
}

/** The answers in a file of `src/api/testdata`. */
export function readReference<Row>(name: string): { from: Source; rows: readonly Row[] } {
  const text = readFileSync(join(import.meta.dir, '..', 'testdata', name), 'utf8');
  const [first = '', ...lines] = text.trimEnd().split('\n');
  return { from: JSON.parse(first) as Source, rows: lines.map((line) => JSON.parse(line) as Row) };
}
