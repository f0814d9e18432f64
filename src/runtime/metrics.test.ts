import { describe, expect, test } from 'bun:test';
import { systemClock } from './clock.ts';
import {
  createMetrics,
  exponentialBuckets,
  goNumber,
  recordBuildInfo,
  recordVersionInfo,
  sampler,
  tally,
} from './metrics.ts';

test('what is tallied shows when the family is read, each time', async () => {
  const metrics = createMetrics({ process: 'none' });
  const family = metrics.counter('holdfast_t_total', 'A test.', ['by']);
  const [one, other] = [tally(family, { by: 'one' }), tally(family, { by: 'other' })];
  one();
  one(4);
  expect(await metrics.serialize()).toContain('holdfast_t_total{by="one"} 5\n');
  one();
  other(2);
  family.inc({ by: 'other' });
  const text = await metrics.serialize();
  expect(text).toContain('holdfast_t_total{by="one"} 6\n');
  expect(text).toContain('holdfast_t_total{by="other"} 3\n');
});

test('what is sampled is what the family would have observed', async () => {
  const texts: string[] = [];
  for (const sampled of [true, false]) {
    const metrics = createMetrics({ process: 'none' });
    const family = metrics.histogram('holdfast_s', 'A test.', ['by'], [0.001, 0.25, 5, 1e6]);
    const observe = sampled
      ? sampler(family, { by: 'one' })
      : (value: number) => family.observe({ by: 'one' }, value);
    family.observe({ by: 'other' }, 1);
    for (const value of [0.001, 0.0011, -1, 5, 7e5, 7e6, 0, 0.25]) observe(value);
    expect(() => observe(Number.NaN)).toThrow('not a valid number');
    texts.push(await metrics.serialize());
  }
  expect(texts[0]).toContain('holdfast_s_bucket{le="0.25",by="one"} 5\n');
  expect(texts[0]).toBe(texts[1] ?? '');
});

test('a sampled family keeps to the values that its labels may have', async () => {
  const allowedLabelValues = new Map([['holdfast_s,by', ['one']]]);
  const metrics = createMetrics({ process: 'none', allowedLabelValues });
  const plain = createMetrics({ allowedLabelValues });
  for (const family of [metrics, plain].map((one) =>
    one.histogram('holdfast_s', 'A.', ['by'], [1]),
  )) {
    const observe = sampler(family, { by: 'two' });
    observe(1);
    observe(2);
  }
  expect(await plain.serialize()).toContain('holdfast_s_count{by="unexpected"} 2\n');
  expect(await metrics.serialize()).toContain('holdfast_s_count{by="two"} 2\n');
});

describe('createMetrics', () => {
  test('gives the same family twice, and refuses another kind under its name', () => {
    const metrics = createMetrics({ process: 'none' });
    const family = metrics.counter('a_total', 'A.', ['name']);
    expect(metrics.counter('a_total', 'A.', ['name'])).toBe(family);
    expect(() => metrics.gauge('a_total', 'A.', ['name'])).toThrow(
      'metric a_total is asked for as a Gauge but exists as another kind',
    );
  });

  test('writes families by name and leaves those without series out', async () => {
    const metrics = createMetrics({ process: 'none' });
    metrics.gauge('b', 'B.', []).set(2);
    metrics.counter('unused_total', 'Never counted.', ['name']);
    metrics.counter('a_total', '[BETA] A "quoted" help.', ['name']).inc({ name: 'x"y' });
    expect(await metrics.serialize()).toBe(
      [
        '# HELP a_total [BETA] A "quoted" help.',
        '# TYPE a_total counter',
        'a_total{name="x\\"y"} 1',
        '# HELP b [ALPHA] B.',
        '# TYPE b gauge',
        'b 2',
        '',
      ].join('\n'),
    );
    expect(await createMetrics({ process: 'none' }).serialize()).toBe('');
  });

  test('begins help texts as upstream, but those of families of our own', async () => {
    const metrics = createMetrics({ process: 'none' });
    metrics.gauge('holdfast_a', 'A.', []).set(1);
    metrics.gauge('b', '[STABLE] B.', []).set(1);
    const text = await metrics.serialize();
    expect(text).toContain('# HELP b [STABLE] B.\n');
    expect(text).toContain('# HELP holdfast_a A.\n');
  });

  test("names histogram buckets as Go's client does", async () => {
    const metrics = createMetrics({ process: 'none' });
    const bounds = exponentialBuckets(10e-9, 10, 10);
    metrics.histogram('h', 'H.', [], [...bounds, 16 * 1024 * 1024]).observe(0);
    const text = await metrics.serialize();
    expect([...text.matchAll(/le="([^"]+)"/g)].map((match) => match[1])).toEqual([
      '1e-08',
      '1e-07',
      '1e-06',
      '9.999999999999999e-06',
      '9.999999999999999e-05',
      '0.001',
      '0.01',
      '0.1',
      '1',
      '10',
      '1.6777216e+07',
      '+Inf',
    ]);
  });

  test('tells the truth about this process', async () => {
    const text = await createMetrics().serialize();
    const value = (name: string) => Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(value('process_virtual_memory_bytes')).toBeGreaterThan(
      value('process_resident_memory_bytes'),
    );
    expect(value('process_cpu_seconds_total')).toBeGreaterThanOrEqual(0);
    expect(value('process_open_fds')).toBeGreaterThan(2);
    expect(value('process_max_fds')).toBeGreaterThan(value('process_open_fds'));
    const now = systemClock().now() / 1000;
    const started = value('process_start_time_seconds');
    expect(started).toBeLessThanOrEqual(now + 1);
    expect(started).toBeGreaterThan(now - 3600);
  });

  test('can be had with the start time alone', async () => {
    const text = await createMetrics({ process: 'start' }).serialize();
    expect(text.match(/^# TYPE .*$/gm)).toEqual(['# TYPE process_start_time_seconds gauge']);
  });
});

describe('build and version', () => {
  test('are constant ones with labels', async () => {
    const metrics = createMetrics({ process: 'none' });
    recordBuildInfo(metrics, {
      major: '1',
      minor: '36',
      gitVersion: 'v1.36.3',
      gitCommit: 'abc',
      gitTreeState: 'clean',
      buildDate: '2026-01-01T00:00:00Z',
      goVersion: 'none',
      compiler: 'bun',
      platform: 'linux/arm64',
    });
    recordVersionInfo(metrics, {
      component: 'kube',
      binary: '1.36',
      emulation: '1.36',
      minCompat: '1.35',
    });
    const lines = (await metrics.serialize()).split('\n').filter((line) => !line.startsWith('#'));
    expect(lines).toEqual([
      'kubernetes_build_info{major="1",minor="36",git_version="v1.36.3",git_commit="abc",' +
        'git_tree_state="clean",build_date="2026-01-01T00:00:00Z",go_version="none",' +
        'compiler="bun",platform="linux/arm64"} 1',
      'version_info{component="kube",binary="1.36",emulation="1.36",min_compat="1.35"} 1',
      '',
    ]);
  });
});

describe('goNumber', () => {
  test.each([
    [100000, '100000'],
    [1e6, '1e+06'],
    [1234567, '1.234567e+06'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [1e21, '1e+21'],
    [0, '0'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [Number.NaN, 'NaN'],
  ])('%p is written %p', (value, text) => {
    expect(goNumber(value)).toBe(text);
  });
});
