import { beforeEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createExpectations, type RememberedExpectations } from './expectations.ts';
import { EXPECTATION_TIMEOUT_MS } from './limits.ts';
import type { ExpectationRow } from './ports.ts';
import { type FakeClock, fakeClock } from './testing/fake-clock.ts';
import { type MemoryTable, memoryTable } from './testing/memory-table.ts';

const START = Date.parse('2026-11-30T06:00:00Z');

let clock: FakeClock;
let store: MemoryTable<ExpectationRow>;
let book: RememberedExpectations;

function open(term: number, since = 7): RememberedExpectations {
  return createExpectations({ controller: 'rs', store, clock, term, since });
}

beforeEach(() => {
  clock = fakeClock(START);
  store = memoryTable((row) => `${row.controller}/${row.key}`);
  book = open(7);
});

describe('expectations that run out', () => {
  const expired: string[] = [];
  let end: AbortController;

  beforeEach(() => {
    expired.length = 0;
    end = new AbortController();
    const told = (key: string): void => void expired.push(key);
    const { signal } = end;
    book = createExpectations({
      controller: 'rs',
      store,
      clock,
      term: 7,
      since: 7,
      expired: told,
      signal,
    });
  });

  test('are forgotten, and their keys told, each at its time', async () => {
    book.expect('ns/a', 'uid', 1, []);
    await clock.advance(1_000);
    book.expect('ns/b', 'uid', 0, ['ns/p']);
    book.expect('ns/seen', 'uid', 1, []);
    book.creationObserved('ns/seen');
    await clock.advance(EXPECTATION_TIMEOUT_MS - 1_000);
    expect(expired).toEqual([]);
    await clock.advance(1);
    expect(expired).toEqual(['ns/a']);
    await clock.advance(1_000);
    expect(expired).toEqual(['ns/a', 'ns/b']);
    expect(store.all()).toEqual([]);
    expect(clock.timers()).toBe(0);
  });

  test('are left to the next term once the lead has ended', async () => {
    book.expect('ns/a', 'uid', 1, []);
    end.abort();
    await clock.advance(2 * EXPECTATION_TIMEOUT_MS);
    expect(expired).toEqual([]);
    expect(store.all()).toHaveLength(1);
  });
});

describe('expectations', () => {
  test('are satisfied if never set', () => {
    expect(book.satisfied('ns/a')).toBe(true);
    book.creationObserved('ns/a');
    book.deletionObserved('ns/a', 'ns/p');
    expect(store.all()).toEqual([]);
  });

  test('hold until every creation and every deletion was seen, and are in the store till then', () => {
    book.expect('ns/a', 'uid', 2, ['ns/p1', 'ns/p2']);
    expect(store.all()).toEqual([
      {
        controller: 'rs',
        key: 'ns/a',
        ownerUid: 'uid',
        adds: 2,
        deletes: 2,
        deleteKeys: ['ns/p1', 'ns/p2'],
        term: 7,
        setAt: START,
      },
    ]);
    book.creationObserved('ns/a');
    book.deletionObserved('ns/a', 'ns/p1');
    expect(store.all()).toMatchObject([{ adds: 1, deletes: 1, deleteKeys: ['ns/p2'] }]);
    expect(book.satisfied('ns/a')).toBe(false);
    book.creationObserved('ns/a');
    expect(book.satisfied('ns/a')).toBe(false);
    book.deletionObserved('ns/a', 'ns/p2');
    expect(book.satisfied('ns/a')).toBe(true);
    expect(store.all()).toEqual([]);
  });

  test('count the deletion of a pod once, and only of pods that were named', () => {
    book.expect('ns/a', 'uid', 0, ['ns/p1', 'ns/p2']);
    book.deletionObserved('ns/a', 'ns/p1');
    book.deletionObserved('ns/a', 'ns/p1');
    book.deletionObserved('ns/a', 'ns/other');
    expect(book.satisfied('ns/a')).toBe(false);
  });

  test('surplus creations do not pay for deletions', () => {
    book.expect('ns/a', 'uid', 1, ['ns/p1']);
    book.creationObserved('ns/a');
    book.creationObserved('ns/a');
    expect(book.satisfied('ns/a')).toBe(false);
  });

  test('are replaced whole by new ones', () => {
    book.expect('ns/a', 'uid', 5, ['ns/p1']);
    book.expect('ns/a', 'uid', 0, ['ns/p2']);
    expect(store.all()).toMatchObject([{ adds: 0, deleteKeys: ['ns/p2'] }]);
    book.expect('ns/a', 'uid', 0, []);
    expect(book.satisfied('ns/a')).toBe(true);
    expect(store.all()).toEqual([]);
  });

  test('hold no longer than five minutes, whatever the wall clock does', async () => {
    book.expect('ns/a', 'uid', 1, []);
    clock.setWall(START + 365 * 86_400_000);
    await clock.advance(EXPECTATION_TIMEOUT_MS);
    expect(book.satisfied('ns/a')).toBe(false);
    await clock.advance(1);
    expect(book.satisfied('ns/a')).toBe(true);
    expect(store.all()).toEqual([]);
  });

  test('do not hold for a namesake of their owner', () => {
    book.expect('ns/a', 'uid', 1, []);
    expect(book.satisfied('ns/a', 'uid')).toBe(false);
    expect(book.satisfied('ns/a', 'new uid')).toBe(true);
    expect(store.all()).toEqual([]);
  });

  test('can be forgotten', () => {
    book.expect('ns/a', 'uid', 1, []);
    book.expect('ns/b', 'uid', 1, []);
    book.forget('ns/a');
    expect(book.satisfied('ns/a')).toBe(true);
    book.clear();
    expect(book.list()).toEqual([]);
    expect(store.all()).toEqual([]);
  });
});

