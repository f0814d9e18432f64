import { expect, test } from 'bun:test';
import { createMetrics } from '../../../runtime/metrics.ts';
import { ageRatios } from './metrics.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');

function aged(seconds: number, ready = true) {
  return { ready, createdAt: NOW - seconds * 1000 };
}

test('ages of chosen ready pods against the youngest ready one, in whole numbers', async () => {
  const metrics = createMetrics({ process: 'none' });
  const report = ageRatios(metrics);
  const chosen = [aged(19), aged(35), aged(100, false)];
  report([...chosen, aged(10), aged(1, false)], chosen, NOW);
  const text = await metrics.registry.metrics();
  const family = 'replicaset_controller_sorting_deletion_age_ratio';
  expect(text).toContain(`${family}_bucket{le="1"} 1`);
  expect(text).toContain(`${family}_bucket{le="2"} 1`);
  expect(text).toContain(`${family}_bucket{le="4"} 2`);
  expect(text).toContain(`${family}_sum 4`);
  expect(text).toContain(`${family}_count 2`);
});

test('nothing is reported where the youngest was born just now, or no pod is ready', async () => {
  const metrics = createMetrics({ process: 'none' });
  const report = ageRatios(metrics);
  report([aged(0), aged(10)], [aged(10)], NOW);
  report([aged(10, false)], [aged(10, false)], NOW);
  expect(await metrics.registry.metrics()).not.toContain('age_ratio_count 1');
});
