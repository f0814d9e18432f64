import { expect, test } from 'bun:test';
import { scaledValue } from './int-or-percent.ts';

test.each([
  [3, 10, 'up', 3],
  [0, 10, 'down', 0],
  ['25%', 10, 'up', 3],
  ['25%', 10, 'down', 2],
  ['100%', 7, 'down', 7],
  ['150%', 2, 'up', 3],
  ['0%', 5, 'up', 0],
  ['1%', 0, 'up', 0],
  ['+5%', 100, 'up', 5],
  ['-5%', 100, 'up', -5],
  ['5', 10, 'up', undefined],
  ['', 10, 'up', undefined],
  ['5.5%', 10, 'up', undefined],
  ['%', 10, 'up', undefined],
  ['oops', 10, 'down', undefined],
] as const)('%p of %p, rounded %s: %p', (value, total, round, expected) => {
  expect(scaledValue(value, total, round)).toBe(expected);
});
