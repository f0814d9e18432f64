import { beforeEach, describe, expect, test } from 'bun:test';
import { createOwnWrites, type OwnWrites, type StaleRead } from './own-writes.ts';
import type { OwnWriteRow } from './ports.ts';
import { type MemoryTable, memoryTable } from './testing/memory-table.ts';

let store: MemoryTable<OwnWriteRow>;
let skips: StaleRead[];
let writes: OwnWrites;

function open(term: number, since = 7): OwnWrites {
  return createOwnWrites({
    controller: 'rs',
    store,
    term,
    since,
    skipped: (stale) => skips.push(stale),
  });
}

/** Caches that are complete up to these versions. */
function caches(versions: Record<string, string>): (resource: string) => string {
  return (resource) => versions[resource] ?? '';
}

beforeEach(() => {
  store = memoryTable((row) => `${row.controller}/${row.ownerKey}/${row.resource}`);
  skips = [];
  writes = open(7);
});

describe('own writes', () => {
  test('an owner nothing was written for is caught up', () => {
    expect(writes.caughtUp('ns/a', 'uid', caches({}))).toBe(true);
  });

  test('hold an owner back until every cache has reached what was written', () => {
    writes.record('ns/a', 'uid', 'pods', '100');
    writes.record('ns/a', 'uid', 'replicasets.apps', '99');
    const versions = { pods: '99', 'replicasets.apps': '99' };
    expect(writes.caughtUp('ns/a', 'uid', caches(versions))).toBe(false);
    expect(skips).toEqual([{ resource: 'pods', wrote: '100', read: '99' }]);
    expect(writes.caughtUp('ns/b', 'uid', caches(versions))).toBe(true);
    versions.pods = '1000';
    expect(store.all()).toHaveLength(2);
    expect(writes.caughtUp('ns/a', 'uid', caches(versions))).toBe(true);
    expect(store.all()).toEqual([]);
    versions.pods = '1';
    expect(writes.caughtUp('ns/a', 'uid', caches(versions))).toBe(true);
    expect(skips).toHaveLength(1);
  });

  test('of several versions the newest counts, whatever their order', () => {
    writes.record('ns/a', 'uid', 'pods', '1000');
    writes.record('ns/a', 'uid', 'pods', '999');
    expect(store.all()).toEqual([
      {
        controller: 'rs',
        ownerKey: 'ns/a',
        ownerUid: 'uid',
        resource: 'pods',
        resourceVersion: '1000',
        term: 7,
      },
    ]);
    expect(writes.caughtUp('ns/a', 'uid', caches({ pods: '999' }))).toBe(false);
  });

  test.each([
    ['an unknown cache', '5', ''],
    ['a cache version that is none', '5', '0'],
    ['a written version that is none', 'abc', '1'],
  ])('%s is no obstacle', (_, wrote, read) => {
    writes.record('ns/a', 'uid', 'pods', wrote);
    expect(writes.caughtUp('ns/a', 'uid', caches({ pods: read }))).toBe(true);
  });

  test('do not hold a namesake back', () => {
    writes.record('ns/a', 'uid', 'pods', '100');
    expect(writes.caughtUp('ns/a', 'new uid', caches({ pods: '1' }))).toBe(true);
    expect(store.all()).toEqual([]);
    writes.record('ns/a', 'uid', 'pods', '100');
    writes.record('ns/a', 'new uid', 'replicasets.apps', '50');
    expect(store.all()).toMatchObject([{ ownerUid: 'new uid', resource: 'replicasets.apps' }]);
  });

  test('end with their owner, and all with the history of the server', () => {
    writes.record('ns/a', 'uid', 'pods', '100');
    writes.record('ns/b', 'uid', 'pods', '100');
    writes.forget('ns/a');
    expect(writes.list()).toMatchObject([{ ownerKey: 'ns/b' }]);
    store.put({ ...store.all()[0]!, ownerKey: 'ns/never restored' });
    writes.clear();
    expect(writes.caughtUp('ns/b', 'uid', caches({ pods: '1' }))).toBe(true);
    expect(store.all()).toEqual([]);
  });

  test('survive a restart, not the lead of somebody else in between', () => {
    writes.record('ns/a', 'uid', 'pods', '100');
    const next = open(8);
    next.restore();
    expect(next.caughtUp('ns/a', 'uid', caches({ pods: '99' }))).toBe(false);
    expect(store.all()).toMatchObject([{ term: 8 }]);
    const later = open(10, 9);
    later.restore();
    expect(later.caughtUp('ns/a', 'uid', caches({ pods: '99' }))).toBe(true);
    expect(store.all()).toEqual([]);
  });
});
