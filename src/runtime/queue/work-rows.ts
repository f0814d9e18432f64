/** Keeps the work of one queue in the store: what is dirty, what fails and when it is due again. */
import type { Clock } from '../clock.ts';
import type { RowTable, WorkRow } from '../ports.ts';
import { isOwnTerm, type OwnTerms } from '../term.ts';
import type { WorkLog, WorkState } from './types.ts';

export interface WorkRowsOptions extends OwnTerms {
  readonly queue: string;
  readonly table: RowTable<WorkRow>;
  readonly clock: Pick<Clock, 'now'>;
}

export interface StoredWork {
  readonly log: WorkLog;
  /** Rows of this queue that may be trusted, for `restore`; those of other terms are deleted. */
  load(): WorkRow[];
}

/** True if a restart without this row would do worse than look the key over like all others. */
function worthARow(state: WorkState): boolean {
  return state.failures > 0 || (state.dirty && state.changed);
}

/**
 * The work rows of a queue. A key that waits for its time without failing, or is dirty without
 * anything having changed, has no row: every key is looked over after a start, and an idle process
 * must not write to the disk because time passes.
 */
export function storedWork(options: WorkRowsOptions): StoredWork {
  const { queue, table, clock, term } = options;
  const stored = new Map<string, WorkRow>();
  const drop = (key: string): void => {
    const row = stored.get(key);
    if (row === undefined) return;
    stored.delete(key);
    table.delete(row);
  };
  const put = (state: WorkState): void => {
    if (!worthARow(state)) {
      drop(state.key);
      return;
    }
    const row: WorkRow = {
      queue,
      key: state.key,
      failures: state.failures,
      dueAt: state.dueAt,
      dirty: state.dirty,
      lastError: state.error,
      because: state.because,
      term,
      updatedAt: clock.now(),
    };
    stored.set(state.key, row);
    table.put(row);
  };
  const load = (): WorkRow[] => {
    const rows: WorkRow[] = [];
    for (const row of table.all()) {
      if (row.queue !== queue) continue;
      if (isOwnTerm(row.term, options)) {
        stored.set(row.key, row);
        rows.push(row);
      } else table.delete(row);
    }
    return rows;
  };
  return { log: { put, drop }, load };
}
