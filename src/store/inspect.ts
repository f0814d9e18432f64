/**
 * Reading the state file from outside the store: for the command line, while the process runs or
 * after it died, and for the debug pages. Plain data comes out; nothing is ever written.
 */
import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { and, asc, count, desc, eq, gt, gte, lt, type SQL, sql } from 'drizzle-orm';
import { parseJson } from '../api/json.ts';
import type { KubeObject } from '../api/types/index.ts';
import { FACT_HOW } from '../runtime/informer/noted-how.ts';
import { INSPECT_BUSY_WAIT_MS, INSPECT_ROWS_MAX, SCAN_PAGE_ROWS } from '../runtime/limits.ts';
import type {
  ExpectationRow,
  IntentRow,
  JournalRow,
  MemoryRow,
  ObjectRow,
  OwnWriteRow,
  WorkRow,
} from '../runtime/ports.ts';
import { closeConnection, describeError } from './connection.ts';
import { resolveResource } from './explain/resource-words.ts';
import { type ExplainOptions, type Explanation, explainObject } from './explain/rows.ts';
import { type CheckReport, checkFile, type StoreStats, statsOf } from './inspect-check.ts';
import { unknownMigration } from './migrate.ts';
import {
  expectations,
  facts,
  intents,
  journal,
  memory,
  objects,
  ownWrites,
  resumePoints,
  work,
} from './schema.ts';
import { STATE_FILE } from './state-dir.ts';
import { asDrizzle, type Drizzle } from './statements.ts';
import { FACT_WRITES, type NotedWrites, notedWrites } from './write-counts.ts';

/** The sign that sorts right after the slash of a key. */
const AFTER_SLASH = '0';

/** One queue in short. Times in ms since the epoch. */
export interface QueueView {
  readonly queue: string;
  readonly keys: number;
  /** Keys that changed and wait for a worker. */
  readonly dirty: number;
  /** Keys whose last sync failed. */
  readonly failing: number;
  /** When the next waiting key is due; 0: one is due now. Undefined: no key. */
  readonly nextDueAt: number | undefined;
  readonly failuresHighest: number;
}

/** One cached resource. */
export interface WatchView {
  readonly resource: string;
  /** Where its watch goes on, "" if it must be listed. */
  readonly resourceVersion: string;
  /** ms since the last event or bookmark; undefined without a resume point. */
  readonly ageMs: number | undefined;
  readonly rows: number;
  /** How the last process got it: "resumed", "listed", "delta"; "" if it did not say. */
  readonly how: string;
}

