import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  compareForDeletion,
  type DeletionFacts,
  DeletionRule,
  rankForDeletion,
} from './pod-deletion.ts';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-01-01T12:00:00Z');
const MONTH_AGO = NOW - 30 * 24 * HOUR;

function pod(facts: Partial<DeletionFacts>): DeletionFacts {
  return {
    uid: 'u',
    nodeName: 'node',
    phase: 'Running',
    ready: true,
    readySince: NOW,
    createdAt: NOW,
    restarts: 0,
    initRestarts: 0,
    deletionCost: 0,
    ...facts,
  };
}

const notYet = { ready: false, readySince: 0, createdAt: 0 };
const unscheduled = pod({ ...notYet, nodeName: '', phase: 'Pending' });
const pending = pod({ ...notYet, phase: 'Pending' });
const unknownPhase = pod({ ...notYet, phase: 'Unknown' });
const notReady = pod(notYet);
const readyNoTime = pod({ readySince: 0, createdAt: 0 });
const readyNow = pod({});
const readyMonth = pod({ readySince: MONTH_AGO, createdAt: MONTH_AGO });
const manyRestarts = pod({ restarts: 9001 });
const manySideRestarts = pod({ restarts: 9001, initRestarts: 9001 });
const readyNowCreatedThen = pod({ createdAt: MONTH_AGO });
const lowCost = pod({ createdAt: MONTH_AGO, deletionCost: 10 });
const highCost = pod({ createdAt: MONTH_AGO, deletionCost: 100 });

function readyFor(hours: number, uid = 'u'): DeletionFacts {
  return pod({ uid, readySince: NOW - hours * HOUR, createdAt: MONTH_AGO });
}

function createdFor(hours: number, uid = 'u'): DeletionFacts {
  return pod({ ...notYet, uid, nodeName: '', phase: 'Pending', createdAt: NOW - hours * HOUR });
}

function compare(
  [first, firstSiblings]: readonly [DeletionFacts, number],
  [second, secondSiblings]: readonly [DeletionFacts, number],
  useCost = true,
): number {
  return compareForDeletion(
    rankForDeletion(first, firstSiblings, NOW, { useCost }),
    rankForDeletion(second, secondSiblings, NOW, { useCost }),
  );
}

describe('the first goes before the second', () => {
  test.each([
    ['unassigned before pending, whatever the siblings', unscheduled, 1, pending, 2, 'unassigned'],
    ['unassigned before pending', unscheduled, 2, pending, 1, 'unassigned'],
    ['pending before unknown', pending, 1, unknownPhase, 2, 'phase'],
    ['unknown before running', unknownPhase, 1, notReady, 2, 'phase'],
    ['not ready before ready', notReady, 1, readyNoTime, 1, 'notReady'],
    ['ready since unknown before ready', readyNoTime, 1, readyNow, 1, 'readyTime'],
    ['more siblings before fewer', readyNow, 2, readyNoTime, 1, 'siblings'],
    ['ready now before ready for a month', readyNow, 1, readyMonth, 1, 'readyTime'],
    ['siblings before ready time', readyMonth, 2, readyNow, 1, 'siblings'],
    ['more restarts before fewer', manyRestarts, 1, readyNow, 1, 'restarts'],
    ['more sidecar restarts before fewer', manySideRestarts, 1, manyRestarts, 1, 'restarts'],
    ['siblings before restarts', readyNow, 2, manyRestarts, 1, 'siblings'],
    ['created now before created then', readyNow, 1, readyNowCreatedThen, 1, 'age'],
    ['siblings before age', readyNowCreatedThen, 2, readyNow, 1, 'siblings'],
    ['low cost before high, whatever the siblings', lowCost, 1, highCost, 2, 'cost'],
    ['2 hours before 5 hours: another bucket', readyFor(2), 1, readyFor(5), 1, 'readyTime'],
    ['same bucket: the lower UID', readyFor(8, 'a'), 1, readyFor(5, 'b'), 1, 'readyTime'],
    ['same bucket of age: the lower UID', createdFor(8, 'a'), 1, createdFor(5, 'b'), 1, 'age'],
  ] as const)('%s', (_name, first, firstSiblings, second, secondSiblings, rule) => {
    const order = compare([first, firstSiblings], [second, secondSiblings]);
    expect(order).toBe(-DeletionRule[rule]);
    expect(compare([second, secondSiblings], [first, firstSiblings])).toBe(DeletionRule[rule]);
  });

  test('cost counts for nothing where the feature is off', () => {
    expect(compare([highCost, 2], [lowCost, 1], false)).toBe(-DeletionRule.siblings);
  });

  test('an equal ready time, however odd, leaves the choice to the later rules', () => {
    const older = pod({ createdAt: MONTH_AGO, readySince: NOW + 5000 });
    const younger = pod({ createdAt: NOW - 1000, readySince: NOW + 5000 });
    expect(compare([younger, 0], [older, 0])).toBe(-DeletionRule.age);
  });

  test('times that lie ahead share one bucket with now', () => {
    const ahead = pod({ uid: 'a', readySince: NOW + HOUR });
    const now = pod({ uid: 'b', readySince: NOW });
    expect(compare([ahead, 0], [now, 0])).toBe(-DeletionRule.readyTime);
  });
});

test.each([
  unscheduled,
  pending,
  unknownPhase,
  notReady,
  readyNoTime,
  readyNow,
  readyMonth,
  manyRestarts,
  readyNowCreatedThen,
])('a pod equals itself: %j', (one) => {
  expect(compare([one, 1], [{ ...one }, 1])).toBe(0);
});

test('buckets double: 2^n nanoseconds and just below 2^(n+1) are alike, 2^(n+1) is not', () => {
  const bucket = (ageMs: number): number =>
    rankForDeletion(pod({ readySince: NOW - ageMs }), 0, NOW, { useCost: true }).readyBucket;
  expect(bucket(0)).toBe(-1);
  expect(bucket(-1)).toBe(-1);
  expect(bucket(1)).toBe(19);
  expect(bucket(1000)).toBe(29);
  expect(bucket(HOUR)).toBe(41);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 40 }), (ageMs) => {
      const found = bucket(ageMs);
      expect(2 ** found).toBeLessThanOrEqual(ageMs * 1e6);
      expect(2 ** (found + 1)).toBeGreaterThan(ageMs * 1e6);
    }),
  );
});

describe('generated pods', () => {
  const facts = fc.record({
    uid: fc.constantFrom('a', 'b', 'c'),
    nodeName: fc.constantFrom('', 'n1', 'n2'),
    phase: fc.constantFrom('Pending', 'Unknown', 'Running', ''),
    ready: fc.boolean(),
    readySince: fc.constantFrom(0, NOW, NOW - 1000, NOW - HOUR, MONTH_AGO),
    createdAt: fc.constantFrom(0, NOW, NOW - 1000, NOW - HOUR, MONTH_AGO),
    restarts: fc.nat(2),
    initRestarts: fc.nat(2),
    deletionCost: fc.integer({ min: -1, max: 1 }),
  });

  test('two pods with different UIDs are ordered one way only', () => {
    fc.assert(
      fc.property(facts, facts, fc.nat(2), fc.nat(2), (a, b, siblingsA, siblingsB) => {
        fc.pre(a.uid !== b.uid);
        const there = compare([a, siblingsA], [b, siblingsB]);
        expect(compare([b, siblingsB], [a, siblingsA])).toBe(there === 0 ? 0 : -there);
      }),
    );
  });
});
