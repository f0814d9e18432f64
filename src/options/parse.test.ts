import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { FlagRow } from './flags/row.ts';
import { defaultOf, FLAGS, kindOf } from './flags.ts';
import type { FlagValue } from './kinds.ts';
import { parseLine } from './parse.ts';

function valuesOf(...argv: string[]): Record<string, unknown> {
  return Object.fromEntries(parseLine(argv).values);
}

describe('forms of a flag', () => {
  test.each<[string[], Record<string, unknown>]>([
    [['--kube-api-burst', '7'], { 'kube-api-burst': 7 }],
    [['--kube-api-burst=7'], { 'kube-api-burst': 7 }],
    [['--kube_api_burst=7'], { 'kube-api-burst': 7 }],
    [['--concurrent_rc_syncs', '7'], { 'concurrent-rc-syncs': 7 }],
    [['--master='], { master: '' }],
    [['--master', '--v'], { master: '--v' }],
    [['--master=a=b'], { master: 'a=b' }],
    [['--profiling'], { profiling: true }],
    [['--profiling=false'], { profiling: false }],
    [['-v4'], { v: 4 }],
    [['-v', '4'], { v: 4 }],
    [['-v=4'], { v: 4 }],
    [['-hv4'], { help: true, v: 4 }],
    [['-h=false'], { help: false }],
    [['-v1', '-v=2', '--v', '3'], { v: 3 }],
    [['--bind-address='], { 'bind-address': '0.0.0.0' }],
    [['--bind-address=::1', '--bind-address='], { 'bind-address': '::1' }],
    [['--version'], { version: 'true' }],
    [['--version=raw'], { version: 'raw' }],
  ])('%j', (argv, values) => {
    expect(valuesOf(...argv)).toEqual(values);
  });

  test('lists grow with each use, and the first use replaces the default', () => {
    const argv = ['--controllers=a,"b,c"', '--controllers=', '--controllers=d'];
    expect(valuesOf(...argv)).toEqual({ controllers: ['a', 'b,c', 'd'] });
  });

  test('maps grow with each use', () => {
    const argv = ['--allow-metric-labels="m,l=1,2","n,l=3"', '--allow-metric-labels=n,l=4'];
    const map = new Map([
      ['m,l', '1,2'],
      ['n,l', '4'],
    ]);
    expect(valuesOf(...argv)).toEqual({ 'allow-metric-labels': map });
  });

  test('named certificates, module levels and gates', () => {
    expect(
      valuesOf(
        '--tls-sni-cert-key=a.crt, a.key',
        '--tls-sni-cert-key=b.crt,b.key: *.example , x',
        '--vmodule=a=1,b*=2',
        '--feature-gates=z:A=true, B=false',
      ),
    ).toEqual({
      'tls-sni-cert-key': [
        { certFile: 'a.crt', keyFile: 'a.key', names: [] },
        { certFile: 'b.crt', keyFile: 'b.key', names: ['*.example', 'x'] },
      ],
      vmodule: [
        { pattern: 'a', level: 1 },
        { pattern: 'b*', level: 2 },
      ],
      'feature-gates': [
        { prefix: '', text: 'B=false' },
        { prefix: 'z', text: 'A=true' },
      ],
    });
  });

  test('what is no flag is kept in order; -- ends the flags', () => {
    const line = parseLine(['a', '--master', 'x', '-', 'b', '--', '--master', 'c']);
    expect(line.positional).toEqual(['a', '-', 'b', '--master', 'c']);
  });

  test('a deprecated flag is told of at each use', () => {
    const notice = 'Flag --node-sync-period has been deprecated, ';
    const { notices } = parseLine(['--node-sync-period=1s', '--node_sync_period', '2s']);
    expect(notices.map((line) => line.slice(0, notice.length))).toEqual([notice, notice]);
  });
});

describe('every flag', () => {
  /** A text that can be given again: lists lose their brackets, and empty ones mean nothing. */
  function given(row: FlagRow, value: FlagValue): string {
    const printed = kindOf(row).print(value);
    return /^\[[\s\S]*\]$/.test(printed) ? printed.slice(1, -1) : printed;
  }

  const word = fc.stringMatching(/^[a-z][a-z0-9,=" .-]{0,12}$/);
  const plainWord = fc.stringMatching(/^[a-z][a-z0-9.-]{0,12}$/);
  const ARBITRARY: Record<FlagRow['kind'], fc.Arbitrary<FlagValue>> = {
    bool: fc.boolean(),
    int: fc.maxSafeInteger(),
    int32: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    level: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    float32: fc.integer({ min: -999_999, max: 999_999 }).map((whole) => whole / 1_000),
    float64: fc.double({ noNaN: true }),
    string: word,
    duration: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    strings: fc.array(word, { minLength: 1, maxLength: 4 }),
    int32s: fc.array(fc.integer({ min: -5, max: 70_000 }), { minLength: 1, maxLength: 4 }),
    map: fc
      .dictionary(plainWord, plainWord, { minKeys: 2, maxKeys: 4 })
      .map((record) => new Map(Object.entries(record))),
    ip: fc.ipV4(),
    namedCertificates: fc
      .record({ certFile: plainWord, keyFile: plainWord, names: fc.array(plainWord) })
      .map((certificate) => [certificate]),
    moduleLevels: fc.array(fc.record({ pattern: plainWord, level: fc.nat(9) }), { minLength: 1 }),
    prefixed: fc
      .array(plainWord, { minLength: 1 })
      .map((texts) => texts.map((text) => ({ prefix: 'kube', text: `${text}=true` }))),
    quantity: fc.nat(1_000_000).map((size) => (size === 0 ? '0' : `${size * 1_000 + 1}`)),
    version: fc.constantFrom('true', 'false', 'raw', 'v1.36.3', 'v1.36.3-k3s1'),
  };

  for (const row of FLAGS.values()) {
    test(`--${row.name}: what is printed can be given again, in every form`, () => {
      fc.assert(
        fc.property(ARBITRARY[row.kind], (value) => {
          const text = given(row, value);
          const underscored = row.name.replaceAll('-', '_');
          const lines = [[`--${row.name}=${text}`], [`--${underscored}=${text}`]];
          if (kindOf(row).bare === undefined) lines.push([`--${row.name}`, text]);
          for (const line of lines) expect(parseLine(line).values.get(row.name)).toEqual(value);
        }),
        { numRuns: 20 },
      );
    });
  }

  test('prints its default as one that can be given again', () => {
    for (const row of FLAGS.values()) {
      const standard = defaultOf(row);
      const text = given(row, standard);
      if (row.kind === 'int32s' || (text === '' && row.kind.endsWith('ertificates'))) continue;
      if (row.kind === 'map') continue;
      expect(parseLine([`--${row.name}=${text}`]).values.get(row.name)).toEqual(standard);
    }
  });
});
