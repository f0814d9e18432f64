/** Which pods a node gets and loses, in the words of the catalogue. */
import { describe, expect, test } from 'bun:test';
import { refusal } from '../_kit/testing/fake-run.ts';
import { daemonSet, node, pod, type SetOptions } from './testing/build.ts';
import { Server } from './testing/server.ts';
import { eventsOf, podWritesOf, statusOf, writesOf } from './testing/steps.ts';

const N1 = [node('n1')];
const surging: SetOptions = { maxUnavailable: 0, maxSurge: 1 };

/** OnDelete, so that no update mixes in. */
function serverOf(pods: Parameters<typeof pod>[], nodes = N1, options: SetOptions = {}): Server {
  const set = daemonSet({ onDelete: true, ...options });
  return new Server(set, nodes, ...pods.map((one) => pod(...one)));
}

describe('a node that should run a pod', () => {
  test('gets one if it has none', () => {
    const server = serverOf([['a', 'n1']], [node('n1'), node('n2'), node('n3')]);
    expect(podWritesOf(server.sync())).toEqual(['create n2', 'create n3']);
    const [, made] = [...server.pods.values()];
    expect(made?.metadata.labels).toMatchObject({
      app: 'agent',
      'controller-revision-hash': server.hash,
    });
  });

  test('waits while a deleted one still runs, not for one that has ended', () => {
    expect(podWritesOf(serverOf([['a', 'n1', { deleting: true }]]).sync())).toEqual([]);
    const ended = serverOf([['a', 'n1', { deleting: true, phase: 'Failed' }]]);
    expect(podWritesOf(ended.sync())).toEqual(['create n1']);
  });

  test('keeps the oldest scheduled one of several', () => {
    const server = serverOf([
      ['waiting', 'n1', { waiting: true, age: 900 }],
      ['young', 'n1', { age: 10 }],
      ['old', 'n1', { age: 300 }],
      ['b-twin', 'n1', { age: 300 }],
    ]);
    expect(podWritesOf(server.sync()).sort()).toEqual([
      'delete old',
      'delete waiting',
      'delete young',
    ]);
  });

  test('has a succeeded one deleted', () => {
    const server = serverOf([['a', 'n1', { phase: 'Succeeded' }]]);
    const actions = server.sync();
    expect(podWritesOf(actions)).toEqual(['delete a']);
    expect(eventsOf(actions)).toEqual([
      'SucceededDaemonPod: Found succeeded daemon pod default/a on node n1, will try to delete it',
    ]);
  });
});

describe('a deletion that was announced and got no answer', () => {
  const announced = (options: SetOptions, ...pods: Parameters<typeof pod>[]): Server => {
    const server = serverOf(pods, N1, options);
    for (const [name] of pods) server.going.add(`${name}-uid`);
    return server;
  };

  test('is sent again for a pod that has to go', () => {
    const old = announced({ onDelete: false }, ['a', 'n1', { hash: 'old' }]);
    expect(podWritesOf(old.sync())).toEqual(['delete a']);
    const failed = announced({}, ['a', 'n1', { ready: false }]);
    failed.run('a', false, 'Failed');
    expect(podWritesOf(failed.sync())).toEqual(['delete a']);
    const unwanted = announced({}, ['a', 'n1']);
    unwanted.nodes.set('n1', node('n1', 'a:NoExecute'));
    expect(podWritesOf(unwanted.sync())).toEqual(['delete a']);
  });

  test('is not sent again for a pod that was bound to a node which is gone', () => {
    const server = announced({}, ['bound', 'gone'], ['waiting', 'gone', { waiting: true }]);
    expect(podWritesOf(server.sync())).toEqual(['create n1', 'delete waiting']);
  });

  test('is not sent again for a pod that may stay by now', () => {
    const server = announced({}, ['a', 'n1']);
    expect(podWritesOf(server.sync())).toEqual([]);
  });

  test('counts as unavailable in an update', () => {
    const server = serverOf(
      [
        ['a', 'n1', { hash: 'old' }],
        ['b', 'n2', { hash: 'old' }],
      ],
      [node('n1'), node('n2')],
      { onDelete: false, maxUnavailable: 1 },
    );
    server.going.add('b-uid');
    expect(podWritesOf(server.sync())).toEqual(['delete b']);
  });
});

