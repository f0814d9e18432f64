import { describe, expect, test } from 'bun:test';
import type { JobStatus } from '../../api/types/index.ts';
import { indexedJobOf, jobOf, podOf, podsOf } from './testing/build.ts';
import { planOf } from './testing/plan.ts';

const STARTED = '2026-11-30T11:59:50Z';
const status = (more: JobStatus): JobStatus => ({
  startTime: STARTED,
  ready: 0,
  terminating: 0,
  ...more,
});

describe('counting', () => {
  test('holds UIDs first, then releases the pods, then counts', () => {
    const ended = [
      podOf({ name: 'pi-a', phase: 'Succeeded' }),
      podOf({ name: 'pi-b', phase: 'Failed' }),
    ];
    const plan = planOf(jobOf({ spec: { parallelism: 0 } }), ended);
    expect(plan.statuses).toHaveLength(2);
    expect(plan.statuses[0]?.uncountedTerminatedPods).toEqual({
      succeeded: ['uid-pi-a'],
      failed: ['uid-pi-b'],
    });
    expect(plan.statuses[0]?.succeeded ?? 0).toBe(0);
    expect(plan.statuses[1]).toMatchObject({
      succeeded: 1,
      failed: 1,
      uncountedTerminatedPods: { succeeded: [], failed: [] },
    });
    const order = plan.actions.map(({ kind }) => kind);
    expect(order.indexOf('removeFinalizers')).toBeGreaterThan(order.indexOf('writeStatus'));
    expect(order.lastIndexOf('writeStatus')).toBeGreaterThan(order.indexOf('removeFinalizers'));
  });

  test('goes on where a former sync stopped: what is held is not held again', () => {
    const held = status({ uncountedTerminatedPods: { succeeded: ['uid-pi-a'], failed: [] } });
    const plan = planOf(jobOf({ spec: { parallelism: 0 }, status: held }), [
      podOf({ name: 'pi-a', phase: 'Succeeded' }),
    ]);
    expect(plan.statuses).toHaveLength(1);
    expect(plan.released).toEqual(['pi-a']);
    expect(plan.status?.succeeded).toBe(1);
  });

  test('counts what is held and has no finalizer any more, or is gone', () => {
    const held = { succeeded: ['uid-gone', 'uid-pi-a'], failed: ['uid-pi-b'] };
    const plan = planOf(
      jobOf({
        spec: { parallelism: 0 },
        status: status({ succeeded: 1, failed: 2, uncountedTerminatedPods: held }),
      }),
      [
        podOf({ name: 'pi-a', phase: 'Succeeded', tracked: false }),
        podOf({ name: 'pi-b', phase: 'Failed' }),
      ],
      { untracked: ['uid-pi-b'] },
    );
    expect(plan.released).toEqual([]);
    expect(plan.status).toMatchObject({ succeeded: 3, failed: 3 });
  });

  test('leaves alone what was counted before and keeps its finalizer in the cache only', () => {
    const pods = podsOf(3, 'old', { phase: 'Succeeded' });
    const untracked = pods.map(({ metadata }) => metadata.uid);
    const before = status({ succeeded: 3, active: 0, uncountedTerminatedPods: {} });
    const plan = planOf(jobOf({ spec: { parallelism: 0 }, status: before }), pods, { untracked });
    expect(plan.statuses).toEqual([]);
    expect(plan.released).toEqual([]);
  });

  test('counts a pod that ended well although it was held as failed as it was held', () => {
    const held = status({ uncountedTerminatedPods: { succeeded: [], failed: ['uid-pi-a'] } });
    const plan = planOf(jobOf({ spec: { parallelism: 0 }, status: held }), [
      podOf({ name: 'pi-a', phase: 'Succeeded', deleting: true }),
    ]);
    expect(plan.status).toMatchObject({ failed: 1 });
    expect(plan.status?.succeeded ?? 0).toBe(0);
  });

  test('writes nothing if nothing changed', () => {
    const same = status({ active: 2, uncountedTerminatedPods: {} });
    expect(planOf(jobOf({ status: same }), podsOf(2, 'run')).statuses).toEqual([]);
  });
});

