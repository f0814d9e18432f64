/** How big the state file is, and whether what it holds makes sense. */
import type { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { INTENT_EXPIRY_MS, JOURNAL_ROWS_MAX } from '../runtime/limits.ts';

export interface TableStats {
  readonly table: string;
  readonly rows: number;
  /** Pages of the table and its indexes, bytes. */
  readonly bytes: number;
}

export interface StoreStats {
  readonly tables: readonly TableStats[];
  readonly resources: readonly { resource: string; rows: number; jsonBytes: number }[];
  readonly databaseBytes: number;
  readonly walBytes: number;
  /** Free pages in the file, bytes. */
  readonly freeBytes: number;
}

/** One thing that should not be so, and where. */
export interface Finding {
  readonly what: string;
  readonly where: readonly string[];
}

export interface CheckReport {
  /** Complaints of SQLite about pages and indexes; none: the file is whole. */
  readonly integrity: readonly string[];
  readonly findings: readonly Finding[];
}

/** Most places named in one finding. */
const PLACES_SHOWN = 20;
/** Intents are cleared away some time after they expire. */
const INTENT_LEFTOVER_MS = 100 * INTENT_EXPIRY_MS;

/** Rows and bytes of each table and each resource. Reads every page once. */
export function statsOf(client: Database, path: string): StoreStats {
  const tables = client
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    )
    .all();
  const bytes = client
    .query<{ table: string; bytes: number }, []>(
      `SELECT s.tbl_name AS "table", sum(d.pgsize) AS bytes
       FROM dbstat AS d JOIN sqlite_schema AS s ON s.name = d.name
       WHERE d.aggregate = TRUE GROUP BY s.tbl_name`,
    )
    .all();
  const sizes = new Map(bytes.map((row) => [row.table, row.bytes]));
  const number = (text: string) => Object.values(client.query(text).get() as object)[0] as number;
  return {
    tables: tables.map(({ name }) => ({
      table: name,
      rows: number(`SELECT count(*) FROM "${name}"`),
      bytes: sizes.get(name) ?? 0,
    })),
    resources: client
      .query<{ resource: string; rows: number; jsonBytes: number }, []>(
        `SELECT resource, count(*) AS rows, sum(octet_length(json)) AS jsonBytes
         FROM objects GROUP BY resource ORDER BY resource`,
      )
      .all(),
    databaseBytes: number('PRAGMA page_count') * number('PRAGMA page_size'),
    walBytes: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    freeBytes: number('PRAGMA freelist_count') * number('PRAGMA page_size'),
  };
}

/** Each rule finds the rows that break it; `?1` is the time in ms. */
const RULES: readonly { readonly what: string; readonly sql: string }[] = [
  {
    what: 'an object whose JSON does not parse',
    sql: "SELECT resource || ' ' || key FROM objects WHERE NOT json_valid(json)",
  },
  {
    what: 'an object whose columns differ from its JSON',
    sql: `SELECT resource || ' ' || key FROM objects WHERE json_valid(json) AND (
            json ->> '$.metadata.uid' IS NOT uid
            OR json ->> '$.metadata.resourceVersion' IS NOT resource_version
            OR coalesce((json ->> '$.metadata.namespace') || '/', '')
               || (json ->> '$.metadata.name') IS NOT key)`,
  },
  {
    what: 'an object stored with managedFields',
    sql: `SELECT resource || ' ' || key FROM objects
          WHERE json_valid(json) AND json_type(json, '$.metadata.managedFields') IS NOT NULL`,
  },
  {
    what: 'a Secret stored with its data',
    sql: `SELECT key FROM objects WHERE resource = 'secrets' AND json_valid(json) AND (
            json_type(json, '$.data') IS NOT NULL OR json_type(json, '$.stringData') IS NOT NULL
            OR json_type(json, '$.metadata.annotations."kubectl.kubernetes.io/last-applied-configuration"')
               IS NOT NULL)`,
  },
  {
    what: 'a resource that must not be stored',
    sql: `SELECT DISTINCT resource FROM objects
          WHERE resource IN ('events', 'events.events.k8s.io', 'leases.coordination.k8s.io')`,
  },
  {
    what: 'one UID under two keys',
    sql: `SELECT resource || ' ' || uid FROM objects GROUP BY resource, uid HAVING count(*) > 1`,
  },
  {
    what: 'an intent that has expired long ago',
    sql: `SELECT controller || ' ' || verb || ' ' || resource || ' ' || namespace || '/' || name
          FROM intents WHERE sent_at > 0 AND sent_at + ${INTENT_LEFTOVER_MS} < ?1`,
  },
  {
    what: 'a journal beyond its bound',
    sql: `SELECT count(*) || ' rows' FROM journal HAVING count(*) > ${JOURNAL_ROWS_MAX}`,
  },
];

/** Checks pages, indexes and the rules that the store's users keep. `now` in ms. */
export function checkFile(client: Database, now: number): CheckReport {
  const integrity = client
    .query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${PLACES_SHOWN})`)
    .all()
    .map((row) => row.integrity_check)
    .filter((text) => text !== 'ok');
  const findings = RULES.flatMap(({ what, sql }) => {
    const parameters = sql.includes('?1') ? [now] : [];
    const rows = client.query(`${sql} LIMIT ${PLACES_SHOWN}`).values(...parameters);
    const where = rows.map((row) => String(row[0]));
    return where.length === 0 ? [] : [{ what, where }];
  });
  return { integrity, findings };
}
