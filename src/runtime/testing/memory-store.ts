/** A store in plain maps, for tests of what stands on the store's ports. */
import type {
  ExpectationRow,
  FactTable,
  IntentRow,
  JournalRow,
  MemoryRow,
  ObjectRow,
  ObjectRows,
  OwnWriteRow,
  ResumePoint,
  StorePort,
  WorkRow,
} from '../ports.ts';
import { memoryTable } from './memory-table.ts';

/** Object rows in a map, with resume points. */
export function memoryObjects(): ObjectRows {
  const rows = new Map<string, ObjectRow>();
  const points = new Map<string, ResumePoint>();
  const id = (resource: string, key: string): string => `${resource} ${key}`;
  const of = (resource: string): ObjectRow[] =>
    [...rows.values()].filter((row) => row.resource === resource);
  return {
    put: (row) => void rows.set(id(row.resource, row.key), row),
    delete: (resource, key) => void rows.delete(id(resource, key)),
    get: (resource, key) => rows.get(id(resource, key)),
    scan: (resource) => of(resource).sort((a, b) => (a.key < b.key ? -1 : 1)),
    heads: of,
    resumePoint: (resource) => points.get(resource),
    setResumePoint: (point) => void points.set(point.resource, point),
    drop: (resource) => {
      for (const row of of(resource)) rows.delete(id(row.resource, row.key));
      points.delete(resource);
    },
    torn: () => false,
  };
}

function memoryFacts(): FactTable {
  const facts = new Map<string, string>();
  return {
    get: (name) => facts.get(name),
    set: (name, value) => void facts.set(name, value),
    delete: (name) => void facts.delete(name),
  };
}

/** The whole store in memory. `journaled` shows what was journaled. */
export function memoryStore(): StorePort & { readonly journaled: JournalRow[] } {
  const journaled: JournalRow[] = [];
  const hooks: (() => void)[] = [];
  return {
    journaled,
    objects: memoryObjects(),
    intents: memoryTable<IntentRow>((row) => row.id),
    expectations: memoryTable<ExpectationRow>((row) => `${row.controller} ${row.key}`),
    ownWrites: memoryTable<OwnWriteRow>((row) =>
      [row.controller, row.ownerKey, row.resource].join(' '),
    ),
    work: memoryTable<WorkRow>((row) => `${row.queue} ${row.key}`),
    memory: memoryTable<MemoryRow>((row) => `${row.controller} ${row.key}`),
    facts: memoryFacts(),
    journal: (row) => void journaled.push(row),
    beforeCommit: (hook) => void hooks.push(hook),
    commit: () => {
      for (const hook of hooks) hook();
      return true;
    },
    forgetCluster: () => undefined,
    health: () => ({
      problem: '',
      opened: 'created',
      databaseBytes: 0,
      walBytes: 0,
      pendingRows: 0,
      pendingBytes: 0,
      commits: 0,
      commitErrors: 0,
      bytesWritten: 0,
      bytesLastHour: 0,
      commitsLastHour: 0,
      tornResources: [],
    }),
    close: () => undefined,
  };
}
