/** Brings a database to this version's schema; each migration is one transaction. */
import type { Database } from 'bun:sqlite';
import { createHash } from 'node:crypto';
import { inTransaction, UnusableContent } from './connection.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';

const TABLE = `CREATE TABLE IF NOT EXISTS migrations (
  name text PRIMARY KEY NOT NULL, hash text NOT NULL, applied_at integer NOT NULL)`;

function hashOf(migration: Migration): string {
  return createHash('sha256').update(migration.sql).digest('hex');
}

function recorded(client: Database): Map<string, string> {
  const found = client.query("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get();
  if (found === null) return new Map();
  const rows = client.query<{ name: string; hash: string }, []>(
    'SELECT name, hash FROM migrations',
  );
  return new Map(rows.all().map((row) => [row.name, row.hash]));
}

/** Why a database was made by some other version, or undefined if this version knows it. */
export function unknownMigration(client: Database, list = MIGRATIONS): string | undefined {
  for (const [name, hash] of recorded(client)) {
    const known = list.find((migration) => migration.name === name);
    if (known === undefined) return `newer schema: migration ${name} is unknown to this version`;
    if (hashOf(known) !== hash) {
      return `other schema: migration ${name} differs from this version's`;
    }
  }
  return undefined;
}

/**
 * Applies what is missing, in order; `now` (ms) is recorded. Gives true if the database was new.
 * Throws UnusableContent, before changing anything, for a database that some other version made.
 */
export function migrate(client: Database, now: number, list = MIGRATIONS): boolean {
  const unknown = unknownMigration(client, list);
  if (unknown !== undefined) throw new UnusableContent(unknown);
  const done = recorded(client);
  for (const migration of list) {
    if (done.has(migration.name)) continue;
    inTransaction(client, () => {
      client.run(TABLE);
      client.run(migration.sql);
      client.run('INSERT INTO migrations VALUES (?, ?, ?)', [
        migration.name,
        hashOf(migration),
        now,
      ]);
    });
  }
  return done.size === 0;
}
