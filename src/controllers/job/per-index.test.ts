import { describe, expect, test } from 'bun:test';
import type { Job, JobSpec, Pod } from '../../api/types/index.ts';
import { indexedJobOf, NOW, type PodFacts, podOf } from './testing/build.ts';
import { planOf } from './testing/plan.ts';

const COUNT = 'batch.kubernetes.io/job-index-failure-count';
const IGNORED = 'batch.kubernetes.io/job-index-ignored-failure-count';

/** Two indexes, both at a time, one failure each. */
function job(spec: Partial<JobSpec> = {}, status?: Job['status']): Job {
  const base = {
    parallelism: 2,
    completions: 2,
    backoffLimit: 2147483647,
    backoffLimitPerIndex: 1,
  };
  return indexedJobOf({ spec: { ...base, ...spec }, status });
}

/** A pod of an index with so many failures before it. */
function pod(index: number, failures: number, phase: string, facts: PodFacts = {}): Pod {
  const annotations = { [COUNT]: `${failures}`, ...facts.annotations };
  return podOf({ name: `pi-${index}-${failures}`, index, phase, ...facts, annotations });
}

function created(...args: Parameters<typeof planOf>): Record<string, string | undefined>[] {
  return planOf(...args).created.map(({ template }) => ({ ...template.metadata?.annotations }));
}

describe('a failed pod', () => {
  test('is kept until its replacement carries the count on, and not counted meanwhile', () => {
    const plan = planOf(job(), [pod(0, 0, 'Failed')]);
    expect(plan.indexes).toEqual([0, 1]);
    expect(plan.released).toEqual([]);
    expect(plan.status).toMatchObject({ active: 2, failedIndexes: '' });
    expect(plan.status?.failed ?? 0).toBe(0);
  });

  test('is counted once it is replaced', () => {
    const plan = planOf(job(), [pod(0, 0, 'Failed'), pod(0, 1, 'Pending'), pod(1, 0, 'Running')]);
    expect(plan.created).toEqual([]);
    expect(plan.released).toEqual(['pi-0-0']);
    expect(plan.status).toMatchObject({ active: 2, failed: 1, failedIndexes: '' });
  });

  test('beyond the limit ends its index', () => {
    const plan = planOf(job(), [pod(0, 1, 'Failed'), pod(1, 0, 'Running')]);
    expect(plan.created).toEqual([]);
    expect(plan.released).toEqual(['pi-0-1']);
    expect(plan.status).toMatchObject({ active: 1, failed: 1, failedIndexes: '0' });
    expect(plan.counts).toContainEqual({ metric: 'indexesFinished', status: 'failed', by: 1 });
  });

  test('is no end of an index that succeeded before', () => {
    const plan = planOf(job(), [
      pod(0, 0, 'Failed'),
      pod(0, 1, 'Succeeded'),
      pod(1, 0, 'Succeeded'),
    ]);
    expect(plan.conditions.at(-1)).toBe('Complete=True CompletionsReached');
    expect(plan.status).toMatchObject({ succeeded: 2, failed: 1, completedIndexes: '0,1' });
    expect(plan.status?.failedIndexes).toBe('');
  });

  test('without a finalizer, or beyond the completions, ends nothing', () => {
    const pods = [pod(0, 1, 'Failed', { tracked: false }), pod(7, 1, 'Failed')];
    expect(planOf(job(), pods).status?.failedIndexes).toBe('');
  });
});

describe('the backoff of an index', () => {
  const failed = (index: number, failures: number, agoMs: number): Pod =>
    pod(index, failures, 'Failed', { exitCode: 1, endedAt: NOW - agoMs });

  test('runs from the end of its failed pod; other indexes don’t wait', () => {
    const plan = planOf(job(), [failed(0, 0, 4_000)]);
    expect(plan.indexes).toEqual([1]);
    expect(plan.again).toBeUndefined();
  });

  test('is waited for if all indexes that are left have one', () => {
    const plan = planOf(job({ backoffLimitPerIndex: 5 }), [
      failed(0, 0, 4_000),
      failed(1, 2, 6_000),
    ]);
    expect(plan.created).toEqual([]);
    expect(plan.again).toBe(6_000);
    expect(plan.status?.active ?? 0).toBe(0);
  });

  test('leaves the pods that run counted', () => {
    const plan = planOf(job(), [failed(0, 0, 4_000), pod(1, 0, 'Running', { ready: true })]);
    expect(plan.created).toEqual([]);
    expect(plan.again).toBe(6_000);
    expect(plan.status).toMatchObject({ active: 1, ready: 1 });
  });

  test('ignores the failures of the Job as a whole', () => {
    const backoff = { failures: 9, lastFailureAt: NOW };
    expect(planOf(job(), [], { backoff }).indexes).toEqual([0, 1]);
  });
});

describe('the counts of a replacement', () => {
  const IGNORE: Partial<JobSpec> = {
    podFailurePolicy: {
      rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [9] } }],
    },
  };
  const index = (key: number, counts: object) => ({
    'batch.kubernetes.io/job-completion-index': `${key}`,
    ...counts,
  });

  test('a first pod has none behind it', () => {
    expect(created(job({ parallelism: 1 }), [])).toEqual([index(0, { [COUNT]: '0' })]);
  });

  test('its predecessor’s and that one’s own', () => {
    const two = job({ parallelism: 1, backoffLimitPerIndex: 5 });
    expect(created(two, [pod(0, 2, 'Failed')])).toEqual([index(0, { [COUNT]: '3' })]);
  });

  test('an ignored failure is counted apart', () => {
    const ignoring = job({ parallelism: 1, ...IGNORE });
    const before = pod(0, 1, 'Failed', { exitCode: 9, annotations: { [IGNORED]: '3' } });
    expect(created(ignoring, [before])).toEqual([index(0, { [COUNT]: '1', [IGNORED]: '4' })]);
  });

  test('of several failed pods the one with the most failures that ended last is continued', () => {
    const five = job({ parallelism: 1, backoffLimitPerIndex: 5 });
    const pods = [pod(0, 2, 'Failed'), pod(0, 3, 'Failed'), pod(0, 1, 'Failed')];
    expect(created(five, pods)).toEqual([index(0, { [COUNT]: '4' })]);
    const plan = planOf(five, pods);
    expect(plan.released).toEqual(['pi-0-2', 'pi-0-1']);
  });

  test('a Job without limits per index writes none', () => {
    const plain = indexedJobOf({ spec: { parallelism: 1 } });
    expect(created(plain, [pod(0, 2, 'Failed')])).toEqual([index(0, {})]);
  });
});

