import { describe, expect, test } from 'bun:test';
import { LONGEST_MS } from '../../api/time.ts';
import type { Job, JobStatus, Pod } from '../../api/types/index.ts';
import { indexedJobOf, indexedPodsOf, jobOf, NOW, podOf, podsOf } from './testing/build.ts';
import { type Plan, type PlanOptions, planOf } from './testing/plan.ts';

const STARTED = '2026-11-30T11:59:50Z';
const FAKE = new Error('fake error');

/** What a row expects; what it leaves out is nothing or 0. */
interface Wanted {
  readonly create?: number;
  readonly indexes?: readonly number[];
  readonly drop?: number;
  readonly stop?: number;
  readonly release?: number;
  readonly active?: number;
  readonly ready?: number;
  readonly terminating?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly completed?: string;
  readonly conditions?: readonly string[];
  readonly error?: boolean;
  readonly againMs?: number;
  readonly finished?: boolean;
}

type Row = readonly [string, Job, readonly Pod[], Wanted, PlanOptions?];

function check(job: Job, plan: Plan, wanted: Wanted): void {
  const status: JobStatus = plan.status ?? job.status ?? {};
  const { create = wanted.indexes?.length ?? 0, error = false } = wanted;
  const found = {
    create: plan.created.length,
    drop: plan.dropped.length,
    stop: plan.stopped.length,
    release: plan.released.length,
    active: status.active ?? 0,
    ready: status.ready ?? 0,
    terminating: status.terminating ?? 0,
    succeeded: status.succeeded ?? 0,
    failed: status.failed ?? 0,
    completed: status.completedIndexes ?? '',
    conditions: plan.conditions,
    error: plan.error !== undefined,
    againMs: plan.again,
    finished: plan.finished,
  };
  const { indexes: _, ...rest } = wanted;
  expect(found).toEqual({
    drop: 0,
    stop: 0,
    release: 0,
    active: 0,
    ready: 0,
    terminating: 0,
    succeeded: 0,
    failed: 0,
    completed: '',
    conditions: [],
    againMs: undefined,
    finished: false,
    ...rest,
    create,
    error,
  });
  if (wanted.indexes !== undefined) expect(plan.indexes).toEqual(wanted.indexes);
}

function play(rows: readonly Row[]): void {
  for (const [name, job, pods, wanted, options] of rows) {
    test(name, () => check(job, planOf(job, pods, options), wanted));
  }
}

const queue = (parallelism: number): Job =>
  jobOf({ spec: { parallelism, completions: undefined } });
const COMPLETE = ['SuccessCriteriaMet=True CompletionsReached', 'Complete=True CompletionsReached'];
const TOO_MANY = 'BackoffLimitExceeded';
const running = (count: number, ready = 0): readonly Pod[] => [
  ...podsOf(ready, 'ready', { ready: true }),
  ...podsOf(count - ready, 'run'),
];
const done = (count: number): readonly Pod[] => podsOf(count, 'done', { phase: 'Succeeded' });
const lost = (count: number): readonly Pod[] => podsOf(count, 'lost', { phase: 'Failed' });
const going = (count: number): readonly Pod[] => podsOf(count, 'going', { deleting: true });

