import { describe, expect, test } from 'bun:test';
import { timeText } from '../../api/time.ts';
import type { PodDisruptionBudget } from '../../api/types/index.ts';
import { type PodFacts, podRecordOf } from '../_kit/testing/objects.ts';
import {
  type BudgetSpec,
  type BudgetStatus,
  countsOf,
  disruptedPods,
  failSafeStatus,
  healthyCount,
  needsScale,
  nextStatus,
} from './decide.ts';
import { staleInMs, withoutDisruption } from './stale.ts';

const NOW = Date.parse('2026-05-20T12:00:00Z');
const ago = (seconds: number): string => timeText(NOW - seconds * 1_000);

function budgetOf(status?: BudgetStatus, spec: BudgetSpec = {}): PodDisruptionBudget {
  const metadata = {
    name: 'budget',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '1',
    generation: 2,
  };
  return { metadata, spec, ...(status === undefined ? {} : { status }) };
}

describe('how many pods there should be', () => {
  test.each([
    [{ minAvailable: 3 }, false, 5, 3],
    [{ minAvailable: '50%' }, true, 7, 4],
    [{ minAvailable: '0%' }, true, 7, 0],
    [{ maxUnavailable: 2 }, true, 7, 5],
    [{ maxUnavailable: '30%' }, true, 7, 4],
    [{ maxUnavailable: 9 }, true, 7, 0],
    [{ maxUnavailable: 1, minAvailable: 3 }, true, 7, 6],
    [{}, false, 0, 0],
  ] as const)('%p', (spec, relative, expectedPods, desiredHealthy) => {
    expect(needsScale(spec)).toBe(relative);
    expect(countsOf(spec, 5, 7)).toEqual({ expectedPods, desiredHealthy });
  });

  test('a text that is no percentage is a problem', () => {
    const problem = 'invalid value for IntOrString: invalid type: string is not a percentage';
    expect(countsOf({ minAvailable: 'many' }, 5, 7)).toEqual({ problem });
    expect(countsOf({ maxUnavailable: 'few' }, 5, 7)).toEqual({ problem });
  });
});

describe('evicted pods', () => {
  const pods = ['old', 'edge', 'young', 'other'].map((name) => podRecordOf({ name }));
  const going = podRecordOf({ name: 'going', deletedAt: NOW });

  test('are waited for two minutes, then they are late', () => {
    const noted = {
      old: ago(121),
      edge: ago(120),
      young: ago(20),
      going: ago(20),
      gone: ago(20),
    };
    const disrupted = disruptedPods([...pods, going], noted, NOW);
    expect(disrupted.pods).toEqual({ edge: ago(120), young: ago(20) });
    expect(disrupted.late.map(({ name }) => name)).toEqual(['old']);
    expect(disrupted.recheckInMs).toBe(0);
    expect(disruptedPods(pods, { young: ago(20) }, NOW).recheckInMs).toBe(100_000);
    expect(disruptedPods(pods, undefined, NOW)).toEqual({
      pods: {},
      late: [],
      recheckInMs: undefined,
    });
  });

  test('are not healthy meanwhile; nor are those that are not ready or being deleted', () => {
    const unready = podRecordOf({ name: 'unready', ready: false });
    const all = [...pods, going, unready];
    expect(healthyCount(all, {}, NOW)).toBe(4);
    expect(healthyCount(all, { young: ago(20) }, NOW)).toBe(3);
    expect(healthyCount(all, { edge: ago(120) }, NOW)).toBe(4);
  });
});

const MEASURED = { expectedPods: 5, desiredHealthy: 3, currentHealthy: 4, disruptedPods: {} };

