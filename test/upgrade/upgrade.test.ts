/**
 * The databases of earlier releases, each kept as SQL: this version goes on with what they hold, and
 * sets aside what a later version made of them.
 */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, unknownMigration } from '../../src/store/migrate.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import { Child } from '../rig/child.ts';
import { eventually, REPOSITORY } from '../rig/index.ts';
import { restore, rowsOf } from './dump.ts';

setDefaultTimeout(60_000);

const HOLDFAST = [process.execPath, join(REPOSITORY, 'src', 'main.ts')];
const TABLES = [
  'expectations',
  'intents',
  'journal',
  'memory',
  'objects',
  'own_writes',
  'resume_points',
  'work',
];
/** What any later version may do to the schema. */
const LATER = {
  name: '9998_later',
  sql: 'ALTER TABLE work ADD COLUMN later integer NOT NULL DEFAULT 7;',
};
const fixtures = readdirSync(import.meta.dir).filter((name) => name.endsWith('.sql'));
const dirs: string[] = [];
let starts = 0;

afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true });
});

function folderWith(fixture: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-upgrade-'));
  dirs.push(dir);
  restore(join(dir, 'state.db'), readFileSync(join(import.meta.dir, fixture), 'utf8'));
  return dir;
}

function contents(path: string): Record<string, string[]> {
  const database = new Database(path, { readonly: true });
  const rows = Object.fromEntries(TABLES.map((table) => [table, rowsOf(database, table)]));
  database.close();
  return rows;
}

/** Starts the manager where no API server answers, until the state file is open; gives its log. */
async function startAndStop(dir: string): Promise<string> {
  const logPath = join(dir, `log-${++starts}`);
  const flags = [
    '--master=https://127.0.0.1:1',
    '--secure-port=0',
    `--state-dir=${dir}`,
    `--state-runtime-dir=${join(dir, 'run')}`,
  ];
  const child = new Child({
    name: 'holdfast',
    command: [...HOLDFAST, ...flags],
    logPath,
    cwd: dir,
  });
  await eventually(() => child.log().includes('"Waiting for the API server"'), {
    describe: 'it waits for the API server',
  });
  expect((await child.stop()).code).toBe(0);
  return child.log();
}

test('there is a database of each schema that was published', () => {
  const known = new Set<string>();
  for (const fixture of fixtures) {
    const database = new Database(join(folderWith(fixture), 'state.db'), { readonly: true });
    const names = database.query<{ name: string }, []>('SELECT name FROM migrations').all();
    for (const { name } of names) known.add(name);
    // A migration that was published and then changed would make every such file foreign.
    expect([fixture, unknownMigration(database)]).toEqual([fixture, undefined]);
    database.close();
  }
  expect([...known].toSorted()).toEqual(MIGRATIONS.map(({ name }) => name));
});

describe.each(fixtures)('a database of %s', (fixture) => {
  let dir: string;
  let before: Record<string, string[]>;

  beforeAll(() => {
    dir = folderWith(fixture);
    before = contents(join(dir, 'state.db'));
  });

  test('is taken over with every row', async () => {
    for (const table of TABLES) expect([table, before[table]?.length]).not.toEqual([table, 0]);
    const log = await startAndStop(dir);
    expect(log).toMatch(/"The state file is open" .*opened="resumed"/);
    expect(contents(join(dir, 'state.db'))).toEqual(before);
    expect(existsSync(join(dir, 'state.db.aside'))).toBe(false);
  });

  test('can be looked into', () => {
    const words = ['state', 'queues', '--failing', `--state-dir=${dir}`];
    const run = Bun.spawnSync([...HOLDFAST, ...words]);
    expect([run.exitCode, run.stderr.toString()]).toEqual([0, '']);
    expect(run.stdout.toString()).toContain('exceeded quota');
  });

  test('that a later version has migrated is set aside whole, and a new one made', async () => {
    const path = join(dir, 'state.db');
    const database = new Database(path);
    migrate(database, 1, [...MIGRATIONS, LATER]);
    database.close();
    const migrated = contents(path);
    expect(migrated.work?.[0]).toEndWith(', 7');
    const log = await startAndStop(dir);
    expect(log).toMatch(/opened="set aside: newer schema: migration 9998_later is unknown/);
    expect(contents(`${path}.aside`)).toEqual(migrated);
    const fresh = contents(path);
    expect([fresh.objects, fresh.intents, fresh.work]).toEqual([[], [], []]);
    expect(await startAndStop(dir)).toMatch(/opened="resumed"/);
  });
});