describe('how many pods a Job gets', () => {
  play([
    ['it starts', jobOf(), [], { create: 2, active: 2 }],
    ['a work queue starts', queue(2), [], { create: 2, active: 2 }],
    [
      'no completions and no parallelism: one pod',
      jobOf({ spec: { parallelism: undefined, completions: undefined } }),
      [],
      { create: 1, active: 1 },
    ],
    ['pending pods count', jobOf(), podsOf(2, 'wait', { phase: 'Pending' }), { active: 2 }],
    ['enough pods', jobOf({ spec: { parallelism: 3 } }), running(3, 2), { active: 3, ready: 2 }],
    [
      'one is missing',
      jobOf(),
      [...running(1), ...done(1)],
      { create: 1, active: 2, succeeded: 1, release: 1 },
    ],
    ['one of a work queue is missing', queue(2), running(1), { create: 1, active: 2 }],
    ['too many', jobOf(), running(3), { drop: 1, active: 2, terminating: 1 }],
    [
      'ready pods that go are not ready any more',
      jobOf(),
      running(3, 3),
      { drop: 1, active: 2, ready: 2, terminating: 1 },
    ],
    ['far too many', jobOf(), running(10), { drop: 8, active: 2, terminating: 8 }],
    [
      'more than completions are left',
      jobOf({ spec: { parallelism: 3, completions: 4 } }),
      [...running(3), ...done(2)],
      { drop: 1, active: 2, terminating: 1, succeeded: 2, release: 2 },
    ],
    [
      'a work queue that had a success keeps what runs, and gets no more',
      queue(2),
      [...running(1), ...done(1)],
      { active: 1, succeeded: 1, release: 1 },
    ],
    ['no parallelism', jobOf({ spec: { parallelism: 0 } }), [], {}],
    [
      'at most 500 at a time',
      jobOf({ spec: { parallelism: 600, completions: 700 } }),
      [],
      { create: 500, active: 500 },
    ],
    [
      'at most 500 fewer at a time',
      jobOf({ spec: { parallelism: 0 } }),
      running(600),
      { drop: 500, active: 100, terminating: 500 },
    ],
    [
      'pods not all seen yet: only the status is kept',
      jobOf(),
      [...running(1, 1), ...done(1)],
      { active: 1, ready: 1, succeeded: 1, release: 1 },
      { satisfied: false },
    ],
    [
      'the Job is being deleted: its pods are released, whatever they do',
      jobOf({ meta: { deletionTimestamp: STARTED } }),
      [...podsOf(1, 'wait', { phase: 'Pending' }), ...running(1), ...done(1)],
      { active: 2, succeeded: 1, release: 3 },
    ],
  ]);
});

describe('pods that are going', () => {
  const replaceFailed = { podReplacementPolicy: 'Failed' };
  play([
    [
      'are replaced, and count as failed',
      jobOf({ spec: { parallelism: 1 } }),
      [...running(1), ...lost(1), ...going(1)],
      { active: 1, terminating: 1, failed: 2, release: 2 },
    ],
    [
      'are waited for if only failed pods are replaced',
      jobOf({ spec: { parallelism: 1, ...replaceFailed } }),
      going(1),
      { terminating: 1 },
    ],
    [
      'are waited for with a pod failure policy as well',
      jobOf({ spec: { parallelism: 1, podFailurePolicy: { rules: [] } } }),
      going(1),
      { terminating: 1 },
    ],
    [
      'beyond the parallelism don’t keep surplus pods alive',
      jobOf({ spec: { parallelism: 1, completions: 1, ...replaceFailed } }),
      [...running(2), ...going(4)],
      { drop: 1, active: 1, terminating: 5 },
    ],
    [
      'and have stopped count by what they came to',
      jobOf({ spec: replaceFailed }),
      [podOf({ name: 'pi-x', phase: 'Succeeded', deleting: true }), ...running(2)],
      { active: 2, succeeded: 1, release: 1 },
    ],
    [
      'without an answer are deleted again, and nothing else is done',
      jobOf({ spec: { parallelism: 3 } }),
      running(2),
      { drop: 1, active: 1, terminating: 1 },
      { announced: ['uid-pi-run-1'] },
    ],
  ]);
});

describe('failures', () => {
  const justNow = { failures: 1, lastFailureAt: NOW };
  play([
    [
      'a failed pod is replaced',
      jobOf(),
      [...running(1), ...lost(1)],
      { create: 1, active: 2, failed: 1, release: 1 },
    ],
    [
      'no pod is created while the backoff runs; those that run are still told',
      jobOf({ spec: { completions: 2 } }),
      running(1, 1),
      { active: 1, ready: 1, againMs: 10_000 },
      { backoff: justNow },
    ],
    [
      'the end of the backoff is waited for a second at least',
      jobOf(),
      [],
      { againMs: 1_000 },
      { backoff: { failures: 1, lastFailureAt: NOW - 9_900 } },
    ],
    [
      'a success ends the backoff',
      jobOf(),
      done(1),
      { create: 2, active: 2, succeeded: 1, release: 1 },
      { backoff: justNow },
    ],
    [
      'counted before: no matter',
      jobOf({ status: { startTime: STARTED, active: 1, ready: 0, terminating: 0, failed: 1 } }),
      running(2),
      { active: 2, failed: 1 },
    ],
    [
      'more than the limit: the Job fails, and active pods with it',
      jobOf({ spec: { backoffLimit: 0 } }),
      [...running(2, 2), ...lost(1)],
      {
        stop: 2,
        terminating: 2,
        failed: 3,
        release: 3,
        conditions: [`FailureTarget=True ${TOO_MANY}`],
      },
    ],
    [
      'nothing left to stop: the Job has failed',
      jobOf({ spec: { backoffLimit: 0 } }),
      lost(1),
      {
        failed: 1,
        release: 1,
        conditions: [`FailureTarget=True ${TOO_MANY}`, `Failed=True ${TOO_MANY}`],
        finished: true,
      },
    ],
    [
      'as many as the limit are allowed',
      jobOf({ spec: { backoffLimit: 1, parallelism: 1 } }),
      lost(1),
      { create: 1, active: 1, failed: 1, release: 1 },
    ],
    [
      'pods not all seen yet: the Job can’t have failed',
      jobOf({ spec: { backoffLimit: 0 } }),
      lost(1),
      { failed: 1, release: 1 },
      { satisfied: false },
    ],
    [
      'ignored ones have no finalizer, and count by the status alone',
      jobOf({ status: { failed: 3, startTime: STARTED } }),
      [...podsOf(3, 'old', { phase: 'Failed', tracked: false }), ...running(2)],
      { active: 2, failed: 3 },
    ],
  ]);
});

