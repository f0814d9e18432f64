/** The prepared statements of one connection, built from the schema by drizzle. */
import type { Database, SQLQueryBindings } from 'bun:sqlite';
import {
  and,
  asc,
  eq,
  getTableColumns,
  gt,
  is,
  lt,
  lte,
  Param,
  Placeholder,
  type Query,
  sql,
} from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/bun-sqlite';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { JournalRow, ObjectHead, ObjectRow, ResumePoint } from '../runtime/ports.ts';
import type { SmallTable, SmallTables } from './batch.ts';
import * as schema from './schema.ts';

/** A connection as drizzle sees it. */
export function asDrizzle(client: Database) {
  return drizzle(client);
}

export type Drizzle = ReturnType<typeof asDrizzle>;

/** Columns that make the key of each small table; names as in its rows. */
export const KEY_COLUMNS = {
  intents: ['id'],
  expectations: ['controller', 'key'],
  ownWrites: ['controller', 'ownerKey', 'resource'],
  work: ['queue', 'key'],
  memory: ['controller', 'key'],
  facts: ['name'],
} as const satisfies { [T in SmallTable]: readonly (keyof SmallTables[T])[] };

const TABLES = {
  intents: schema.intents,
  expectations: schema.expectations,
  ownWrites: schema.ownWrites,
  work: schema.work,
  memory: schema.memory,
  facts: schema.facts,
} as const satisfies { [T in SmallTable]: SQLiteTable };

const { id: _, ...journalColumns } = getTableColumns(schema.journal);
const FIELDS: Readonly<Record<SmallTable | 'objects' | 'journal', readonly string[]>> = {
  objects: Object.keys(getTableColumns(schema.objects)),
  journal: Object.keys(journalColumns),
  intents: Object.keys(getTableColumns(TABLES.intents)),
  expectations: Object.keys(getTableColumns(TABLES.expectations)),
  ownWrites: Object.keys(getTableColumns(TABLES.ownWrites)),
  work: Object.keys(getTableColumns(TABLES.work)),
  memory: Object.keys(getTableColumns(TABLES.memory)),
  facts: Object.keys(getTableColumns(TABLES.facts)),
};

/** Throws if a row lacks a value, before it can spoil the batch it would be written with. */
export function assertComplete(table: keyof typeof FIELDS, row: object): void {
  const values = parameters(row);
  for (const name of FIELDS[table]) {
    const value = values[name];
    if (value === undefined || value === null || Number.isNaN(value)) {
      throw new TypeError(`a row for ${table} has no ${name}`);
    }
  }
}

/** The statements of one small table; rows go in and come out as the ports describe them. */
export interface RowStatements<Row> {
  put(row: Row): void;
  delete(row: Row): void;
  all(): Row[];
  find(row: Row): Row | undefined;
  clear(): void;
}

type Columns = Readonly<Record<string, SQLiteColumn>>;

function column(columns: Columns, name: string): SQLiteColumn {
  const found = columns[name];
  if (found === undefined) throw new Error(`no column ${name}`);
  return found;
}

function parameters(row: object): Record<string, unknown> {
  return row as Record<string, unknown>;
}

type Bind = (row: Readonly<Record<string, unknown>>) => SQLQueryBindings;

function bindingOf(param: unknown): Bind {
  const inner: unknown = is(param, Param) ? param.value : param;
  if (!is(inner, Placeholder)) return () => inner as SQLQueryBindings;
  const { name } = inner;
  if (!is(param, Param)) return (row) => row[name] as SQLQueryBindings;
  return (row) => param.encoder.mapToDriverValue(row[name]) as SQLQueryBindings;
}

/**
 * A statement that drizzle built, run without it: drizzle finds out what each parameter is whenever
 * a statement runs, which costs as much as SQLite does for a small row.
 */
function writer(client: Database, query: { toSQL(): Query }): (row: object) => void {
  const { sql: text, params } = query.toSQL();
  const statement = client.prepare<unknown, SQLQueryBindings[]>(text);
  const bindings = params.map(bindingOf);
  return (row) => {
    const values = parameters(row);
    const bound: SQLQueryBindings[] = [];
    for (const bind of bindings) bound.push(bind(values));
    statement.run(...bound);
  };
}

function rowStatements<Row extends object>(
  client: Database,
  db: Drizzle,
  table: SQLiteTable,
  keyNames: readonly string[],
): RowStatements<Row> {
  const columns: Columns = getTableColumns(table);
  const keys = keyNames.map((name) => column(columns, name));
  const byKey = and(...keyNames.map((name) => eq(column(columns, name), sql.placeholder(name))));
  const values: Record<string, unknown> = {};
  const replaced: Record<string, unknown> = {};
  for (const [name, { name: sqlName }] of Object.entries(columns)) {
    values[name] = sql.placeholder(name);
    if (!keyNames.includes(name)) replaced[name] = sql.raw(`excluded.${sqlName}`);
  }
  const put = writer(
    client,
    db.insert(table).values(values).onConflictDoUpdate({ target: keys, set: replaced }),
  );
  const remove = writer(client, db.delete(table).where(byKey));
  const find = db.select().from(table).where(byKey).prepare();
  const all = db
    .select()
    .from(table)
    .orderBy(...keys.map((key) => asc(key)))
    .prepare();
  const clear = db.delete(table).prepare();
  return {
    put,
    delete: remove,
    find: (row) => find.get(parameters(row)) as Row | undefined,
    all: () => all.all() as Row[],
    clear: () => clear.run(),
  };
}

