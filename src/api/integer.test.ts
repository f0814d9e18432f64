import { expect, test } from 'bun:test';
import { parseInt64 } from './integer.ts';

test.each([
  ['0', 0n],
  ['+5', 5n],
  ['-007', -7n],
  ['9223372036854775807', 9223372036854775807n],
  ['9223372036854775808', undefined],
  ['-9223372036854775808', -9223372036854775808n],
  ['-9223372036854775809', undefined],
  ['', undefined],
  [' 1', undefined],
  ['1.0', undefined],
  ['1e3', undefined],
  ['0x1', undefined],
  ['--1', undefined],
])('%p', (text, value) => {
  expect(parseInt64(text)).toBe(value);
});
