import { describe, expect, test } from 'bun:test';
import { parseFile } from './file.ts';
import { parseOptions } from './index.ts';

const PATH = '/etc/holdfast.yaml';
const KIND = 'kind: HoldfastConfiguration\n';

function errorsOf(text: string): readonly string[] {
  return parseFile(PATH, text).errors.map((error) => {
    expect(error).toStartWith(`--config ${PATH}: `);
    return error.slice(`--config ${PATH}: `.length);
  });
}

function read(text: string) {
  const { values, errors } = parseFile(PATH, text);
  expect(errors).toEqual([]);
  return Object.fromEntries(values);
}

describe('what a file may say', () => {
  test('flags by name, under "flags" or beside "kind"', () => {
    const values = {
      'kube-api-qps': 50,
      'leader-elect': false,
      'min-resync-period': 60n * 10n ** 9n,
    };
    const flags = ['kube-api-qps: 50', 'leader-elect: false', 'min-resync-period: 1m'];
    expect(read(`${KIND}${flags.join('\n')}`)).toEqual(values);
    expect(read(`${KIND}flags:\n  ${flags.join('\n  ')}`)).toEqual(values);
    expect(read(`apiVersion: holdfast.dev/v1\n${KIND}kube_api_qps: "50"`)).toEqual({
      'kube-api-qps': 50,
    });
  });

  test('scalars reach the flag as they are written', () => {
    expect(
      read(`${KIND}kube-api-burst: 0x10\nmaster: 1e3\ncluster-name: on\nroot-ca-file: ""`),
    ).toEqual({ 'kube-api-burst': 16, master: '1e3', 'cluster-name': 'on', 'root-ca-file': '' });
  });

  test('lists as lists, or as on a command line', () => {
    const list = ['*', '-ttl', 'a,b'];
    expect(read(`${KIND}controllers: ["*", "-ttl", "a,b"]`)).toEqual({ controllers: list });
    expect(read(`${KIND}controllers: "*,-ttl,\\"a,b\\""`)).toEqual({ controllers: list });
    expect(read(`${KIND}controllers: []`)).toEqual({ controllers: [] });
    expect(read(`${KIND}tls-curve-preferences: [23, 0x18]`)).toEqual({
      'tls-curve-preferences': [23, 24],
    });
    expect(read(`${KIND}tls-sni-cert-key: ["a,b", "c,d:x"]`)).toEqual({
      'tls-sni-cert-key': [
        { certFile: 'a', keyFile: 'b', names: [] },
        { certFile: 'c', keyFile: 'd', names: ['x'] },
      ],
    });
  });

  test('maps as maps', () => {
    expect(
      read(`${KIND}
feature-gates: {PodDeletionCost: false, "kube:HPAScaleToZero": true}
vmodule: {"store*": 4, kube: 2}
allow-metric-labels: {"m,l": "a,b=\\"c\\""}
`),
    ).toEqual({
      'feature-gates': [
        { prefix: '', text: 'PodDeletionCost=false' },
        { prefix: 'kube', text: 'HPAScaleToZero=true' },
      ],
      vmodule: [
        { pattern: 'store*', level: 4 },
        { pattern: 'kube', level: 2 },
      ],
      'allow-metric-labels': new Map([['m,l', 'a,b="c"']]),
    });
  });

  test('deprecated flags are told of', () => {
    const { notices } = parseFile(PATH, `${KIND}node-sync-period: 3s`);
    expect(notices).toEqual([
      'Flag --node-sync-period has been deprecated, ' +
        'This flag is currently no-op and will be deleted.',
    ]);
  });
});

