import { describe, expect, test } from 'bun:test';
import { createLogger, type LoggerOptions, type ModuleLevel } from './log.ts';
import { quoteGo } from './log-format.ts';

const AT = new Date(2026, 10, 30, 6, 11, 38, 123).getTime();

function capture(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const log = createLogger({
    format: 'text',
    verbosity: 0,
    write: (line) => lines.push(line),
    clock: { now: () => AT },
    pid: 4242,
    ...options,
  });
  return { log, lines };
}

/** As --vmodule gives them. */
function levels(patterns: Readonly<Record<string, number>>): ModuleLevel[] {
  return Object.entries(patterns).map(([pattern, level]) => ({ pattern, level }));
}

describe('text format', () => {
  test('has a klog header in local time, a quoted message and quoted values', () => {
    const { log, lines } = capture();
    log.named('replicaset').info('Synced "it"', { key: 'ns/name', count: 3, list: ['a'] });
    expect(lines).toEqual([
      'I1130 06:11:38.123000    4242 replicaset] "Synced \\"it\\"" key="ns/name" count=3 list=["a"]',
    ]);
  });

  test('puts the error first, with its causes', () => {
    const { log, lines } = capture();
    const error = new Error('no answer', { cause: new Error('reset') });
    log.error('Failed', error, { key: 'a' });
    log.error('Failed', undefined);
    expect(lines.map((line) => line.replace(/^E.*?\] /, ''))).toEqual([
      '"Failed" err="no answer: reset" key="a"',
      '"Failed"',
    ]);
  });

  test('shows several lines as a block', () => {
    const { log, lines } = capture();
    log.warning('Many', { text: 'one\ntwo', more: 'x\n' });
    expect(lines[0]).toEndWith('"Many" text=<\n\tone\n\ttwo\n > more=<\n\tx\n >');
    expect(lines[0]).toStartWith('W1130 ');
  });

  test('of a key given twice the last value counts, and an equal one stays where it was', () => {
    const { log, lines } = capture();
    log.named('m', { a: 1, b: 2 }).info('x', { c: 3, b: 2, a: 4 });
    expect(lines[0]).toEndWith('"x" b=2 c=3 a=4');
  });

  test('writes what JSON knows and survives what it does not', () => {
    const { log, lines } = capture();
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    log.info('x', { none: undefined, big: 9223372036854775807n, loop, on: true });
    expect(lines[0]).toContain(' none=null big=9223372036854775807 loop="<internal error: ');
    expect(lines[0]).toEndWith(' on=true');
  });
});

describe('json format', () => {
  test('has time, module, message, level and fields', () => {
    const { log, lines } = capture({ format: 'json', verbosity: 4 });
    log.named('job', { key: 'ns/name' }).v(4).info('Synced', { n: 2 });
    log.error('Failed', new Error('bad'), { cause: new Error('deep') });
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { ts: AT, logger: 'job', msg: 'Synced', v: 4, key: 'ns/name', n: 2 },
      { ts: AT, logger: 'main', msg: 'Failed', err: 'bad', cause: 'deep' },
    ]);
  });

  test('says so if fields cannot be written', () => {
    const { log, lines } = capture({ format: 'json' });
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    log.info('x', { loop });
    expect(JSON.parse(lines[0]!).err).toStartWith('the fields could not be written: ');
  });
});

describe('verbosity', () => {
  test('can be raised while running', () => {
    const { log, lines } = capture({ verbosity: 1 });
    const module = log.named('job');
    module.v(2).info('hidden');
    log.setVerbosity(2);
    module.v(2).info('shown');
    expect(log.verbosity()).toBe(2);
    expect(module.enabled(3)).toBe(false);
    expect(lines).toHaveLength(1);
  });

  test('--vmodule grants more to modules whose name matches, the first match counting', () => {
    const vmodule = levels({ 'replica*': 4, replicaset: 9, job: 2 });
    const { log } = capture({ vmodule });
    const granted = (name: string) => [2, 4, 9].filter((level) => log.named(name).enabled(level));
    expect(granted('replicaset')).toEqual([2, 4]);
    expect(granted('job')).toEqual([2]);
    expect(granted('cronjob')).toEqual([]);
  });

  test('patterns know ?, * and classes, and take everything else as it is', () => {
    const vmodule = levels({ 'a?c': 1, '[x-z]1': 1, 'd.e': 1, 'f[': 1, 'g*/h': 1 });
    const { log } = capture({ vmodule });
    const on = ['abc', 'ac', 'y1', 'w1', 'd.e', 'dxe', 'f[', 'g1/h', 'g/1/h'].filter((name) =>
      log.named(name).enabled(1),
    );
    expect(on).toEqual(['abc', 'y1', 'd.e', 'f[', 'g1/h']);
  });
});

test('a failing writer loses lines and nothing else', () => {
  const { log } = capture({
    write: () => {
      throw new Error('EPIPE');
    },
  });
  log.info('one');
  log.error('two', Object.create(null));
  expect(log.lostLines()).toBe(2);
});

test('quoteGo writes what strconv.Quote writes', () => {
  const text = 'a"b\\c\n\t\u0001\u007f\u00ad\u200b\u00a0é世\u{1F600}\u{E0001}\ufeff';
  expect(quoteGo(text)).toBe(
    '"a\\"b\\\\c\\n\\t\\x01\\x7f\\u00ad\\u200b\\u00a0é世😀\\U000e0001\\ufeff"',
  );
  expect(quoteGo('plain text')).toBe('"plain text"');
});

test('other levels of modules count at once, also in loggers made before', () => {
  const { log, lines } = capture({ vmodule: levels({ 'replica*': 4 }) });
  const replicas = log.named('replicaset');
  const jobs = log.named('job');
  const both = () => [replicas.enabled(4), jobs.enabled(2), log.enabled(1)];
  expect(both()).toEqual([true, false, false]);
  log.setModuleLevels(levels({ job: 2 }));
  expect(both()).toEqual([false, true, false]);
  jobs.v(2).info('now');
  expect(lines).toHaveLength(1);
});
