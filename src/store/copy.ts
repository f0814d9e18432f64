/** Copying what one database holds into another, and saving what a failing one still gives. */
import { SCAN_PAGE_ROWS } from '../runtime/limits.ts';
import { Batch, type SmallTable, type TableLayer } from './batch.ts';
import { describeError } from './connection.ts';
import type { Disk } from './disk.ts';

/** Facts of the file itself, which another file has of its own. */
const OWN_FACTS = 'store.';
const NEVER_HELD = (): boolean => false;

/** Copies everything; resume points come in the last transaction. Throws as `Disk.write` does. */
export function copyAll(from: Disk, to: Disk): void {
  const { objects, points, journal } = from.read;
  for (const resource of objects.resources()) {
    let after = '';
    for (;;) {
      const page = objects.page(resource, after, SCAN_PAGE_ROWS);
      const last = page.at(-1);
      if (last === undefined) break;
      const batch = new Batch();
      for (const row of page) batch.layer(resource).set(row.key, row);
      to.write(batch, NEVER_HELD);
      after = last.key;
    }
  }
  const batch = new Batch();
  for (const point of points.all()) batch.layer(point.resource).point = point;
  for (const table of Object.keys(batch.tables) as SmallTable[]) copyTable(from, batch, table);
  batch.journal = journal.all();
  to.write(batch, NEVER_HELD);
}

/**
 * Copies the small tables and the journal as far as they can be read; objects are left behind.
 * Gives one complaint for each table that is lost.
 */
export function salvage(from: Disk, to: Disk): string[] {
  const lost: string[] = [];
  const batch = new Batch();
  const attempt = (name: string, copy: () => void): void => {
    try {
      copy();
    } catch (error) {
      lost.push(`${name}: ${describeError(error)}`);
    }
  };
  for (const table of Object.keys(batch.tables) as SmallTable[]) {
    attempt(table, () => copyTable(from, batch, table));
  }
  attempt('journal', () => {
    batch.journal = from.read.journal.all();
  });
  to.write(batch, NEVER_HELD);
  return lost;
}

function copyTable<T extends SmallTable>(from: Disk, batch: Batch, table: T): void {
  const statements = from.read.small[table];
  const layer: TableLayer<Parameters<typeof statements.put>[0]> = batch.tables[table];
  statements.all().forEach((row, index) => {
    if (table === 'facts' && 'name' in row && row.name.startsWith(OWN_FACTS)) return;
    layer.rows.set(String(index), { row, deleted: false });
  });
}