describe('the status', () => {
  test('says how many may go, and since when that is so', () => {
    const status = nextStatus(budgetOf(), MEASURED, NOW);
    expect(status).toEqual({
      ...MEASURED,
      disruptionsAllowed: 1,
      observedGeneration: 2,
      conditions: [
        {
          type: 'DisruptionAllowed',
          status: 'True',
          reason: 'SufficientPods',
          message: '',
          observedGeneration: 2,
          lastTransitionTime: '2026-05-20T12:00:00Z',
        },
      ],
    });
  });

  test('is not written again as long as it is right', () => {
    const status = nextStatus(budgetOf(), MEASURED, NOW);
    expect(nextStatus(budgetOf(status), MEASURED, NOW + 60_000)).toBeUndefined();
    for (const change of [
      { currentHealthy: 5 },
      { desiredHealthy: 4 },
      { expectedPods: 6 },
      { disruptedPods: { a: ago(1) } },
    ]) {
      expect(nextStatus(budgetOf(status), { ...MEASURED, ...change }, NOW)).toBeDefined();
    }
    const unseen = budgetOf({ ...(status as BudgetStatus), observedGeneration: 1 });
    expect(nextStatus(unseen, MEASURED, NOW)).toMatchObject({ observedGeneration: 2 });
    const bare = budgetOf({ ...(status as BudgetStatus), conditions: [] });
    expect(nextStatus(bare, MEASURED, NOW)?.conditions).toHaveLength(1);
  });

  test('allows nothing without spare or expected pods', () => {
    for (const change of [{ currentHealthy: 3 }, { currentHealthy: 1 }, { expectedPods: 0 }]) {
      const status = nextStatus(budgetOf(), { ...MEASURED, ...change }, NOW);
      expect(status).toMatchObject({
        disruptionsAllowed: 0,
        conditions: [{ status: 'False', reason: 'InsufficientPods' }],
      });
    }
  });

  test('keeps the transition time while the answer stays', () => {
    const before = nextStatus(budgetOf(), MEASURED, NOW);
    const more = { ...MEASURED, currentHealthy: 5 };
    expect(nextStatus(budgetOf(before), more, NOW + 60_000)?.conditions).toMatchObject([
      { status: 'True', lastTransitionTime: '2026-05-20T12:00:00Z' },
    ]);
  });

  test('that could not be worked out allows nothing and keeps the rest', () => {
    const before = nextStatus(budgetOf(), MEASURED, NOW);
    expect(failSafeStatus(budgetOf(before), 'no such kind', NOW + 60_000)).toEqual({
      ...(before as BudgetStatus),
      disruptionsAllowed: 0,
      conditions: [
        {
          type: 'DisruptionAllowed',
          status: 'False',
          reason: 'SyncFailed',
          message: 'no such kind',
          observedGeneration: 2,
          lastTransitionTime: '2026-05-20T12:01:00Z',
        },
      ],
    });
    expect(failSafeStatus(budgetOf(), 'x', NOW)).toMatchObject({ expectedPods: 0 });
  });
});

describe('a pod that is said to be disrupted', () => {
  const said = (seconds: number | undefined, facts: PodFacts = {}) => ({
    ...podRecordOf(facts),
    disruptionTargetAt: seconds === undefined ? undefined : NOW - seconds * 1_000,
  });

  test.each([
    [said(undefined), undefined],
    [said(30), 90_000],
    [said(120), 0],
    [said(999), 0],
    [said(30, { deletedAt: NOW }), undefined],
    [said(30, { phase: 'Succeeded' }), undefined],
    [said(30, { phase: 'Failed' }), undefined],
  ])('case %#', (pod, expected) => {
    expect(staleInMs(pod, NOW)).toBe(expected);
  });

  test('loses the reason and the message with it', () => {
    const ready = { type: 'Ready', status: 'True' };
    const target = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: 'x',
      lastTransitionTime: ago(500),
    };
    const metadata = { name: 'p', uid: 'u', resourceVersion: '1', generation: 3 };
    const pod = { metadata, status: { phase: 'Running', conditions: [target, ready] } };
    expect(withoutDisruption(pod, NOW)).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      status: {
        phase: 'Running',
        conditions: [
          {
            type: 'DisruptionTarget',
            status: 'False',
            observedGeneration: 3,
            lastTransitionTime: '2026-05-20T12:00:00Z',
          },
          ready,
        ],
      },
    });
  });
});