/** A stored object without its JSON. */
export interface ObjectView {
  readonly resource: string;
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface JournalEntry extends JournalRow {
  readonly id: number;
}

export interface JournalFilter {
  readonly controller?: string;
  readonly key?: string;
  /** Only what started at or after this time, ms. */
  readonly since?: number;
  /** Only what did not end with "ok". */
  readonly failed?: boolean;
  /** Newest first at most so many; INSPECT_ROWS_MAX if absent. */
  readonly limit?: number;
}

export interface ObjectFilter {
  readonly resource: string;
  readonly namespace?: string;
  readonly limit?: number;
  readonly matches?: (labels: Readonly<Record<string, string>>) => boolean;
}

/** The state file as people look at it. Every method throws SQLite's errors. */
export interface Inspector {
  /** `now` in ms, here and below. */
  queues(now: number): QueueView[];
  work(filter?: { queue?: string; failing?: boolean }): WorkRow[];
  expectations(filter?: { controller?: string; key?: string }): ExpectationRow[];
  intents(filter?: { controller?: string }): IntentRow[];
  ownWrites(filter?: { controller?: string }): OwnWriteRow[];
  memory(filter?: { controller?: string }): MemoryRow[];
  facts(): Readonly<Record<string, string>>;
  watches(now: number): WatchView[];
  /** In key order, at most `limit` (INSPECT_ROWS_MAX). */
  objects(filter: { resource: string; namespace?: string; limit?: number }): ObjectView[];
  object(resource: string, key: string): ObjectRow | undefined;
  /** Newest first. */
  journal(filter?: JournalFilter): JournalEntry[];
  stats(): StoreStats;
  check(now: number): CheckReport;
  /** Wall time of the newest entry in the file, ms; 0 without any. */
  newestEntryAt(): number;
  /** Whole rows in key order whose labels match, at most `limit` (INSPECT_ROWS_MAX). */
  objectRows(filter: ObjectFilter): ObjectRow[];
  /** What the last process that wrote the file counted, as it noted it last. */
  notedWrites(): NotedWrites | undefined;
  explain(resource: string, key: string, options?: ExplainOptions): Explanation;
  /** Ids of the resources that a word may mean: "deployments.apps", "Deployment", "deploy". */
  resolveResource(word: string): string[];
  close(): void;
}

/**
 * Opens the state file of a directory for reading only. Throws, naming the file, if there is none,
 * or if another version made it.
 */
export function openInspector(dir: string): Inspector {
  const path = join(dir, STATE_FILE);
  if (!existsSync(path)) throw new Error(`there is no state file at ${path}`);
  const client = new Database(path, { readonly: true });
  try {
    client.run(`PRAGMA busy_timeout = ${INSPECT_BUSY_WAIT_MS}`);
    const unknown = unknownMigration(client);
    if (unknown !== undefined) throw new Error(unknown);
  } catch (error) {
    closeConnection(client);
    throw new Error(`${path} can't be read: ${describeError(error)}`, { cause: error });
  }
  return { ...inspectConnection(client, path), close: () => closeConnection(client) };
}

/** An inspector over a connection of somebody else; `close` leaves that open. */
export function inspectConnection(client: Database, path: string): Inspector {
  const db = asDrizzle(client);
  return {
    queues: (now) => queues(db, now),
    work: ({ queue, failing } = {}) =>
      db
        .select()
        .from(work)
        .where(and(maybe(work.queue, queue), failing === true ? gt(work.failures, 0) : undefined))
        .orderBy(asc(work.dueAt), asc(work.queue), asc(work.key))
        .all(),
    expectations: ({ controller, key } = {}) =>
      db
        .select()
        .from(expectations)
        .where(and(maybe(expectations.controller, controller), maybe(expectations.key, key)))
        .all(),
    intents: ({ controller } = {}) =>
      db.select().from(intents).where(maybe(intents.controller, controller)).all(),
    ownWrites: ({ controller } = {}) =>
      db.select().from(ownWrites).where(maybe(ownWrites.controller, controller)).all(),
    memory: ({ controller } = {}) =>
      db.select().from(memory).where(maybe(memory.controller, controller)).all(),
    facts: () =>
      Object.fromEntries(
        db
          .select()
          .from(facts)
          .all()
          .map((f) => [f.name, f.value]),
      ),
    watches: (now) => watches(db, now),
    newestEntryAt: () => newestEntryAt(client),
    objectRows: (filter) => objectRows(db, filter),
    notedWrites: () => notedWrites(factOf(db, FACT_WRITES)),
    objects: (filter) => objectViews(db, filter),
    object: (resource, key) =>
      db
        .select()
        .from(objects)
        .where(and(eq(objects.resource, resource), eq(objects.key, key)))
        .get(),
    journal: (filter = {}) => journalEntries(db, filter),
    stats: () => statsOf(client, path),
    check: (now) => checkFile(client, now),
    explain: (resource, key, options) => explainObject(db, resource, key, options),
    resolveResource: (word) => resolveResource(knownResources(db), word),
    close: () => undefined,
  };
}

function maybe(column: Parameters<typeof eq>[0], value: string | undefined): SQL | undefined {
  return value === undefined ? undefined : eq(column, value);
}

function queues(db: Drizzle, now: number): QueueView[] {
  const rows = db
    .select({
      queue: work.queue,
      keys: count(),
      dirty: sql<number>`sum(${work.dirty})`,
      failing: sql<number>`sum(${work.failures} > 0)`,
      nextDueAt: sql<number>`min(${work.dueAt})`,
      failuresHighest: sql<number>`max(${work.failures})`,
    })
    .from(work)
    .groupBy(work.queue)
    .orderBy(asc(work.queue))
    .all();
  return rows.map((row) => ({ ...row, nextDueAt: row.nextDueAt <= now ? 0 : row.nextDueAt }));
}

function watches(db: Drizzle, now: number): WatchView[] {
  const counted = db
    .select({ resource: objects.resource, rows: count() })
    .from(objects)
    .groupBy(objects.resource)
    .all();
  const points = new Map(
    db
      .select()
      .from(resumePoints)
      .all()
      .map((point) => [point.resource, point]),
  );
  const rows = new Map(counted.map((entry) => [entry.resource, entry.rows]));
  const how = howOf(factOf(db, FACT_HOW));
  return [...new Set([...points.keys(), ...rows.keys()])].sort().map((resource) => {
    const point = points.get(resource);
    return {
      resource,
      resourceVersion: point?.resourceVersion ?? '',
      ageMs: point === undefined ? undefined : Math.max(0, now - point.observedAt),
      rows: rows.get(resource) ?? 0,
      how: how[resource] ?? '',
    };
  });
}

function factOf(db: Drizzle, name: string): string | undefined {
  return db.select().from(facts).where(eq(facts.name, name)).get()?.value;
}

function howOf(text: string | undefined): Readonly<Record<string, string>> {
  try {
    return text === undefined ? {} : (JSON.parse(text) as Record<string, string>);
  } catch {
    return {};
  }
}

function newestEntryAt(client: Database): number {
  const row = client
    .query<{ at: number | null }, [string]>(
      `SELECT max(at) AS at FROM (
         SELECT max(observed_at) AS at FROM resume_points
         UNION ALL SELECT max(updated_at) FROM work
         UNION ALL SELECT max(updated_at) FROM memory
         UNION ALL SELECT max(set_at) FROM expectations
         UNION ALL SELECT max(sent_at) FROM intents
         UNION ALL SELECT started_at + duration_ms FROM journal
           WHERE id = (SELECT max(id) FROM journal)
         UNION ALL SELECT CAST(value AS INTEGER) FROM facts WHERE name = 'store.opened_at'
         UNION ALL SELECT value ->> '$.until' FROM facts WHERE name = ?)`,
    )
    .get(FACT_WRITES);
  return Math.round(row?.at ?? 0);
}

function inNamespace(namespace: string | undefined): SQL | undefined {
  const { key } = objects;
  return namespace === undefined
    ? undefined
    : and(gte(key, `${namespace}/`), lt(key, `${namespace}${AFTER_SLASH}`));
}

/** Page by page: of many objects few may match. */
function objectRows(db: Drizzle, filter: ObjectFilter): ObjectRow[] {
  const { resource, key } = objects;
  const { limit = INSPECT_ROWS_MAX, matches } = filter;
  const found: ObjectRow[] = [];
  let after = '';
  for (;;) {
    const page = db
      .select()
      .from(objects)
      .where(and(eq(resource, filter.resource), inNamespace(filter.namespace), gt(key, after)))
      .orderBy(asc(key))
      .limit(SCAN_PAGE_ROWS)
      .all();
    for (const row of page) {
      if (found.length >= limit) return found;
      if (matches === undefined || matches(labelsIn(row.json))) found.push(row);
    }
    const last = page.at(-1);
    if (last === undefined) return found;
    after = last.key;
  }
}

function labelsIn(json: string): Readonly<Record<string, string>> {
  return parseJson<KubeObject>(json).metadata.labels ?? {};
}

function objectViews(
  db: Drizzle,
  filter: { resource: string; namespace?: string; limit?: number },
): ObjectView[] {
  const { resource, key, uid, resourceVersion } = objects;
  return db
    .select({ resource, key, uid, resourceVersion })
    .from(objects)
    .where(and(eq(resource, filter.resource), inNamespace(filter.namespace)))
    .orderBy(asc(key))
    .limit(filter.limit ?? INSPECT_ROWS_MAX)
    .all();
}

function journalEntries(db: Drizzle, filter: JournalFilter): JournalEntry[] {
  return db
    .select()
    .from(journal)
    .where(
      and(
        maybe(journal.controller, filter.controller),
        maybe(journal.key, filter.key),
        filter.since === undefined ? undefined : gte(journal.startedAt, filter.since),
        filter.failed === true ? sql`${journal.outcome} <> 'ok'` : undefined,
      ),
    )
    .orderBy(desc(journal.id))
    .limit(filter.limit ?? INSPECT_ROWS_MAX)
    .all();
}

function knownResources(db: Drizzle): string[] {
  const cached = db.selectDistinct({ resource: objects.resource }).from(objects).all();
  const watched = db.select({ resource: resumePoints.resource }).from(resumePoints).all();
  return [...new Set([...cached, ...watched].map((row) => row.resource))].sort();
}
