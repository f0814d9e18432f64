/** Everything the state file holds about one object. */
import { and, desc, eq, or, sql } from 'drizzle-orm';
import { parseJson } from '../api/json.ts';
import type { KubeObject } from '../api/types/index.ts';
import { INSPECT_ROWS_MAX } from '../runtime/limits.ts';
import type {
  ExpectationRow,
  IntentRow,
  MemoryRow,
  OwnWriteRow,
  WorkRow,
} from '../runtime/ports.ts';
import type { JournalEntry } from './inspect.ts';
import { expectations, intents, journal, memory, objects, ownWrites, work } from './schema.ts';
import type { Drizzle } from './statements.ts';

/** An owner or a dependent of the object. */
export interface Relative {
  /** "" if the object isn't cached. */
  readonly resource: string;
  readonly key: string;
  readonly kind: string;
  readonly uid: string;
}

/** What is known about one object. Rows are of any controller. */
export interface Explanation {
  readonly resource: string;
  readonly key: string;
  /** The cached object; undefined if there is none (any more). */
  readonly object: KubeObject | undefined;
  readonly owners: readonly Relative[];
  readonly dependents: readonly Relative[];
  readonly work: readonly WorkRow[];
  readonly expectations: readonly ExpectationRow[];
  readonly intents: readonly IntentRow[];
  readonly ownWrites: readonly OwnWriteRow[];
  readonly memory: readonly MemoryRow[];
  /** Reconciles of the key and writes to the object, newest first. */
  readonly journal: readonly JournalEntry[];
}

/** Reads an object's cached JSON and every row that names it, its key or its UID. */
export function explainObject(db: Drizzle, resource: string, key: string): Explanation {
  const row = db
    .select()
    .from(objects)
    .where(and(eq(objects.resource, resource), eq(objects.key, key)))
    .get();
  const object = row === undefined ? undefined : parseJson<KubeObject>(row.json);
  const uid = row?.uid ?? '';
  const [namespace, name] = splitKey(key);
  const named = and(
    eq(intents.resource, resource),
    eq(intents.namespace, namespace),
    eq(intents.name, name),
  );
  const ofUid = (column: Parameters<typeof eq>[0]) => (uid === '' ? undefined : eq(column, uid));
  return {
    resource,
    key,
    object,
    owners: object === undefined ? [] : ownersOf(db, object),
    dependents: uid === '' ? [] : dependentsOf(db, uid),
    work: db.select().from(work).where(eq(work.key, key)).all(),
    expectations: db
      .select()
      .from(expectations)
      .where(or(ofUid(expectations.ownerUid), uid === '' ? eq(expectations.key, key) : undefined))
      .all(),
    intents: db
      .select()
      .from(intents)
      .where(or(named, ofUid(intents.ownerUid), ofUid(intents.uid)))
      .all(),
    ownWrites: db
      .select()
      .from(ownWrites)
      .where(uid === '' ? eq(ownWrites.ownerKey, key) : eq(ownWrites.ownerUid, uid))
      .all(),
    memory: db
      .select()
      .from(memory)
      .where(uid === '' ? eq(memory.key, key) : eq(memory.subjectUid, uid))
      .all(),
    journal: journalOf(db, resource, key),
  };
}

function splitKey(key: string): [namespace: string, name: string] {
  const slash = key.indexOf('/');
  return slash < 0 ? ['', key] : [key.slice(0, slash), key.slice(slash + 1)];
}

function ownersOf(db: Drizzle, object: KubeObject): Relative[] {
  return (object.metadata.ownerReferences ?? []).map(({ kind, name, uid }) => {
    const { resource, key } = objects;
    const cached = db.select({ resource, key }).from(objects).where(eq(objects.uid, uid)).get();
    return { resource: cached?.resource ?? '', key: cached?.key ?? name, kind, uid };
  });
}

function dependentsOf(db: Drizzle, ownerUid: string): Relative[] {
  const { resource, key, uid } = objects;
  // The search for the UID's text spares parsing the JSON of everything else.
  const owned = sql`instr(${objects.json}, ${ownerUid}) > 0 AND EXISTS (
    SELECT 1 FROM json_each(${objects.json}, '$.metadata.ownerReferences') AS owner
    WHERE owner.value ->> 'uid' = ${ownerUid})`;
  const kind = sql<string>`coalesce(${objects.json} ->> '$.kind', '')`;
  return db
    .select({ resource, key, kind, uid })
    .from(objects)
    .where(owned)
    .limit(INSPECT_ROWS_MAX)
    .all();
}

function journalOf(db: Drizzle, resource: string, key: string): JournalEntry[] {
  const [namespace, name] = splitKey(key);
  const written = sql`EXISTS (
    SELECT 1 FROM json_each(${journal.writes}) AS write
    WHERE write.value ->> 'resource' = ${resource}
      AND write.value ->> 'namespace' = ${namespace} AND write.value ->> 'name' = ${name})`;
  return db
    .select()
    .from(journal)
    .where(or(eq(journal.key, key), written))
    .orderBy(desc(journal.id))
    .limit(INSPECT_ROWS_MAX)
    .all();
}
