import { expect, test } from 'bun:test';
import { parseJson } from './json.ts';
import { LONGEST_MS, secondsMs } from './time.ts';

test('seconds as the API holds them, up to the highest 64-bit integer', () => {
  const seconds = (text: string) => secondsMs(parseJson<number>(text));
  expect(seconds('30')).toBe(30_000);
  expect(seconds('0')).toBe(0);
  expect(seconds('9007199254740993')).toBe(LONGEST_MS);
  expect(seconds('9223372036854775807')).toBe(LONGEST_MS);
  expect(seconds('-9223372036854775808')).toBe(-LONGEST_MS);
});
