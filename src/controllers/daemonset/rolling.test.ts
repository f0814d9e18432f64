/** Rolling updates without and with surge. */
import { describe, expect, test } from 'bun:test';
import { daemonSet, node, pod, type SetOptions, template } from './testing/build.ts';
import { Server } from './testing/server.ts';
import { podWritesOf } from './testing/steps.ts';

type Pods = Parameters<typeof pod>[];

function nodes(count: number) {
  return Array.from({ length: count }, (_, at) => node(`n${at}`));
}

/** A set whose revision is made; pods with hash "new" are of it. */
function serverOf(options: SetOptions, pods: Pods, on = nodes(5)): Server {
  const server = new Server(daemonSet(options), []);
  server.sync();
  for (const one of on) server.nodes.set(one.name, one);
  for (const [name, where, { hash, ...rest } = {}] of pods) {
    const real = hash === 'new' ? server.hash : hash;
    server.pods.set(name, pod(name, where, { ...rest, hash: real }));
  }
  server.awaits = false;
  return server;
}

/** Old pods o0, o1, … on nodes n0, n1, … */
function old(count: number): Pods {
  return Array.from({ length: count }, (_, at) => [`o${at}`, `n${at}`]);
}

describe('without surge', () => {
  test.each<[number | string, number, string[]]>([
    [1, 5, ['delete o0']],
    [3, 5, ['delete o0', 'delete o1', 'delete o2']],
    ['30%', 5, ['delete o0', 'delete o1']],
    ['100%', 3, ['delete o0', 'delete o1', 'delete o2']],
    [0, 5, ['delete o0']],
    ['0%', 5, ['delete o0']],
  ])('maxUnavailable %p of %p nodes', (maxUnavailable, count, deleted) => {
    const server = serverOf({ maxUnavailable }, old(count), nodes(count));
    expect(podWritesOf(server.sync())).toEqual(deleted);
  });

  test('a set whose block is absent loses one at a time too', () => {
    const server = serverOf({}, old(3), nodes(3));
    server.edit({ updateStrategy: { type: 'RollingUpdate' } });
    expect(podWritesOf(server.sync())).toEqual(['delete o0']);
    server.edit({ updateStrategy: undefined });
    server.pods.delete('o0');
    expect(podWritesOf(server.sync())).toEqual(['create n0']);
  });

  test('nodes without an available pod count: missing, terminating, new and unready', () => {
    const going: Pods = [['o4', 'n4', { deleting: true }]];
    const unready: Pods = [['new', 'n3', { hash: 'new', ready: false }]];
    const server = serverOf({ maxUnavailable: 3 }, [...old(3), ...unready, ...going]);
    expect(podWritesOf(server.sync())).toEqual(['delete o0']);
  });

  test('old pods that are unavailable go in any case, and count', () => {
    const broken: Pods = [
      ['b0', 'n0', { ready: false }],
      ['b1', 'n1', { ready: false }],
    ];
    const server = serverOf(
      { maxUnavailable: 1 },
      [...broken, ['o2', 'n2'], ['o3', 'n3']],
      nodes(4),
    );
    expect(podWritesOf(server.sync())).toEqual(['delete b0', 'delete b1']);
  });

  test('an old pod that is ready for less than minReadySeconds is unavailable', () => {
    const pods: Pods = [
      ['o0', 'n0', { readyFor: 29 }],
      ['o1', 'n1'],
    ];
    const server = serverOf({ maxUnavailable: 1, minReadySeconds: 30 }, pods, nodes(2));
    expect(podWritesOf(server.sync())).toEqual(['delete o0']);
  });

  test('pods on nodes that are not wanted count as well', () => {
    const on = [node('n0'), node('n1', 'x:NoSchedule')];
    const server = serverOf(
      { maxUnavailable: 1 },
      [
        ['o0', 'n0'],
        ['o1', 'n1'],
      ],
      on,
    );
    expect(podWritesOf(server.sync())).toEqual(['delete o0']);
  });

  test('a pod with the number of the template is new, whatever its hash', () => {
    const annotations = { 'deprecated.daemonset.template.generation': '7' };
    const labels = { 'pod-template-generation': '7' };
    const server = serverOf({ annotations }, [['o0', 'n0', { labels }]], nodes(1));
    expect(podWritesOf(server.sync())).toEqual([]);
  });

  test('a value that means nothing is an error that names it; the status is written', () => {
    const server = serverOf({}, old(1), nodes(1));
    server.edit(daemonSet({ maxUnavailable: 'some' }).spec!);
    const { actions, error } = server.trySync();
    expect(error?.message).toBe(
      'spec.updateStrategy.rollingUpdate.maxUnavailable of agent is "some": ' +
        'must be a number or "N%"',
    );
    expect(actions.some(({ kind }) => kind === 'updateStatus')).toBe(true);
  });
});

