import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { normalize, normalizeByRules, plan } from './decide.ts';
import { type History, NO_HISTORY, withInitial, withScaleEvent } from './history.ts';
import { longestPeriod, type OneWay, rulesOf } from './rules.ts';

const bounds = fc
  .tuple(fc.integer({ min: 1, max: 20 }), fc.nat({ max: 30 }))
  .map(([min, more]) => ({ min, max: min + more }));

const policy = fc.record({
  type: fc.constantFrom('Pods', 'Percent'),
  value: fc.integer({ min: 1, max: 100 }),
  periodSeconds: fc.integer({ min: 1, max: 60 }),
});

const oneWay: fc.Arbitrary<OneWay> = fc.record({
  windowSeconds: fc.nat({ max: 60 }),
  select: fc.constantFrom('Max', 'Min', 'Disabled'),
  policies: fc.array(policy, { minLength: 1, maxLength: 3 }),
});

/** Milliseconds until the next sync, and what metrics want then. */
const steps = fc.array(
  fc.record({ afterMs: fc.integer({ min: 1, max: 30_000 }), wanted: fc.nat({ max: 80 }) }),
  { minLength: 1, maxLength: 40 },
);

interface Moment {
  readonly at: number;
  readonly size: number;
}

/** The size at a time: the one set last before it. */
function sizeAt(moments: readonly Moment[], at: number): number {
  return moments.findLast((moment) => moment.at <= at)?.size ?? moments[0]?.size ?? 0;
}

/** Plays syncs; gives each size with its time, oldest first. */
function play(
  start: number,
  box: { min: number; max: number },
  rules: { up: OneWay; down: OneWay } | undefined,
  windowMs: number,
  given: readonly { afterMs: number; wanted: number }[],
): readonly (Moment & { readonly wanted: number })[] {
  let now = 1_000_000;
  let current = start;
  let history: History = withInitial(NO_HISTORY, start, now);
  const moments = [{ at: now, size: start, wanted: start }];
  for (const { afterMs, wanted } of given) {
    now += afterMs;
    const wish = { current, wanted, ...box };
    const next = rules
      ? normalizeByRules(wish, rules, history, now)
      : normalize(wish, history, now, windowMs);
    history = next.history;
    if (next.replicas !== current && rules !== undefined) {
      const longestSeconds = longestPeriod(next.replicas > current ? rules.up : rules.down);
      const scaled = { from: current, to: next.replicas, at: now, longestSeconds };
      history = withScaleEvent(history, scaled);
    }
    current = next.replicas;
    moments.push({ at: now, size: current, wanted });
  }
  return moments;
}

describe('whatever metrics want', () => {
  test('a size that is within bounds stays within them', () => {
    fc.assert(
      fc.property(bounds, oneWay, oneWay, fc.boolean(), steps, (box, up, down, hasRules, given) => {
        const rules = hasRules ? { up, down } : undefined;
        for (const { size } of play(box.min, box, rules, 20_000, given)) {
          expect(size).toBeGreaterThanOrEqual(box.min);
          expect(size).toBeLessThanOrEqual(box.max);
          expect(plan(size, box, { scaledToZero: false, hasOutsideMetric: false }).do).toBe(
            'measure',
          );
        }
      }),
    );
  });

  test('no period sees more pods come than a policy of that period allows', () => {
    const growing = fc.record({
      value: fc.integer({ min: 1, max: 5 }),
      periodSeconds: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(bounds, growing, steps, (box, { value, periodSeconds }, given) => {
        const policies = [{ type: 'Pods', value, periodSeconds }];
        const up = { windowSeconds: 0, select: 'Max', policies };
        const down = { windowSeconds: 0, select: 'Disabled', policies };
        const moments = play(box.min, box, { up, down }, 0, given);
        for (const { at, size } of moments) {
          const before = sizeAt(moments, at - periodSeconds * 1_000);
          expect(size - before).toBeLessThanOrEqual(value);
        }
      }),
    );
  });

  test('no period sees more pods go than a policy of that period allows', () => {
    const shrinking = fc.record({
      value: fc.integer({ min: 1, max: 5 }),
      periodSeconds: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(bounds, shrinking, steps, (box, { value, periodSeconds }, given) => {
        const policies = [{ type: 'Pods', value, periodSeconds }];
        const down = { windowSeconds: 0, select: 'Max', policies };
        const up = { windowSeconds: 0, select: 'Disabled', policies };
        const moments = play(box.max, box, { up, down }, 0, given);
        for (const { at, size } of moments) {
          const before = sizeAt(moments, at - periodSeconds * 1_000);
          expect(before - size).toBeLessThanOrEqual(value);
        }
      }),
    );
  });

  test('nothing goes below what was wanted within the window', () => {
    fc.assert(
      fc.property(
        bounds,
        fc.nat({ max: 60 }),
        fc.boolean(),
        steps,
        (box, seconds, hasRules, given) => {
          const free = {
            select: 'Max',
            policies: [{ type: 'Percent', value: 100, periodSeconds: 1 }],
          };
          const down = { ...free, windowSeconds: seconds };
          const rules = hasRules ? { up: { ...free, windowSeconds: 0 }, down } : undefined;
          const moments = play(box.min, box, rules, seconds * 1_000, given);
          for (const [index, { at, size }] of moments.entries()) {
            const before = moments[index - 1];
            if (before === undefined || size >= before.size) continue;
            const recent = moments
              .slice(0, index + 1)
              .filter((one) => one.at > at - seconds * 1_000);
            const highest = Math.max(...recent.map(({ wanted }) => wanted));
            expect(size).toBeGreaterThanOrEqual(Math.min(highest, before.size, box.max));
          }
        },
      ),
    );
  });

  test('the same past gives the same answer', () => {
    fc.assert(
      fc.property(bounds, oneWay, oneWay, steps, (box, up, down, given) => {
        const once = play(box.min, box, { up, down }, 0, given);
        expect(play(box.min, box, { up, down }, 0, given)).toEqual(once as never);
      }),
    );
  });
});

test("rules that are not given are the API server's", () => {
  expect(rulesOf({}, 90_500)).toEqual({
    up: {
      windowSeconds: 0,
      select: 'Max',
      policies: [
        { type: 'Pods', value: 4, periodSeconds: 15 },
        { type: 'Percent', value: 100, periodSeconds: 15 },
      ],
    },
    down: {
      windowSeconds: 90,
      select: 'Max',
      policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
    },
  });
});
