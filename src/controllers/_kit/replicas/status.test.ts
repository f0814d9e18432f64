import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isAvailable } from '../../../api/pod.ts';
import { type PodFacts, podRecordOf, WEB_LABELS } from '../testing/objects.ts';
import { decideStatus, type StatusInput } from './status.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const FULL_LABELS = { ...WEB_LABELS, tier: 'front' };

function input(pods: readonly PodFacts[], over: Partial<StatusInput> = {}): StatusInput {
  return {
    current: undefined,
    generation: 1,
    minReadySeconds: 0,
    templateLabels: FULL_LABELS,
    pods: pods.map((facts, index) =>
      podRecordOf({ name: `p${index}`, labels: FULL_LABELS, ...facts }),
    ),
    terminating: undefined,
    terminatingDropped: false,
    now: NOW,
    ...over,
  };
}

const written = {
  replicas: 1,
  fullyLabeledReplicas: 1,
  readyReplicas: 1,
  availableReplicas: 1,
  observedGeneration: 1,
};

describe('counts', () => {
  test.each([
    ['1 fully labeled pod', [{}], {}, [1, 1, 1, 1]],
    ['1 pod with too few labels', [{ labels: WEB_LABELS }], {}, [1, 0, 1, 1]],
    [
      '1 pod with more labels than the template',
      [{ labels: { ...FULL_LABELS, x: 'y' } }],
      {},
      [1, 1, 1, 1],
    ],
    ['2 fully labeled pods', [{}, {}], {}, [2, 2, 2, 2]],
    ['1 of each', [{}, { labels: WEB_LABELS }], {}, [2, 1, 2, 2]],
    ['1 pod that is not ready', [{ ready: false }], {}, [1, 1, 0, 0]],
    ['1 ready, not available yet', [{ readySince: NOW }], { minReadySeconds: 3600 }, [1, 1, 1, 0]],
    ['1 just available', [{ readySince: NOW - 3600_000 }], { minReadySeconds: 3600 }, [1, 1, 1, 1]],
    ['none', [], {}, [0, 0, 0, 0]],
  ] as const)('%s', (_name, pods, over, [replicas, labeled, ready, available]) => {
    expect(decideStatus(input(pods, over)).status).toEqual({
      replicas,
      fullyLabeledReplicas: labeled,
      readyReplicas: ready,
      availableReplicas: available,
      observedGeneration: 1,
    });
  });

  test('terminating pods are counted where the field exists, 0 as well', () => {
    expect(decideStatus(input([{}], { terminating: 2 })).status.terminatingReplicas).toBe(2);
    expect(decideStatus(input([{}], { terminating: 0 })).status.terminatingReplicas).toBe(0);
    const left = decideStatus(input([{}], { current: { ...written, terminatingReplicas: 1 } }));
    expect(left.status).not.toHaveProperty('terminatingReplicas');
    expect(left.because).toBe('terminatingReplicas 1->none');
  });

  test('add up, whatever the pods', () => {
    const facts = fc.record({
      ready: fc.boolean(),
      labels: fc.constantFrom(WEB_LABELS, FULL_LABELS),
      readySince: fc.integer({ min: 0, max: 100 }).map((seconds) => NOW - seconds * 1000),
    });
    fc.assert(
      fc.property(fc.array(facts), fc.nat(60), (pods, minReadySeconds) => {
        const given = input(pods, { minReadySeconds });
        const { status, again } = decideStatus(given);
        const { fullyLabeledReplicas: labeled = 0, readyReplicas: ready = 0 } = status;
        const { availableReplicas: available = 0 } = status;
        expect(status.replicas).toBe(pods.length);
        expect(labeled).toBeLessThanOrEqual(status.replicas);
        expect(ready).toBeLessThanOrEqual(status.replicas);
        expect(available).toBeLessThanOrEqual(ready);
        expect(decideStatus({ ...given, current: status }).changed).toBe(false);
        // Looking again no later than asked finds one more available pod.
        expect(again === undefined).toBe(ready === available);
        if (again === undefined) return;
        const then = NOW + again.delayMs;
        const later = given.pods.filter((pod) => isAvailable(pod, minReadySeconds, then)).length;
        expect(later).toBeGreaterThan(available);
        const before = given.pods.filter((pod) =>
          isAvailable(pod, minReadySeconds, then - 1),
        ).length;
        expect(before).toBe(available);
      }),
    );
  });
});

