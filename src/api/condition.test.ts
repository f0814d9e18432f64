import { describe, expect, test } from 'bun:test';
import { findCondition, removeCondition, replaceCondition, setCondition } from './condition.ts';

const OLD = '2026-01-01T00:00:00Z';
const NEW = '2026-01-01T00:10:00Z';
const failure = {
  type: 'ReplicaFailure',
  status: 'True',
  reason: 'FailedCreate',
  message: 'quota',
  lastTransitionTime: OLD,
};
const other = { ...failure, type: 'Progressing', reason: 'Going' };

test('a condition is found by type', () => {
  expect(findCondition([other, failure], 'ReplicaFailure')).toBe(failure);
  expect(findCondition([other], 'ReplicaFailure')).toBeUndefined();
  expect(findCondition(undefined, 'ReplicaFailure')).toBeUndefined();
});

test('removing leaves the others, and the very list if there is nothing to remove', () => {
  expect(removeCondition([failure, other], 'ReplicaFailure')).toEqual([other]);
  const list = [other];
  expect(removeCondition(list, 'ReplicaFailure')).toBe(list);
});

describe.each([
  ['replaceCondition', replaceCondition],
  ['setCondition', setCondition],
])('%s', (_name, set) => {
  test('adds at the end', () => {
    expect(set([other], failure)).toEqual([other, failure]);
  });

  test('keeps the very list if status and reason are the same, whatever the message', () => {
    const list = [failure, other];
    expect(set(list, { ...failure, message: 'new', lastTransitionTime: NEW })).toBe(list);
  });

  test('a new status moves it to the end with its new time', () => {
    const next = { ...failure, status: 'False', lastTransitionTime: NEW };
    expect(set([failure, other], next)).toEqual([other, next]);
  });
});

test('a new reason under the same status: replaced with its own time, or set with the old one', () => {
  const next = { ...failure, reason: 'FailedDelete', lastTransitionTime: NEW };
  expect(replaceCondition([failure], next)).toEqual([next]);
  expect(setCondition([failure], next)).toEqual([{ ...next, lastTransitionTime: OLD }]);
});
