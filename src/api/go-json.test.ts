import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { compareBytes, goJson } from './go-json.ts';

describe('Go JSON', () => {
  test('sorts keys by their bytes, also those that look like numbers', () => {
    const value = { b: 1, a: { '10': 1, '9': 2, B: 3, é: 4, '\u{1f600}': 5, '\uff01': 6 } };
    expect(goJson(value)).toBe('{"a":{"10":1,"9":2,"B":3,"é":4,"\uff01":6,"\u{1f600}":5},"b":1}');
  });

  test('escapes what HTML and JavaScript might trip over, and nothing else', () => {
    expect(goJson('<a> & \u2028\u2029 "\\/\u007f')).toBe(
      '"\\u003ca\\u003e \\u0026 \\u2028\\u2029 \\"\\\\/\u007f"',
    );
    expect(goJson('\b\f\n\r\t\u0000\u001f')).toBe('"\\b\\f\\n\\r\\t\\u0000\\u001f"');
    expect(goJson('\ud800x')).toBe('"\ufffdx"');
  });

  test('keeps integers to the last digit, or rounds them as a float64', () => {
    const value = [1, -2.5, 9007199254740993n, 9223372036854775807n];
    expect(goJson(value)).toBe('[1,-2.5,9007199254740993,9223372036854775807]');
    expect(goJson(value, { float64: true })).toBe('[1,-2.5,9007199254740992,9223372036854776000]');
  });

  test('leaves out what is undefined, keeps null, empty lists and maps', () => {
    expect(goJson({ a: undefined, b: null, c: [], d: {}, e: false })).toBe(
      '{"b":null,"c":[],"d":{},"e":false}',
    );
  });

  test('means the same as the value, and does not depend on the order of fields', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = goJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(goJson(JSON.parse(text))).toBe(text);
        expect(text).not.toMatch(/[<>&\u2028\u2029]/);
      }),
    );
  });
});

test('texts compare as their UTF-8 bytes do', () => {
  const bytes = new TextEncoder();
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, text, (a, b) => {
      const wanted = Buffer.compare(bytes.encode(a), bytes.encode(b));
      expect(Math.sign(compareBytes(a, b))).toBe(wanted);
    }),
    { numRuns: 500 },
  );
});