function objectStatements(client: Database, db: Drizzle) {
  const { objects } = schema;
  const head = {
    key: objects.key,
    uid: objects.uid,
    resourceVersion: objects.resourceVersion,
  };
  const ofResource = eq(objects.resource, sql.placeholder('resource'));
  const one = and(ofResource, eq(objects.key, sql.placeholder('key')));
  const after = and(ofResource, gt(objects.key, sql.placeholder('after')));
  const limit = sql.placeholder('limit');
  const values = {
    resource: sql.placeholder('resource'),
    key: sql.placeholder('key'),
    uid: sql.placeholder('uid'),
    resourceVersion: sql.placeholder('resourceVersion'),
    json: sql.placeholder('json'),
  };
  const target = [objects.resource, objects.key];
  const set = {
    uid: sql`excluded.uid`,
    resourceVersion: sql`excluded.resource_version`,
    json: sql`excluded.json`,
  };
  const put = writer(client, db.insert(objects).values(values).onConflictDoUpdate({ target, set }));
  const remove = writer(client, db.delete(objects).where(one));
  const get = db.select().from(objects).where(one).prepare();
  const has = db.select({ key: objects.key }).from(objects).where(one).prepare();
  const inOrder = asc(objects.key);
  const page = db.select().from(objects).where(after).orderBy(inOrder).limit(limit).prepare();
  const heads = db.select(head).from(objects).where(after).orderBy(inOrder).limit(limit).prepare();
  const drop = db.delete(objects).where(ofResource).prepare();
  const resources = db.selectDistinct({ resource: objects.resource }).from(objects).prepare();
  const clear = db.delete(objects).prepare();
  return {
    put: (row: ObjectRow): void => put(row),
    delete: (resource: string, key: string): void => remove({ resource, key }),
    get: (resource: string, key: string): ObjectRow | undefined => get.get({ resource, key }),
    has: (resource: string, key: string): boolean => has.get({ resource, key }) !== undefined,
    page: (resource: string, after: string, rows: number): ObjectRow[] =>
      page.all({ resource, after, limit: rows }),
    heads: (resource: string, after: string, rows: number): ObjectHead[] =>
      heads.all({ resource, after, limit: rows }),
    drop: (resource: string): void => drop.run({ resource }),
    /** Resources that have rows. */
    resources: (): string[] => resources.all().map((row) => row.resource),
    clear: (): void => clear.run(),
  };
}

function pointStatements(client: Database, db: Drizzle) {
  const points = rowStatements<ResumePoint>(client, db, schema.resumePoints, ['resource']);
  const find = (resource: string): ResumePoint | undefined =>
    points.find({ resource, resourceVersion: '', observedAt: 0 });
  return { ...points, find };
}

function journalStatements(client: Database, db: Drizzle) {
  const { journal } = schema;
  const values = {
    controller: sql.placeholder('controller'),
    key: sql.placeholder('key'),
    startedAt: sql.placeholder('startedAt'),
    durationMs: sql.placeholder('durationMs'),
    outcome: sql.placeholder('outcome'),
    error: sql.placeholder('error'),
    because: sql.placeholder('because'),
    writes: sql.placeholder('writes'),
  };
  const add = writer(client, db.insert(journal).values(values));
  const newest = sql`(SELECT max(id) FROM ${journal})`;
  const keepNewest = db
    .delete(journal)
    .where(lte(journal.id, sql`${newest} - ${sql.placeholder('rows')}`))
    .prepare();
  const keepSince = db
    .delete(journal)
    .where(lt(journal.startedAt, sql.placeholder('since')))
    .prepare();
  const weight = sql`octet_length(${journal.writes}) + octet_length(${journal.error})
    + octet_length(${journal.because})`;
  const heavy = sql`(SELECT max(id) FROM (SELECT id, sum(${weight}) OVER (ORDER BY id DESC) AS bytes
    FROM ${journal}) WHERE bytes > ${sql.placeholder('bytes')})`;
  const keepBytes = db.delete(journal).where(lte(journal.id, heavy)).prepare();
  const byAge = asc(journal.id);
  const all = db.select().from(journal).orderBy(byAge).prepare();
  const oldest = db
    .select({ startedAt: journal.startedAt })
    .from(journal)
    .orderBy(byAge)
    .limit(1)
    .prepare();
  return {
    add: (row: JournalRow): void => add(row),
    all: (): JournalRow[] => all.all(),
    /** When the oldest row started, ms. */
    oldest: (): number | undefined => oldest.get()?.startedAt,
    keepNewest: (rows: number): void => keepNewest.run({ rows }),
    keepSince: (since: number): void => keepSince.run({ since }),
    /** Keeps the newest rows whose texts fit into so many bytes. */
    keepBytes: (bytes: number): void => keepBytes.run({ bytes }),
  };
}

/** Everything the store reads and writes on one connection. */
export function prepareStatements(client: Database) {
  const db = asDrizzle(client);
  const small: { readonly [T in SmallTable]: RowStatements<SmallTables[T]> } = {
    intents: rowStatements(client, db, TABLES.intents, KEY_COLUMNS.intents),
    expectations: rowStatements(client, db, TABLES.expectations, KEY_COLUMNS.expectations),
    ownWrites: rowStatements(client, db, TABLES.ownWrites, KEY_COLUMNS.ownWrites),
    work: rowStatements(client, db, TABLES.work, KEY_COLUMNS.work),
    memory: rowStatements(client, db, TABLES.memory, KEY_COLUMNS.memory),
    facts: rowStatements(client, db, TABLES.facts, KEY_COLUMNS.facts),
  };
  return {
    objects: objectStatements(client, db),
    points: pointStatements(client, db),
    journal: journalStatements(client, db),
    small,
  };
}

export type Statements = ReturnType<typeof prepareStatements>;
