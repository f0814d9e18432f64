import { describe, expect, test } from 'bun:test';
import { afterFailure, afterRead, afterWrite, NEWCOMER, releaseOf, startTry } from './elect.ts';
import type { ElectionState, Moment, Rules, Step, Turn } from './state.ts';
import type { ElectionRecord, SeenLease } from './term.ts';
import { microTime } from './times.ts';

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
const RULES: Rules = { identity: 'me', times: TIMES };
const WALL = Date.parse('2026-02-03T04:05:06.789Z');
const FAILED = { conflict: false, text: 'connection refused' };
const CONFLICT = { conflict: true, text: 'the object has been modified' };
const READ: Step = { do: 'read' };

function at(mono: number): Moment {
  return { mono, wall: WALL + mono };
}

function record(over: Partial<ElectionRecord> = {}): ElectionRecord {
  return {
    holderIdentity: 'other',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-01T00:00:00.000000Z',
    renewTime: '2026-01-01T00:00:10.000000Z',
    leaseTransitions: 7,
    ...over,
  };
}

function seen(over: Partial<ElectionRecord> = {}, uid = 'lease-1'): SeenLease {
  return { uid, resourceVersion: '1', record: record(over) };
}

/** Reads `lease` at `mono` as the first thing or in a given state; the read takes 10 ms. */
function read(
  lease: SeenLease | undefined,
  mono = 1_000,
  rules = RULES,
  state: ElectionState = NEWCOMER,
  random = 0.5,
): Turn {
  return afterRead(state, lease, at(mono), at(mono + 10), rules, random);
}

/** Sends the write of `turn` at `mono`, answered 10 ms later. */
function succeed(turn: Turn, mono: number, rules = RULES, uid = 'lease-1'): Turn {
  const step = turn.step;
  if (step.do !== 'create' && step.do !== 'update') throw new Error(`no write but ${step.do}`);
  const written = { uid, resourceVersion: '2', record: step.record };
  return afterWrite(turn.state, written, at(mono), at(mono + 10), rules);
}

/** A candidate that took an expired Lease with a write sent at 16,000. */
function leader(rules = RULES): Turn {
  const first = read(seen(), 0, rules);
  return succeed(read(seen(), 15_010, rules, first.state), 16_000, rules);
}

