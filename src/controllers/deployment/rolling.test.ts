import { describe, expect, test } from 'bun:test';
import { deployment, NOON, replicaSet } from './testing/build.ts';
import { refusal, Server } from './testing/server.ts';
import { eventsOf, inShort, sizesOf } from './testing/steps.ts';

interface Scene {
  readonly replicas?: number;
  readonly maxSurge?: number;
  readonly maxUnavailable?: number;
  /** Size and available pods. */
  readonly new: readonly [number, number];
  /** The same for old ones, oldest first. */
  readonly old: readonly (readonly [number, number])[];
}

function stage(scene: Scene): Server {
  const { replicas = 10, maxSurge = 0, maxUnavailable = 0 } = scene;
  const owner = deployment({
    replicas,
    maxSurge,
    maxUnavailable,
    annotations: { 'deployment.kubernetes.io/revision': '9' },
  });
  const revision = (number: number) => ({ 'deployment.kubernetes.io/revision': String(number) });
  const made = (name: string, [size, available]: readonly [number, number], more: object) =>
    replicaSet(name, size, { status: { availableReplicas: available }, ...more }, owner);
  const old = scene.old.map((pair, index) =>
    made(`old${index + 1}`, pair, {
      image: `old:${index}`,
      age: 9 - index,
      annotations: revision(index + 1),
    }),
  );
  return new Server(owner, [made('new', scene.new, { annotations: revision(9) }), ...old], NOON);
}

function scalings(server: Server): string[] {
  return inShort(server.sync())
    .filter((step) => step.startsWith('scaleReplicaSet'))
    .map((step) => step.replace('scaleReplicaSet ', ''));
}

describe('the new ReplicaSet', () => {
  test.each<[string, Scene, string[]]>([
    ['no room without surge', { new: [0, 0], old: [[10, 0]], maxUnavailable: 1 }, ['old1 to 9']],
    ['grows by the surge', { maxSurge: 2, new: [0, 0], old: [[10, 10]] }, ['new to 2']],
    ['grows into what old ones left', { maxSurge: 2, new: [0, 0], old: [[5, 5]] }, ['new to 7']],
    ['stays when all is used', { maxSurge: 2, new: [2, 0], old: [[10, 10]] }, []],
    ['never above the wanted number', { maxSurge: 9, new: [8, 8], old: [] }, ['new to 10']],
    ['is cut when above', { maxSurge: 2, new: [11, 11], old: [[2, 2]] }, ['new to 10']],
  ])('%s', (_, scene, expected) => {
    expect(scalings(stage(scene))).toEqual(expected);
  });
});

describe('the old ReplicaSets', () => {
  test.each<[string, Scene, string[]]>([
    ['one spare pod goes', { maxSurge: 1, new: [1, 1], old: [[10, 10]] }, ['old1 to 9']],
    ['what may be missed goes', { maxUnavailable: 2, new: [0, 0], old: [[10, 10]] }, ['old1 to 8']],
    ['unavailable ones go', { maxUnavailable: 2, new: [0, 0], old: [[10, 8]] }, ['old1 to 8']],
    [
      'first an unavailable one, then, in the same sync, an available one',
      { maxUnavailable: 2, new: [0, 0], old: [[10, 9]] },
      ['old1 to 9', 'old1 to 8'],
    ],
    [
      'a new one that is not available holds them',
      { maxUnavailable: 2, new: [2, 0], old: [[8, 8]] },
      [],
    ],
    [
      'unavailable ones of the oldest first, within the headroom',
      {
        maxUnavailable: 3,
        new: [0, 0],
        old: [
          [5, 3],
          [5, 3],
        ],
      },
      ['old1 to 3', 'old2 to 4'],
    ],
    [
      'available ones of the oldest first',
      {
        maxSurge: 5,
        maxUnavailable: 0,
        new: [5, 5],
        old: [
          [2, 2],
          [8, 8],
        ],
      },
      ['old1 to 0', 'old2 to 5'],
    ],
    [
      'crash-looping new pods stop it',
      { maxSurge: 3, maxUnavailable: 2, new: [5, 0], old: [[8, 7]] },
      [],
    ],
    [
      'rolled back: the crash-looping ones are the old ones now',
      { maxSurge: 3, maxUnavailable: 2, new: [8, 7], old: [[5, 0]] },
      ['old1 to 1'],
    ],
    [
      'rolled over: the new one starts empty and old ones make room',
      {
        maxSurge: 3,
        maxUnavailable: 2,
        new: [0, 0],
        old: [
          [8, 8],
          [5, 0],
        ],
      },
      ['old2 to 0'],
    ],
    [
      'one that reports more available than its size: nothing more is taken',
      {
        maxUnavailable: 2,
        new: [0, 0],
        old: [
          [9, 8],
          [3, 5],
        ],
      },
      ['old1 to 8'],
    ],
    [
      'such a one that need not shrink: it holds nothing up',
      {
        maxUnavailable: 2,
        new: [0, 0],
        old: [
          [9, 5],
          [1, 4],
        ],
      },
      ['old1 to 7', 'old1 to 6'],
    ],
  ])('%s', (_, scene, expected) => {
    expect(scalings(stage(scene))).toEqual(expected);
  });

  test('one kind of move a sync: while the new one grows, no old one shrinks', () => {
    const server = stage({ maxSurge: 2, maxUnavailable: 2, new: [0, 0], old: [[10, 10]] });
    expect(scalings(server)).toEqual(['new to 2']);
    expect(scalings(server)).toEqual(['old1 to 8']);
  });

  test('a refused write counts as nothing scaled, and the status is written all the same', () => {
    const server = stage({ maxUnavailable: 2, new: [0, 0], old: [[10, 10]] });
    server.refuse = ({ kind }) =>
      kind === 'scaleReplicaSet' ? refusal(409, 'Conflict', 'modified') : undefined;
    expect(inShort(server.sync())).toEqual(['scaleReplicaSet old1 to 8', 'note', 'updateStatus']);
    expect(sizesOf(server)).toEqual({ new: 0, old1: 10 });
  });

  test('a refused write of the new one ends the sync', () => {
    const server = stage({ maxSurge: 2, new: [0, 0], old: [[10, 10]] });
    server.refuse = ({ kind }) =>
      kind === 'scaleReplicaSet' ? refusal(409, 'Conflict', 'modified') : undefined;
    expect(() => server.sync()).toThrow('modified');
    expect(inShort(server.actions)).toEqual(['scaleReplicaSet new to 2']);
  });
});

test('a step says why, and its event says what', () => {
  const actions = stage({ maxSurge: 3, new: [2, 2], old: [[10, 10]] }).sync();
  const scaled = actions.find(({ kind }) => kind === 'scaleReplicaSet');
  expect(scaled).toMatchObject({
    because: 'rolling update: 10 wanted, surge 3, new: ReplicaSet new from 2 to 3',
  });
  expect(eventsOf(actions)).toEqual(['Scaled up replica set new from 2 to 3']);
});

test('the status of a scaling sync counts the sizes before it, as upstream does', () => {
  const server = stage({ maxSurge: 2, new: [0, 0], old: [[10, 10]] });
  server.sync();
  expect(server.deployment.status).toMatchObject({ unavailableReplicas: 0, updatedReplicas: 0 });
});
