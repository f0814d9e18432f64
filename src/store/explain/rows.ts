/** Everything the state file holds about one object. */
import { and, desc, eq, gt, gte, like, lt, or, sql } from 'drizzle-orm';
import { parseJson } from '../../api/json.ts';
import type { KubeObject } from '../../api/types/index.ts';
import {
  EXPLAIN_BELOW_OWNERS_MAX,
  EXPLAIN_JOURNAL_ROWS_MAX,
  EXPLAIN_RELATIVES_MAX,
} from '../../runtime/limits.ts';
import type {
  ExpectationRow,
  IntentRow,
  MemoryRow,
  OwnWriteRow,
  ResumePoint,
  WorkRow,
} from '../../runtime/ports.ts';
import { isAbout, mayServe, subjectOfWork, subjectsOfSync } from '../../runtime/subjects.ts';
import type { JournalEntry } from '../inspect.ts';
import {
  expectations,
  intents,
  journal,
  memory,
  objects,
  ownWrites,
  resumePoints,
  work,
} from '../schema.ts';
import type { Drizzle } from '../statements.ts';
import { lacksSomething, needsNoPod } from './sight.ts';

/** What a workload may own that makes the pods. */
const POD_MAKERS: ReadonlySet<string> = new Set(['jobs.batch', 'replicasets.apps']);

/** An owner or a dependent of the object. */
export interface Relative {
  /** "" if the object isn't cached. */
  readonly resource: string;
  readonly key: string;
  readonly kind: string;
  readonly uid: string;
  /** status.phase, "" where there is none. */
  readonly phase: string;
}

/** What is known about one object. Rows are of any controller. */
export interface Explanation {
  readonly resource: string;
  readonly key: string;
  /** The cached object; undefined if there is none (any more). */
  readonly object: KubeObject | undefined;
  readonly owners: readonly Relative[];
  /** At most EXPLAIN_RELATIVES_MAX; `moreDependents` if there are more. */
  readonly dependents: readonly Relative[];
  readonly moreDependents: boolean;
  /** What it owns, and what that owns, as far as it fails or lacks something. */
  readonly below: readonly Below[];
  readonly work: readonly WorkRow[];
  readonly expectations: readonly ExpectationRow[];
  readonly intents: readonly IntentRow[];
  readonly ownWrites: readonly OwnWriteRow[];
  readonly memory: readonly MemoryRow[];
  /** Reconciles of the key and writes to the object, newest first. */
  readonly journal: readonly JournalEntry[];
  /** How far each cache is that the rows above speak of, the object's own first. */
  readonly points: readonly ResumePoint[];
}

/** An object below another one that fails or lacks something. */
export interface Below {
  readonly resource: string;
  readonly key: string;
  readonly object: KubeObject;
  /** Its keys that fail. */
  readonly failing: readonly WorkRow[];
}

/** For who must not take long: the process itself, which explains on its main thread. */
export interface ExplainOptions {
  /** What an object owns, from whoever knows it without reading every object. */
  readonly dependentsOf?: (
    ownerUid: string,
    limit: number,
  ) => readonly { readonly resource: string; readonly key: string }[];
  /** Only so many of the newest reconciles are looked through. */
  readonly journalRows?: number;
}

interface About {
  readonly resource: string;
  readonly key: string;
  readonly uid: string;
}

/**
 * Reads an object's cached JSON and every row that is about it. Without options every stored object
 * is looked at for its owners and the whole journal for writes, which takes a while in a big file.
 */
export function explainObject(
  db: Drizzle,
  resource: string,
  key: string,
  { dependentsOf, journalRows }: ExplainOptions = {},
): Explanation {
  const row = find(db, resource, key);
  const object = row === undefined ? undefined : parseJson<KubeObject>(row.json);
  const uid = row?.uid ?? '';
  const about = { resource, key, uid };
  const found = dependentsOf ?? ((owner, limit) => ownedBy(db, owner, limit));
  const dependents = uid === '' ? [] : found(uid, EXPLAIN_RELATIVES_MAX + 1);
  const shown = dependents.slice(0, EXPLAIN_RELATIVES_MAX);
  const waited = waitingRows(db, about);
  const others = waited.ownWrites.map((each) => each.resource);
  return {
    ...about,
    object,
    owners: object === undefined ? [] : ownersOf(db, object),
    dependents: shown.map((each) => relativeOf(db, each.resource, each.key)),
    moreDependents: dependents.length > shown.length,
    below: belowOf(db, shown, found),
    work: workOf(db, about),
    ...waited,
    journal: journalOf(db, about, journalRows),
    points: [...new Set([resource, ...others])].flatMap((each) => pointOf(db, each)),
  };
}

