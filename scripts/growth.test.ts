import { expect, test } from 'bun:test';
import { growth } from './growth.ts';

test('tells a slope from noise', () => {
  const values = (of: (at: number) => number) =>
    Array.from({ length: 60 }, (_, at) => [at * 10_000, of(at)] as const);
  expect(growth(values(() => 80))).toBe(0);
  expect(growth(values((at) => 100 + (at % 2)))).toBeLessThan(0.01);
  expect(growth(values((at) => 100 + at))).toBeCloseTo(59 / 129.5, 5);
  expect(growth(values((at) => 100 - at))).toBeLessThan(-0.5);
  expect(growth([[0, 1]])).toBe(0);
});
