import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { compareVersions, isVersion } from './version.ts';

describe('isVersion', () => {
  test.each(['1', '42', '9'.repeat(40)])('%p is one', (text) => {
    expect(isVersion(text)).toBe(true);
  });
  test.each(['', '0', '007', '-1', '1.5', 'abc', '1 '])('%p is none', (text) => {
    expect(isVersion(text)).toBe(false);
  });
});

describe('compareVersions', () => {
  test('a longer one is newer, whatever its digits', () => {
    expect(compareVersions('100', '99')).toBeGreaterThan(0);
    expect(compareVersions('', '1')).toBeLessThan(0);
  });
  test('tells apart what a number cannot', () => {
    expect(compareVersions('9007199254740993', '9007199254740992')).toBeGreaterThan(0);
  });
  test('agrees with the order of big integers', () => {
    const version = fc.bigInt({ min: 1n, max: 10n ** 30n });
    fc.assert(
      fc.property(version, version, (a, b) => {
        const expected = a < b ? -1 : a > b ? 1 : 0;
        expect(Math.sign(compareVersions(`${a}`, `${b}`))).toBe(expected);
      }),
    );
  });
});