describe('after a restart', () => {
  test('hold until they are seen or dropped after the fence', async () => {
    book.expect('ns/a', 'uid', 1, ['ns/p1']);
    book.expect('ns/b', 'uid', 1, []);
    const next = open(8);
    expect(next.satisfied('ns/a')).toBe(true);
    next.restore();
    expect(next.satisfied('ns/a')).toBe(false);
    expect(store.all().map(({ term }) => term)).toEqual([8, 8]);
    next.deletionObserved('ns/a', 'ns/p1');
    next.creationObserved('ns/a');
    expect(next.satisfied('ns/a')).toBe(true);
    next.expect('ns/c', 'uid', 1, []);
    next.dropRestored();
    expect(next.satisfied('ns/b')).toBe(true);
    expect(next.satisfied('ns/c')).toBe(false);
    expect(store.all().map(({ key }) => key)).toEqual(['ns/c']);
  });

  test('what was set anew since is no longer a restored one', () => {
    book.expect('ns/a', 'uid', 1, []);
    const next = open(8);
    next.restore();
    next.expect('ns/a', 'uid', 2, []);
    next.dropRestored();
    expect(next.satisfied('ns/a')).toBe(false);
  });

  test('can all be forgotten without being taken over first', () => {
    book.expect('ns/a', 'uid', 1, []);
    open(8).clear();
    expect(store.all()).toEqual([]);
  });

  test('count for nothing if somebody else led between; other controllers keep theirs', () => {
    book.expect('ns/a', 'uid', 1, []);
    const foreign = { ...store.all()[0]!, controller: 'job' };
    store.put(foreign);
    const later = open(9, 8);
    later.restore();
    expect(later.satisfied('ns/a')).toBe(true);
    expect(store.all()).toEqual([foreign]);
  });
});

test('the store always has exactly what is still awaited', () => {
  const key = fc.constantFrom('a', 'b');
  const pod = fc.constantFrom('p1', 'p2', 'p3');
  const step = fc.oneof(
    fc.record({ verb: fc.constant('expect' as const), key, adds: fc.nat(3), pods: fc.array(pod) }),
    fc.record({ verb: fc.constant('created' as const), key }),
    fc.record({ verb: fc.constant('deleted' as const), key, pod }),
    fc.record({ verb: fc.constant('forget' as const), key }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      store.clear();
      const fresh = open(1);
      const model = new Map<string, { adds: number; pods: Set<string> }>();
      for (const one of steps) {
        const awaited = model.get(one.key);
        if (one.verb === 'expect') {
          fresh.expect(one.key, 'uid', one.adds, one.pods);
          model.set(one.key, { adds: one.adds, pods: new Set(one.pods) });
        } else if (one.verb === 'created') {
          fresh.creationObserved(one.key);
          if (awaited) awaited.adds = Math.max(0, awaited.adds - 1);
        } else if (one.verb === 'deleted') {
          fresh.deletionObserved(one.key, one.pod);
          awaited?.pods.delete(one.pod);
        } else {
          fresh.forget(one.key);
          model.delete(one.key);
        }
        const open = [...model].filter(([, { adds, pods }]) => adds > 0 || pods.size > 0);
        const rows = store.all().map((row) => [row.key, row.adds, row.deleteKeys]);
        expect(rows.sort()).toEqual(open.map(([k, m]) => [k, m.adds, [...m.pods]]).sort());
        for (const k of ['a', 'b']) {
          expect(fresh.satisfied(k)).toBe(!open.some(([one]) => one === k));
        }
      }
    }),
  );
});
