import { describe, expect, test } from 'bun:test';
import { normalize, normalizeByRules, plan, rescaleReason, type Wish } from './decide.ts';
import { type History, NO_HISTORY } from './history.ts';
import { type Behavior, rulesOf } from './rules.ts';

const NOW = 1_000_000;
const WINDOW_MS = 300_000;
const AWAKE = { scaledToZero: false, hasOutsideMetric: false };

const wish = (current: number, wanted: number, bounds: Partial<Wish> = {}): Wish => ({
  current,
  wanted,
  min: 1,
  max: 100,
  ...bounds,
});

/** Recommendations as [replicas, seconds ago]. */
const past = (...pairs: readonly (readonly [number, number])[]): History => ({
  ...NO_HISTORY,
  recommendations: pairs.map(([replicas, ago]) => ({ replicas, at: NOW - ago * 1_000 })),
});

describe('before any metric is asked', () => {
  test.each([
    [0, AWAKE, { do: 'nothing' }],
    [0, { scaledToZero: true, hasOutsideMetric: true }, { do: 'measure' }],
    [0, { scaledToZero: true, hasOutsideMetric: false }, { do: 'measure' }],
    [
      7,
      AWAKE,
      { do: 'clamp', replicas: 6, reason: 'Current number of replicas above Spec.MaxReplicas' },
    ],
    [
      1,
      AWAKE,
      { do: 'clamp', replicas: 2, reason: 'Current number of replicas below Spec.MinReplicas' },
    ],
    [2, AWAKE, { do: 'measure' }],
    [6, AWAKE, { do: 'measure' }],
  ] as const)('%p replicas between 2 and 6', (current, zero, expected) => {
    expect(plan(current, { min: 2, max: 6 }, zero)).toEqual(expected as never);
  });

  test('a target scaled to zero stays there without a minimum and outside metrics', () => {
    const zero = { scaledToZero: true, hasOutsideMetric: false };
    expect(plan(0, { min: 0, max: 6 }, zero)).toEqual({ do: 'nothing' });
  });

  test.each([
    [3, 4, 'cpu above target'],
    [3, 2, 'All metrics below target'],
    [3, 3, ''],
  ])('from %p to %p: %p', (current, wanted, reason) => {
    expect(rescaleReason(current, wanted, 'cpu')).toBe(reason);
  });
});

describe('without behavior', () => {
  test.each([
    ['within range', wish(4, 6), NO_HISTORY, 6, 'ReadyForNewScale', 'DesiredWithinRange'],
    ['at most doubled', wish(4, 20), NO_HISTORY, 8, 'ReadyForNewScale', 'ScaleUpLimit'],
    ['or to four', wish(1, 20), NO_HISTORY, 4, 'ReadyForNewScale', 'ScaleUpLimit'],
    [
      'not above the maximum',
      wish(4, 20, { max: 7 }),
      NO_HISTORY,
      7,
      'ReadyForNewScale',
      'TooManyReplicas',
    ],
    [
      'not below the minimum',
      wish(4, 1, { min: 2 }),
      NO_HISTORY,
      2,
      'ReadyForNewScale',
      'TooFewReplicas',
    ],
    ['down is held', wish(4, 1), past([4, 10]), 4, 'ScaleDownStabilized', 'DesiredWithinRange'],
    [
      'by the highest of the window',
      wish(9, 1),
      past([9, 400], [5, 200], [3, 10]),
      5,
      'ScaleDownStabilized',
      'DesiredWithinRange',
    ],
    [
      'the edge still counts',
      wish(9, 1),
      past([5, 300]),
      5,
      'ScaleDownStabilized',
      'DesiredWithinRange',
    ],
    ['then no longer', wish(9, 1), past([5, 300.001]), 1, 'ReadyForNewScale', 'DesiredWithinRange'],
    ['up is not held', wish(4, 6), past([1, 10]), 6, 'ReadyForNewScale', 'DesiredWithinRange'],
  ] as const)('%s', (_, given, history, replicas, able, limited) => {
    const normalized = normalize(given, history, NOW, WINDOW_MS);
    expect(normalized.replicas).toBe(replicas);
    expect(normalized.able.reason).toBe(able);
    expect(normalized.limited.reason).toBe(limited);
    expect(normalized.limited.status).toBe(limited === 'DesiredWithinRange' ? 'False' : 'True');
    const last = normalized.history.recommendations.at(-1);
    expect(last).toEqual({ replicas: given.wanted, at: NOW });
  });

  test('each number is kept once, with its latest time, and only as long as it counts', () => {
    const { history } = normalize(wish(4, 5), past([5, 200], [3, 100], [2, 400]), NOW, WINDOW_MS);
    expect(history.recommendations).toEqual([
      { replicas: 3, at: NOW - 100_000 },
      { replicas: 5, at: NOW },
    ]);
  });
});