type Place = { readonly resource: string; readonly key: string };

/** Children, and the children of those that make pods: a Deployment's pods are its grandchildren. */
function belowOf(
  db: Drizzle,
  children: readonly Place[],
  dependentsOf: NonNullable<ExplainOptions['dependentsOf']>,
): Below[] {
  const seen = children.flatMap((place) => seenAt(db, place));
  const makers = seen.filter(
    ({ resource, object }) => POD_MAKERS.has(resource) && !needsNoPod(object),
  );
  const pods = makers
    .slice(0, EXPLAIN_BELOW_OWNERS_MAX)
    .flatMap(({ object }) => dependentsOf(object.metadata.uid ?? '', EXPLAIN_RELATIVES_MAX))
    .flatMap((place) => seenAt(db, place));
  return [...seen, ...pods].filter(
    ({ resource, object, failing }) => failing.length > 0 || lacksSomething(resource, object),
  );
}

function seenAt(db: Drizzle, { resource, key }: Place): Below[] {
  const row = find(db, resource, key);
  if (row === undefined) return [];
  const failing = workOf(db, { resource, key, uid: row.uid }).filter(
    ({ failures }) => failures > 0,
  );
  return [{ resource, key, object: parseJson<KubeObject>(row.json), failing }];
}

function find(db: Drizzle, resource: string, key: string) {
  const here = and(eq(objects.resource, resource), eq(objects.key, key));
  return db.select().from(objects).where(here).get();
}

function pointOf(db: Drizzle, resource: string): ResumePoint[] {
  return db.select().from(resumePoints).where(eq(resumePoints.resource, resource)).all();
}

function splitKey(key: string): [namespace: string, name: string] {
  const slash = key.indexOf('/');
  return slash < 0 ? ['', key] : [key.slice(0, slash), key.slice(slash + 1)];
}

/** Rows that wait for something: expectations, intents, own writes; and what is remembered. */
function waitingRows(db: Drizzle, { resource, key, uid }: About) {
  const [namespace, name] = splitKey(key);
  const named = and(
    eq(intents.resource, resource),
    eq(intents.namespace, namespace),
    eq(intents.name, name),
  );
  const ofUid = (column: Parameters<typeof eq>[0]) => (uid === '' ? undefined : eq(column, uid));
  const ofKey = (controller: string, rowKey: string): boolean =>
    uid !== '' || subjectsOfSync(controller, rowKey).some((one) => one.resource === resource);
  return {
    expectations: db
      .select()
      .from(expectations)
      .where(ofUid(expectations.ownerUid) ?? eq(expectations.key, key))
      .all()
      .filter((row) => ofKey(row.controller, row.key)),
    intents: db
      .select()
      .from(intents)
      .where(or(named, ofUid(intents.ownerUid), ofUid(intents.uid)))
      .all(),
    ownWrites: db
      .select()
      .from(ownWrites)
      .where(ofUid(ownWrites.ownerUid) ?? eq(ownWrites.ownerKey, key))
      .all()
      .filter((row) => ofKey(row.controller, row.ownerKey)),
    memory: db
      .select()
      .from(memory)
      .where(ofUid(memory.subjectUid) ?? eq(memory.key, key))
      .all(),
  };
}

/** Keys that are about the object, also those with more in them than namespace and name. */
function workOf(db: Drizzle, about: About): WorkRow[] {
  const [, name] = splitKey(about.key);
  const longer = and(gte(work.key, `${about.key}/`), lt(work.key, `${about.key}0`));
  const candidates = or(
    eq(work.key, about.key),
    longer,
    like(work.key, '[%'),
    like(work.key, `% ${name}`),
  );
  const rows = db.select().from(work).where(candidates).all();
  return rows.filter((row) => {
    const subject = subjectOfWork(row.queue, row.key);
    return subject === undefined ? row.key === about.key : isAbout(subject, about);
  });
}