describe('restarts in place', () => {
  const template = { spec: { restartPolicy: 'OnFailure', containers: [] } };
  const job = (backoffLimit: number): Job => jobOf({ spec: { backoffLimit, template } });
  const FAILING = { stop: 2, terminating: 2, release: 2, failed: 2 };
  const conditions = [`FailureTarget=True ${TOO_MANY}`];
  const restarted = (...counts: readonly number[]): readonly Pod[] =>
    counts.map((restarts, at) => podOf({ name: `pi-${at}`, restarts }));
  play([
    ['as many as the limit are too many', job(3), restarted(1, 2), { ...FAILING, conditions }],
    ['fewer are not', job(4), restarted(1, 2), { active: 2 }],
    ['with a limit of 0 any is', job(0), restarted(0, 1), { ...FAILING, conditions }],
    ['with a limit of 0 none is not', job(0), restarted(0, 0), { active: 2 }],
    [
      'only those of pods that may still run count',
      job(3),
      [podOf({ name: 'pi-u', phase: 'Unknown', restarts: 9 }), ...restarted(1)],
      { active: 2 },
    ],
    ['of a Job whose pods never restart don’t count', jobOf(), restarted(20, 20), { active: 2 }],
  ]);
});

describe('time', () => {
  /** Beyond 2^53 it arrives so. */
  const LONGEST = 9_223_372_036_854_775_807n as unknown as number;
  const limit = (activeDeadlineSeconds: number, spec = {}): Job =>
    jobOf({ spec: { activeDeadlineSeconds, ...spec }, status: { startTime: STARTED } });
  play([
    [
      'a Job that has not run too long is looked at again',
      limit(15),
      running(2),
      { active: 2, againMs: 5_000 },
    ],
    [
      'one that has fails',
      limit(10),
      running(2),
      {
        stop: 2,
        terminating: 2,
        failed: 2,
        release: 2,
        conditions: ['FailureTarget=True DeadlineExceeded'],
      },
    ],
    [
      'a Job that starts now has all of its time',
      jobOf({ spec: { activeDeadlineSeconds: 5 } }),
      running(2),
      { active: 2, againMs: 5_000 },
    ],
    [
      'one with the longest deadline there is goes on',
      limit(LONGEST),
      running(2),
      { active: 2, againMs: LONGEST_MS - 10_000 },
    ],
    [
      'a suspended Job has none',
      limit(5, { suspend: true }),
      [],
      { conditions: ['Suspended=True JobSuspended'] },
    ],
  ]);

  test('the first sync starts the Job, unless it is suspended', () => {
    expect(planOf(jobOf(), []).status?.startTime).toBe('2026-11-30T12:00:00Z');
    expect(planOf(jobOf({ status: { startTime: STARTED } }), []).status?.startTime).toBe(STARTED);
    const suspended = planOf(jobOf({ spec: { suspend: true } }), []);
    expect(suspended.status?.startTime).toBeUndefined();
  });
});

