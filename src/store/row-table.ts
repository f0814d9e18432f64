/** The small tables: the batch first, then the disk. */
import type { FactTable, RowTable } from '../runtime/ports.ts';
import type { SmallTable, SmallTables, TableLayer } from './batch.ts';
import { compareKeys, mergeByKey } from './merge.ts';
import type { StoreAccess } from './object-rows.ts';
import { assertComplete, KEY_COLUMNS, type RowStatements, type Statements } from './statements.ts';

/** Between the parts of a key; sorts before any sign that a part may contain. */
const SEPARATOR = '\u0000';

/** One small table of the store. */
export class StoredTable<T extends SmallTable> implements RowTable<SmallTables[T]> {
  readonly #access: StoreAccess;
  readonly #table: T;
  /** Keys of the rows on the disk; read when first needed. */
  #stored: Set<string> | undefined;

  constructor(access: StoreAccess, table: T) {
    this.#access = access;
    this.#table = table;
  }

  #layer(): TableLayer<SmallTables[T]> {
    return this.#access.batch().tables[this.#table];
  }

  #onDisk<R>(read: (statements: RowStatements<SmallTables[T]>) => R): R {
    return this.#access.readDisk((disk: Statements) => read(disk.small[this.#table]));
  }

  #keyOf(row: SmallTables[T]): string {
    const fields = row as unknown as Readonly<Record<string, string>>;
    return KEY_COLUMNS[this.#table].map((name) => fields[name]).join(SEPARATOR);
  }

  put(row: SmallTables[T]): void {
    assertComplete(this.#table, row);
    this.#layer().rows.set(this.#keyOf(row), { row, deleted: false });
    this.#access.changed();
  }

  /** Deletes the row with the same key; only the key fields of `row` matter. */
  delete(row: SmallTables[T]): void {
    const layer = this.#layer();
    const key = this.#keyOf(row);
    const onDisk = !layer.cleared && this.#keysOnDisk().has(key);
    if (onDisk) layer.rows.set(key, { row, deleted: true });
    else layer.rows.delete(key);
    this.#access.changed();
  }

  /** The layer is on the disk now; call before it is replaced by an empty one. */
  committed(): void {
    if (this.#stored === undefined) return;
    const { cleared, rows } = this.#layer();
    if (cleared) this.#stored.clear();
    for (const [key, { deleted }] of rows) {
      if (deleted) this.#stored.delete(key);
      else this.#stored.add(key);
    }
  }

  /** Another file is used from now on. */
  diskReplaced(): void {
    this.#stored = undefined;
  }

  #keysOnDisk(): Set<string> {
    this.#stored ??= new Set(this.#onDisk((disk) => disk.all()).map((row) => this.#keyOf(row)));
    return this.#stored;
  }

  /** The row with the same key as `row`. */
  find(row: SmallTables[T]): SmallTables[T] | undefined {
    const layer = this.#layer();
    const pending = layer.rows.get(this.#keyOf(row));
    if (pending !== undefined) return pending.deleted ? undefined : pending.row;
    return layer.cleared ? undefined : this.#onDisk((disk) => disk.find(row));
  }

  /** All rows in the order of their keys. */
  all(): SmallTables[T][] {
    const layer = this.#layer();
    const keyed = (row: SmallTables[T]) => ({ key: this.#keyOf(row), row });
    const stored = layer.cleared ? [] : this.#onDisk((disk) => disk.all()).map(keyed);
    const pending = [...layer.rows]
      .map(([key, { row, deleted }]) => [key, deleted ? undefined : { key, row }] as const)
      .sort(([a], [b]) => compareKeys(a, b));
    return [...mergeByKey(stored, pending)].map(({ row }) => row);
  }

  clear(): void {
    this.#layer().clear();
    this.#access.changed();
  }
}

/** Facts by name over their table. */
export class StoredFacts implements FactTable {
  readonly #table: StoredTable<'facts'>;
  /** What was read or set since the file was opened: some facts are compared before each commit. */
  readonly #values = new Map<string, string | undefined>();

  constructor(access: StoreAccess) {
    this.#table = new StoredTable(access, 'facts');
  }

  get(name: string): string | undefined {
    if (this.#values.has(name)) return this.#values.get(name);
    const value = this.#table.find({ name, value: '' })?.value;
    this.#values.set(name, value);
    return value;
  }

  set(name: string, value: string): void {
    if (this.get(name) === value) return;
    this.#table.put({ name, value });
    this.#values.set(name, value);
  }

  delete(name: string): void {
    this.#table.delete({ name, value: '' });
    this.#values.set(name, undefined);
  }

  /** As StoredTable's. */
  committed(): void {
    this.#table.committed();
  }

  /** As StoredTable's. */
  diskReplaced(): void {
    this.#values.clear();
    this.#table.diskReplaced();
  }
}
