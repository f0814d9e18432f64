import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ageText, dueText, durationText, momentText, parseAge } from './age.ts';

describe('ages', () => {
  test.each([
    [0, '0s'],
    [999, '0s'],
    [1_000, '1s'],
    [61_000, '1m1s'],
    [3_600_000, '1h'],
    [3_605_000, '1h'],
    [90_061_000, '1d1h'],
    [-5, '0s'],
  ])('%d ms is %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  test('what is shown can be asked for, and is never longer than it was', () => {
    fc.assert(
      fc.property(fc.nat(400 * 86_400_000), (ms) => {
        const shown = parseAge(durationText(ms));
        expect(shown).toBeDefined();
        expect(ms - (shown ?? 0)).toBeGreaterThanOrEqual(0);
        expect(ms - (shown ?? 0)).toBeLessThan(Math.max(1_000, ms / 20));
      }),
    );
  });

  test('no age', () => {
    expect(['', 'soon', '5', '1w', '-5s', '1.5h'].map(parseAge)).toEqual(Array(6).fill(undefined));
  });

  test('moments: none, past and to come', () => {
    expect(ageText(0, 5_000)).toBe('');
    expect(ageText(1_000, 5_000)).toBe('4s');
    expect(dueText(0, 5_000)).toBe('now');
    expect(dueText(7_000, 5_000)).toBe('in 2s');
    expect(momentText(0)).toBe('');
    expect(momentText(1_000)).toBe('1970-01-01T00:00:01Z');
  });
});
