import { beforeEach, describe, expect, test } from 'bun:test';
import { createMemory, type Memory } from './memory.ts';
import type { MemoryRow } from './ports.ts';
import { type FakeClock, fakeClock } from './testing/fake-clock.ts';
import { type MemoryTable, memoryTable } from './testing/memory-table.ts';

const START = Date.parse('2026-11-30T06:00:00Z');
const YEAR_MS = 365 * 86_400_000;

let clock: FakeClock;
let store: MemoryTable<MemoryRow>;

function open(term: number, rowsMax?: number, since = 7): Memory<{ n: number }> {
  return createMemory<{ n: number }>({
    controller: 'taint',
    store,
    clock,
    term,
    since,
    encode: (value) => JSON.stringify(value),
    decode: (text) => JSON.parse(text) as { n: number },
    ...(rowsMax === undefined ? {} : { rowsMax }),
  });
}

beforeEach(() => {
  clock = fakeClock(START);
  store = memoryTable((row) => `${row.controller}/${row.key}`);
});

describe('memory', () => {
  test('gives back what was set, and keeps it in the store', () => {
    const memory = open(7);
    memory.set('ns/a', 'uid', { n: 1 });
    memory.set('ns/a', 'uid', { n: 2 }, { expiresInMs: 1000 });
    expect(memory.get('ns/a', 'uid')).toEqual({ n: 2 });
    expect(store.all()).toEqual([
      {
        controller: 'taint',
        key: 'ns/a',
        subjectUid: 'uid',
        value: '{"n":2}',
        term: 7,
        expiresAt: START + 1000,
        updatedAt: START,
      },
    ]);
    memory.delete('ns/a');
    expect(memory.get('ns/a', 'uid')).toBeUndefined();
    expect(store.all()).toEqual([]);
  });

  test('is of one object: a namesake finds nothing, and what there was goes', () => {
    const memory = open(7);
    memory.set('ns/a', 'uid', { n: 1 });
    expect(memory.get('ns/a', 'new uid')).toBeUndefined();
    expect(memory.get('ns/a', 'uid')).toBeUndefined();
    expect(store.all()).toEqual([]);
  });

  test('expires by watched time, not by the wall clock', async () => {
    const memory = open(7);
    memory.set('ns/a', 'uid', { n: 1 }, { expiresInMs: 1000 });
    memory.set('ns/b', 'uid', { n: 2 });
    clock.setWall(START + YEAR_MS);
    await clock.advance(999);
    expect(memory.get('ns/a', 'uid')).toEqual({ n: 1 });
    await clock.advance(1);
    expect(memory.all()).toEqual([{ key: 'ns/b', subjectUid: 'uid', value: { n: 2 } }]);
    expect(store.all()).toHaveLength(1);
  });

  test('setting again renews the time to live, also to for ever', async () => {
    const memory = open(7);
    memory.set('ns/a', 'uid', { n: 1 }, { expiresInMs: 1000 });
    memory.set('ns/a', 'uid', { n: 2 });
    await clock.advance(5000);
    expect(memory.get('ns/a', 'uid')).toEqual({ n: 2 });
  });

  test('has a bound: what was set longest ago goes first', () => {
    const memory = open(7, 2);
    for (const key of ['a', 'b', 'a', 'c']) memory.set(key, 'uid', { n: 1 });
    expect(memory.all().map(({ key }) => key)).toEqual(['a', 'c']);
    expect(store.all()).toHaveLength(2);
  });
});

describe('after a restart', () => {
  test('the next term takes rows over, with their whole time to live again', async () => {
    open(7).set('ns/a', 'uid', { n: 1 }, { expiresInMs: 1000 });
    open(7).set('ns/b', 'uid', { n: 2 });
    await clock.advance(900);
    clock.setWall(START + YEAR_MS);
    const next = open(8);
    expect(next.get('ns/a', 'uid')).toBeUndefined();
    expect(next.restore()).toEqual({ kept: 2, dropped: 0 });
    await clock.advance(999);
    expect(next.get('ns/a', 'uid')).toEqual({ n: 1 });
    expect(store.all().map(({ term }) => term)).toEqual([8, 8]);
    await clock.advance(1);
    expect(next.all().map(({ key }) => key)).toEqual(['ns/b']);
  });

  test('rows from before another one led and unreadable ones are dropped, those of others left alone', () => {
    const memory = open(7);
    memory.set('old', 'uid', { n: 1 });
    const row = store.all()[0]!;
    store.clear();
    store.put({ ...row, key: 'broken', value: '{', term: 8 });
    store.put({ ...row, key: 'old' });
    store.put({ ...row, controller: 'node' });
    const next = open(9, undefined, 8);
    expect(next.restore()).toEqual({ kept: 0, dropped: 2 });
    expect(next.all()).toEqual([]);
    expect(store.all()).toMatchObject([{ controller: 'node' }]);
  });

  test('all of it can be forgotten, restored or not', () => {
    open(7).set('ns/a', 'uid', { n: 1 });
    const next = open(8);
    next.set('ns/b', 'uid', { n: 2 }, { expiresInMs: 10 });
    next.clear();
    expect(next.all()).toEqual([]);
    expect(store.all()).toEqual([]);
  });

  test('what was restored can be forgotten, what was set since stays', () => {
    const before = open(7);
    before.set('ns/a', 'uid', { n: 1 });
    before.set('ns/b', 'uid', { n: 2 });
    const memory = open(8);
    memory.restore();
    memory.set('ns/b', 'uid', { n: 2 });
    memory.dropRestored();
    expect(memory.all().map(({ key }) => key)).toEqual(['ns/b']);
    expect(store.all().map(({ key }) => key)).toEqual(['ns/b']);
  });
});
