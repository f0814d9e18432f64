/** Looks at the state file of a dead process: is it whole, and is no resume point ahead of its objects? */
import { Database } from 'bun:sqlite';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareVersions } from '../../src/api/version.ts';
import type { Api, Obj } from '../rig/index.ts';

/** One stored object, without what it holds. */
export interface StoredHead {
  readonly key: string;
  readonly uid: string;
  readonly version: string;
}

/** What a state file held. */
export interface StateCopy {
  /** SQLite's verdict, "ok" if the pages are whole. */
  readonly quickCheck: string;
  readonly points: ReadonlyMap<string, string>;
  readonly objects: ReadonlyMap<string, readonly StoredHead[]>;
  readonly intents: number;
  readonly expectations: number;
}

/**
 * Reads a copy of the file and its WAL, so that the file itself stays as the dead process left it.
 * Undefined if it had not been made yet.
 */
export function readState(stateDir: string): StateCopy | undefined {
  const source = join(stateDir, 'state.db');
  if (!existsSync(source)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-copy-'));
  try {
    const copy = join(folder, 'state.db');
    for (const suffix of ['', '-wal']) {
      if (existsSync(source + suffix)) copyFileSync(source + suffix, copy + suffix);
    }
    const database = new Database(copy);
    try {
      return read(database);
    } finally {
      database.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function read(database: Database): StateCopy | undefined {
  const rows = <T>(sql: string): T[] => database.query<T, []>(sql).all();
  const quickCheck = rows<{ quick_check: string }>('PRAGMA quick_check')
    .map((row) => row.quick_check)
    .join('; ');
  const tables = new Set(
    rows<{ name: string }>('SELECT name FROM sqlite_schema').map(({ name }) => name),
  );
  // Killed before the first migration was committed.
  if (!tables.has('objects')) return undefined;
  const objects = new Map<string, StoredHead[]>();
  const heads = rows<StoredHead & { resource: string }>(
    'SELECT resource, key, uid, resource_version AS version FROM objects',
  );
  for (const { resource, ...head } of heads) {
    const known = objects.get(resource);
    if (known === undefined) objects.set(resource, [head]);
    else known.push(head);
  }
  const points = rows<{ resource: string; version: string }>(
    'SELECT resource, resource_version AS version FROM resume_points',
  );
  const count = (table: string): number =>
    rows<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]!.n;
  return {
    quickCheck,
    points: new Map(points.map(({ resource, version }) => [resource, version])),
    objects,
    intents: count('intents'),
    expectations: count('expectations'),
  };
}

/**
 * Compares a state file with what the API server held at each resume point. The file may be newer
 * than its point, never older: every object of that moment must be there as it was, or newer.
 */
export async function complaintsAbout(state: StateCopy, api: Api): Promise<string[]> {
  const complaints = state.quickCheck === 'ok' ? [] : [`quick_check: ${state.quickCheck}`];
  const versions = await preferredVersions(api);
  for (const [resource, point] of state.points) {
    const path = pathOf(resource, versions);
    const then = await listAt(api, path, point);
    const now = new Set((await listAt(api, path, '')).map(({ metadata }) => metadata.uid));
    const stored = state.objects.get(resource) ?? [];
    complaints.push(
      ...compare(then, now, stored, point).map((what) => `${resource} at ${point}: ${what}`),
    );
  }
  return complaints;
}

/** The version of each API group that the server prefers. */
async function preferredVersions(api: Api): Promise<ReadonlyMap<string, string>> {
  const { groups } = await api.request('GET', '/apis');
  return new Map(groups.map(({ name, preferredVersion }: Obj) => [name, preferredVersion.version]));
}

/** Where all objects of a stored resource ("pods", "jobs.batch") are listed. */
function pathOf(resource: string, versions: ReadonlyMap<string, string>): string {
  const [plural, ...rest] = resource.split('.');
  const group = rest.join('.');
  if (group === '') return `/api/v1/${plural}`;
  const version = versions.get(group);
  if (version === undefined) throw new Error(`${resource}: the server has no such group`);
  return `/apis/${group}/${version}/${plural}`;
}

async function listAt(api: Api, path: string, version: string): Promise<Obj[]> {
  const exact = version === '' ? '' : `?resourceVersion=${version}&resourceVersionMatch=Exact`;
  return (await api.request('GET', path + exact)).items;
}

function keyOf({ metadata }: Obj): string {
  return metadata.namespace === undefined
    ? metadata.name
    : `${metadata.namespace}/${metadata.name}`;
}

function compare(
  then: readonly Obj[],
  now: ReadonlySet<string>,
  stored: readonly StoredHead[],
  point: string,
): string[] {
  const byKey = new Map(stored.map((head) => [head.key, head]));
  const newer = ({ version }: StoredHead): boolean => compareVersions(version, point) > 0;
  const complaints: string[] = [];
  const held = new Set<string>();
  for (const object of then) {
    const key = keyOf(object);
    held.add(key);
    const head = byKey.get(key);
    const { uid, resourceVersion } = object.metadata;
    if (head === undefined) {
      if (now.has(uid)) complaints.push(`${key} is missing`);
    } else if (head.uid !== uid) {
      if (!newer(head)) complaints.push(`${key} is another object, of version ${head.version}`);
    } else if (compareVersions(head.version, resourceVersion) < 0) {
      complaints.push(`${key} is stored in version ${head.version}, it was at ${resourceVersion}`);
    }
  }
  for (const head of stored) {
    if (!held.has(head.key) && !newer(head)) complaints.push(`${head.key} was gone by then`);
  }
  return complaints;
}
