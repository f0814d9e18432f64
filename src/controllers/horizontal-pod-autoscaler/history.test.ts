import { describe, expect, test } from 'bun:test';
import {
  changeWithin,
  NO_HISTORY,
  settlePending,
  withInitial,
  withPending,
  withScaleEvent,
} from './history.ts';

const scaled = (from: number, to: number, at: number, longestSeconds = 60) => ({
  from,
  to,
  at,
  longestSeconds,
});

describe('changes of size', () => {
  test('go to their direction; the last that is too old gives up its place', () => {
    const first = withScaleEvent(NO_HISTORY, scaled(1, 4, 1_000));
    const second = withScaleEvent(first, scaled(4, 2, 2_000));
    expect(second).toMatchObject({
      ups: [{ change: 3, at: 1_000 }],
      downs: [{ change: 2, at: 2_000 }],
    });
    const third = withScaleEvent(second, scaled(2, 3, 70_000));
    expect(third.ups).toEqual([{ change: 1, at: 70_000 }]);
    const fourth = withScaleEvent(third, scaled(3, 5, 75_000));
    expect(fourth.ups).toEqual([
      { change: 1, at: 70_000 },
      { change: 2, at: 75_000 },
    ]);
  });

  test('count within their period, its edge not', () => {
    const events = [
      { change: 1, at: 10_000 },
      { change: 2, at: 20_000 },
    ];
    expect(changeWithin(events, 10, 20_000)).toBe(2);
    expect(changeWithin(events, 10, 19_999)).toBe(3);
    expect(changeWithin(events, 10, 30_000)).toBe(0);
  });

  test('that were announced count if the target has that size', () => {
    const announced = withPending(NO_HISTORY, scaled(2, 6, 5_000));
    expect(settlePending(announced, 6)).toEqual({ ...NO_HISTORY, ups: [{ change: 4, at: 5_000 }] });
    expect(settlePending(announced, 2)).toEqual({ ...NO_HISTORY });
    expect(settlePending(NO_HISTORY, 2)).toBe(NO_HISTORY);
  });
});

test('the present size is recommended only if nothing is', () => {
  const initial = withInitial(NO_HISTORY, 5, 1_000);
  expect(initial.recommendations).toEqual([{ replicas: 5, at: 1_000 }]);
  expect(withInitial(initial, 7, 2_000)).toBe(initial);
});
