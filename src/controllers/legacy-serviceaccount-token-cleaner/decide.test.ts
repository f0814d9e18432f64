import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { timeText } from '../../api/time.ts';
import { dateMs, dateText, decide, isUnused, trackedLongEnough } from './decide.ts';

const DAY = 86_400_000;
const NOW = Date.parse('2026-11-30T12:00:00Z');
const ROUND = { now: NOW, periodMs: 10 * DAY };
const LAST_USED = 'kubernetes.io/legacy-token-last-used';
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since';

interface Facts {
  readonly createdAt?: number;
  readonly used?: string;
  readonly since?: string;
  readonly deleting?: boolean;
}

function secret({ createdAt = NOW - 30 * DAY, used, since, deleting }: Facts = {}) {
  const labels = {
    ...(used === undefined ? {} : { [LAST_USED]: used }),
    ...(since === undefined ? {} : { [INVALID_SINCE]: since }),
  };
  return {
    metadata: {
      name: 'key',
      namespace: 'team',
      uid: 'u',
      resourceVersion: '1',
      labels,
      creationTimestamp: timeText(createdAt),
      ...(deleting ? { deletionTimestamp: timeText(NOW) } : {}),
    },
  };
}

function decideOf(facts: Facts, held: { generated?: boolean; mounted?: boolean } = {}) {
  return decide({ secret: secret(facts), generated: true, mounted: false, ...held }, ROUND);
}

describe('a token', () => {
  test.each<[string, Facts, string]>([
    ['never used', {}, 'mark'],
    ['used before the period', { used: '2026-11-19' }, 'mark'],
    ['used on the day the period began', { used: '2026-11-20' }, 'keep'],
    ['used yesterday', { used: '2026-11-29' }, 'keep'],
    ['used on a day that is none', { used: '2026-11-31' }, 'complain'],
    ['used with a time', { used: '2026-11-19T00' }, 'complain'],
    ['created just when the period began', { createdAt: NOW - 10 * DAY }, 'keep'],
    ['created a second before', { createdAt: NOW - 10 * DAY - 1_000 }, 'mark'],
    ['young, used on no day', { createdAt: NOW, used: 'never' }, 'keep'],
    ['going already', { deleting: true }, 'keep'],
    ['marked on the day the period began', { since: '2026-11-20' }, 'keep'],
    ['marked before', { since: '2026-11-19' }, 'delete'],
    ['marked with a day that is none', { since: 'today' }, 'mark'],
    ['marked before, but used since', { since: '2026-11-01', used: '2026-11-29' }, 'keep'],
  ])('%s', (_, facts, wanted) => {
    expect(decideOf(facts).do).toBe(wanted as 'keep');
  });

  test('stays if no account lists it, or a pod names it', () => {
    const facts = { since: '2026-01-01' };
    expect(decideOf(facts, { generated: false }).do).toBe('keep');
    expect(decideOf(facts, { mounted: true }).do).toBe('keep');
  });

  test('is marked with the day in UTC, and goes with what decided', () => {
    expect(decideOf({})).toEqual({
      do: 'mark',
      since: '2026-11-30',
      because: 'created at 2026-10-31T12:00:00Z, last used: never, named by no pod',
    });
    expect(decideOf({ used: '2026-01-02', since: '2026-11-01' })).toEqual({
      do: 'delete',
      because:
        'created at 2026-10-31T12:00:00Z, last used: 2026-01-02, named by no pod, ' +
        'invalid since 2026-11-01',
    });
    expect(decideOf({ used: 'x' })).toEqual({
      do: 'complain',
      problem: 'kubernetes.io/legacy-token-last-used="x" is no date',
    });
  });
});

test('tracking counts from the end of the day it began', () => {
  const since = dateMs('2026-11-19') as number;
  const round = (now: string) => ({ ...ROUND, now: Date.parse(now) });
  expect(trackedLongEnough(since, round('2026-11-29T23:59:59Z'))).toBe(false);
  expect(trackedLongEnough(since, round('2026-11-30T00:00:00Z'))).toBe(true);
});

test('days are written and read alike', () => {
  const day = fc.integer({ min: 0, max: 40_000 });
  fc.assert(
    fc.property(day, (days) => {
      expect(dateMs(dateText(days * DAY))).toBe(days * DAY);
    }),
  );
  for (const text of ['', '2026-1-01', '26-01-01', '2026-02-29', '2026-13-01', '2026-00-10']) {
    expect(dateMs(text)).toBeUndefined();
  }
});

const date = fc.option(
  fc.oneof(
    fc.integer({ min: -40, max: 1 }).map((days) => dateText(NOW + days * DAY)),
    fc.constantFrom('', 'x', '2026-02-30'),
  ),
  { nil: undefined },
);
const facts = fc.record({
  createdAt: fc.integer({ min: NOW - 40 * DAY, max: NOW + DAY }),
  used: date,
  since: date,
  deleting: fc.boolean(),
});

describe('whatever a token looks like', () => {
  test('it goes only if it is unused, marked a period ago, and nobody holds it', () => {
    fc.assert(
      fc.property(facts, fc.boolean(), fc.boolean(), (given, generated, mounted) => {
        const decision = decideOf(given, { generated, mounted });
        if (decision.do !== 'delete' && decision.do !== 'mark') return;
        expect(isUnused(secret(given), ROUND)).toBe(true);
        expect([generated, mounted, given.deleting]).toEqual([true, false, false]);
        expect(given.createdAt).toBeLessThan(NOW - ROUND.periodMs);
        if (decision.do === 'delete')
          expect(dateMs(given.since ?? '')).toBeLessThan(NOW - 10 * DAY);
      }),
    );
  });

  test('a mark lasts a period: it does not go in the round that marked it', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const decision = decideOf(given);
        if (decision.do !== 'mark') return;
        expect(decideOf({ ...given, since: decision.since }).do).toBe('keep');
      }),
    );
  });
});