describe('a node that should not run a pod', () => {
  test('loses it, unless only new pods are kept away', () => {
    const nodes = [node('n1', 'a:NoSchedule'), node('n2', 'a:NoExecute')];
    const server = serverOf(
      [
        ['stays', 'n1'],
        ['goes', 'n2'],
        ['going', 'n2', { deleting: true }],
      ],
      nodes,
    );
    expect(podWritesOf(server.sync())).toEqual(['delete goes']);
    expect(podWritesOf(serverOf([], nodes).sync())).toEqual([]);
  });

  test('one that is gone keeps scheduled pods and loses waiting ones', () => {
    const server = serverOf([
      ['here', 'n1'],
      ['bound', 'gone'],
      ['waiting', 'gone', { waiting: true }],
    ]);
    expect(podWritesOf(server.sync())).toEqual(['delete waiting']);
  });
});

describe('failed pods', () => {
  const failed = () => serverOf([['a', 'n1', { phase: 'Failed' }]]);

  test('are deleted at once, and the next one has to wait 1 s', () => {
    const server = failed();
    const actions = server.sync();
    expect(podWritesOf(actions)).toEqual(['delete a']);
    expect(eventsOf(actions)).toEqual([
      'FailedDaemonPod: Found failed daemon pod default/a on node n1, will try to kill it',
    ]);
    expect(server.failures.get('n1')).toEqual({ backoffMs: 1_000, elapsedMs: 0 });
  });

  test.each([
    [1_000, 999, [], 1],
    [1_000, 1_000, ['delete a'], undefined],
    [8_000, 3_000, [], 5_000],
    [900_000, 899_999, [], 1],
  ])('after a wait of %p ms, %p ms ago', (backoffMs, elapsedMs, deleted, again) => {
    const server = failed();
    server.failures.set('n1', { backoffMs, elapsedMs });
    const actions = server.sync();
    expect(podWritesOf(actions)).toEqual(deleted);
    const wish = actions.find(({ kind }) => kind === 'again');
    expect(wish?.kind === 'again' ? wish.delayMs : undefined).toBe(again);
  });

  test.each([
    [1_000, 5_000, 2_000],
    [512_000, 512_000, 900_000],
    [900_000, 1_800_000, 900_000],
    [900_000, 1_800_001, 1_000],
  ])('a wait of %p ms, %p ms ago, is followed by %p', (backoffMs, elapsedMs, next) => {
    const server = failed();
    server.failures.set('n1', { backoffMs, elapsedMs });
    server.sync();
    expect(server.failures.get('n1')?.backoffMs).toBe(next);
  });

  test('one that waits holds no place: with surge another comes beside it', () => {
    const server = serverOf([['a', 'n1', { phase: 'Failed' }]], N1, {
      ...surging,
      onDelete: false,
    });
    server.failures.set('n1', { backoffMs: 8_000, elapsedMs: 0 });
    expect(podWritesOf(server.sync())).toEqual(['create n1']);
  });
});

