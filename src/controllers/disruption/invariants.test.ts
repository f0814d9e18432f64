import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { timeText } from '../../api/time.ts';
import type { PodDisruptionBudget } from '../../api/types/index.ts';
import { podRecordOf } from '../_kit/testing/objects.ts';
import { countsOf, disruptedPods, healthyCount, nextStatus } from './decide.ts';

const NOW = Date.parse('2026-05-20T12:00:00Z');

const spec = fc.oneof(
  fc.record({ minAvailable: fc.nat({ max: 8 }) }),
  fc.record({ minAvailable: fc.nat({ max: 100 }).map((percent) => `${percent}%`) }),
  fc.record({ maxUnavailable: fc.nat({ max: 8 }) }),
  fc.record({ maxUnavailable: fc.nat({ max: 100 }).map((percent) => `${percent}%`) }),
);

const pod = fc.record({
  ready: fc.boolean(),
  going: fc.boolean(),
  /** Seconds since it was evicted. */
  evicted: fc.option(fc.nat({ max: 240 }), { nil: undefined }),
});

describe('whatever a budget and its pods look like', () => {
  test('following its status never leaves fewer healthy pods than it demands', () => {
    fc.assert(
      fc.property(
        spec,
        fc.array(pod, { maxLength: 8 }),
        fc.nat({ max: 8 }),
        (wanted, facts, more) => {
          const pods = facts.map(({ ready, going }, index) =>
            podRecordOf({ name: `p${index}`, ready, ...(going ? { deletedAt: NOW } : {}) }),
          );
          const noted = Object.fromEntries(
            facts.flatMap(({ evicted }, index) =>
              evicted === undefined ? [] : [[`p${index}`, timeText(NOW - evicted * 1_000)]],
            ),
          );
          const counts = countsOf(wanted, pods.length, pods.length + more);
          if ('problem' in counts) throw new Error(counts.problem);
          const disrupted = disruptedPods(pods, noted, NOW);
          const currentHealthy = healthyCount(pods, disrupted.pods, NOW);
          const measured = { ...counts, currentHealthy, disruptedPods: disrupted.pods };
          const metadata = { name: 'b', uid: 'u', resourceVersion: '1', generation: 1 };
          const budget: PodDisruptionBudget = { metadata, spec: wanted };
          const status = nextStatus(budget, measured, NOW);
          if (status === undefined) throw new Error('a first status is always written');
          const sound = pods.filter(({ ready, deleting }) => ready && !deleting).length;
          const allowed = status.disruptionsAllowed ?? -1;
          expect(allowed).toBeGreaterThanOrEqual(0);
          expect(currentHealthy).toBeLessThanOrEqual(sound);
          if (allowed > 0) {
            expect(currentHealthy - allowed).toBeGreaterThanOrEqual(counts.desiredHealthy);
          }
          expect(nextStatus({ ...budget, status }, measured, NOW + 1_000)).toBeUndefined();
          expect(nextStatus(budget, measured, NOW)).toEqual(status);
        },
      ),
    );
  });

  test('allowing one more never happens because a pod got worse', () => {
    fc.assert(
      fc.property(
        spec,
        fc.integer({ min: 1, max: 8 }),
        fc.nat({ max: 8 }),
        (wanted, size, ready) => {
          const allowed = (readyPods: number): number => {
            const pods = Array.from({ length: size }, (_, index) =>
              podRecordOf({ name: `p${index}`, ready: index < readyPods }),
            );
            const counts = countsOf(wanted, size, size);
            if ('problem' in counts) throw new Error(counts.problem);
            const currentHealthy = healthyCount(pods, {}, NOW);
            const metadata = { name: 'b', uid: 'u', resourceVersion: '1' };
            const measured = { ...counts, currentHealthy, disruptedPods: {} };
            return nextStatus({ metadata }, measured, NOW)?.disruptionsAllowed ?? 0;
          };
          expect(allowed(ready)).toBeLessThanOrEqual(allowed(ready + 1));
        },
      ),
    );
  });
});
