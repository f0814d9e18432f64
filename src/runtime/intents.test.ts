import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Intents } from './intents.ts';
import { INTENT_EXPIRY_MS } from './limits.ts';
import type { IntentRow, RowTable } from './ports.ts';
import { fakeClock } from './testing/fake-clock.ts';
import { memoryTable } from './testing/memory-table.ts';

const SLOT = { ownerUid: 'rs-1', slot: 'replica', resource: 'pods', namespace: 'default' };
const VICTIM = { resource: 'pods', namespace: 'default', name: 'web-x', uid: 'uid-x' };

function world(term = 1): {
  clock: ReturnType<typeof fakeClock>;
  table: RowTable<IntentRow>;
  open: (term?: number, since?: number) => Intents;
} {
  const clock = fakeClock(1_000_000);
  const table = memoryTable<IntentRow>((row) => row.id);
  let ids = 0;
  const open = (inTerm = term, since = 1): Intents =>
    new Intents({
      controller: 'replicaset-controller',
      table,
      clock,
      term: inTerm,
      since,
      newId: () => `i${++ids}`,
    });
  return { clock, table, open };
}

describe('Intents', () => {
  test('a create that was left open is announced again under its first name', () => {
    const { open } = world();
    const intents = open();
    const first = intents.announceCreate(SLOT, () => 'web-aaaaa');
    intents.leaveOpen(first);
    expect(intents.announceCreate(SLOT, () => 'web-bbbbb').name).toBe('web-aaaaa');
  });

  test('one that was handed out again may be done, also once it was seen', () => {
    const intents = world().open();
    const first = intents.announceCreate(SLOT, () => 'web-aaaaa');
    expect(intents.mayBeDone(first)).toBe(false);
    intents.leaveOpen(first);
    const again = intents.announceCreate(SLOT, () => 'web-bbbbb');
    intents.created('pods', 'default', 'web-aaaaa');
    expect(intents.mayBeDone(again)).toBe(true);
  });

  test('a refusal ends one that was sent once, and leaves one open that may be done', () => {
    const intents = world().open();
    intents.refused(intents.announceDelete(VICTIM, 'rs-1'));
    expect(intents.list()).toEqual([]);
    intents.leaveOpen(intents.announceDelete(VICTIM, 'rs-1'));
    intents.refused(intents.announceDelete(VICTIM, 'rs-1'));
    expect([...intents.deleting('rs-1')]).toEqual(['uid-x']);
  });

  test('a create under way is not handed out a second time', () => {
    const { open } = world();
    const intents = open();
    intents.announceCreate(SLOT, () => 'web-aaaaa');
    expect(intents.announceCreate(SLOT, () => 'web-bbbbb').name).toBe('web-bbbbb');
  });

  test('the next process takes up what the dead one left, in the term after it', () => {
    const { open } = world();
    open(4).announceCreate(SLOT, () => 'web-aaaaa');
    expect(open(5).announceCreate(SLOT, () => 'web-bbbbb').name).toBe('web-aaaaa');
  });

  test('a process of a later line of terms drops them: somebody else led between', () => {
    const { open, table } = world();
    open(4).announceCreate(SLOT, () => 'web-aaaaa');
    expect(open(6, 5).list()).toEqual([]);
    expect(table.all()).toEqual([]);
  });

  test('another owner or slot never gets the name', () => {
    const { open } = world();
    const intents = open();
    intents.leaveOpen(intents.announceCreate(SLOT, () => 'web-aaaaa'));
    const other = intents.announceCreate({ ...SLOT, ownerUid: 'rs-2' }, () => 'api-ccccc');
    const slot = intents.announceCreate({ ...SLOT, slot: 'index-1' }, () => 'web-ddddd');
    expect([other.name, slot.name]).toEqual(['api-ccccc', 'web-ddddd']);
  });

  test('an open intent expires two minutes after it was last sent', async () => {
    const { open, clock, table } = world();
    const intents = open();
    intents.leaveOpen(intents.announceCreate(SLOT, () => 'web-aaaaa'));
    await clock.advance(INTENT_EXPIRY_MS - 1);
    expect(intents.list()).toHaveLength(1);
    await clock.advance(2);
    expect(intents.list()).toEqual([]);
    expect(table.all()).toEqual([]);
  });

  test('an expired one leaves the disk by itself, as long as its lead lasts', async () => {
    const { clock, table } = world();
    const end = new AbortController();
    const { signal } = end;
    const base = { controller: 'rs', table, clock, since: 1, signal };
    const make = (term: number): Intents =>
      new Intents({ ...base, term, newId: () => `swept ${term}` });
    const intents = make(1);
    intents.leaveOpen(intents.announceDelete(VICTIM, 'rs-1'));
    await clock.advance(INTENT_EXPIRY_MS);
    expect(table.all()).toHaveLength(1);
    await clock.advance(INTENT_EXPIRY_MS);
    expect(table.all()).toEqual([]);
    expect(clock.timers()).toBe(0);
    intents.leaveOpen(intents.announceDelete(VICTIM, 'rs-1'));
    end.abort();
    await clock.advance(2 * INTENT_EXPIRY_MS);
    expect(table.all()).toHaveLength(1);
  });

  test.each([-1, 1])('a wall clock %d years off changes no expiry', async (years) => {
    const { open, clock } = world();
    const intents = open();
    intents.leaveOpen(intents.announceCreate(SLOT, () => 'web-aaaaa'));
    clock.setWall(clock.now() + years * 365 * 24 * 3_600_000);
    await clock.advance(INTENT_EXPIRY_MS - 1);
    expect(intents.list()).toHaveLength(1);
    await clock.advance(2);
    expect(intents.list()).toEqual([]);
  });

  test('a create is taken up by the next process whatever the wall clock says meanwhile', async () => {
    const { open, clock } = world();
    open(1).announceCreate(SLOT, () => 'web-aaaaa');
    clock.setWall(clock.now() + 5 * 3_600_000);
    const restarted = open(2);
    expect(restarted.announceCreate(SLOT, () => 'web-bbbbb').name).toBe('web-aaaaa');
  });

  test('a victim of long ago does not count as going', async () => {
    const { open, clock } = world();
    open(1).announceDelete(VICTIM, 'rs-1');
    await clock.advance(INTENT_EXPIRY_MS + 1);
    expect(open(2).deleting('rs-1')).toEqual(new Set());
  });

  test('one sent by a clock that was ahead expires like any other', async () => {
    const { open, clock } = world();
    open(1).announceCreate(SLOT, () => 'web-aaaaa');
    clock.setWall(clock.now() - 900_000);
    const restarted = open(2);
    expect(restarted.list()).toHaveLength(1);
    await clock.advance(INTENT_EXPIRY_MS + 1);
    expect(restarted.list()).toEqual([]);
  });

  test('an object that is seen fulfils the open create of its name', () => {
    const { open, table } = world();
    open(1).announceCreate(SLOT, () => 'web-aaaaa');
    const restarted = open(2);
    restarted.created('pods', 'default', 'web-aaaaa');
    expect(table.all()).toEqual([]);
    expect(restarted.announceCreate(SLOT, () => 'web-bbbbb').name).toBe('web-bbbbb');
  });

  test('an object that is seen before the answer fulfils its create, whatever the answer is', () => {
    const { open, table } = world();
    const intents = open();
    const row = intents.announceCreate(SLOT, () => 'web-aaaaa');
    intents.created('pods', 'default', 'web-aaaaa');
    intents.leaveOpen(row);
    expect(table.all()).toEqual([]);
    expect(intents.announceCreate(SLOT, () => 'web-bbbbb').name).toBe('web-bbbbb');
  });

  test('what is taken over is on record for the process after the next one', () => {
    const { open } = world();
    open(4).announceCreate(SLOT, () => 'web-aaaaa');
    open(5);
    expect(open(6).announceCreate(SLOT, () => 'web-bbbbb').name).toBe('web-aaaaa');
  });

  test('a deletion taken over whose victim no cache holds is fulfilled', () => {
    const { open, table } = world();
    const dead = open(1);
    dead.announceDelete(VICTIM, 'rs-1');
    dead.announceDelete({ ...VICTIM, name: 'web-y', uid: 'uid-y' }, 'rs-1');
    dead.announceCreate(SLOT, () => 'web-aaaaa');
    open(2).settleGone(({ uid }) => uid === 'uid-y');
    expect(table.all().map(({ name }) => name)).toEqual(['web-y', 'web-aaaaa']);
  });

  test('a victim counts as going until it is seen gone', () => {
    const { open } = world();
    open(1).announceDelete(VICTIM, 'rs-1');
    const restarted = open(2);
    expect([...restarted.deleting('rs-1')]).toEqual(['uid-x']);
    expect([...restarted.deleting('rs-2')]).toEqual([]);
    restarted.gone('uid-x');
    expect([...restarted.deleting('rs-1')]).toEqual([]);
  });

  test('whatever happens, no name is in flight twice and every open row is on record', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('create' as const), slot: fc.integer({ min: 0, max: 2 }) }),
      fc.record({ do: fc.constant('settle' as const), pick: fc.nat(9) }),
      fc.record({ do: fc.constant('leave' as const), pick: fc.nat(9) }),
      fc.record({ do: fc.constant('restart' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { open, table } = world();
        let term = 1;
        let intents = open(term);
        let flying: IntentRow[] = [];
        let names = 0;
        for (const now of steps) {
          if (now.do === 'create') {
            const slot = { ...SLOT, slot: `s${now.slot}` };
            const row = intents.announceCreate(slot, () => `web-${++names}`);
            expect(flying.map((other) => other.name)).not.toContain(row.name);
            flying.push(row);
          } else if (now.do === 'restart') {
            intents = open(++term);
            flying = [];
          } else {
            const row = flying[now.pick % Math.max(1, flying.length)];
            if (row === undefined) continue;
            if (now.do === 'settle') intents.settle(row);
            else intents.leaveOpen(row);
            flying = flying.filter((other) => other !== row);
          }
          const onRecord = new Set(table.all().map((row) => row.id));
          for (const row of intents.list()) expect(onRecord.has(row.id)).toBe(true);
        }
      }),
    );
  });
});
