import { describe, expect, test } from 'bun:test';
import { sameTaints, tolerates, untoleratedTaint } from './taint.ts';
import type { Toleration } from './types/index.ts';

const RULES = { comparison: false };
const taint = { key: 'k', value: 'v', effect: 'NoExecute' };

describe('a toleration', () => {
  const cases: [Toleration, boolean][] = [
    [{}, false],
    [{ operator: 'Exists' }, true],
    [{ key: 'k', operator: 'Exists' }, true],
    [{ key: 'x', operator: 'Exists' }, false],
    [{ key: 'k', operator: 'Exists', effect: 'NoExecute' }, true],
    [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }, false],
    [{ key: 'k', operator: 'Equal', value: 'v' }, true],
    [{ key: 'k', value: 'v' }, true],
    [{ key: 'k', value: 'w' }, false],
    [{ key: 'k' }, false],
    [{ key: 'k', operator: 'Odd', value: 'v' }, false],
  ];
  for (const [toleration, tolerated] of cases) {
    test(`${JSON.stringify(toleration)}: ${tolerated ? 'yes' : 'no'}`, () => {
      expect(tolerates(toleration, taint, RULES)).toBe(tolerated);
    });
  }

  test.each([
    ['Gt', '5', '6', true],
    ['Gt', '5', '5', false],
    ['Lt', '5', '4', true],
    ['Lt', '-3', '-4', true],
    ['Lt', '05', '4', false],
    ['Gt', '5', 'x', false],
    ['Gt', '', '6', false],
    ['Gt', '5', '99999999999999999999', false],
  ])('%s %s of %s, with the gate only', (operator, value, found, tolerated) => {
    const toleration = { key: 'k', operator, value };
    const numbered = { key: 'k', value: found, effect: 'NoSchedule' };
    expect(tolerates(toleration, numbered, { comparison: true })).toBe(tolerated);
    expect(tolerates(toleration, numbered, RULES)).toBe(false);
  });
});

test('the first taint of these effects that nothing tolerates', () => {
  const taints = [
    { key: 'a', effect: 'PreferNoSchedule' },
    { key: 'b', effect: 'NoSchedule' },
    { key: 'c', effect: 'NoSchedule' },
  ];
  const both = ['NoSchedule', 'NoExecute'];
  expect(untoleratedTaint(taints, [], both, RULES)?.key).toBe('b');
  const tolerations = [{ key: 'b', operator: 'Exists' }];
  expect(untoleratedTaint(taints, tolerations, both, RULES)?.key).toBe('c');
  expect(untoleratedTaint(taints, tolerations, ['NoExecute'], RULES)).toBeUndefined();
});

test('taints are the same if each is, in the same order', () => {
  const [a, b] = [taint, { key: 'x', effect: 'NoSchedule' }];
  expect(sameTaints([a, b], [{ ...a }, { ...b, value: '' }])).toBe(true);
  expect(sameTaints([a, b], [b, a])).toBe(false);
  expect(sameTaints([a], [a, b])).toBe(false);
  expect(sameTaints([a], [{ ...a, timeAdded: '2026-01-01T00:00:00Z' }])).toBe(false);
});
