/** What a DaemonSet's status counts, and when it is written. */
import { describe, expect, test } from 'bun:test';
import { daemonSet, node, pod, type SetOptions } from './testing/build.ts';
import { Server } from './testing/server.ts';
import { statusOf, writesOf } from './testing/steps.ts';

type Pods = Parameters<typeof pod>[];

function statusWith(pods: Pods, nodes = [node('n1')], options: SetOptions = {}) {
  const server = new Server(daemonSet({ onDelete: true, minReadySeconds: 30, ...options }), []);
  server.sync();
  for (const one of nodes) server.nodes.set(one.name, one);
  for (const [name, on, { hash, ...rest } = {}] of pods) {
    const real = hash === 'new' ? server.hash : hash;
    server.pods.set(name, pod(name, on, { ...rest, hash: real }));
  }
  // Nothing is created or deleted, so that only what is there counts.
  server.unseen = true;
  server.sync();
  return server.set.status;
}

describe('counts by node', () => {
  test.each<[string, Pods, object]>([
    ['nothing', [], { desiredNumberScheduled: 1, currentNumberScheduled: 0, numberUnavailable: 1 }],
    [
      'an available new pod',
      [['a', 'n1', { hash: 'new' }]],
      { currentNumberScheduled: 1, numberReady: 1, numberAvailable: 1, updatedNumberScheduled: 1 },
    ],
    [
      'an old pod, ready since just now',
      [['a', 'n1', { readyFor: 29 }]],
      { numberReady: 1, numberAvailable: 0, numberUnavailable: 1, updatedNumberScheduled: 0 },
    ],
    ['a pod that is going', [['a', 'n1', { deleting: true }]], { currentNumberScheduled: 1 }],
    [
      'an ended pod that is going',
      [['a', 'n1', { deleting: true, phase: 'Failed' }]],
      { currentNumberScheduled: 0 },
    ],
    [
      'two pods: the oldest speaks',
      [
        ['a', 'n1', { ready: false, age: 300 }],
        ['b', 'n1', { hash: 'new', age: 10 }],
      ],
      { currentNumberScheduled: 1, numberReady: 0, updatedNumberScheduled: 0 },
    ],
    [
      'two pods: a scheduled one speaks before an older waiting one',
      [
        ['a', 'n1', { waiting: true, age: 300 }],
        ['b', 'n1', { age: 10 }],
      ],
      { numberReady: 1 },
    ],
  ])('%s', (_, pods, counts) => {
    expect(statusWith(pods)).toMatchObject(counts);
  });

  test('a pod where none should run is misscheduled and counts for nothing else', () => {
    const nodes = [node('n1', 'a:NoSchedule'), node('n2', 'a:NoExecute'), node('n3')];
    const pods: Pods = [
      ['a', 'n1'],
      ['b', 'n2'],
      ['c', 'gone'],
    ];
    expect(statusWith(pods, nodes)).toEqual({
      observedGeneration: 1,
      desiredNumberScheduled: 1,
      currentNumberScheduled: 0,
      numberMisscheduled: 2,
      numberReady: 0,
      updatedNumberScheduled: 0,
      numberAvailable: 0,
      numberUnavailable: 1,
    });
  });
});

describe('writing', () => {
  function settled(options: SetOptions = {}): Server {
    const server = new Server(daemonSet(options), [node('n1')]);
    server.sync();
    server.run('agent-1');
    server.unseen = false;
    server.sync();
    return server;
  }

  test('nothing if all is as stored', () => {
    const server = settled();
    expect(server.set.status).toMatchObject({ numberAvailable: 1, observedGeneration: 1 });
    expect(writesOf(server.sync())).toEqual([]);
  });

  test('the generation once it was worked on; other fields stay', () => {
    const server = settled({ status: { collisionCount: 0 } });
    const { metadata } = server.set;
    server.set = { ...server.set, metadata: { ...metadata, generation: 2 } };
    expect(statusOf(server.sync())).toMatchObject({ observedGeneration: 2 });
    expect(server.set.status).toMatchObject({ observedGeneration: 2, collisionCount: 0 });
  });

  test('looks again after minReadySeconds while a ready pod is not available', () => {
    const server = settled({ minReadySeconds: 30 });
    expect(server.actions.filter(({ kind }) => kind === 'again')).toEqual([
      { kind: 'again', delayMs: 30_000, because: '1 ready pods wait for minReadySeconds 30' },
    ]);
    server.now += 30_000;
    expect(server.sync().some(({ kind }) => kind === 'again')).toBe(false);
    expect(server.set.status).toMatchObject({ numberAvailable: 1 });
  });
});