describe('at most 500 at a time', () => {
  test('the rest is left to the next sync, and the Job does not end', () => {
    const job = jobOf({ spec: { parallelism: 0, completions: 600 } });
    const plan = planOf(job, podsOf(600, 'done', { phase: 'Succeeded' }));
    expect(plan.released).toHaveLength(500);
    expect(plan.status?.succeeded).toBe(500);
    expect(plan.finished).toBe(false);
    expect(plan.conditions).toEqual(['SuccessCriteriaMet=True CompletionsReached']);
  });

  test('also of indexes, which the status knows all at once', () => {
    const pods = Array.from({ length: 600 }, (_, index) =>
      podOf({ name: `pi-${index}`, index, phase: 'Succeeded' }),
    );
    const job = indexedJobOf({ spec: { parallelism: 0, completions: 600 } });
    const plan = planOf(job, pods);
    expect(plan.released).toHaveLength(500);
    expect(plan.status).toMatchObject({ succeeded: 600, completedIndexes: '0-599' });
    expect(plan.finished).toBe(false);
  });

  test('what is held already takes its place', () => {
    const uids = Array.from({ length: 499 }, (_, at) => `uid-pi-done-${at}`);
    const held = status({ uncountedTerminatedPods: { succeeded: uids, failed: [] } });
    const job = jobOf({ spec: { parallelism: 0, completions: 600 }, status: held });
    const pods = podsOf(510, 'done', { phase: 'Succeeded' });
    const plan = planOf(job, pods);
    expect(plan.released).toHaveLength(500);
    expect(plan.status?.succeeded).toBe(500);
  });
});

describe('finalizers that can’t be removed', () => {
  const error = new Error('no');
  const pods = podsOf(3, 'done', { phase: 'Succeeded' });

  test('keep their pods held', () => {
    const plan = planOf(jobOf({ spec: { parallelism: 0 } }), pods, { podError: error });
    expect(plan.error).toBe(error);
    expect(plan.statuses).toHaveLength(1);
    expect(plan.status?.uncountedTerminatedPods?.succeeded).toHaveLength(3);
  });
});

describe('the backoff is remembered', () => {
  test('once the status holds the failures', () => {
    const plan = planOf(jobOf(), podsOf(2, 'lost', { phase: 'Failed' }));
    expect(plan.remembered?.failures).toBe(2);
    const kinds = plan.actions.map(({ kind }) => kind);
    expect(kinds.indexOf('remember')).toBe(kinds.indexOf('writeStatus') + 1);
  });

  test('not if nothing is written', () => {
    const same = status({ active: 2, uncountedTerminatedPods: {} });
    const plan = planOf(jobOf({ status: same }), podsOf(2, 'run'));
    expect(plan.remembered).toBeUndefined();
  });
});

describe('what is measured', () => {
  test('pods that ended, once they are counted; before that all series are there', () => {
    const plan = planOf(jobOf({ spec: { parallelism: 0 } }), [
      ...podsOf(2, 'done', { phase: 'Succeeded' }),
      ...podsOf(1, 'lost', { phase: 'Failed' }),
    ]);
    expect(plan.counts).toEqual([
      { metric: 'podsFinished', result: 'succeeded', by: 0 },
      { metric: 'podsFinished', result: 'failed', by: 0 },
      { metric: 'podsFinished', result: 'succeeded', by: 2 },
      { metric: 'podsFinished', result: 'failed', by: 1 },
    ]);
  });

  test('indexes, as soon as the status knows them', () => {
    const job = indexedJobOf({ spec: { parallelism: 0, completions: 4 } });
    const plan = planOf(job, [podOf({ index: 2, phase: 'Succeeded' })]);
    expect(plan.counts).toEqual([
      { metric: 'indexesFinished', status: 'succeeded', by: 1 },
      { metric: 'podsFinished', result: 'succeeded', by: 1 },
      { metric: 'podsFinished', result: 'failed', by: 0 },
    ]);
    const none = planOf(indexedJobOf({ spec: { backoffLimitPerIndex: 1 } }), []).counts;
    expect(none.filter(({ metric }) => metric === 'indexesFinished')).toEqual([
      { metric: 'indexesFinished', status: 'succeeded', by: 0 },
    ]);
  });

  test('created pods by what they are for', () => {
    const reason = (...pods: Parameters<typeof planOf>) =>
      planOf(...pods).counts.filter(({ metric }) => metric === 'podsCreated');
    const by = (text: string, count: number) => [
      { metric: 'podsCreated' as const, reason: text, status: 'succeeded' as const, by: count },
    ];
    expect(reason(jobOf(), [])).toEqual(by('new', 2));
    const failed = podsOf(1, 'lost', { phase: 'Failed' });
    expect(reason(jobOf(), failed)).toEqual(by('recreate_terminating_or_failed', 2));
    const going = podsOf(1, 'going', { deleting: true, tracked: false });
    expect(reason(jobOf(), going)).toEqual(by('recreate_terminating_or_failed', 2));
    const replacing = jobOf({ spec: { podReplacementPolicy: 'Failed' } });
    expect(reason(replacing, failed)).toEqual(by('recreate_failed', 2));
  });

  test('the Job itself', () => {
    const plan = planOf(jobOf(), podsOf(5, 'done', { phase: 'Succeeded' }));
    expect(plan.counts).toContainEqual({
      metric: 'jobFinished',
      result: 'succeeded',
      reason: 'CompletionsReached',
    });
  });
});