/** A reference names no resource; the key and the UID tell which of those that fit it is. */
function ownersOf(db: Drizzle, object: KubeObject): Relative[] {
  const references = object.metadata.ownerReferences ?? [];
  if (references.length === 0) return [];
  const known = db.select({ resource: resumePoints.resource }).from(resumePoints).all();
  const { namespace } = object.metadata;
  return references.map(({ apiVersion = '', kind, name, uid }) => {
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
    const fitting = known.filter(({ resource }) => mayServe(resource, kind, group));
    const places = [...(namespace ? [`${namespace}/${name}`] : []), name];
    for (const { resource } of fitting) {
      for (const place of places) {
        if (find(db, resource, place)?.uid === uid) return { ...relativeOf(db, resource, place) };
      }
    }
    return { resource: '', key: name, kind, uid, phase: '' };
  });
}

function relativeOf(db: Drizzle, resource: string, key: string): Relative {
  const { uid } = objects;
  const kind = sql<string>`coalesce(${objects.json} ->> '$.kind', '')`;
  const phase = sql<string>`coalesce(${objects.json} ->> '$.status.phase', '')`;
  const here = and(eq(objects.resource, resource), eq(objects.key, key));
  const row = db.select({ uid, kind, phase }).from(objects).where(here).get();
  return { resource, key, kind: row?.kind ?? '', uid: row?.uid ?? '', phase: row?.phase ?? '' };
}

function ownedBy(db: Drizzle, ownerUid: string, limit: number) {
  const { resource, key } = objects;
  // The search for the UID's text spares parsing the JSON of everything else.
  const owned = sql`instr(${objects.json}, ${ownerUid}) > 0 AND EXISTS (
    SELECT 1 FROM json_each(${objects.json}, '$.metadata.ownerReferences') AS owner
    WHERE owner.value ->> 'uid' = ${ownerUid})`;
  return db.select({ resource, key }).from(objects).where(owned).limit(limit).all();
}

function journalOf(db: Drizzle, about: About, lookThrough?: number): JournalEntry[] {
  const { resource, key } = about;
  const [namespace, name] = splitKey(key);
  // The search for the name's text spares parsing the writes of all other syncs.
  const written = sql`instr(${journal.writes}, ${JSON.stringify(name)}) > 0 AND EXISTS (
    SELECT 1 FROM json_each(${journal.writes}) AS write
    WHERE write.value ->> 'resource' = ${resource}
      AND write.value ->> 'namespace' = ${namespace} AND write.value ->> 'name' = ${name})`;
  const synced = or(
    eq(journal.key, key),
    and(gte(journal.key, `${key}/`), lt(journal.key, `${key}0`)),
    and(like(journal.key, '[%'), sql`instr(${journal.key}, ${JSON.stringify(name)}) > 0`),
    like(journal.key, `% ${name}`),
  );
  const newest = sql`(SELECT max(id) FROM ${journal})`;
  const recent =
    lookThrough === undefined ? undefined : gt(journal.id, sql`${newest} - ${lookThrough}`);
  const rows = db
    .select()
    .from(journal)
    .where(and(recent, or(synced, written)))
    .orderBy(desc(journal.id))
    .limit(EXPLAIN_JOURNAL_ROWS_MAX * 4)
    .all();
  return rows.filter((row) => concerns(row, about)).slice(0, EXPLAIN_JOURNAL_ROWS_MAX);
}

function concerns(row: JournalEntry, about: About): boolean {
  const [namespace, name] = splitKey(about.key);
  const wrote = row.writes.some(
    (write) =>
      write.resource === about.resource && write.namespace === namespace && write.name === name,
  );
  if (wrote) return true;
  const subjects = subjectsOfSync(row.controller, row.key);
  return subjects.length === 0
    ? row.key === about.key
    : subjects.some((subject) => isAbout(subject, about));
}
