import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { quantitiesEqual, quantityNanos } from './quantity.ts';

const BILLION = 1_000_000_000n;

describe('value of a quantity', () => {
  test.each([
    ['0', 0n],
    ['1', BILLION],
    ['1000m', BILLION],
    ['1k', 1000n * BILLION],
    ['1Ki', 1024n * BILLION],
    ['1.5Gi', 1536n * 1024n * 1024n * BILLION],
    ['2e3', 2000n * BILLION],
    ['2E3', 2000n * BILLION],
    ['5E', 5n * 10n ** 18n * BILLION],
    ['12e-3', 12_000_000n],
    ['-1', -BILLION],
    ['+1', BILLION],
    ['.5', BILLION / 2n],
    ['1.', BILLION],
    ['1n', 1n],
    ['1u', 1000n],
    // Finer than a billionth: away from zero.
    ['0.1n', 1n],
    ['-0.1n', -1n],
    // Binary ones stop at 2^63-1.
    ['16Ei', (2n ** 63n - 1n) * BILLION],
  ])('%p', (text, expected) => {
    expect(quantityNanos(text)).toBe(expected);
  });

  test.each(['', '.', 'x', '1x', '1KiB', 'm', '1 Gi', '1e', '1e999999999', '0x1'])(
    '%p is none',
    (text) => {
      expect(quantityNanos(text)).toBeUndefined();
    },
  );
});

describe('equal', () => {
  test('by value, other texts letter by letter', () => {
    expect(quantitiesEqual('1Gi', '1073741824')).toBe(true);
    expect(quantitiesEqual('1Gi', '1G')).toBe(false);
    expect(quantitiesEqual(2, '2')).toBe(true);
    expect(quantitiesEqual('odd', 'odd')).toBe(true);
    expect(quantitiesEqual('odd', 'other')).toBe(false);
  });

  test('n milli is n / 1000', () => {
    fc.assert(
      fc.property(fc.integer(), (n) => {
        expect(quantitiesEqual(`${n}`, `${BigInt(n) * 1000n}m`)).toBe(true);
        expect(quantitiesEqual(`${n}`, `${BigInt(n) * 1000n + 1n}m`)).toBe(false);
      }),
    );
  });
});
