import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { afterFailure, afterRead, NEWCOMER } from './elect.ts';
import type { Rules, Turn } from './state.ts';
import { mayTake } from './takeover.ts';
import type { DeadProcess, ElectionRecord, SeenLease } from './term.ts';

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
const RENEWED = '2026-01-01T00:00:10.000000Z';
const SENT = '2026-01-01T00:00:12.000000Z';
const DEAD: DeadProcess = {
  identity: 'mine-before',
  leaseUid: 'lease-1',
  leaseTransitions: 7,
  renewTimes: [RENEWED, SENT],
  retryPeriodMs: 2_000,
  sameBoot: true,
};
const LAST = { ...DEAD, since: 7 };
const REBOOTED: DeadProcess = { ...DEAD, renewTimes: [], sameBoot: false };

function seen(over: Partial<ElectionRecord> = {}, uid = 'lease-1'): SeenLease {
  const record = {
    holderIdentity: 'mine-before',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-01T00:00:00.000000Z',
    renewTime: SENT,
    leaseTransitions: 7,
    ...over,
  };
  return { uid, resourceVersion: '1', record };
}

function rules(dead: DeadProcess | undefined, remembered = true): Rules {
  return { identity: 'me', times: TIMES, dead, remembered: remembered ? LAST : undefined };
}

function firstRead(lease: SeenLease, given: Rules): Turn {
  const now = { mono: 1_000, wall: 0 };
  return afterRead(NEWCOMER, lease, now, now, given, 0.5);
}

describe('our own process that died on this boot', () => {
  test.each([
    ['the time it was about to send', SENT],
    ['the time it had sent before', RENEWED],
  ])('is succeeded at once if the Lease shows %s', (_what, renewTime) => {
    const turn = firstRead(seen({ renewTime }), rules(DEAD));
    expect(turn.state.take).toEqual({ how: 'instant', followsOwn: true, leaseTransitions: 8 });
    expect(turn.step).toMatchObject({
      do: 'update',
      record: { holderIdentity: 'me', leaseTransitions: 8 },
    });
  });

  test('is succeeded at once if it had released the Lease', () => {
    const turn = firstRead(seen({ holderIdentity: '' }), rules(DEAD));
    expect(turn.state.take?.how).toBe('instant');
  });

  test.each([
    ['another time', { renewTime: '2026-01-01T00:00:14.000000Z' }],
    ['another term', { leaseTransitions: 8 }],
    ['another holder', { holderIdentity: 'foreign' }],
  ])('is not succeeded early if the Lease shows %s', (_what, change) => {
    const turn = firstRead(seen(change), rules(DEAD));
    expect(turn.step).toMatchObject({ do: 'wait', ms: 3_200 });
  });

  test('is not succeeded early if the Lease is another object', () => {
    expect(firstRead(seen({}, 'lease-2'), rules(DEAD)).step.do).toBe('wait');
  });

  test('is not succeeded early without knowing that it is dead', () => {
    const turn = firstRead(seen(), rules(undefined));
    expect(turn.step.do).toBe('wait');
  });

  test('whose last request comes in late is succeeded by a second take, at most three', () => {
    let turn = firstRead(seen({ renewTime: RENEWED }), rules(DEAD));
    const conflict = { conflict: true, text: 'modified' };
    const now = { mono: 1_100, wall: 0 };
    const steps: string[] = [];
    for (let takes = 0; takes < 4; takes++) {
      const failed = afterFailure(turn.state, turn.step, conflict, now, rules(DEAD), 0);
      steps.push(failed.step.do);
      turn = afterRead(failed.state, seen(), now, now, rules(DEAD), 0);
    }
    expect(steps).toEqual(['read', 'read', 'read', 'wait']);
  });
});

describe('our own process of an earlier boot', () => {
  test('is succeeded when the Lease has not changed for two retry periods', () => {
    const first = firstRead(seen(), rules(REBOOTED));
    expect(first.step).toEqual({ do: 'wait', ms: 3_200, because: 'held by mine-before' });
    expect(mayTake(first.state, seen(), 4_999, rules(REBOOTED))).toBe(1);
    const taken = mayTake(first.state, seen(), 5_000, rules(REBOOTED));
    expect(taken).toEqual({ how: 'reboot', followsOwn: true });
  });

  test('had perhaps a longer retry period, which counts then', () => {
    const slow = rules({ ...REBOOTED, retryPeriodMs: 3_000 });
    const first = firstRead(seen(), slow);
    expect(mayTake(first.state, seen(), 5_000, slow)).toBe(2_000);
  });

  test('is alive elsewhere if its Lease goes on being renewed', () => {
    const given = rules(REBOOTED);
    const first = firstRead(seen(), given);
    const renewed = seen({ renewTime: '2026-01-01T00:00:14.000000Z' });
    const at = { mono: 5_000, wall: 0 };
    expect(afterRead(first.state, renewed, at, at, given, 0).step.do).toBe('wait');
  });

  test('may have left a Lease that is nearly over: then its end counts', () => {
    const given = rules(REBOOTED);
    const short = seen({ leaseDurationSeconds: 3 });
    const first = firstRead(short, given);
    expect(mayTake(first.state, short, 4_000, given)).toMatchObject({ how: 'expired' });
  });
});

test('a term follows our own only if the Lease shows our last one', () => {
  const follows = (lease: SeenLease, remembered = true) => {
    const turn = firstRead(lease, rules(undefined, remembered));
    return turn.state.take?.followsOwn;
  };
  expect(follows(seen({ holderIdentity: '' }))).toBe(true);
  expect(follows(seen({ holderIdentity: '' }), false)).toBe(false);
  expect(follows(seen({ holderIdentity: '', leaseTransitions: 8 }))).toBe(false);
  expect(follows(seen({ holderIdentity: '' }, 'lease-2'))).toBe(false);
});

test('whatever is known, the live Lease of another is never taken', () => {
  const lease = fc.record({
    holderIdentity: fc.constantFrom('foreign', 'mine-before'),
    leaseDurationSeconds: fc.integer({ min: 1, max: 60 }),
    renewTime: fc.constantFrom(RENEWED, SENT, '2026-01-01T00:00:14.000000Z'),
    leaseTransitions: fc.integer({ min: 6, max: 8 }),
  });
  const dead = fc.constantFrom(undefined, DEAD, REBOOTED);
  fc.assert(
    fc.property(lease, fc.nat(70_000), dead, fc.boolean(), (over, quietMs, known, remembered) => {
      const given = rules(known, remembered);
      const found = seen(over);
      const first = firstRead(found, given);
      const taken = mayTake(first.state, found, 1_000 + quietMs, given);
      const live = quietMs < over.leaseDurationSeconds * 1_000;
      const ours = over.holderIdentity === 'mine-before' && over.leaseTransitions === 7;
      const ourDead = known !== undefined && ours;
      if (!live) expect(typeof taken).toBe('object');
      else if (!ourDead) expect(taken).toBe(over.leaseDurationSeconds * 1_000 - quietMs);
      else if (known.sameBoot) {
        expect(typeof taken === 'object').toBe(DEAD.renewTimes.includes(over.renewTime));
      } else expect(typeof taken === 'object').toBe(quietMs >= 4_000);
      if (typeof taken === 'number') expect(taken).toBeGreaterThan(0);
    }),
  );
});
