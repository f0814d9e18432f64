/** A database as SQL text and back, so that files of earlier releases can be kept and read. */
import { Database } from 'bun:sqlite';

/** Resources of which the objects are kept in a dump; of all others they would only make it long. */
const KEPT = ['pods', 'nodes', 'deployments.apps', 'replicasets.apps', 'jobs.batch'];
/** SQLite's own tables. */
const SKIPPED = /^sqlite_/;

interface Named {
  readonly name: string;
  readonly sql: string;
}

function tablesOf(database: Database): Named[] {
  return database
    .query<Named, []>("SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
    .filter(({ name }) => !SKIPPED.test(name));
}

/** The rows of a table, each as the list of values that SQL would write. */
export function rowsOf(database: Database, table: string): string[] {
  const columns = database.query<{ name: string }, []>(`PRAGMA table_info(${table})`).all();
  const quoted = columns.map(({ name }) => `quote("${name}")`).join(` || ', ' || `);
  const query = database.query<{ row: string }, []>(`SELECT ${quoted} AS row FROM ${table}`);
  return query.all().map(({ row }) => row);
}

/** Forgets the objects and resume points of resources that a fixture needn't have. */
export function trim(database: Database): void {
  const list = KEPT.map((name) => `'${name}'`).join(', ');
  for (const table of ['objects', 'resume_points']) {
    database.run(`DELETE FROM ${table} WHERE resource NOT IN (${list})`);
  }
}

/** Everything as SQL. */
export function dump(database: Database): string {
  const lines = tablesOf(database).flatMap(({ name, sql }) => [
    `${sql};`,
    ...rowsOf(database, name).map((row) => `INSERT INTO ${name} VALUES (${row});`),
  ]);
  return `${lines.join('\n')}\n`;
}

/** Makes the file that a dump was taken of. */
export function restore(path: string, sql: string): void {
  const database = new Database(path, { create: true });
  database.run('PRAGMA auto_vacuum = INCREMENTAL');
  database.run('PRAGMA journal_mode = WAL');
  database.run(sql);
  database.run('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}
