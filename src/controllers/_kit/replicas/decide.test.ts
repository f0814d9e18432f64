import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { BURST_REPLICAS, planReplicas } from './decide.ts';

describe('how many pods are created or deleted', () => {
  test.each([
    // active, wanted, verb, count, because
    [3, 5, 'create', 2, '3 active pods, 5 wanted: creating 2'],
    [0, 1, 'create', 1, '0 active pods, 1 wanted: creating 1'],
    [1, 0, 'delete', 1, '1 active pod, 0 wanted: deleting 1'],
    [5, 3, 'delete', 2, '5 active pods, 3 wanted: deleting 2'],
    [3, 3, 'none', 0, '3 active pods, 3 wanted: nothing to do'],
    [0, 501, 'create', 500, '0 active pods, 501 wanted: creating 500, 500 at a time'],
    [0, 500, 'create', 500, '0 active pods, 500 wanted: creating 500'],
    [900, 100, 'delete', 500, '900 active pods, 100 wanted: deleting 500, 500 at a time'],
  ] as const)('%d active, %d wanted: %s %d', (active, wanted, verb, count, because) => {
    expect(planReplicas({ active, wanted })).toEqual({ verb, count, because });
  });

  test('never above the burst, never past the goal, and it creates or deletes but not both', () => {
    const numbers = fc.nat(5000);
    fc.assert(
      fc.property(numbers, numbers, (active, wanted) => {
        const plan = planReplicas({ active, wanted });
        expect(plan).toEqual(planReplicas({ active, wanted }));
        expect(plan.count).toBeLessThanOrEqual(BURST_REPLICAS);
        expect(plan.count > 0).toBe(plan.verb !== 'none');
        const after = plan.verb === 'delete' ? active - plan.count : active + plan.count;
        if (plan.verb === 'create') expect(after).toBeLessThanOrEqual(wanted);
        else expect(after).toBeGreaterThanOrEqual(wanted);
        if (plan.count < BURST_REPLICAS) expect(after).toBe(wanted);
      }),
    );
  });
});