describe('the end', () => {
  test('all indexes are done or have failed', () => {
    const plan = planOf(job(), [pod(0, 1, 'Failed'), pod(1, 0, 'Succeeded')]);
    expect(plan.conditions).toEqual([
      'FailureTarget=True FailedIndexes',
      'Failed=True FailedIndexes',
    ]);
    expect(plan.status).toMatchObject({ failedIndexes: '0', completedIndexes: '1' });
    expect(plan.events[0]?.message).toBe('Job has failed indexes');
  });

  test('more failed indexes than allowed', () => {
    const wide = job({ parallelism: 3, completions: 9, maxFailedIndexes: 1 });
    const pods = [pod(0, 1, 'Failed'), pod(1, 1, 'Failed'), pod(2, 0, 'Running')];
    const plan = planOf(wide, pods);
    expect(plan.conditions).toEqual(['FailureTarget=True MaxFailedIndexesExceeded']);
    expect(plan.stopped.map(({ pod: { name } }) => name)).toEqual(['pi-2-0']);
    expect(plan.status).toMatchObject({ failed: 3, failedIndexes: '0,1', terminating: 1 });
  });

  test('as many failed indexes as allowed', () => {
    const wide = job({ parallelism: 1, completions: 9, maxFailedIndexes: 1 });
    expect(planOf(wide, [pod(0, 1, 'Failed')]).indexes).toEqual([1]);
  });

  test('an index that a rule fails at once', () => {
    const rules = [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [3] } }];
    const plan = planOf(job({ podFailurePolicy: { rules } }), [
      pod(0, 0, 'Failed', { exitCode: 3 }),
    ]);
    expect(plan.status).toMatchObject({ failed: 1, failedIndexes: '0' });
    expect(plan.indexes).toEqual([1]);
    expect(plan.counts).toContainEqual({ metric: 'policyAction', action: 'FailIndex', by: 1 });
  });

  test('the limit of the Job as a whole counts as well', () => {
    const plan = planOf(job({ backoffLimit: 0 }), [pod(0, 0, 'Failed')]);
    expect(plan.conditions.at(-1)).toBe('Failed=True BackoffLimitExceeded');
    expect(plan.released).toEqual(['pi-0-0']);
  });
});

describe('policies of a whole Job', () => {
  const rules = [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [5] } }];

  test('FailJob: what runs is stopped, the message names the pod', () => {
    const failing = job({ podFailurePolicy: { rules } });
    const plan = planOf(failing, [pod(0, 0, 'Failed', { exitCode: 5 }), pod(1, 0, 'Running')]);
    expect(plan.conditions).toEqual(['FailureTarget=True PodFailurePolicy']);
    expect(plan.status?.conditions?.[0]?.message).toBe(
      'Container pi for pod default/pi-0-0 failed with exit code 5 ' +
        'matching FailJob rule at index 0',
    );
    expect(plan.status).toMatchObject({ failed: 2, terminating: 1 });
    expect(plan.stopped).toHaveLength(1);
  });

  test('a pod that is still going is not judged', () => {
    const failing = job({ podFailurePolicy: { rules } });
    const going = pod(0, 0, 'Running', { exitCode: 5, deleting: true });
    expect(planOf(failing, [going]).conditions).toEqual([]);
  });

  test('ignored failures are not counted, and the pod is released', () => {
    const ignore = [{ action: 'Ignore', onPodConditions: [{ type: 'Lost', status: 'True' }] }];
    const spec = { podFailurePolicy: { rules: ignore }, backoffLimitPerIndex: undefined };
    const lost = pod(0, 0, 'Failed', { conditions: [{ type: 'Lost', status: 'True' }] });
    const plan = planOf(job({ ...spec, backoffLimit: 0 }), [lost]);
    expect(plan.status?.failed ?? 0).toBe(0);
    expect(plan.released).toEqual(['pi-0-0']);
    expect(plan.indexes).toEqual([0, 1]);
    expect(plan.counts).toContainEqual({ metric: 'policyAction', action: 'Ignore', by: 1 });
  });

  test('a met success policy stops what runs, which is not counted as failed', () => {
    const successPolicy = { rules: [{ succeededIndexes: '0' }] };
    const plan = planOf(job({ successPolicy }), [pod(0, 0, 'Succeeded'), pod(1, 0, 'Running')]);
    expect(plan.conditions).toEqual(['SuccessCriteriaMet=True SuccessPolicy']);
    expect(plan.status).toMatchObject({ succeeded: 1, terminating: 1, completedIndexes: '0' });
    expect(plan.status?.failed ?? 0).toBe(0);
    expect(plan.released).toEqual(['pi-0-0', 'pi-1-0']);
    const after = planOf({ ...job({ successPolicy }), status: plan.status }, []);
    expect(after.conditions.at(-1)).toBe('Complete=True SuccessPolicy');
    expect(after.events[0]?.reason).toBe('Completed');
  });
});