describe('what a file may not say', () => {
  test.each<[string, string[]]>([
    ['', ['found nothing; valid is a map with kind: HoldfastConfiguration']],
    ['- a', ['found a list; valid is a map with kind: HoldfastConfiguration']],
    ['hello', ['found "hello"; valid is a map with kind: HoldfastConfiguration']],
    ['master: x', ['kind: found nothing; valid is HoldfastConfiguration']],
    ['kind: Deployment', ['kind: found "Deployment"; valid is HoldfastConfiguration']],
    ['kind: [a]', ['kind: found a list; valid is HoldfastConfiguration']],
    [`${KIND}apiVersion: v2`, ['apiVersion: found "v2"; valid is holdfast.dev/v1']],
    [`${KIND}apiVersion: {}`, ['apiVersion: found a map; valid is holdfast.dev/v1']],
    [
      `${KIND}kube-api-qqs: 5`,
      ['kube-api-qqs: no such flag; the nearest valid name is kube-api-qps'],
    ],
    [
      `${KIND}flags: {leaderElect: true}`,
      ['flags.leaderElect: no such flag; the nearest valid name is leader-elect'],
    ],
    [
      `${KIND}state-dri: /x\nPROFILING: true`,
      [
        'state-dri: no such flag; the nearest valid name is state-dir',
        'PROFILING: no such flag; the nearest valid name is profiling',
      ],
    ],
    [`${KIND}flags: [a]`, ['flags: found a list; valid is a map of flag names to values']],
    [`${KIND}flags:`, ['flags: found nothing; valid is a map of flag names to values']],
    [`${KIND}config: x`, ['config: this flag is valid on the command line only']],
    [`${KIND}help: true`, ['help: this flag is valid on the command line only']],
    [
      `${KIND}flags: {version: raw}`,
      ['flags.version: this flag is valid on the command line only'],
    ],
    [
      `${KIND}kube-api-burst: many`,
      [
        'kube-api-burst: invalid argument "many" for "--kube-api-burst" flag: ' +
          'strconv.ParseInt: parsing "many": invalid syntax',
      ],
    ],
    [
      `${KIND}v: -1`,
      [
        'v: invalid argument "-1" for "-v, --v" flag: ' +
          'strconv.ParseUint: parsing "-1": invalid syntax',
      ],
    ],
    [
      `${KIND}min-resync-period: 12`,
      [
        'min-resync-period: invalid argument "12" for "--min-resync-period" flag: ' +
          'time: missing unit in duration "12"',
      ],
    ],
    [
      `${KIND}leader-elect: "yes"`,
      [
        'leader-elect: invalid argument "yes" for "--leader-elect" flag: ' +
          'strconv.ParseBool: parsing "yes": invalid syntax',
      ],
    ],
    [`${KIND}master:`, ['master: found nothing; valid is one value']],
    [`${KIND}master: [a]`, ['master: found a list; valid is one value']],
    [`${KIND}kube-api-qps: {a: 1}`, ['kube-api-qps: found a map; valid is one value']],
    [
      `${KIND}controllers: {a: b}`,
      ['controllers: found a map; valid is one value or a list of values'],
    ],
    [
      `${KIND}controllers: [[a]]`,
      ['controllers: found a list; valid is one value or a list of values'],
    ],
    [
      `${KIND}allow-metric-labels: [a]`,
      ['allow-metric-labels: found a list; valid is one value or a map of values'],
    ],
    [
      `${KIND}vmodule: {a: {b: 1}}`,
      ['vmodule: found a map; valid is one value or a list of values or a map of values'],
    ],
    [
      `${KIND}vmodule: {a: x}`,
      [
        'vmodule: invalid argument "a=x" for "--vmodule" flag: parsing verbosity in "a=x": ' +
          'strconv.ParseUint: parsing "x": invalid syntax',
      ],
    ],
    [
      `${KIND}kube-api-qps: 1\nkube_api_qps: 2`,
      ['kube_api_qps: given twice; --kube-api-qps is valid once'],
    ],
    [
      `${KIND}kube-api-qps: 1\nflags: {kube-api-qps: 2}`,
      ['flags.kube-api-qps: given twice; --kube-api-qps is valid once'],
    ],
    [`${KIND}v: 1\nv: 2`, ['Map keys must be unique at line 3, column 1']],
    [
      `${KIND}v: [1`,
      [
        'Flow sequence in block collection must be sufficiently indented and end with a ] at line 2, column 6',
      ],
    ],
    [
      `kind: x\nvmodul: 1\nv: y`,
      [
        'kind: found "x"; valid is HoldfastConfiguration',
        'vmodul: no such flag; the nearest valid name is vmodule',
        'v: invalid argument "y" for "-v, --v" flag: ' +
          'strconv.ParseUint: parsing "y": invalid syntax',
      ],
    ],
  ])('%j', (text, errors) => {
    expect(errorsOf(text)).toEqual(errors);
  });
});

describe('--config', () => {
  const files: Record<string, string> = {
    '/good': `${KIND}kube-api-qps: 50\nkube-api-burst: 60\nfeature-gates: {PodDeletionCost: false}`,
    '/bad': `${KIND}vmodul: 1`,
  };
  const readText = (path: string): string => {
    const text = files[path];
    if (text !== undefined) return text;
    throw Object.assign(new Error('gone'), { code: path === '/dir' ? 'EISDIR' : 'ENOENT' });
  };
  const parse = (...argv: string[]) => parseOptions(argv, {}, { readText });

  test('a flag on the command line beats the file', () => {
    const result = parse('--config=/good', '--kube-api-burst=70');
    if (result.kind !== 'options') throw new Error('refused');
    const { generic, gates, effective } = result.options;
    expect([generic.qps, generic.burst, gates.enabled('PodDeletionCost')]).toEqual([50, 70, false]);
    const from = (name: string) => effective.find((flag) => flag.name === name)?.from;
    expect(['kube-api-qps', 'kube-api-burst', 'v'].map(from)).toEqual(['file', 'flag', 'default']);
  });

  test('lists of the command line replace those of the file', () => {
    const result = parse('--config=/good', '--feature-gates=HPAScaleToZero=true');
    if (result.kind !== 'options') throw new Error('refused');
    expect(result.options.gates.enabled('PodDeletionCost')).toBe(true);
  });

  test.each([
    ['/bad', '--config /bad: vmodul: no such flag; the nearest valid name is vmodule'],
    ['/none', '--config /none: open /none: no such file or directory'],
    ['/dir', '--config /dir: read /dir: is a directory'],
  ])('%s is refused', (path, message) => {
    const result = parse(`--config=${path}`);
    expect(result).toMatchObject({ kind: 'refused', refusal: { stage: 'setup', message } });
  });
});