describe('with surge', () => {
  const surge = (maxSurge: number | string): SetOptions => ({ maxUnavailable: 0, maxSurge });

  test.each<[number | string, string[]]>([
    [1, ['create n0']],
    [2, ['create n0', 'create n1']],
    ['50%', ['create n0', 'create n1', 'create n2']],
  ])('maxSurge %p of 5 nodes: new pods beside old ones', (maxSurge, created) => {
    const server = serverOf(surge(maxSurge), old(5));
    expect(podWritesOf(server.sync())).toEqual(created);
  });

  test('new pods that are not available yet count against it', () => {
    const young: Pods = [['y0', 'n0', { hash: 'new', ready: false }]];
    expect(podWritesOf(serverOf(surge(1), [...old(3), ...young], nodes(3)).sync())).toEqual([]);
    const server = serverOf(surge(2), [...old(3), ...young], nodes(3));
    expect(podWritesOf(server.sync())).toEqual(['create n1']);
  });

  test('beside old pods that are unavailable a new one comes at once', () => {
    const broken: Pods = [
      ['b0', 'n0', { ready: false }],
      ['b1', 'n1', { ready: false }],
    ];
    const server = serverOf(surge(1), [...broken, ['o2', 'n2']], nodes(3));
    expect(podWritesOf(server.sync())).toEqual(['create n0', 'create n1', 'create n2']);
  });

  test('an old pod goes once the new one beside it is available', () => {
    const pods: Pods = [...old(2), ['y0', 'n0', { hash: 'new' }]];
    const server = serverOf(surge(1), pods, nodes(2));
    expect(podWritesOf(server.sync())).toEqual(['delete o0', 'create n1']);
  });

  test('on a node that is not wanted an unavailable one goes, an available one if spare', () => {
    const on = [node('n0'), node('n1', 'x:NoSchedule')];
    const broken = serverOf(
      surge(1),
      [
        ['y0', 'n0', { hash: 'new' }],
        ['o1', 'n1', { ready: false }],
      ],
      on,
    );
    expect(podWritesOf(broken.sync())).toEqual(['delete o1']);
    const needed = serverOf(
      surge(1),
      [
        ['y0', 'n0', { hash: 'new', ready: false }],
        ['o1', 'n1'],
      ],
      on,
    );
    expect(podWritesOf(needed.sync())).toEqual([]);
    const spare = serverOf(
      surge(1),
      [
        ['y0', 'n0', { hash: 'new' }],
        ['o1', 'n1'],
      ],
      on,
    );
    expect(podWritesOf(spare.sync())).toEqual(['delete o1']);
  });

  test('an old pod on a node that is gone stops the update with an error, as upstream', () => {
    const server = serverOf(
      surge(1),
      [
        ['o0', 'gone'],
        ['o1', 'n1'],
      ],
      [node('n1')],
    );
    const { actions, error } = server.trySync();
    expect(error?.message).toBe('couldn\'t get node for nodeName "gone": node "gone" not found');
    expect(podWritesOf(actions)).toEqual([]);
  });

  test('a maxSurge that is not for OnDelete is ignored there', () => {
    const server = serverOf({ onDelete: true }, old(1), nodes(1));
    const rollingUpdate = { maxSurge: 1 };
    server.edit({ updateStrategy: { type: 'OnDelete', rollingUpdate }, template: template('x') });
    expect(podWritesOf(server.sync())).toEqual([]);
  });
});

describe('a deletion without an answer is sent again', () => {
  const announced = (options: SetOptions, pods: Pods, on = nodes(2)): Server => {
    const server = serverOf(options, pods, on);
    server.going.add('o0-uid');
    return server;
  };

  test('not beside a node that became unavailable meanwhile', () => {
    const pods: Pods = [...old(1), ['new', 'n1', { hash: 'new', ready: false }]];
    const server = announced({ maxUnavailable: 1 }, pods);
    expect(podWritesOf(server.sync())).toEqual([]);
    server.run('new');
    expect(podWritesOf(server.sync())).toEqual(['delete o0']);
  });

  test('before any other, and in the place of one', () => {
    const two = announced({ maxUnavailable: 2 }, old(4).reverse(), nodes(4));
    expect(podWritesOf(two.sync())).toEqual(['delete o0', 'delete o3']);
  });

  test('with surge only while the new pod is available', () => {
    const surging = { maxSurge: 1, maxUnavailable: 0 };
    const server = announced(surging, [...old(1), ['new', 'n0', { hash: 'new', ready: false }]]);
    server.nodes.delete('n1');
    expect(podWritesOf(server.sync())).toEqual([]);
    server.run('new');
    expect(podWritesOf(server.sync())).toEqual(['delete o0']);
  });

  test('with surge on an unwanted node only while the wanted ones are served', () => {
    const on = [node('n0', 'a:NoSchedule'), node('n1')];
    const pods: Pods = [...old(1), ['new', 'n1', { hash: 'new', ready: false }]];
    const server = announced({ maxSurge: 1, maxUnavailable: 0 }, pods, on);
    expect(podWritesOf(server.sync())).toEqual([]);
    server.run('new');
    expect(podWritesOf(server.sync())).toEqual(['delete o0']);
  });
});
