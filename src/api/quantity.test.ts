import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  addQuantities,
  parseQuantity,
  type Quantity,
  quantitiesEqual,
  quantityNanos,
  quantityOf,
  quantityText,
  roundUpQuantity,
  subtractQuantities,
  timesQuantity,
} from './quantity.ts';

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

const TEXTS: Readonly<Record<string, string>> = {
  '0': '0',
  '1': '1',
  '100m': '100m',
  '1500m': '1500m',
  '1.5': '1500m',
  '1500k': '1500k',
  '1000k': '1M',
  '1023Ki': '1023Ki',
  '1.5Gi': '1536Mi',
  '0.5Ki': '512',
  '1E3': '1e3',
  '1500e-3': '1500e-3',
  '12e6': '12e6',
  '1e21': '1e21',
  '1n': '1n',
  '1000000n': '1m',
  '-1Gi': '-1Gi',
  '-500m': '-500m',
  '8Ei': '9223372036854775807',
  '10E': '10E',
  '3.3Mi': '3460300800m',
  '0.1Ki': '102400m',
  '123456789123456789': '123456789123456789',
};

const SUMS: readonly (readonly [string, string, string])[] = [
  ['1Gi', '500M', '1573741824'],
  ['500M', '1Gi', '1573741824'],
  ['0', '1Gi', '1Gi'],
  ['100m', '1Gi', '1073741824100m'],
  ['1e3', '1k', '2e3'],
  ['1k', '1e3', '2k'],
  ['512Mi', '512Mi', '1Gi'],
  ['1', '1500m', '2500m'],
  ['0.5', '0.5', '1'],
  ['1Ki', '1m', '1024001m'],
];

function parsed(text: string): Quantity {
  const quantity = parseQuantity(text);
  if (quantity === undefined) throw new Error(`${text} is no quantity`);
  return quantity;
}

describe('as the API server writes them', () => {
  test.each(Object.entries(TEXTS))('%s is written %s', (text, expected) => {
    expect(quantityText(parsed(text))).toBe(expected);
  });

  test.each(SUMS)('%s and %s are %s', (a, b, sum) => {
    expect(quantityText(addQuantities(parsed(a), parsed(b)))).toBe(sum);
    const back = subtractQuantities(addQuantities(parsed(a), parsed(b)), parsed(b));
    expect(back.nanos).toBe(parsed(a).nanos);
  });

  test.each([
    ['1500m', '2'],
    ['1', '1'],
    ['1n', '1'],
    ['2.5Gi', '2560Mi'],
    ['-1500m', '-2'],
    ['1e-1', '1'],
  ])('%s is %s when rounded up', (text, expected) => {
    expect(quantityText(roundUpQuantity(parsed(text)))).toBe(expected);
  });

  test('what is written means the same, and is written the same once more', () => {
    const suffix = fc.constantFrom('', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'e-3');
    fc.assert(
      fc.property(fc.integer(), suffix, (number, unit) => {
        const text = quantityText(parsed(`${number}${unit}`));
        expect(quantitiesEqual(text, `${number}${unit}`)).toBe(true);
        expect(quantityText(parsed(text))).toBe(text);
      }),
    );
  });

  test('so many times is the sum of so many', () => {
    const half = parsed('512Mi');
    expect(quantityText(timesQuantity(half, 4))).toBe('2Gi');
    expect(quantityText(addQuantities(quantityOf(3), quantityOf(4n)))).toBe('7');
  });
});