describe('whether it is written', () => {
  test.each([
    ['as stored', {}, false, 'status is as stored'],
    ['another generation', { observedGeneration: 0 }, true, 'observedGeneration 0->1'],
    ['another count', { replicas: 2, readyReplicas: 3 }, true, 'replicas 2->1, readyReplicas 3->1'],
    ['absent counts', { fullyLabeledReplicas: undefined }, true, 'fullyLabeledReplicas 0->1'],
  ])('%s', (_name, over, changed, because) => {
    const decision = decideStatus(input([{}], { current: { ...written, ...over } }));
    expect(decision).toMatchObject({ changed, because });
  });

  test('absent counts of a set without pods are zero', () => {
    const current = { replicas: 0, observedGeneration: 1 };
    expect(decideStatus(input([], { current })).changed).toBe(false);
  });

  test('a count of terminating pods that was never written is, unless the server drops it', () => {
    const never = input([{}], { current: written, terminating: 0 });
    expect(decideStatus(never)).toMatchObject({
      changed: true,
      because: 'terminatingReplicas none->0',
    });
    expect(decideStatus({ ...never, terminatingDropped: true }).changed).toBe(false);
    const once = { ...written, terminatingReplicas: 1 };
    const kept = { ...never, terminatingDropped: true, current: once };
    expect(decideStatus(kept).because).toBe('terminatingReplicas 1->0');
  });
});

describe('ReplicaFailure', () => {
  const failed = {
    type: 'ReplicaFailure',
    status: 'True',
    lastTransitionTime: '2026-01-01T12:00:00Z',
    reason: 'FailedCreate',
    message: 'quota',
  };
  const other = { type: 'Odd', status: 'True' };

  test.each([
    ['create', 'FailedCreate'],
    ['delete', 'FailedDelete'],
  ] as const)('is set when pods fail to %s', (verb, reason) => {
    const current = { ...written, conditions: [other] };
    const decision = decideStatus(input([{}], { current, failure: { verb, message: 'quota' } }));
    expect(decision.status.conditions).toEqual([other, { ...failed, reason }]);
    expect(decision).toMatchObject({ changed: true, because: 'condition ReplicaFailure' });
  });

  test('is never refreshed', () => {
    const current = { ...written, conditions: [failed] };
    const failure = { verb: 'delete', message: 'another' } as const;
    const decision = decideStatus(input([{}], { current, failure, now: NOW + 60_000 }));
    expect(decision.changed).toBe(false);
    expect(decision.status.conditions).toEqual([failed]);
  });

  test('is removed by a pass without error, others stay', () => {
    const current = { ...written, conditions: [failed, other] };
    const decision = decideStatus(input([{}], { current }));
    expect(decision.status.conditions).toEqual([other]);
    expect(decision.because).toBe('condition ReplicaFailure');
    const alone = decideStatus(input([{}], { current: { ...written, conditions: [failed] } }));
    expect(alone.status).not.toHaveProperty('conditions');
  });
});

describe('when to look again', () => {
  test('at the earliest moment a ready pod becomes available', () => {
    const pods = [
      { readySince: NOW - 10_000 },
      { readySince: NOW - 25_000 },
      { readySince: NOW - 99_000 },
    ];
    expect(decideStatus(input(pods, { minReadySeconds: 30 })).again).toEqual({
      delayMs: 5000,
      because: '2 of 3 ready pods wait for minReadySeconds 30',
    });
  });

  test('after minReadySeconds if no moment is known', () => {
    const { again } = decideStatus(input([{ readySince: 0 }], { minReadySeconds: 30 }));
    expect(again?.delayMs).toBe(30_000);
  });

  test('not at all without minReadySeconds, or if no ready pod waits', () => {
    expect(decideStatus(input([{ readySince: NOW }])).again).toBeUndefined();
    const waiting = input([{ ready: false }], { minReadySeconds: 30 });
    expect(decideStatus(waiting).again).toBeUndefined();
  });
});
