import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatGoDuration } from '../../api/go-duration.ts';
import { parseAddress } from './address.ts';
import { readCsv, writeCsv } from './csv.ts';
import { durationMs, parseDuration } from './duration.ts';
import { formatFloat, parseBool, parseFloating, parseInteger, parseUint31 } from './number.ts';
import { canonicalQuantity, checkQuantity } from './quantity.ts';
import { quote, quoteList, quoteRune } from './quote.ts';

const INT64_MAX = 2n ** 63n - 1n;

describe('durations', () => {
  test('every one of 64 bits comes back as it was printed', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -INT64_MAX - 1n, max: INT64_MAX }), (nanoseconds) => {
        expect(parseDuration(formatGoDuration(nanoseconds))).toBe(nanoseconds);
      }),
      { numRuns: 2_000 },
    );
  });

  test('short ones come back as well', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), (nanoseconds) => {
        expect(parseDuration(formatGoDuration(nanoseconds))).toBe(nanoseconds);
      }),
      { numRuns: 2_000 },
    );
  });

  test('parts in any order and number add up', () => {
    const part = fc.tuple(fc.nat(1_000), fc.constantFrom('h', 'm', 's', 'ms', 'us', 'ns'));
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const whole = parts.map(([count, unit]) => `${count}${unit}`).join('');
        const sum = parts.reduce(
          (all, [count, unit]) => all + parseDuration(`${count}${unit}`),
          0n,
        );
        expect(parseDuration(whole)).toBe(sum);
        expect(parseDuration(`-${whole}`)).toBe(-sum);
      }),
    );
  });

  test.each([
    ['1h2m3.5s', 3_723_500_000_000n, '1h2m3.5s'],
    ['90m', 5_400_000_000_000n, '1h30m0s'],
    ['.5s', 500_000_000n, '500ms'],
    ['1.s', 1_000_000_000n, '1s'],
    ['0.000000001s', 1n, '1ns'],
    ['1.5us', 1_500n, '1.5µs'],
    ['1μs', 1_000n, '1µs'],
    ['-1.5ms', -1_500_000n, '-1.5ms'],
    ['0', 0n, '0s'],
    ['+0h', 0n, '0s'],
    ['1.0000000000000000000000000001h', 3_600_000_000_000n, '1h0m0s'],
  ])('%s', (text, nanoseconds, printed) => {
    expect(parseDuration(text)).toBe(nanoseconds);
    expect(formatGoDuration(nanoseconds)).toBe(printed);
  });

  test('milliseconds keep what is finer as a fraction', () => {
    expect(durationMs(1_500_250n)).toBe(1.50025);
  });
});

describe('numbers', () => {
  test('whole numbers come back in every notation', () => {
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), (value) => {
        const sign = value < 0 ? '-' : '';
        const size = Math.abs(value);
        const notations = ['', '0x', '0o', '0b'].map((prefix, at) => {
          return `${sign}${prefix}${size.toString([10, 16, 8, 2][at])}`;
        });
        for (const text of notations) expect(parseInteger(text, 32)).toBe(value + 0);
      }),
    );
  });

  test('floats come back as they were printed', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(parseFloating(formatFloat(value), 64)).toBe(value);
      }),
      { numRuns: 2_000 },
    );
  });

  test('32-bit floats are the shortest decimals that mean the same', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const short = parseFloating(formatFloat(value), 32);
        expect(Math.fround(short)).toBe(value);
        expect(parseFloating(formatFloat(short), 32)).toBe(short);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ['0.55', 0.55],
    ['33.3', 33.3],
    ['16777217', 16_777_216],
    ['0x1p-2', 0.25],
    ['0x1.8p1', 3],
    ['-Inf', Number.NEGATIVE_INFINITY],
    ['1_000.5', 1_000.5],
  ])('the 32-bit float %s', (text, value) => {
    expect(parseFloating(text, 32)).toBe(value);
  });

  test.each([
    [0, '0'],
    [-0, '-0'],
    [100_000, '100000'],
    [1e6, '1e+06'],
    [1e-4, '0.0001'],
    [1e-5, '1e-05'],
    [123456789, '1.23456789e+08'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, '+Inf'],
  ])('%d prints as Go does: %s', (value, text) => {
    expect(formatFloat(value)).toBe(text);
  });

  test.each(['0x_1', '1_2', '0b1_0', '0_7'])('underscores between digits: %s', (text) => {
    expect(Number.isInteger(parseInteger(text, 64))).toBe(true);
  });

  test.each([
    ['_1', 'invalid syntax'],
    ['1_', 'invalid syntax'],
    ['0x', 'invalid syntax'],
    ['0b2', 'invalid syntax'],
    ['09', 'invalid syntax'],
    ['--1', 'invalid syntax'],
    ['+', 'invalid syntax'],
    ['9223372036854775808', 'value out of range'],
    ['99999999999999999999x', 'value out of range'],
  ])('no whole number: %s', (text, reason) => {
    expect(() => parseInteger(text, 64)).toThrow(
      `strconv.ParseInt: parsing ${quote(text)}: ${reason}`,
    );
  });

  test.each(['_1', '1_', '1e_5', '0x1', '1e', 'e5', '+nan', 'infinit', ''])(
    'no float: %s',
    (text) => {
      const message = `strconv.ParseFloat: parsing ${quote(text)}: invalid syntax`;
      expect(() => parseFloating(text, 64)).toThrow(message);
    },
  );

  test('booleans as Go spells them', () => {
    for (const text of ['1', 't', 'T', 'true', 'TRUE', 'True']) expect(parseBool(text)).toBe(true);
    for (const text of ['0', 'f', 'F', 'false', 'FALSE', 'False']) {
      expect(parseBool(text)).toBe(false);
    }
  });

  test('verbosity has 31 bits and no notation but digits', () => {
    expect(parseUint31('2147483647')).toBe(2_147_483_647);
    expect(() => parseUint31('0x1')).toThrow('strconv.ParseUint: parsing "0x1": invalid syntax');
  });
});

