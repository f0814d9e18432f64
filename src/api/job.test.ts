import { describe, expect, test } from 'bun:test';
import {
  completionIndex,
  endedAt,
  finishedType,
  jobPodFields,
  jobRecordFields,
  NO_INDEX,
} from './job.ts';
import { projectionOf } from './projection.ts';
import { DEPLOYMENTS, JOBS } from './resource.ts';
import { LONGEST_MS } from './time.ts';
import type { Job, Pod } from './types/index.ts';

const AT = (seconds: number): string => new Date(seconds * 1000).toISOString();
/** Beyond 2^53 it arrives so. */
const LONGEST = 9_223_372_036_854_775_807n as unknown as number;
const METADATA = { name: 'p', namespace: 'ns', uid: 'u', resourceVersion: '1' };

function pod(over: { metadata?: object; spec?: object; status?: object }): Pod {
  return { ...over, metadata: { ...METADATA, ...over.metadata } } as Pod;
}

function stopped(name: string, seconds: number): object {
  return { name, restartCount: 0, state: { terminated: { exitCode: 0, finishedAt: AT(seconds) } } };
}

const RUNNING = { name: 'run', restartCount: 0, state: { running: {} } };
const NOT_READY = { type: 'Ready', status: 'False', lastTransitionTime: AT(50) };

describe('when a pod ended', () => {
  const deleted = { creationTimestamp: AT(10), deletionTimestamp: AT(100) };
  const sidecar = { initContainers: [{ name: 'side', restartPolicy: 'Always' }, { name: 'init' }] };
  const table: readonly [string, Pod, number][] = [
    [
      'the latest end of its containers',
      pod({ status: { containerStatuses: [stopped('a', 30), stopped('b', 20)] } }),
      30,
    ],
    [
      'a running container: the time at which it became not ready',
      pod({ status: { containerStatuses: [stopped('a', 30), RUNNING], conditions: [NOT_READY] } }),
      50,
    ],
    [
      'a sidecar that stopped last',
      pod({
        spec: sidecar,
        status: {
          containerStatuses: [stopped('a', 30)],
          initContainerStatuses: [stopped('side', 40), stopped('init', 90)],
        },
      }),
      40,
    ],
    [
      'a sidecar that still runs',
      pod({
        metadata: { creationTimestamp: AT(10) },
        spec: sidecar,
        status: {
          containerStatuses: [stopped('a', 30)],
          initContainerStatuses: [{ ...RUNNING, name: 'side' }],
        },
      }),
      10,
    ],
    [
      'an end without a time is none',
      pod({
        metadata: { creationTimestamp: AT(10) },
        status: { containerStatuses: [{ name: 'a', state: { terminated: { exitCode: 1 } } }] },
      }),
      10,
    ],
    [
      'ready: its deletion less the grace period',
      pod({
        metadata: { ...deleted, deletionGracePeriodSeconds: 30 },
        status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: AT(50) }] },
      }),
      70,
    ],
    ['deleted without a grace period', pod({ metadata: deleted }), 100],
    [
      'deleted with the longest grace period there is',
      pod({ metadata: { ...deleted, deletionGracePeriodSeconds: LONGEST } }),
      100 - LONGEST_MS / 1000,
    ],
    ['nothing known: its creation', pod({ metadata: { creationTimestamp: AT(10) } }), 10],
  ];

  for (const [name, given, seconds] of table) {
    test(name, () => {
      expect(endedAt(given)).toBe(seconds * 1000);
    });
  }
});

test('the completion index is a number from 0 up', () => {
  const index = (value: string): number =>
    completionIndex({ 'batch.kubernetes.io/job-completion-index': value });
  expect(['0', '7', '+7', '07', '12345'].map(index)).toEqual([0, 7, 7, 7, 12345]);
  expect(['', '-1', 'x', '1.5', '0x1', '99999999999999999999'].map(index)).toEqual(
    Array(6).fill(NO_INDEX),
  );
  expect(completionIndex(undefined)).toBe(NO_INDEX);
  expect(completionIndex({})).toBe(NO_INDEX);
});

describe('what is kept of a pod for Jobs', () => {
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'uj', controller: true };

  test('nothing of a pod that never had to do with one', () => {
    expect(jobPodFields(pod({}))).toBeUndefined();
    const other = { ...owner, kind: 'ReplicaSet' };
    expect(jobPodFields(pod({ metadata: { ownerReferences: [other] } }))).toBeUndefined();
  });

  test('the sum of all restarts, the index, the finalizer', () => {
    const given = pod({
      metadata: {
        ownerReferences: [owner],
        finalizers: ['x/y', 'batch.kubernetes.io/job-tracking'],
        annotations: { 'batch.kubernetes.io/job-completion-index': '4' },
        creationTimestamp: AT(10),
      },
      status: {
        containerStatuses: [{ name: 'a', restartCount: 2 }],
        initContainerStatuses: [{ name: 'i', restartCount: 3 }],
      },
    });
    expect(jobPodFields(given)).toEqual({ tracked: true, index: 4, endedAt: 10_000, restarts: 5 });
  });

  test('a pod whose owner is gone, and one that was counted', () => {
    const finalizers = ['batch.kubernetes.io/job-tracking'];
    expect(jobPodFields(pod({ metadata: { finalizers } }))?.tracked).toBe(true);
    expect(jobPodFields(pod({ metadata: { ownerReferences: [owner] } }))?.tracked).toBe(false);
  });
});

describe('the record of a Job', () => {
  test('of one with the longest deadline there is', () => {
    const spec = { template: {}, activeDeadlineSeconds: LONGEST };
    expect(jobRecordFields({ metadata: METADATA, spec }).deadlineMs).toBe(LONGEST_MS);
    expect(jobRecordFields({ metadata: METADATA }).deadlineMs).toBeUndefined();
  });

  const job: Job = {
    metadata: { ...METADATA, generation: 3 },
    spec: { template: {}, managedBy: 'other', activeDeadlineSeconds: 9 },
    status: { startTime: AT(5), conditions: [{ type: 'Suspended', status: 'True' }] },
  };

  test('holds what triggers ask', () => {
    expect(jobRecordFields(job)).toMatchObject({
      key: 'ns/p',
      generation: 3,
      finished: '',
      managedBy: 'other',
      deadlineMs: 9_000,
      startedAt: 5_000,
    });
    expect(projectionOf(JOBS)(job)).toEqual(jobRecordFields(job));
    expect(projectionOf(DEPLOYMENTS)(job)).not.toHaveProperty('finished');
  });

  test('is finished by the first of Complete and Failed that is True', () => {
    const withConditions = (...conditions: [string, string][]): Job => ({
      ...job,
      status: { conditions: conditions.map(([type, status]) => ({ type, status })) },
    });
    expect(finishedType(withConditions(['Complete', 'False'], ['Failed', 'True']))).toBe('Failed');
    expect(finishedType(withConditions(['Complete', 'True'], ['Failed', 'True']))).toBe('Complete');
    expect(finishedType(withConditions(['SuccessCriteriaMet', 'True']))).toBe('');
  });
});
