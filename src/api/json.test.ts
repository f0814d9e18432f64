import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseJson, stringifyJson, withJsonText } from './json.ts';

describe('JSON', () => {
  test('integers that a number can not hold come back digit by digit', () => {
    const text = '{"a":9223372036854775807,"b":[9007199254740993],"c":1.5,"d":"9007199254740993"}';
    const value = parseJson<{ a: bigint; b: bigint[] }>(text);
    expect(value).toMatchObject({ a: 9223372036854775807n, b: [9007199254740993n] });
    expect(stringifyJson(value)).toBe(text);
  });

  test('any JSON text comes back as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(stringifyJson(value)).toBe(text);
        expect(stringifyJson(parseJson(text))).toBe(text);
      }),
    );
  });
});

describe('a value with a text of its own', () => {
  const value = withJsonText({ b: '<', a: 1 }, '{"a":1,"b":"\\u003c"}');

  test('is that value, written as that text', () => {
    expect(value).toMatchObject({ a: 1, b: '<' });
    expect(stringifyJson(value)).toBe('{"a":1,"b":"\\u003c"}');
  });

  test('a changed copy is written as it is', () => {
    expect(stringifyJson({ ...value, a: 2 })).toBe('{"b":"<","a":2}');
  });
});
