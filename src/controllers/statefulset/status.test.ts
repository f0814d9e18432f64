/** What a StatefulSet's status says, and when it is written. */
import { describe, expect, test } from 'bun:test';
import { refusal } from '../_kit/testing/fake-run.ts';
import { type PodOptions, pod, statefulSet } from './testing/build.ts';
import { Server } from './testing/server.ts';
import { statusOf, writesOf } from './testing/steps.ts';

/** The name of the revision that the template of the builder makes. */
const [CURRENT] = (() => {
  const server = new Server(statefulSet());
  server.sync();
  return [...server.revisions.keys()];
})() as [string];

function statusWith(...pods: PodOptions[]) {
  const set = statefulSet({ replicas: pods.length, minReadySeconds: 30, onDelete: true });
  const server = new Server(
    set,
    ...pods.map((options, ordinal) => pod(ordinal, { revision: CURRENT, ...options })),
  );
  return statusOf(server.sync());
}

describe('counts', () => {
  test.each<[string, PodOptions, object]>([
    [
      'running, ready, available',
      {},
      { readyReplicas: 1, availableReplicas: 1, currentReplicas: 1 },
    ],
    ['ready since just now', { readyFor: 29 }, { readyReplicas: 1, availableReplicas: 0 }],
    ['not ready', { ready: false }, { readyReplicas: 0, availableReplicas: 0, currentReplicas: 1 }],
    ['pending', { phase: 'Pending' }, { readyReplicas: 0, currentReplicas: 1 }],
    ['ready but not running', { phase: 'Unknown', ready: true }, { readyReplicas: 0 }],
    [
      'terminating',
      { deleting: true },
      { readyReplicas: 1, availableReplicas: 1, currentReplicas: 0, updatedReplicas: 0 },
    ],
    ['of another revision', { revision: 'web-x' }, { currentReplicas: 0, updatedReplicas: 0 }],
  ])('a pod that is %s', (_, options, counts) => {
    expect(statusWith(options)).toMatchObject({ replicas: 1, ...counts });
  });

  test('surplus pods count, planned ones do not', () => {
    const server = new Server(statefulSet({ replicas: 1 }), pod(5));
    expect(statusOf(server.sync())).toMatchObject({ replicas: 1, readyReplicas: 1 });
  });

  test('everything is set, and conditions are dropped', () => {
    const conditions = [{ type: 'X', status: 'True' }];
    const status = { replicas: 9, conditions };
    const server = new Server(statefulSet({ replicas: 0, generation: 4, status }));
    expect(statusOf(server.sync())).toEqual({
      observedGeneration: 4,
      replicas: 0,
      readyReplicas: 0,
      availableReplicas: 0,
      currentReplicas: 0,
      updatedReplicas: 0,
      currentRevision: CURRENT,
      updateRevision: CURRENT,
      collisionCount: 0,
    });
  });
});

describe('writing', () => {
  const full = {
    observedGeneration: 1,
    replicas: 1,
    readyReplicas: 1,
    availableReplicas: 1,
    currentReplicas: 1,
    updatedReplicas: 1,
    currentRevision: CURRENT,
    updateRevision: CURRENT,
  };

  function writes(change: object, generation = 1): string[] {
    const made = new Server(statefulSet({ replicas: 1 }));
    made.sync();
    const status = { ...full, ...change };
    const set = statefulSet({ replicas: 1, status, generation });
    const settled = new Server(set, pod(0, { revision: CURRENT }));
    for (const revision of made.revisions.values()) settled.revisions.put(revision);
    return writesOf(settled.sync());
  }

  test('nothing if all is as stored, whatever the collision count says', () => {
    expect(writes({})).toEqual([]);
    expect(writes({ collisionCount: 3 })).toEqual([]);
  });

  test.each([
    'replicas',
    'readyReplicas',
    'availableReplicas',
    'currentReplicas',
    'updatedReplicas',
  ])('if %s differs', (name) => {
    expect(writes({ [name]: 7 })).toEqual(['updateStatus']);
    expect(writes({ [name]: undefined })).toEqual(['updateStatus']);
  });

  test('if a revision differs', () => {
    expect(writes({ updateRevision: 'x' })).toEqual(['updateStatus']);
    expect(writes({ currentRevision: 'x' })).toEqual(['updateStatus']);
  });

  test('if the generation is newer than the one observed, not if it is older', () => {
    expect(writes({}, 2)).toEqual(['updateStatus']);
    expect(writes({ observedGeneration: 9 })).toEqual([]);
  });

  test('a refusal fails the sync, but one about pods comes first', () => {
    const server = new Server(statefulSet());
    server.refuse = ({ kind }) =>
      kind === 'updateStatus' ? refusal(403, 'Forbidden', 'no status') : undefined;
    expect(server.trySync().error?.message).toBe('no status');
    server.pods.clear();
    server.refuse = ({ kind }) =>
      kind === 'updateStatus' || kind === 'createPod' ? refusal(403, 'Forbidden', kind) : undefined;
    expect(server.trySync().error?.message).toBe('createPod');
  });
});

describe('looking again', () => {
  function wishes(minReadySeconds: number, ...pods: PodOptions[]) {
    const server = new Server(
      statefulSet({ replicas: pods.length, minReadySeconds }),
      ...pods.map((options, ordinal) => pod(ordinal, { revision: CURRENT, ...options })),
    );
    return server.sync().filter(({ kind }) => kind === 'again');
  }

  test('when the next ready pod becomes available', () => {
    expect(wishes(30, { readyFor: 10 }, { readyFor: 25 }, {})).toEqual([
      { kind: 'again', delayMs: 5_000, because: '2 ready pods wait for minReadySeconds 30' },
    ]);
  });

  test('after minReadySeconds if that is not known (a clock that lags)', () => {
    expect(wishes(30, { readyFor: -1_000 })).toMatchObject([{ delayMs: 1_030_000 }]);
  });

  test('never without minReadySeconds, or if all ready pods are available', () => {
    expect(wishes(0, {})).toEqual([]);
    expect(wishes(30, {}, { ready: false })).toEqual([]);
  });
});