describe('quoting', () => {
  test.each([
    ['plain', '"plain"'],
    ['tab\t"q"\\', '"tab\\t\\"q\\"\\\\"'],
    ['é€😀', '"é€😀"'],
    ['\u0007\u0001\u007f', '"\\a\\x01\\x7f"'],
    ['\u200b\u{e0001}', '"\\u200b\\U000e0001"'],
  ])('%j', (text, quoted) => {
    expect(quote(text)).toBe(quoted);
  });

  test('lists and single characters', () => {
    expect(quoteList(['a', 'b c'])).toBe('["a" "b c"]');
    expect(["'", '"', 'x'].map(quoteRune)).toEqual(["'\\''", "'\"'", "'x'"]);
  });
});

describe('comma-separated values', () => {
  const field = fc.string({ unit: fc.constantFrom('a', 'é', ' ', '"', ',', '\n', '.') });

  test('a record comes back as it was written', () => {
    fc.assert(
      fc.property(fc.array(field, { minLength: 1, maxLength: 5 }), (fields) => {
        fc.pre(fields.length > 1 || fields[0] !== '');
        expect(readCsv(writeCsv(fields))).toEqual(fields);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ['\n\na,b\nc', ['a', 'b']],
    ['a,', ['a', '']],
    [',', ['', '']],
    ['"a\r\nb",c\r\n', ['a\nb', 'c']],
    ['"a""b"', ['a"b']],
    ['a\r', ['a']],
  ])('%j', (text, fields) => {
    expect(readCsv(text)).toEqual(fields);
  });

  test.each([
    ['é,a"b', 'parse error on line 1, column 5: bare " in non-quoted-field'],
    ['x,"a"b', 'parse error on line 1, column 5: extraneous or missing " in quoted-field'],
    [
      '"a\nb" c',
      'record on line 1; parse error on line 2, column 2: extraneous or missing " in quoted-field',
    ],
    ['\n"a', 'parse error on line 2, column 3: extraneous or missing " in quoted-field'],
    ['', 'EOF'],
  ])('%j is refused', (text, message) => {
    expect(() => readCsv(text)).toThrow(message);
  });
});

describe('addresses', () => {
  test('the shortest form of any IPv6 address stays as it is', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const address = parseAddress(text);
        expect(address).toBeDefined();
        expect(parseAddress(address ?? '')).toBe(address);
      }),
    );
  });

  test.each([
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['::', '::'],
    ['::ffff:10.0.0.255', '10.0.0.255'],
    ['10.0.0.1', '10.0.0.1'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['::0:0:0:0:1.2.3.4', '::102:304'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
  ])('%s', (text, address) => {
    expect(parseAddress(text)).toBe(address);
  });
});

describe('quantities', () => {
  test.each([
    ['0', '0'],
    ['1024', '1024'],
    ['2048Ki', '2Mi'],
    ['1500000', '1500k'],
    ['1e3', '1e3'],
    ['1000e3', '1e6'],
    ['0.5', '500m'],
    ['5Mi', '5Mi'],
  ])('%s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
    expect(canonicalQuantity(canonical)).toBe(canonical);
  });

  test('what is none is refused in upstream words', () => {
    expect(() => checkQuantity('5Q')).toThrow("unable to parse quantity's suffix");
    expect(() => checkQuantity('-')).toThrow('quantities must match the regular expression');
  });
});
