import { describe, expect, test } from 'bun:test';
import {
  historyLimitOf,
  maxSurgeOf,
  maxUnavailableOf,
  minAvailableOf,
  newSizeOf,
  progressDeadlineOf,
  resolveFenceposts,
  sizeOf,
  wantedOf,
} from './sizes.ts';
import { deployment, replicaSet } from './testing/build.ts';

describe('surge and unavailability', () => {
  test.each([
    ['0%', '0%', 0, 0, 1],
    ['39%', '39%', 10, 4, 3],
    [undefined, '39%', 10, 0, 3],
    ['39%', undefined, 10, 4, 0],
    [undefined, undefined, 10, 0, 1],
    [2, 3, 10, 2, 3],
    // A percentage rounds surge up and unavailability down; both 0 makes one unavailable.
    ['1%', '0%', 2, 1, 0],
    ['0%', '1%', 2, 0, 1],
    ['25%', '25%', 1, 1, 0],
    // No number and no percentage: both 0.
    ['oops', '39%', 10, 0, 0],
    ['55%', 'urg', 10, 0, 0],
  ] as const)('surge %p, unavailable %p of %p', (surge, unavailable, wanted, s, u) => {
    expect(resolveFenceposts(surge, unavailable, wanted)).toEqual({ surge: s, unavailable: u });
  });

  test.each([
    [10, 5, 5],
    [10, 10, 0],
    [5, 10, 0],
    [0, 10, 0],
    [10, '60%', 4],
    [10, '100%', 0],
    [5, '100%', 0],
  ] as const)('%p replicas, %p unavailable: %p stay available', (replicas, maxUnavailable, min) => {
    expect(minAvailableOf(deployment({ replicas, maxUnavailable }))).toBe(min);
  });

  test('Recreate has neither', () => {
    const it = deployment({ recreate: true, replicas: 10 });
    expect([maxSurgeOf(it), maxUnavailableOf(it)]).toEqual([0, 0]);
  });

  test('absent fields count as what the API server fills in', () => {
    const bare = { ...deployment(), spec: { selector: {}, template: {} } };
    expect(wantedOf(bare)).toBe(1);
    expect(maxSurgeOf(bare)).toBe(1);
    expect(sizeOf({ ...replicaSet('a', 3), spec: undefined })).toBe(1);
  });
});

describe('size of the new ReplicaSet', () => {
  test.each([
    // wanted, surge, sum of all sizes, own size, expected
    [1, 1, 5, 5, 5],
    [6, 10, 5, 2, 6],
    [10, 2, 10, 0, 2],
    [10, 2, 5, 0, 7],
    [10, 0, 10, 0, 0],
    [10, 2, 12, 2, 2],
  ])('%p wanted, surge %p, %p in all, %p own: %p', (replicas, maxSurge, total, size, expected) => {
    expect(newSizeOf(deployment({ replicas, maxSurge }), total, size)).toBe(expected);
  });

  test('Recreate takes all at once', () => {
    expect(newSizeOf(deployment({ recreate: true, replicas: 3 }), 5, 1)).toBe(3);
  });
});

test('the highest int32, or nothing, means no limit and no deadline', () => {
  for (const value of [undefined, 2 ** 31 - 1]) {
    const it = deployment({ progressDeadlineSeconds: value, revisionHistoryLimit: value });
    expect([progressDeadlineOf(it), historyLimitOf(it)]).toEqual([undefined, undefined]);
  }
  const it = deployment({ progressDeadlineSeconds: 600, revisionHistoryLimit: 0 });
  expect([progressDeadlineOf(it), historyLimitOf(it)]).toEqual([600, 0]);
});