describe('a standby', () => {
  test('reads first', () => {
    expect(startTry(NEWCOMER, at(0), RULES, true).step).toEqual(READ);
  });

  test('does nothing while the main thread is stuck', () => {
    const turn = startTry(NEWCOMER, at(0), RULES, false);
    expect(turn.step).toEqual({ do: 'wait', ms: 2_000, because: 'the main thread is stuck' });
  });

  test('creates a Lease that is not there', () => {
    const turn = read(undefined);
    const now = microTime(WALL + 1_010);
    const created = {
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 0,
    };
    expect(turn.step).toEqual({ do: 'create', record: created });
    const led = succeed(turn, 1_020).step;
    expect(led).toMatchObject({ do: 'lead', lead: { term: 0, how: 'created', followsOwn: false } });
  });

  test('takes a Lease without a holder at once, with one more transition', () => {
    const turn = read(seen({ holderIdentity: '', leaseDurationSeconds: 1 }));
    expect(turn.step).toMatchObject({
      do: 'update',
      slowPath: false,
      record: { holderIdentity: 'me', leaseTransitions: 8, leaseDurationSeconds: 15 },
    });
    const led = succeed(turn, 1_020).step;
    expect(led).toMatchObject({ do: 'lead', lead: { term: 8, how: 'released-by-other' } });
  });

  test.each([
    [0, 2_000],
    [0.5, 3_200],
    [0.999, 4_398],
  ])('waits (1 + 1.2 x %p) retry periods while another holds it', (random, ms) => {
    const turn = read(seen(), 1_000, RULES, NEWCOMER, random);
    expect(turn.step).toEqual({ do: 'wait', ms, because: 'held by other' });
  });

  test('waits the duration of the record from when it was first seen, by its own clock', () => {
    // The record says it is long over: its own times don't count.
    const first = read(seen(), 0);
    const early = read(seen(), 15_009, RULES, first.state);
    expect(early.step).toEqual({ do: 'wait', ms: 1, because: 'held by other' });
    const turn = read(seen(), 15_010, RULES, early.state);
    expect(turn.step).toMatchObject({ do: 'update', record: { leaseTransitions: 8 } });
    expect(succeed(turn, 15_020).step).toMatchObject({ do: 'lead', lead: { how: 'expired' } });
  });

  test('uses the duration that the record names, not its own', () => {
    const first = read(seen({ leaseDurationSeconds: 60 }), 0);
    const early = read(seen({ leaseDurationSeconds: 60 }), 59_000, RULES, first.state);
    expect(early.step).toMatchObject({ do: 'wait', ms: 1_010 });
    const turn = read(seen({ leaseDurationSeconds: 60 }), 60_010, RULES, early.state);
    expect(turn.step.do).toBe('update');
  });

  test.each([
    ['renewTime', { renewTime: '2026-01-01T00:00:12.000000Z' }],
    ['holder', { holderIdentity: 'third', leaseTransitions: 8 }],
    ['duration', { leaseDurationSeconds: 16 }],
  ])('starts to wait anew when the record changes: %s', (_field, change) => {
    const first = read(seen(), 0);
    const changed = read(seen(change), 14_000, RULES, first.state);
    const turn = read(seen(change), 15_020, RULES, changed.state);
    expect(turn.step.do).toBe('wait');
  });

  test('waits anew for another Lease object that says the same', () => {
    const first = read(seen(), 0);
    const turn = read(seen({}, 'lease-2'), 20_000, RULES, first.state);
    expect(turn.step.do).toBe('wait');
  });

  test('keeps the time of the first sight over failed reads', () => {
    const first = read(seen(), 0);
    const failed = afterFailure(first.state, READ, FAILED, at(9_000), RULES, 0);
    expect(failed.step).toEqual({ do: 'wait', ms: 2_000, because: 'connection refused' });
    expect(read(seen(), 15_010, RULES, failed.state).step.do).toBe('update');
  });

  test('waits out the holder of a Lease that was deleted: it may not know yet', () => {
    const first = read(seen(), 0);
    const gone = read(undefined, 14_000, RULES, first.state);
    expect(gone.step).toMatchObject({ do: 'wait', ms: 1_010 });
    expect(read(undefined, 15_010, RULES, gone.state).step.do).toBe('create');
    const released = read(seen({ holderIdentity: '' }), 0);
    expect(read(undefined, 10, RULES, released.state).step.do).toBe('create');
  });

  test('waits a drawn time after a conflict', () => {
    const turn = read(seen({ holderIdentity: '' }));
    const failed = afterFailure(turn.state, turn.step, CONFLICT, at(1_100), RULES, 0.5);
    expect(failed.step).toMatchObject({ do: 'wait', ms: 3_200 });
  });

  test('does not lead when the answer comes after its hold, but takes what is its own then', () => {
    const turn = read(seen({ holderIdentity: '' }), 0);
    if (turn.step.do !== 'update') throw new Error('no update');
    const written = { ...seen(), record: turn.step.record };
    const late = afterWrite(turn.state, written, at(20), at(12_020), RULES);
    expect(late.step).toMatchObject({ do: 'wait', ms: 0 });
    const again = succeed(read(written, 12_030, RULES, late.state), 12_050);
    expect(again.step).toMatchObject({ do: 'lead', lead: { how: 'released-by-other', term: 8 } });
  });

  test('finds a take whose answer was lost and leads by how it had begun', () => {
    const turn = read(undefined);
    const failed = afterFailure(turn.state, turn.step, FAILED, at(6_000), RULES, 0);
    const found = read(
      seen({ holderIdentity: 'me', leaseTransitions: 0 }),
      8_000,
      RULES,
      failed.state,
    );
    expect(found.step).toMatchObject({ do: 'update', record: { leaseTransitions: 0 } });
    expect(succeed(found, 8_020).step).toMatchObject({ do: 'lead', lead: { how: 'created' } });
  });
});

