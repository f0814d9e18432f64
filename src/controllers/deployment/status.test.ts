import { describe, expect, test } from 'bun:test';
import { timeText } from '../../api/time.ts';
import type { DeploymentCondition, DeploymentStatus, ReplicaSet } from '../../api/types/index.ts';
import type { Knowledge, Sets } from './actions.ts';
import { hasProgressed, hasTimedOut, progressCheckDelay, rolloutStatus } from './progress.ts';
import { calculateStatus, isComplete, statusesEqual, terminatingOf } from './status.ts';
import { type DeploymentOptions, deployment, NOON, replicaSet } from './testing/build.ts';

const EARLIER = timeText(NOON - 30_000);

function progressing(reason: string, status = 'True', time = EARLIER): DeploymentCondition {
  return { type: 'Progressing', status, reason, lastUpdateTime: time, lastTransitionTime: time };
}

function know(options: DeploymentOptions): Knowledge {
  const replicaSets: ReplicaSet[] = [];
  const running = new Set<string>();
  return {
    deployment: deployment(options),
    replicaSets,
    running,
    now: NOON,
    terminatingReplicas: true,
  };
}

const counted = (name: string, size: number, replicas: number, available: number) =>
  replicaSet(name, size, {
    status: { replicas, readyReplicas: available, availableReplicas: available },
  });

