import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { migrate, unknownMigration } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';
import { cleanUp, SLOW_TEST_MS, temporaryDirectory } from './testing/kit.ts';

setDefaultTimeout(SLOW_TEST_MS);
afterAll(cleanUp);

const ROOT = join(import.meta.dir, '..', '..');
const FOLDER = join(ROOT, 'migrations');

function tables(client: Database): string[] {
  return client
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
    .all()
    .map((row) => row.name);
}

describe('the migrations', () => {
  test('in the binary are those of the folder, in the order of their names', () => {
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.sql'));
    expect(MIGRATIONS.map((migration) => `${migration.name}.sql`)).toEqual(files.sort());
    for (const { name, sql } of MIGRATIONS) {
      expect(sql).toBe(readFileSync(join(FOLDER, `${name}.sql`), 'utf8'));
    }
  });

  test('make the schema: drizzle-kit has nothing to add', () => {
    const out = temporaryDirectory();
    cpSync(FOLDER, out, { recursive: true });
    const kit = join(ROOT, 'node_modules', '.bin', 'drizzle-kit');
    const options = [
      'generate',
      '--dialect',
      'sqlite',
      '--schema',
      'src/store/schema.ts',
      '--out',
      // drizzle-kit takes every path as relative.
      relative(ROOT, out),
    ];
    const result = Bun.spawnSync([kit, ...options], { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' });
    expect(result.stderr.toString() + result.stdout.toString()).toContain('No schema changes');
    expect(readdirSync(out).sort()).toEqual(readdirSync(FOLDER).sort());
  });

  test('keep object rows by rowid, and small tables by their key alone', () => {
    const client = new Database(':memory:');
    migrate(client, 0);
    const byKey = client
      .query<{ name: string; wr: number }, []>('PRAGMA table_list')
      .all()
      .filter((table) => table.wr === 1)
      .map((table) => table.name);
    expect(tables(client).filter((name) => !byKey.includes(name))).toEqual([
      'journal',
      'migrations',
      'objects',
    ]);
  });
});

describe('migrating', () => {
  const one = { name: '0000_one', sql: 'CREATE TABLE one (a text);' };
  const two = { name: '0001_two', sql: 'CREATE TABLE two (a text);\nINSERT INTO two VALUES (1);' };

  test('applies what is missing, once, in the order of the list', () => {
    const client = new Database(':memory:');
    expect(migrate(client, 5, [one])).toBe(true);
    expect(migrate(client, 6, [one, two])).toBe(false);
    expect(migrate(client, 7, [one, two])).toBe(false);
    expect(tables(client)).toEqual(['migrations', 'one', 'two']);
    expect(client.query('SELECT applied_at FROM migrations ORDER BY name').values()).toEqual([
      [5],
      [6],
    ]);
    expect(client.query('SELECT count(*) FROM two').values()).toEqual([[1]]);
  });

  test('leaves nothing of a migration that fails', () => {
    const client = new Database(':memory:');
    const broken = {
      name: '0001_broken',
      sql: 'CREATE TABLE half (a text);\nINSERT INTO nowhere VALUES (1);',
    };
    expect(() => migrate(client, 0, [one, broken])).toThrow('nowhere');
    expect(tables(client)).toEqual(['migrations', 'one']);
    expect(migrate(client, 0, [one, two])).toBe(false);
  });

  test('refuses, untouched, what another version made', () => {
    const client = new Database(':memory:');
    migrate(client, 0, [one, two]);
    const three = { name: '0000_a_late_one', sql: 'CREATE TABLE three (a text);' };
    expect(() => migrate(client, 0, [three, one])).toThrow('newer schema: migration 0001_two');
    const changed = { ...two, sql: 'CREATE TABLE two (b text);' };
    expect(() => migrate(client, 0, [one, changed, three])).toThrow('other schema');
    expect(tables(client)).toEqual(['migrations', 'one', 'two']);
    expect(unknownMigration(client, [one, two, three])).toBeUndefined();
  });
});
