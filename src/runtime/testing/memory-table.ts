/** A RowTable without a disk, for tests and simulations. */
import type { RowTable } from '../ports.ts';

/** A RowTable that can be asked how much was written. */
export interface MemoryTable<Row> extends RowTable<Row> {
  /** Puts and deletes so far. */
  writes(): number;
}

/** An empty table whose rows are told apart by `keyOf`. */
export function memoryTable<Row>(keyOf: (row: Row) => string): MemoryTable<Row> {
  const rows = new Map<string, Row>();
  let writes = 0;
  return {
    put: (row) => {
      writes++;
      rows.set(keyOf(row), row);
    },
    delete: (row) => {
      writes++;
      rows.delete(keyOf(row));
    },
    all: () => [...rows.values()],
    clear: () => rows.clear(),
    writes: () => writes,
  };
}
