/** Alert rules and the dashboard ask for what a Holdfast really serves. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createReflectorMetrics } from '../../src/runtime/informer/reflector-metrics.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { eventually, startCluster } from '../rig/index.ts';
import { ALERTS, alertRules, bracketFault, metricNames, panels } from './monitoring.ts';

setDefaultTimeout(120_000);

const GRID_WIDTH = 24;
const exprs = [
  ...alertRules().map(({ alert, expr }) => [alert, expr] as const),
  ...panels().flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
];

test('metric names are found in expressions', () => {
  expect(metricNames('absent(up{job="a_b"} == 1)')).toEqual(['up']);
  const ratio = 'sum by (le, name) (rate(a_total{x=~"5..|<e>"}[5m])) / max(b) > 0.5 * 1024';
  expect(metricNames(ratio)).toEqual(['a_total', 'b']);
  expect(metricNames('time() - start_seconds{a="b"} unless on (x) c')).toEqual([
    'start_seconds',
    'c',
  ]);
  expect(bracketFault('sum(a{b="("}[1m])')).toBe('');
  expect(bracketFault('sum(a{b="("}[1m]')).toBe('( is not closed');
  expect(bracketFault('sum(a])')).toBe('a ] too many');
});

test('every metric of the rules and the dashboard is served', async () => {
  const cluster = await startCluster();
  try {
    const holdfast = await cluster.startHoldfast();
    await holdfast.waitServing();
    await cluster.api.create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'measured' },
    });
    await eventually(() => cluster.api.get('configmaps', 'measured', 'kube-root-ca.crt'));
    const served = await holdfast.metrics();
    // These two begin with the first failure.
    const failures = createMetrics({ process: 'none' });
    createReflectorMetrics(failures);
    const late = (await failures.registry.getMetricsAsJSON()).map(({ name }) => name);
    const names = new Set(['up', ...late.filter((name) => /failures|missed_changes/.test(name))]);
    expect(names.size).toBe(3);
    for (const [, name = ''] of served.matchAll(/^([a-zA-Z_:][a-zA-Z0-9_:]*)[{ ]/gm))
      names.add(name);
    const missing = exprs.flatMap(([where, expr]) =>
      metricNames(expr)
        .filter((name) => !names.has(name))
        .map((name) => `${where}: ${name}`),
    );
    expect(missing).toEqual([]);
  } finally {
    await cluster.stop();
  }
});

describe('the rules', () => {
  test('are whole, each under a name of its own', () => {
    const rules = alertRules();
    expect(rules.length).toBeGreaterThan(0);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, expr, labels, annotations, for: duration = '0s' } of rules) {
      expect(alert).toMatch(/^Holdfast[A-Za-z]+$/);
      expect(bracketFault(expr)).toBe('');
      expect(duration).toMatch(/^\d+[smhd]$/);
      expect(labels.severity).toMatch(/^(warning|critical)$/);
      expect(annotations.summary.length * annotations.description.length).toBeGreaterThan(0);
    }
  });

  test.skipIf(Bun.which('promtool') === null)('are understood by Prometheus', () => {
    const run = Bun.spawnSync(['promtool', 'check', 'rules', ALERTS]);
    expect([run.exitCode, run.stderr.toString()]).toEqual([0, '']);
  });
  if (Bun.which('promtool') === null) console.log('skipped: promtool check rules (no promtool)');
});

describe('the dashboard', () => {
  test('has panels that do not overlap, with expressions that are whole', () => {
    const taken = new Map<string, string>();
    for (const { title, gridPos, targets } of panels()) {
      const { x, y, w, h } = gridPos;
      expect(x + w).toBeLessThanOrEqual(GRID_WIDTH);
      expect(targets.map(({ expr }) => bracketFault(expr)).join('')).toBe('');
      for (let column = x; column < x + w; column++) {
        for (let row = y; row < y + h; row++) {
          expect([title, taken.get(`${column} ${row}`)]).toEqual([title, undefined]);
          taken.set(`${column} ${row}`, title);
        }
      }
    }
    const ids = panels().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
