import { describe, expect, test } from 'bun:test';
import type { MetricRules } from './metric-rules.ts';
import { createMetrics, type ServedMetrics } from './metrics.ts';

async function lines(metrics: ServedMetrics, name: string): Promise<string[]> {
  const text = await metrics.serialize();
  return text.split('\n').filter((line) => line.startsWith(name));
}

function withRules(rules: MetricRules): ServedMetrics {
  return createMetrics(rules);
}

describe('families about the families', () => {
  test('count them by how stable they are, themselves too', async () => {
    const metrics = withRules({});
    metrics.counter('a_total', 'A.', []);
    metrics.counter('b_total', '[STABLE] B.', []);
    metrics.counter('b_total', '[STABLE] B.', []);
    metrics.counter('holdfast_c_total', 'C.', []);
    expect(await lines(metrics, 'registered_metrics_total')).toEqual([
      'registered_metrics_total{deprecated_version="",stability_level="BETA"} 3',
      'registered_metrics_total{deprecated_version="",stability_level="ALPHA"} 2',
      'registered_metrics_total{deprecated_version="",stability_level="STABLE"} 1',
    ]);
    for (const name of ['disabled_metrics_total', 'hidden_metrics_total']) {
      expect(await lines(metrics, name)).toEqual([`${name} 0`]);
    }
  });
});

describe('disabled families', () => {
  test('count on and are not shown', async () => {
    const metrics = withRules({ disabled: ['a_total', 'never_made'] });
    const family = metrics.counter('a_total', 'A.', ['name']);
    family.inc({ name: 'x' });
    expect(metrics.counter('a_total', 'A.', ['name'])).toBe(family);
    expect(await lines(metrics, 'a_total')).toEqual([]);
    expect(await lines(metrics, 'disabled_metrics_total')).toEqual(['disabled_metrics_total 2']);
    expect(await lines(metrics, 'hidden_metrics_total')).toEqual(['hidden_metrics_total 1']);
  });
});

describe('labels with allowed values', () => {
  const allowedLabelValues = new Map([
    ['a,name', ['x', 'y']],
    ['a,code', ['200']],
  ]);
  const unexpected = (metrics: ServedMetrics) =>
    lines(metrics, 'cardinality_enforcement_unexpected_categorizations_total');

  test('have any other value counted as one', async () => {
    const metrics = withRules({ allowedLabelValues });
    const family = metrics.counter('a', 'A.', ['name', 'code', 'free']);
    family.inc({ name: 'x', code: '200', free: 'z' });
    family.inc({ name: 'q', code: '404', free: 'z' }, 2);
    family.inc({ name: 'r', code: '404', free: 'z' });
    family.labels('y', '500', 'z').inc();
    expect(await lines(metrics, 'a{')).toEqual([
      'a{name="x",code="200",free="z"} 1',
      'a{name="unexpected",code="unexpected",free="z"} 3',
      'a{name="y",code="unexpected",free="z"} 1',
    ]);
    expect(await unexpected(metrics)).toEqual([
      'cardinality_enforcement_unexpected_categorizations_total 5',
    ]);
  });

  test('work for gauges and histograms; other families are left alone', async () => {
    const metrics = withRules({ allowedLabelValues });
    metrics.gauge('b', 'B.', ['name']).set({ name: 'q' }, 1);
    const gauge = metrics.gauge('a', 'A.', ['name']);
    gauge.set({ name: 'q' }, 3);
    gauge.dec({ name: 'r' });
    expect(await lines(metrics, 'a{')).toEqual(['a{name="unexpected"} 2']);
    expect(await lines(metrics, 'b{')).toEqual(['b{name="q"} 1']);
    const other = withRules({ allowedLabelValues });
    const histogram = other.histogram('a', 'A.', ['name'], [1]);
    histogram.observe({ name: 'q' }, 2);
    histogram.zero({ name: 'x' });
    expect(await lines(other, 'a_count')).toEqual([
      'a_count{name="unexpected"} 1',
      'a_count{name="x"} 0',
    ]);
  });

  test('leave a family without labels as it is', async () => {
    const metrics = withRules({ allowedLabelValues });
    const family = metrics.counter('a', 'A.', []);
    family.inc();
    family.inc(2);
    expect(await lines(metrics, 'a ')).toEqual(['a 3']);
  });
});