describe('counts', () => {
  test("sums of the ReplicaSets; updated is the new one's; the rest of the sizes is unavailable", () => {
    const known = know({ replicas: 5, generation: 7, status: { collisionCount: 2 } });
    const sets = { newRS: counted('new', 4, 3, 1), oldRSs: [counted('old', 2, 3, 2)] };
    expect(calculateStatus(known, sets)).toMatchObject({
      observedGeneration: 7,
      replicas: 6,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      unavailableReplicas: 3,
      terminatingReplicas: 0,
      collisionCount: 2,
    });
  });

  test('more available than wanted makes none unavailable', () => {
    const sets = { newRS: counted('new', 1, 4, 4), oldRSs: [] };
    expect(calculateStatus(know({}), sets).unavailableReplicas).toBe(0);
  });

  test.each([
    [3, 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.'],
    [2, 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.'],
    [1, 'False', 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.'],
  ])(
    '%p of 3 available, 1 may be missing: Available is %p',
    (available, status, reason, message) => {
      const sets = { newRS: counted('new', 3, 3, available), oldRSs: [] };
      const { conditions } = calculateStatus(know({ maxUnavailable: 1 }), sets);
      expect(conditions).toMatchObject([{ type: 'Available', status, reason, message }]);
    },
  );

  test.each<[string, (number | undefined)[], number | undefined]>([
    ['all report', [3, 1], 4],
    ['one was never observed', [3, -1], 3],
    ['an observed one does not report', [3, undefined], undefined],
    ['none at all', [], 0],
  ])('terminating: %s', (_, numbers, expected) => {
    const sets = numbers.map((terminatingReplicas, index) => {
      const status =
        terminatingReplicas === -1
          ? { terminatingReplicas: undefined, observedGeneration: 0 }
          : { terminatingReplicas, observedGeneration: 1 };
      return replicaSet(`r${index}`, 1, { status: { replicas: 1, ...status } });
    });
    expect(terminatingOf(sets)).toBe(expected);
  });

  test('without the gate terminating pods are not reported', () => {
    const known = { ...know({}), terminatingReplicas: false };
    const status = calculateStatus(known, { newRS: undefined, oldRSs: [counted('a', 1, 1, 1)] });
    expect(status.terminatingReplicas).toBeUndefined();
  });
});

test('statuses are the same if absent counts are 0, but an absent terminatingReplicas is not 0', () => {
  expect(statusesEqual(undefined, { replicas: 0, conditions: [] })).toBe(true);
  expect(statusesEqual({ replicas: 1 }, { replicas: 0 })).toBe(false);
  expect(statusesEqual({}, { terminatingReplicas: 0 })).toBe(false);
  expect(statusesEqual({ collisionCount: 1 }, {})).toBe(false);
  const [a, b] = [progressing('A'), progressing('B')];
  expect(statusesEqual({ conditions: [a, b] }, { conditions: [a, b] })).toBe(true);
  expect(statusesEqual({ conditions: [a, b] }, { conditions: [b, a] })).toBe(false);
  expect(statusesEqual({ conditions: [a] }, { conditions: [{ ...a, message: 'x' }] })).toBe(false);
});

test.each([
  ['a pod is not available', 5, 5, 5, 4, false],
  ['all there', 5, 5, 5, 5, true],
  ['available, but not all updated', 5, 5, 4, 5, false],
  ['an old pod still runs', 1, 2, 1, 1, false],
  ['the only one never comes up', 1, 1, 1, 0, false],
])('complete? %s', (_, replicas, all, updated, available, expected) => {
  const status = {
    observedGeneration: 1,
    replicas: all,
    updatedReplicas: updated,
    availableReplicas: available,
  };
  expect(isComplete(deployment({ replicas }), status)).toBe(expected);
  expect(isComplete(deployment({ replicas, generation: 2 }), status)).toBe(false);
});

const status = (all: number, updated: number, ready: number, available: number) => ({
  replicas: all,
  updatedReplicas: updated,
  readyReplicas: ready,
  availableReplicas: available,
});

test.each<[string, DeploymentStatus, DeploymentStatus, boolean]>([
  ['updated pods', status(10, 4, 4, 4), status(10, 6, 4, 4), true],
  ['nothing', status(10, 4, 4, 4), status(10, 4, 4, 4), false],
  ['old pods gone', status(10, 4, 6, 6), status(8, 4, 6, 6), true],
  ['fewer new pods', status(10, 7, 3, 3), status(10, 6, 3, 3), false],
  ['fewer in all, more new ones', status(10, 4, 7, 7), status(8, 8, 5, 5), true],
  ['more ready', status(10, 10, 9, 8), status(10, 10, 10, 8), true],
  ['more available', status(10, 10, 10, 9), status(10, 10, 10, 10), true],
])('progress? %s', (_, before, after, expected) => {
  expect(hasProgressed(before, after)).toBe(expected);
});

test.each<[string, DeploymentCondition[], number | undefined, boolean]>([
  ['no deadline', [progressing('')], undefined, false],
  ['no condition', [], 10, false],
  ['30 s ago, 10 allowed', [progressing('')], 10, true],
  ['30 s ago, 30 allowed', [progressing('')], 30, false],
  ['30 s ago, 31 allowed', [progressing('')], 31, false],
  ['said so before', [progressing('ProgressDeadlineExceeded', 'False')], 600, true],
  ['ended long ago', [progressing('NewReplicaSetAvailable')], 10, false],
])('timed out? %s', (_, conditions, deadline, expected) => {
  expect(hasTimedOut(conditions, deadline, NOON)).toBe(expected);
});

describe('when to check the deadline', () => {
  const stuck = { ...status(3, 3, 1, 1), observedGeneration: 1 };
  const check = (deadline: number | undefined, ago: number, reason = '', counts = stuck) => {
    const conditions = [progressing(reason, 'True', timeText(NOON))];
    const known = {
      ...know({ progressDeadlineSeconds: deadline, status: { conditions } }),
      now: NOON + ago,
    };
    return progressCheckDelay(known, counts);
  };

  test.each([
    ['no deadline', check(undefined, 0), undefined],
    ['highest int32', check(2 ** 31 - 1, 0), undefined],
    ['complete', check(60, 0, '', { ...stuck, availableReplicas: 3 }), undefined],
    ['timed out', check(60, 0, 'ProgressDeadlineExceeded'), undefined],
    ['rollout has ended', check(60, 90_000, 'NewReplicaSetAvailable'), undefined],
    ['30 s left: a second later', check(60, 30_000), 31_000],
    ['1 s left', check(60, 59_000), 2_000],
    ['under a second left: as soon as it is over', check(60, 59_400), 601],
    ['over', check(60, 60_000), 5],
  ])('%s', (_, delay, expected) => {
    expect(delay).toBe(expected);
  });

  test('not without a Progressing condition', () => {
    expect(progressCheckDelay(know({ progressDeadlineSeconds: 60 }), stuck)).toBeUndefined();
  });
});

describe('Progressing in a rollout', () => {
  const NEW = counted('new', 3, 2, 2);
  const roll = (
    conditions: DeploymentCondition[],
    sets: Sets,
    counts: DeploymentStatus,
    deadline: number | undefined = 60,
  ) => {
    const known = know({
      recreate: true,
      progressDeadlineSeconds: deadline,
      status: { observedGeneration: 1, ...counts, conditions },
    });
    return rolloutStatus(known, sets).conditions?.find(({ type }) => type === 'Progressing');
  };
  const withOld = { newRS: NEW, oldRSs: [counted('old', 0, 1, 1)] };
  const alone = { newRS: NEW, oldRSs: [] };
  const before = status(2, 2, 2, 2);

  test('is removed without a deadline', () => {
    expect(roll([progressing('ReplicaSetUpdated')], withOld, before, 2 ** 31 - 1)).toBeUndefined();
  });

  test('stays when the rollout had ended and only new pods are there', () => {
    const ended = progressing('NewReplicaSetAvailable');
    expect(roll([ended], alone, before)).toEqual(ended);
  });

  test('progress moves lastUpdateTime, lastTransitionTime only with the status', () => {
    const now = timeText(NOON);
    const message = 'ReplicaSet "new" is progressing.';
    expect(roll([progressing('ReplicaSetUpdated')], withOld, before)).toEqual({
      ...progressing('ReplicaSetUpdated'),
      lastUpdateTime: now,
      message,
    });
    const after = { ...progressing('ReplicaSetUpdated', 'True', now), message };
    expect(roll([progressing('ProgressDeadlineExceeded', 'False')], withOld, before)).toEqual(
      after,
    );
    expect(roll([], withOld, before)).toEqual(after);
  });

  test('completion is told once', () => {
    const full = { newRS: counted('new', 3, 3, 3), oldRSs: [] };
    const told = roll([progressing('ReplicaSetUpdated')], full, status(3, 3, 3, 3));
    expect(told).toEqual({
      ...progressing('NewReplicaSetAvailable'),
      lastUpdateTime: timeText(NOON),
      message: 'ReplicaSet "new" has successfully progressed.',
    });
  });

  test('the Deployment is named where there is no new ReplicaSet', () => {
    const known = know({ replicas: 0, progressDeadlineSeconds: 60, status: { conditions: [] } });
    const sets = { newRS: undefined, oldRSs: [counted('old', 0, 0, 0)] };
    expect(rolloutStatus(known, sets).conditions).toMatchObject([
      { type: 'Available' },
      { type: 'Progressing', message: 'Deployment "web" has successfully progressed.' },
    ]);
  });

  test('time is up', () => {
    const stuck = roll([progressing('ReplicaSetUpdated')], alone, status(2, 2, 2, 2), 20);
    expect(stuck).toMatchObject({
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      message: 'ReplicaSet "new" has timed out progressing.',
    });
    const again = progressing('ProgressDeadlineExceeded', 'False');
    expect(roll([again], alone, status(2, 2, 2, 2), 20)).toEqual(again);
  });
});

describe('ReplicaFailure', () => {
  const failing = (name: string) =>
    replicaSet(name, 1, {
      status: {
        replicas: 0,
        conditions: [
          {
            type: 'ReplicaFailure',
            status: 'True',
            reason: 'FailedCreate',
            message: `quota of ${name}`,
            lastTransitionTime: EARLIER,
          },
        ],
      },
    });
  const shown = (sets: Sets, conditions: DeploymentCondition[] = []) =>
    rolloutStatus(know({ status: { conditions } }), sets).conditions?.find(
      ({ type }) => type === 'ReplicaFailure',
    );

  test("the new one's is preferred, else the first of the old ones", () => {
    const oldRSs = [failing('one'), failing('two')];
    expect(shown({ newRS: failing('new'), oldRSs })?.message).toBe('quota of new');
    expect(shown({ newRS: counted('new', 1, 1, 1), oldRSs })).toEqual({
      type: 'ReplicaFailure',
      status: 'True',
      reason: 'FailedCreate',
      message: 'quota of one',
      lastUpdateTime: EARLIER,
      lastTransitionTime: EARLIER,
    });
  });

  test('goes when no ReplicaSet has it', () => {
    const before = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' };
    expect(shown({ newRS: counted('new', 1, 1, 1), oldRSs: [] }, [before])).toBeUndefined();
  });
});