const pods = (value: number, periodSeconds: number) => ({ type: 'Pods', value, periodSeconds });
const percent = (value: number, periodSeconds: number) => ({
  type: 'Percent',
  value,
  periodSeconds,
});

describe('with behavior', () => {
  const normalized = (given: Wish, behavior: Behavior, history: History = NO_HISTORY) =>
    normalizeByRules(given, rulesOf(behavior, WINDOW_MS), history, NOW);
  const reasons = ({ replicas, able, limited }: ReturnType<typeof normalized>) => [
    replicas,
    able.reason,
    limited.reason,
  ];

  test.each([
    ['defaults: doubled', wish(10, 90), {}, NO_HISTORY, [20, 'ReadyForNewScale', 'ScaleUpLimit']],
    ['defaults: four more', wish(2, 90), {}, NO_HISTORY, [6, 'ReadyForNewScale', 'ScaleUpLimit']],
    [
      'defaults: down at once but for the window',
      wish(9, 1),
      {},
      past([9, 10]),
      [9, 'ScaleDownStabilized', 'DesiredWithinRange'],
    ],
    [
      'a window of its own',
      wish(9, 1),
      { scaleDown: { stabilizationWindowSeconds: 5 } },
      past([9, 10]),
      [1, 'ReadyForNewScale', 'DesiredWithinRange'],
    ],
    [
      'up is held by the lowest of its window',
      wish(4, 9),
      { scaleUp: { stabilizationWindowSeconds: 60 } },
      past([6, 10]),
      [6, 'ScaleUpStabilized', 'DesiredWithinRange'],
    ],
    [
      'but no further than the present size',
      wish(4, 9),
      { scaleUp: { stabilizationWindowSeconds: 60 } },
      past([1, 10]),
      [4, 'ScaleUpStabilized', 'DesiredWithinRange'],
    ],
    [
      'off',
      wish(4, 9),
      { scaleUp: { selectPolicy: 'Disabled' } },
      NO_HISTORY,
      [4, 'ReadyForNewScale', 'ScaleUpLimit'],
    ],
    [
      'off, downwards',
      wish(9, 4),
      { scaleDown: { selectPolicy: 'Disabled' } },
      NO_HISTORY,
      [9, 'ReadyForNewScale', 'ScaleDownLimit'],
    ],
    [
      'the smaller step',
      wish(10, 90),
      { scaleUp: { selectPolicy: 'Min', policies: [pods(3, 60), percent(100, 60)] } },
      NO_HISTORY,
      [13, 'ReadyForNewScale', 'ScaleUpLimit'],
    ],
    [
      'percent up is rounded up',
      wish(11, 90),
      { scaleUp: { policies: [percent(10, 60)] } },
      NO_HISTORY,
      [13, 'ReadyForNewScale', 'ScaleUpLimit'],
    ],
    [
      'percent down is cut off',
      wish(11, 1),
      { scaleDown: { policies: [percent(10, 60)] } },
      NO_HISTORY,
      [9, 'ReadyForNewScale', 'ScaleDownLimit'],
    ],
    [
      'the smaller step down',
      wish(10, 1),
      { scaleDown: { selectPolicy: 'Min', policies: [pods(3, 60), percent(50, 60)] } },
      NO_HISTORY,
      [7, 'ReadyForNewScale', 'ScaleDownLimit'],
    ],
    [
      'the maximum comes first',
      wish(10, 90, { max: 12 }),
      {},
      NO_HISTORY,
      [12, 'ReadyForNewScale', 'TooManyReplicas'],
    ],
    [
      'the minimum too',
      wish(10, 1, { min: 4 }),
      {},
      NO_HISTORY,
      [4, 'ReadyForNewScale', 'TooFewReplicas'],
    ],
  ] as const)('%s', (_, given, behavior, history, expected) => {
    expect(reasons(normalized(given, behavior as unknown as Behavior, history))).toEqual([
      ...expected,
    ]);
  });

  test('what was added and removed in the period counts', () => {
    const at = (ago: number) => NOW - ago * 1_000;
    const history = {
      ...NO_HISTORY,
      ups: [
        { change: 4, at: at(30) },
        { change: 50, at: at(60) },
      ],
      downs: [{ change: 1, at: at(10) }],
    };
    const up = { scaleUp: { policies: [pods(5, 60)] } } as unknown as Behavior;
    // It began the minute with 10 - 4 + 1 replicas.
    expect(reasons(normalized(wish(10, 90), up, history))[0]).toBe(12);
    const used = { ...history, ups: [{ change: 9, at: at(30) }], downs: [] };
    expect(reasons(normalized(wish(10, 90), up, used))).toEqual([
      10,
      'ReadyForNewScale',
      'ScaleUpLimit',
    ]);
    const down = { scaleDown: { policies: [pods(5, 60)] } } as unknown as Behavior;
    expect(reasons(normalized(wish(10, 1), down, history))[0]).toBe(2);
  });
});