describe('with surge', () => {
  function surge(...pods: Parameters<typeof pod>[]): string[] {
    const server = serverOf([], N1, { ...surging, onDelete: false, minReadySeconds: 30 });
    server.sync();
    server.pods.clear();
    server.unseen = false;
    for (const [name, on, { hash, ...options } = {}] of pods) {
      const real = hash === 'new' ? server.hash : hash;
      server.pods.set(name, pod(name, on, { ...options, hash: real }));
    }
    return podWritesOf(server.sync());
  }

  test('a pod that is going does not count', () => {
    expect(surge(['a', 'n1', { deleting: true }])).toEqual(['create n1']);
  });

  test.each<[string, Parameters<typeof pod>[], string[]]>([
    [
      'old ready, new not available',
      [
        ['o', 'n1'],
        ['n', 'n1', { hash: 'new', readyFor: 29 }],
      ],
      [],
    ],
    [
      'old ready, new available',
      [
        ['o', 'n1'],
        ['n', 'n1', { hash: 'new' }],
      ],
      ['delete o'],
    ],
    [
      'old not ready, new not either',
      [
        ['o', 'n1', { ready: false }],
        ['n', 'n1', { hash: 'new', ready: false }],
      ],
      ['delete o'],
    ],
    [
      'several of each: the oldest stay',
      [
        ['o1', 'n1', { age: 5 }],
        ['o2', 'n1', { age: 9 }],
        ['n1', 'n1', { hash: 'new', age: 3, readyFor: 1 }],
        ['n2', 'n1', { hash: 'new', age: 2, readyFor: 1 }],
      ],
      ['delete o1', 'delete n2'],
    ],
  ])('%s', (_, pods, deleted) => {
    expect(surge(...pods)).toEqual(deleted);
  });
});

describe('at most a burst', () => {
  test('250 creations and 250 deletions in one sync', () => {
    const many = Array.from({ length: 300 }, (_, at) => node(`n${at}`));
    expect(podWritesOf(serverOf([], many).sync())).toHaveLength(250);
    const pods = many.map(({ name }) => [`p-${name}`, name] as Parameters<typeof pod>);
    const tainted = many.map(({ name }) => node(name, 'a:NoExecute'));
    expect(podWritesOf(serverOf(pods, tainted).sync())).toHaveLength(250);
  });
});

describe('expectations', () => {
  test('while unmet only the status is written, and the generation is not observed', () => {
    const server = serverOf([], [node('n1'), node('n2')]);
    server.unseen = true;
    const actions = server.sync();
    expect(writesOf(actions)).toEqual(['createRevision 1', 'updateStatus']);
    expect(statusOf(actions)).toMatchObject({ desiredNumberScheduled: 2 });
    expect(statusOf(actions)?.observedGeneration).toBeUndefined();
    expect(writesOf(server.sync())).toEqual([]);
    server.unseen = false;
    expect(statusOf(server.sync())).toMatchObject({ observedGeneration: 1 });
  });

  test('an update waits for what this sync created', () => {
    const server = new Server(daemonSet(), [node('n1'), node('n2')], pod('a', 'n1'));
    expect(podWritesOf(server.sync())).toEqual(['create n2']);
    const seen = new Server(
      daemonSet({ maxUnavailable: 2 }),
      [node('n1'), node('n2')],
      pod('a', 'n1'),
    );
    seen.awaits = false;
    expect(podWritesOf(seen.sync())).toEqual(['create n2', 'delete a']);
  });
});

describe('a refusal', () => {
  test('ends the work on pods; the status is written, then the sync fails', () => {
    const server = serverOf([]);
    server.refuse = ({ kind }) =>
      kind === 'syncPods' ? refusal(403, 'Forbidden', 'no') : undefined;
    const { actions, error } = server.trySync();
    expect(error?.message).toBe('no');
    expect(statusOf(actions)).toMatchObject({ desiredNumberScheduled: 1, numberUnavailable: 1 });
  });

  test('of the status fails the sync, but one about pods comes first', () => {
    const server = serverOf([]);
    server.refuse = ({ kind }) =>
      kind === 'updateStatus' ? refusal(403, 'Forbidden', 'no status') : undefined;
    expect(server.trySync().error?.message).toBe('no status');
    server.pods.clear();
    server.unseen = false;
    server.refuse = ({ kind }) =>
      kind === 'syncPods' || kind === 'updateStatus' ? refusal(403, 'Forbidden', kind) : undefined;
    expect(server.trySync().error?.message).toBe('syncPods');
  });
});
