import { describe, expect, test } from 'bun:test';
import { type AutoscaledPod, groupPods } from './groups.ts';
import {
  isWithin,
  measureAverage,
  measureUtilization,
  type PodMetric,
  proposeFromPods,
  proposeFromShare,
  proposeFromTotal,
  sumOf,
  sumToShare,
} from './proposal.ts';

const NOW = Date.parse('2026-05-20T12:00:00Z');
const TOLERANCES = { down: 0.1, up: 0.1 };
const CPU = { initializationMs: 300_000, readinessDelayMs: 30_000 };
const INT64_MAX = 2n ** 63n - 1n;

const metric = (value: number, at = NOW): PodMetric => ({
  value: BigInt(value),
  at,
  windowMs: 30_000,
});
const named = <T>(values: readonly T[]): [string, T][] =>
  values.map((value, at) => [`p${at}`, value]);
const metricsOf = (...values: number[]) => new Map(named(values.map((value) => metric(value))));
const pod = (name: string, facts: Partial<AutoscaledPod> = {}): AutoscaledPod => ({
  name,
  phase: 'Running',
  deleting: false,
  ...facts,
});

describe('groups of pods', () => {
  test('without regard to CPU', () => {
    const pods = [
      pod('ready'),
      pod('going', { deleting: true }),
      pod('failed', { phase: 'Failed' }),
      pod('pending', { phase: 'Pending' }),
      pod('unmeasured'),
    ];
    const metrics = new Map(pods.slice(0, 4).map(({ name }) => [name, metric(1)]));
    expect(groupPods(pods, metrics, NOW)).toEqual({
      ready: 1,
      unready: new Set(['pending']),
      missing: new Set(['unmeasured']),
      ignored: new Set(['going', 'failed']),
    });
  });

  const minute = 60_000;
  test.each([
    ['without a start time', { readyStatus: 'True' }, NOW, false],
    ['without a Ready condition', { startedAt: NOW - 60 * minute }, NOW, false],
    [
      'young and not ready',
      { startedAt: NOW - minute, readyStatus: 'False', readyChangedAt: NOW - minute },
      NOW,
      false,
    ],
    [
      'young, measured a window after it got ready',
      { startedAt: NOW - minute, readyStatus: 'True', readyChangedAt: NOW - minute },
      NOW,
      true,
    ],
    [
      'young, measured before that',
      { startedAt: NOW - minute, readyStatus: 'True', readyChangedAt: NOW - minute },
      NOW - 31_000,
      false,
    ],
    [
      'old and ready',
      { startedAt: NOW - 60 * minute, readyStatus: 'True', readyChangedAt: NOW },
      NOW - minute,
      true,
    ],
    [
      'old, not ready since its start',
      {
        startedAt: NOW - 60 * minute,
        readyStatus: 'False',
        readyChangedAt: NOW - 60 * minute + 29_000,
      },
      NOW,
      false,
    ],
    [
      'old, not ready any more',
      {
        startedAt: NOW - 60 * minute,
        readyStatus: 'False',
        readyChangedAt: NOW - 60 * minute + 31_000,
      },
      NOW,
      true,
    ],
    [
      'old, of unknown readiness',
      { startedAt: NOW - 60 * minute, readyStatus: 'Unknown', readyChangedAt: 0 },
      NOW,
      true,
    ],
  ])('CPU of a pod that is %s', (_, facts, measuredAt, isReady) => {
    const metrics = new Map([['p', metric(1, measuredAt)]]);
    expect(groupPods([pod('p', facts)], metrics, NOW, CPU).ready).toBe(isReady ? 1 : 0);
  });
});

describe('measures', () => {
  test('utilization is cut off to whole percents, pods without requests are left out', () => {
    const requests = new Map(named([100n, 200n]));
    expect(measureUtilization(metricsOf(50, 150, 999), requests, 50)).toEqual({
      ratio: 66 / 50,
      utilization: 66,
      average: 100n,
    });
    expect(() => measureUtilization(metricsOf(1), new Map(), 50)).toThrow(
      'no metrics returned matched known pods',
    );
  });

  test('averages are cut off to thousandths', () => {
    expect(measureAverage(metricsOf(10, 11), 5n)).toEqual({ ratio: 2, average: 10n });
  });

  test('tolerances are inclusive', () => {
    for (const ratio of [0.9, 1, 1.1]) expect(isWithin(TOLERANCES, ratio)).toBe(true);
    for (const ratio of [0.899, 1.101]) expect(isWithin(TOLERANCES, ratio)).toBe(false);
    expect(isWithin({ down: 0.5, up: 0 }, 0.6)).toBe(true);
  });
});