describe('a holder', () => {
  test('may write from the sending of its renewal until retry period plus deadline', () => {
    expect(leader().state.heldUntil).toBe(16_000 + 12_000);
  });

  test('updates without reading and keeps acquire time and transitions', () => {
    const { state } = leader();
    const turn = startTry(state, at(18_010), RULES, true);
    expect(turn.step).toMatchObject({
      do: 'update',
      slowPath: false,
      record: {
        holderIdentity: 'me',
        leaseTransitions: 8,
        acquireTime: state.seen?.record.acquireTime,
        renewTime: microTime(WALL + 18_010),
      },
    });
    const renewed = succeed(turn, 18_020);
    expect(renewed.step).toEqual({ do: 'wait', ms: 2_000, because: 'renewed' });
    expect(renewed.state.heldUntil).toBe(18_020 + 12_000);
  });

  test('reads after a failed update and updates what it read (slow path)', () => {
    const turn = startTry(leader().state, at(18_010), RULES, true);
    const failed = afterFailure(turn.state, turn.step, CONFLICT, at(18_020), RULES, 0);
    expect(failed.step).toEqual(READ);
    const own = seen({ holderIdentity: 'me', leaseTransitions: 8 });
    const slow = read(own, 18_030, RULES, failed.state);
    expect(slow.step).toMatchObject({ do: 'update', slowPath: true });
    expect(succeed(slow, 18_050).step.do).toBe('wait');
  });

  test('tries again after one retry period until the renew deadline', () => {
    let state = leader().state;
    let mono = 18_010;
    const waits: number[] = [];
    for (let tries = 0; tries < 20; tries++) {
      const turn = startTry(state, at(mono), RULES, true);
      if (turn.step.do === 'lost') break;
      const read = afterFailure(turn.state, turn.step, FAILED, at(mono), RULES, 0);
      const again = afterFailure(read.state, READ, FAILED, at(mono), RULES, 0);
      if (again.step.do !== 'wait') throw new Error(`no wait but ${again.step.do}`);
      waits.push(again.step.ms);
      state = again.state;
      mono += again.step.ms;
    }
    expect(waits).toEqual([2_000, 2_000, 2_000, 2_000, 1_990]);
    expect(mono).toBe(28_000);
  });

  test('gives up when a failure comes back too late', () => {
    const turn = startTry(leader().state, at(18_010), RULES, true);
    const failed = afterFailure(turn.state, turn.step, FAILED, at(28_010), RULES, 0);
    const because = 'the Lease could not be renewed in time: connection refused';
    expect(failed.step).toEqual({ do: 'lost', because });
    expect(failed.state.heldUntil).toBe(0);
  });

  test('is over when its hold has passed, even if the renewal then succeeds', () => {
    const turn = startTry(leader().state, at(18_010), RULES, true);
    if (turn.step.do !== 'update') throw new Error('no update');
    const written = { ...seen(), record: turn.step.record };
    const late = afterWrite(turn.state, written, at(18_010), at(28_000), RULES);
    expect(late.step.do).toBe('lost');
    const last = { identity: 'me', leaseUid: 'lease-1', leaseTransitions: 8, since: 5 };
    const back = (rules: Rules) =>
      succeed(read(written, 28_010, rules, late.state), 28_030, rules).step;
    const lead = { how: 'regained', term: 8, since: 5, followsOwn: true };
    expect(back({ ...RULES, remembered: last })).toMatchObject({ do: 'lead', lead });
    // Nobody had heard of that term: then it is as good as a foreign one.
    const unheard = { how: 'expired', term: 8, since: 8, followsOwn: false };
    expect(back(RULES)).toMatchObject({ do: 'lead', lead: unheard });
  });

  test.each([
    ['another holder', seen({ leaseTransitions: 9 })],
    ['no holder', seen({ holderIdentity: '', leaseTransitions: 8 })],
    ['itself in another term', seen({ holderIdentity: 'me', leaseTransitions: 10 })],
  ])('steps down at once when it reads %s', (_what, lease) => {
    const turn = startTry(leader().state, at(18_010), RULES, true);
    const failed = afterFailure(turn.state, turn.step, CONFLICT, at(18_020), RULES, 0);
    const lost = read(lease, 18_030, RULES, failed.state);
    expect(lost.step.do).toBe('lost');
    expect(lost.state.phase).toBe('standby');
  });

  test('makes a deleted Lease anew and goes on in its term', () => {
    const turn = startTry(leader().state, at(18_010), RULES, true);
    const failed = afterFailure(turn.state, turn.step, FAILED, at(18_020), RULES, 0);
    const create = read(undefined, 18_030, RULES, failed.state);
    expect(create.step).toMatchObject({ do: 'create', record: { leaseTransitions: 8 } });
    const renewed = succeed(create, 18_050, RULES, 'lease-2');
    expect(renewed.step.do).toBe('wait');
    expect(renewed.state.own).toEqual({ leaseUid: 'lease-2', leaseTransitions: 8 });
  });

  test('does not renew for a stuck main thread, and is over when its hold has passed', () => {
    const { state } = leader();
    const stuck = startTry(state, at(27_000), RULES, false);
    expect(stuck.step).toMatchObject({ do: 'wait', ms: 1_000 });
    expect(startTry(stuck.state, at(28_000), RULES, false).step.do).toBe('lost');
    expect(startTry(stuck.state, at(27_500), RULES, true).step.do).toBe('update');
  });

  test('after a loss waits for the next holder like anybody else', () => {
    const turn = startTry(leader().state, at(18_010), RULES, true);
    const failed = afterFailure(turn.state, turn.step, CONFLICT, at(18_020), RULES, 0);
    const next = seen({ leaseTransitions: 9 });
    const lost = read(next, 18_030, RULES, failed.state);
    expect(read(next, 33_039, RULES, lost.state).step.do).toBe('wait');
    const take = read(next, 33_040, RULES, lost.state);
    expect(succeed(take, 33_060).step).toMatchObject({
      do: 'lead',
      lead: { how: 'expired', term: 10, followsOwn: false },
    });
  });
});

describe('release', () => {
  test('writes no holder, one second and the time, and keeps the transitions', () => {
    const now = microTime(WALL + 5);
    expect(releaseOf(seen({ holderIdentity: 'me' }), at(5), RULES)).toEqual({
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 7,
    });
  });

  test('leaves the Lease of another alone', () => {
    expect(releaseOf(seen(), at(5), RULES)).toBeUndefined();
  });
});