describe('the end', () => {
  play([
    [
      'all completions',
      jobOf(),
      done(5),
      { succeeded: 5, release: 5, conditions: COMPLETE, finished: true },
    ],
    [
      'a work queue: any success, and nothing runs',
      queue(2),
      done(2),
      { succeeded: 2, release: 2, conditions: COMPLETE, finished: true },
    ],
    [
      'a work queue ends well despite failures',
      queue(2),
      [...done(1), ...lost(1)],
      { succeeded: 1, failed: 1, release: 2, conditions: COMPLETE, finished: true },
    ],
    [
      'no completions asked for',
      jobOf({ spec: { completions: 0 } }),
      [],
      { conditions: COMPLETE, finished: true },
    ],
    [
      'pods that have not stopped keep it from ending',
      jobOf({ spec: { completions: 1, podReplacementPolicy: 'Failed' } }),
      [...done(1), ...going(1)],
      { succeeded: 1, terminating: 1, release: 2, conditions: [COMPLETE[0] ?? ''] },
    ],
    [
      'a decision of a former sync stands: the Job is complete, also after its limit',
      jobOf({
        spec: { backoffLimit: 0 },
        status: {
          startTime: STARTED,
          conditions: [
            { type: 'SuccessCriteriaMet', status: 'True', reason: 'SuccessPolicy', message: 'm' },
          ],
        },
      }),
      lost(1),
      {
        failed: 1,
        release: 1,
        conditions: ['SuccessCriteriaMet=True SuccessPolicy', 'Complete=True SuccessPolicy'],
        finished: true,
      },
    ],
    [
      'a decision of a former sync stands: the Job has failed',
      jobOf({
        status: {
          startTime: STARTED,
          conditions: [
            { type: 'FailureTarget', status: 'True', reason: 'DeadlineExceeded', message: 'm' },
          ],
        },
      }),
      done(5),
      {
        succeeded: 5,
        release: 5,
        conditions: ['FailureTarget=True DeadlineExceeded', 'Failed=True DeadlineExceeded'],
        finished: true,
      },
    ],
    [
      'conditions that are False decide nothing',
      jobOf({
        status: {
          startTime: STARTED,
          conditions: [
            { type: 'FailureTarget', status: 'False', reason: 'ByHand' },
            { type: 'SuccessCriteriaMet', status: 'False', reason: 'ByHand' },
          ],
        },
      }),
      running(2),
      {
        active: 2,
        conditions: ['FailureTarget=False ByHand', 'SuccessCriteriaMet=False ByHand'],
      },
    ],
  ]);

  test('only a complete Job has a completion time', () => {
    expect(planOf(jobOf(), done(5)).status?.completionTime).toBe('2026-11-30T12:00:00Z');
    const failed = planOf(jobOf({ spec: { backoffLimit: 0 } }), lost(1));
    expect(failed.status?.completionTime).toBeUndefined();
  });

  test('says so in an event', () => {
    expect(planOf(jobOf(), done(5)).events).toEqual([
      { type: 'Normal', reason: 'Completed', message: 'Job completed' },
    ]);
    expect(planOf(jobOf(), done(6)).events.map(({ reason }) => reason)).toEqual([
      'TooManySucceededPods',
      'Completed',
    ]);
    expect(planOf(jobOf({ spec: { backoffLimit: 0 } }), lost(1)).events).toEqual([
      {
        type: 'Warning',
        reason: 'BackoffLimitExceeded',
        message: 'Job has reached the specified backoff limit',
      },
    ]);
  });
});

