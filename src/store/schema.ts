/** All tables of the state file; `docs/state.md` explains them to people. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { JournalWrite } from '../runtime/ports.ts';

/** The cache: every object as the API server last showed it. Times are ms since the epoch. */
export const objects = sqliteTable(
  'objects',
  {
    resource: text().notNull(),
    key: text().notNull(),
    uid: text().notNull(),
    resourceVersion: text('resource_version').notNull(),
    json: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.resource, table.key] })],
);

/** Where each resource's watch goes on. No row: never listed; a row without objects: empty. */
export const resumePoints = sqliteTable('resume_points', {
  resource: text().primaryKey(),
  resourceVersion: text('resource_version').notNull(),
  observedAt: integer('observed_at').notNull(),
});

/** What the process knows about itself and the cluster. */
export const facts = sqliteTable('facts', {
  name: text().primaryKey(),
  value: text().notNull(),
});

/** Creates and deletes that were announced and whose outcome isn't known yet. */
export const intents = sqliteTable('intents', {
  id: text().primaryKey(),
  controller: text().notNull(),
  verb: text({ enum: ['create', 'delete'] }).notNull(),
  ownerUid: text('owner_uid').notNull(),
  slot: text().notNull(),
  resource: text().notNull(),
  namespace: text().notNull(),
  name: text().notNull(),
  uid: text().notNull(),
  term: integer().notNull(),
  sentAt: integer('sent_at').notNull(),
});

/** Changes a controller made and waits to see in its cache before it acts again. */
export const expectations = sqliteTable(
  'expectations',
  {
    controller: text().notNull(),
    key: text().notNull(),
    ownerUid: text('owner_uid').notNull(),
    adds: integer().notNull(),
    deletes: integer().notNull(),
    deleteKeys: text('delete_keys', { mode: 'json' }).$type<readonly string[]>().notNull(),
    term: integer().notNull(),
    setAt: integer('set_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.controller, table.key] })],
);

/** Versions our own writes produced; the cache must reach them before the owner is synced again. */
export const ownWrites = sqliteTable(
  'own_writes',
  {
    controller: text().notNull(),
    ownerKey: text('owner_key').notNull(),
    ownerUid: text('owner_uid').notNull(),
    resource: text().notNull(),
    resourceVersion: text('resource_version').notNull(),
    term: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.controller, table.ownerKey, table.resource] })],
);

/** Queue items that are dirty, failing or waiting. */
export const work = sqliteTable(
  'work',
  {
    queue: text().notNull(),
    key: text().notNull(),
    failures: integer().notNull(),
    dueAt: integer('due_at').notNull(),
    dirty: integer({ mode: 'boolean' }).notNull(),
    lastError: text('last_error').notNull(),
    because: text().notNull(),
    term: integer().notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.queue, table.key] })],
);

/** What controllers remember about objects. */
export const memory = sqliteTable(
  'memory',
  {
    controller: text().notNull(),
    key: text().notNull(),
    subjectUid: text('subject_uid').notNull(),
    value: text().notNull(),
    term: integer().notNull(),
    expiresAt: integer('expires_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.controller, table.key] })],
);

/** The last reconciles, oldest first, each with the writes it made. */
export const journal = sqliteTable('journal', {
  id: integer().primaryKey(),
  controller: text().notNull(),
  key: text().notNull(),
  startedAt: integer('started_at').notNull(),
  durationMs: integer('duration_ms').notNull(),
  outcome: text({ enum: ['ok', 'error', 'requeue', 'fenced'] }).notNull(),
  error: text().notNull(),
  because: text().notNull(),
  writes: text({ mode: 'json' }).$type<readonly JournalWrite[]>().notNull(),
});