interface Case {
  readonly ready?: number;
  readonly unready?: readonly string[];
  readonly missing?: readonly string[];
  readonly ignored?: readonly string[];
  readonly current?: number;
}

const propose = (values: readonly number[], target: number, given: Case = {}) =>
  proposeFromPods({
    current: given.current ?? values.length,
    metrics: metricsOf(...values),
    groups: {
      ready: given.ready ?? values.length,
      unready: new Set(given.unready),
      missing: new Set(given.missing),
      ignored: new Set(given.ignored),
    },
    tolerances: TOLERANCES,
    measure: (metrics) => measureAverage(metrics, BigInt(target)),
    fallback: () => BigInt(target),
  }).replicas;

describe('what pods ask for', () => {
  test.each([
    ['more', propose([200, 200], 100), 4],
    ['less', propose([20, 20, 20, 20], 100), 1],
    ['rounded up', propose([130, 130, 130], 100), 4],
    ['nothing within the tolerance', propose([110, 110], 100), 2],
    [
      'less, missing ones at the target',
      propose([50, 50], 100, { current: 4, missing: ['x', 'y'] }),
      3,
    ],
    ['missing ones speak against more', propose([300], 100, { current: 2, missing: ['x'] }), 3],
    ['but turn nothing round', propose([150], 100, { current: 2, missing: ['x'] }), 2],
    ['unready ones speak against more', propose([400], 100, { current: 2, unready: ['x'] }), 4],
    ['but not against less', propose([20, 20], 100, { current: 3, unready: ['x'] }), 1],
    ['never the other way: more', propose([120], 100, { current: 9, missing: ['x'] }), 9],
    ['ignored ones do not count', propose([300, 10], 100, { ready: 1, ignored: ['p1'] }), 3],
    [
      'exactly on target, whoever is missing',
      propose([100], 100, { current: 5, missing: ['x'] }),
      5,
    ],
  ])('%s', (_, replicas, expected) => {
    expect(replicas).toBe(expected);
  });

  test('nobody counts', () => {
    expect(() => propose([5], 100, { unready: ['p0'] })).toThrow(
      'did not receive metrics for targeted pods (pods might be unready)',
    );
  });
});

describe('what one value asks for', () => {
  const total = (usage: number, current: number, ready: number) =>
    proposeFromTotal(BigInt(usage), 100n, {
      current,
      tolerances: TOLERANCES,
      readyPods: () => ready,
    }).replicas;

  test.each([
    [total(250, 2, 2), 5],
    [total(105, 2, 9), 2],
    [total(250, 0, 9), 3],
    [total(50, 4, 3), 2],
  ])('case %#', (replicas, expected) => {
    expect(replicas).toBe(expected);
  });

  test.each([
    [750n, 3, 8, 250n],
    [310n, 3, 3, 104n],
    [0n, 3, 0, 0n],
  ])('%p shared by %p replicas', (usage, replicas, wanted, average) => {
    const proposal = proposeFromShare(usage, 100n, { replicas, tolerances: TOLERANCES });
    expect(proposal).toMatchObject({ replicas: wanted, average });
  });

  test("shared by nobody yet: the average overflows as upstream's does", () => {
    const proposal = proposeFromShare(500n, 100n, { replicas: 0, tolerances: TOLERANCES });
    expect(proposal).toMatchObject({ replicas: 5, average: -(2n ** 63n) });
    const huge = proposeFromShare(INT64_MAX, 1n, { replicas: 2, tolerances: TOLERANCES });
    expect(huge).toMatchObject({ replicas: 2 ** 31 - 1, average: INT64_MAX });
  });

  test('sums stop at the largest number', () => {
    expect(sumOf([1n, 2n, 3n])).toBe(6n);
    expect(sumOf([INT64_MAX, 5n, -10n])).toBe(INT64_MAX);
    expect(sumOf([])).toBe(0n);
  });
  test('to be shared, a sum below zero counts as one that overflowed, as for upstream', () => {
    expect(sumToShare([1n, 2n, 3n])).toBe(6n);
    expect(sumToShare([5n, -1_000n])).toBe(INT64_MAX);
    expect(sumOf([5n, -1_000n])).toBe(-995n);
  });
});