describe('suspending', () => {
  const suspend = (spec = {}): Job => jobOf({ spec: { suspend: true, ...spec } });
  const SUSPENDED = ['Suspended=True JobSuspended'];
  const suspended: JobStatus = {
    conditions: [
      { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' },
    ],
  };
  play([
    [
      'deletes all active pods',
      suspend(),
      running(2, 2),
      { drop: 2, terminating: 2, conditions: SUSPENDED },
    ],
    [
      'deletes all of them at once, however many',
      suspend({ parallelism: 600, completions: 600 }),
      running(600),
      { drop: 600, terminating: 600, conditions: SUSPENDED },
    ],
    [
      'waits until all pods are seen',
      suspend(),
      running(3, 3),
      { active: 3, ready: 3 },
      { satisfied: false },
    ],
    [
      'does nothing more to a Job that is being deleted',
      jobOf({ spec: { suspend: true }, meta: { deletionTimestamp: STARTED } }),
      running(2),
      { active: 2, release: 2 },
    ],
    [
      'is over: pods are created again',
      jobOf({ status: suspended }),
      [],
      { create: 2, active: 2, conditions: ['Suspended=False JobResumed'] },
    ],
    ['never was: no condition', jobOf(), running(2), { active: 2 }],
  ]);

  test('takes the start time back, and resuming sets it anew', () => {
    const started = jobOf({ spec: { suspend: true }, status: { startTime: STARTED } });
    expect(planOf(started, []).status?.startTime).toBeUndefined();
    const kept = planOf(started, [], { config: { clearStartTime: false } });
    expect(kept.status?.startTime).toBe(STARTED);
    const resumed = planOf(jobOf({ status: { ...suspended, startTime: STARTED } }), []);
    expect(resumed.status?.startTime).toBe('2026-11-30T12:00:00Z');
  });

  test('says so in an event, once', () => {
    const suspending = planOf(suspend(), []);
    expect(suspending.events).toEqual([
      { type: 'Normal', reason: 'Suspended', message: 'Job suspended' },
    ]);
    const again = planOf(jobOf({ spec: { suspend: true }, status: suspending.status }), []);
    expect(again.events).toEqual([]);
    expect(again.statuses).toEqual([]);
    expect(planOf(jobOf({ status: suspended }), []).events).toEqual([
      { type: 'Normal', reason: 'Resumed', message: 'Job resumed' },
    ]);
  });
});

describe('Indexed', () => {
  const indexed = (parallelism: number, completions: number, spec = {}): Job =>
    indexedJobOf({ spec: { parallelism, completions, ...spec } });
  play([
    ['the lowest indexes come first', indexed(2, 5), [], { indexes: [0, 1], active: 2 }],
    [
      'all indexes done',
      indexed(2, 3),
      indexedPodsOf([0, 'Succeeded'], [1, 'Failed'], [1, 'Succeeded'], [2, 'Succeeded']),
      {
        succeeded: 3,
        failed: 1,
        completed: '0-2',
        release: 4,
        conditions: COMPLETE,
        finished: true,
      },
    ],
    [
      'an index that is done twice counts once',
      indexed(2, 3),
      indexedPodsOf([0, 'Succeeded'], [1, 'Succeeded'], [1, 'Succeeded']),
      { indexes: [2], active: 1, succeeded: 2, completed: '0,1', release: 3 },
    ],
    [
      'gaps are filled',
      indexed(8, 20),
      indexedPodsOf(
        [0, 'Running'],
        [2, 'Succeeded'],
        [3, 'Pending'],
        [4, 'Succeeded'],
        [5, 'Succeeded'],
        [7, 'Succeeded'],
        [8, 'Succeeded'],
        [9, 'Succeeded'],
      ),
      {
        indexes: [1, 6, 10, 11, 12, 13],
        active: 8,
        succeeded: 6,
        completed: '2,4,5,7-9',
        release: 6,
      },
    ],
    [
      'failed indexes are tried again',
      indexed(3, 4),
      indexedPodsOf([0, 'Failed'], [1, 'Pending'], [2, 'Failed']),
      { indexes: [0, 2], active: 3, failed: 2, release: 2 },
    ],
    [
      'pods without an index go, and are not counted',
      indexed(2, 5),
      [
        ...running(1),
        ...done(1),
        ...lost(1),
        ...indexedPodsOf(
          ['bad', 'Running'],
          ['bad', 'Succeeded'],
          ['bad', 'Failed'],
          ['bad', 'Pending'],
          [0, 'Succeeded'],
          [1, 'Running'],
          [2, 'Running'],
        ),
      ],
      { drop: 3, active: 2, terminating: 3, succeeded: 1, completed: '0', release: 5 },
    ],
    [
      'of pods with one index all but one go',
      indexed(5, 5),
      indexedPodsOf([0, 'Succeeded'], [1, 'Running'], [2, 'Running'], [2, 'Pending']),
      { drop: 1, active: 2, terminating: 1, succeeded: 1, completed: '0', release: 1 },
    ],
    [
      'indexes beyond the completions go, and are not counted',
      indexed(2, 5),
      indexedPodsOf(
        [0, 'Succeeded'],
        [5, 'Running'],
        [6, 'Succeeded'],
        [7, 'Pending'],
        [8, 'Failed'],
      ),
      { drop: 2, terminating: 2, succeeded: 1, completed: '0', release: 3 },
    ],
    [
      'a going pod blocks its index if only failed pods are replaced',
      indexed(2, 5, { podReplacementPolicy: 'Failed' }),
      [podOf({ index: 0, deleting: true })],
      { indexes: [1], active: 1, terminating: 1 },
    ],
    [
      'a going pod blocks nothing otherwise',
      indexed(2, 5),
      [podOf({ index: 0, deleting: true })],
      { indexes: [0, 1], active: 2, terminating: 1, failed: 1, release: 1 },
    ],
    [
      'fails as a whole: what runs has failed',
      indexed(2, 3, { backoffLimit: 0 }),
      indexedPodsOf([0, 'Succeeded'], [1, 'Failed'], [2, 'Running']),
      {
        stop: 1,
        terminating: 1,
        succeeded: 1,
        failed: 2,
        completed: '0',
        release: 3,
        conditions: [`FailureTarget=True ${TOO_MANY}`],
      },
    ],
    [
      'fewer completions than before: indexes beyond are forgotten',
      indexedJobOf({
        spec: { parallelism: 0, completions: 4 },
        status: { startTime: STARTED, completedIndexes: '0,2-7', succeeded: 7 },
      }),
      [],
      { succeeded: 3, completed: '0,2,3' },
    ],
  ]);

  test('a pod knows its index', () => {
    const [pod] = planOf(indexed(1, 5), indexedPodsOf([0, 'Succeeded'])).created;
    expect(pod?.generateName).toBe('pi-1-');
    expect(pod?.slot).toBe('1');
    const key = 'batch.kubernetes.io/job-completion-index';
    expect(pod?.template.metadata?.annotations).toEqual({ [key]: '1' });
    expect(pod?.template.metadata?.labels).toMatchObject({ [key]: '1' });
    expect(pod?.template.spec?.hostname).toBe('pi-1');
    expect(pod?.template.spec?.containers[0]?.env).toEqual([
      {
        name: 'JOB_COMPLETION_INDEX',
        valueFrom: { fieldRef: { fieldPath: `metadata.labels['${key}']` } },
      },
    ]);
    expect(pod?.because).toBe('0 active, 1 succeeded of 5, parallelism 1: creating 1 (index 1)');
  });
});

describe('calls that fail', () => {
  play([
    [
      'a pod is not created, nor a finalizer removed: nothing is counted yet',
      jobOf(),
      [...running(1), ...done(1)],
      { create: 1, active: 1, release: 1, error: true },
      { podError: FAKE },
    ],
    [
      'a pod is not deleted: it stays active',
      jobOf(),
      running(3),
      { drop: 1, active: 3, error: true },
      { podError: FAKE },
    ],
    [
      'some pods are created',
      jobOf({ spec: { parallelism: 100, completions: 200 } }),
      [],
      { create: 100, active: 10, error: true },
      { podLimit: 10 },
    ],
    [
      'a pod of a failed Job is not stopped: the Job has not failed yet',
      jobOf({ spec: { backoffLimit: 0 }, status: { startTime: STARTED, failed: 1 } }),
      running(1),
      { stop: 1, active: 1, failed: 1, error: true },
      { podError: FAKE },
    ],
  ]);

  test('a refused status ends the sync before any finalizer goes', () => {
    const error = new Error('conflict');
    const plan = planOf(jobOf(), done(1), { refuseStatus: { write: 1, error } });
    expect(plan.error).toBe(error);
    expect(plan.released).toEqual([]);
    expect(plan.remembered).toBeUndefined();
  });

  test('a refused end is no end', () => {
    const error = new Error('conflict');
    const plan = planOf(jobOf(), done(5), { refuseStatus: { write: 2, error } });
    expect(plan.error).toBe(error);
    expect(plan.events).toEqual([]);
    expect(plan.finished).toBe(false);
  });
});

test('why a pod is created or goes is said in numbers', () => {
  expect(planOf(jobOf(), done(1)).created[0]?.because).toBe(
    '0 active, 1 succeeded of 5, parallelism 2: creating 2',
  );
  expect(planOf(jobOf(), running(3)).dropped[0]?.because).toBe(
    '1 pods too many; first of those that have done least',
  );
  const failed = jobOf({ spec: { backoffLimit: 0 } });
  expect(planOf(failed, [...running(1), ...lost(1)]).stopped[0]?.because).toBe(
    'the Job ends: Job has reached the specified backoff limit',
  );
});
