import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Deployment, ReplicaSet } from '../../api/types/index.ts';
import {
  activeOrLatest,
  isSaturated,
  isScalingEvent,
  proportionalShares,
  replicaSetFraction,
  scalingPass,
} from './scale.ts';
import { maxSurgeOf, sizeOf, sumOf, wantedOf } from './sizes.ts';
import { deployment, NOON, replicaSet } from './testing/build.ts';
import { Server } from './testing/server.ts';
import { eventsOf, inShort, knowledgeOf, sizesOf } from './testing/steps.ts';

interface Scene {
  readonly title: string;
  readonly from: number;
  readonly to: number;
  readonly surge?: readonly [number, number];
  /** Name to size, the newest first; a name with "new" is the new one. */
  readonly sizes: Record<string, number>;
  readonly expected: Record<string, number>;
}

/** A Deployment that was of `from` replicas with the first surge, and is now of `to` with the second. */
function stage({ from, to, surge = [0, 0], sizes }: Omit<Scene, 'title' | 'expected'>): Server {
  const before = deployment({ replicas: from, maxSurge: surge[0], maxUnavailable: 1 });
  const after = deployment({ replicas: to, maxSurge: surge[1], maxUnavailable: 1 });
  const sets = Object.entries(sizes).map(([name, size], age) =>
    replicaSet(name, size, { age, image: name === 'new' ? 'app:1' : `app:${name}` }, before),
  );
  return new Server(after, sets, NOON);
}

function scale(server: Server, scalingEvent = true) {
  const known = knowledgeOf(server);
  const newRS = server.replicaSets.get('new');
  const oldRSs = known.replicaSets.filter((each) => each !== newRS).reverse();
  return server.play(scalingPass(known, { newRS, oldRSs }, scalingEvent));
}

const SCENES: readonly Scene[] = [
  { title: 'one up', from: 10, to: 12, sizes: { new: 10 }, expected: { new: 12 } },
  { title: 'one down', from: 10, to: 5, sizes: { new: 10 }, expected: { new: 5 } },
  {
    title: 'up in proportion',
    from: 5,
    to: 10,
    sizes: { new: 2, v1: 3 },
    expected: { new: 4, v1: 6 },
  },
  {
    title: 'down in proportion',
    from: 5,
    to: 3,
    sizes: { new: 2, v1: 3 },
    expected: { new: 1, v1: 2 },
  },
  {
    title: 'down until nothing is left of the small one',
    from: 9,
    to: 4,
    sizes: { new: 8, v1: 1 },
    expected: { new: 4, v1: 0 },
  },
  {
    title: 'up over three',
    from: 7,
    to: 10,
    sizes: { new: 2, v2: 3, v1: 2 },
    expected: { new: 3, v2: 4, v1: 3 },
  },
  {
    title: 'down over three',
    from: 13,
    to: 8,
    sizes: { new: 2, v2: 8, v1: 3 },
    expected: { new: 1, v2: 5, v1: 2 },
  },
  {
    title: 'same sizes, growing: the newest first',
    from: 3,
    to: 4,
    sizes: { new: 1, v2: 1, v1: 1 },
    expected: { new: 2, v2: 1, v1: 1 },
  },
  {
    title: 'same sizes, shrinking: the oldest first',
    from: 3,
    to: 2,
    sizes: { new: 1, v2: 1, v1: 1 },
    expected: { new: 1, v2: 1, v1: 0 },
  },
  {
    title: 'no new one: the newest old one first',
    from: 4,
    to: 5,
    sizes: { v2: 2, v1: 2 },
    expected: { v2: 3, v1: 2 },
  },
  {
    title: 'to nothing',
    from: 6,
    to: 0,
    sizes: { new: 3, v2: 2, v1: 1 },
    expected: { new: 0, v2: 0, v1: 0 },
  },
  {
    title: 'from nothing: the new one takes all',
    from: 6,
    to: 6,
    sizes: { new: 0, v2: 0, v1: 0 },
    expected: { new: 6, v2: 0, v1: 0 },
  },
  {
    title: 'from nothing without a new one: the newest takes all',
    from: 6,
    to: 6,
    sizes: { v2: 0, v1: 0 },
    expected: { v2: 6, v1: 0 },
  },
  {
    title: 'with surge pods',
    from: 10,
    to: 20,
    surge: [2, 2],
    sizes: { new: 6, v1: 6 },
    expected: { new: 11, v1: 11 },
  },
  {
    title: 'size and surge at once',
    from: 10,
    to: 50,
    surge: [3, 6],
    sizes: { new: 5, v1: 8 },
    expected: { new: 22, v1: 34 },
  },
  {
    title: 'size and template at once',
    from: 10,
    to: 14,
    sizes: { v2: 7, v1: 3 },
    expected: { v2: 10, v1: 4 },
  },
];

describe('the scaling pass', () => {
  for (const scene of SCENES) {
    test(scene.title, () => {
      const server = stage(scene);
      scale(server);
      expect(sizesOf(server)).toEqual(scene.expected);
    });
  }

  test('goes on where a refused write had stopped', () => {
    const server = stage({ from: 5, to: 5, sizes: { new: 2, v2: 1, v1: 1 } });
    const behind = { 'desired-replicas': '3', 'max-replicas': '3' };
    server.patch('v2', (stored) => withSizes(stored, behind));
    scale(server);
    expect(sizesOf(server)).toEqual({ new: 2, v2: 2, v1: 1 });
  });

  test('a broken new one that holds all replicas leaves the old pods alone', () => {
    const server = stage({ from: 2, to: 2, surge: [1, 1], sizes: { new: 2, v1: 1 } });
    server.patch('new', (stored) => ({ ...stored, status: { replicas: 2, availableReplicas: 0 } }));
    expect(inShort(scale(server))).toEqual([]);
  });

  test('a saturated new one: old ones go to 0, newest first', () => {
    const server = stage({ from: 3, to: 3, sizes: { new: 3, v2: 1, v1: 2 } });
    expect(inShort(scale(server)).filter((step) => step.startsWith('scale'))).toEqual([
      'scaleReplicaSet v2 to 0',
      'scaleReplicaSet v1 to 0',
    ]);
  });

  test('sizes are written where size or annotations differ, events only for sizes', () => {
    const server = stage({ from: 4, to: 5, sizes: { v2: 2, v1: 2 } });
    const actions = scale(server);
    expect(inShort(actions)).toEqual([
      'scaleReplicaSet v2 to 3',
      'event ScalingReplicaSet',
      'scaleReplicaSet v1 to 2',
    ]);
    expect(eventsOf(actions)).toEqual(['Scaled up replica set v2 from 2 to 3']);
    expect(inShort(scale(server))).toEqual([]);
  });

  test('the only one at the wanted size: no write when paused, annotations in a scaling event', () => {
    const scene = { from: 3, to: 2, sizes: { new: 2 } };
    expect(inShort(scale(stage(scene), false))).toEqual([]);
    const server = stage(scene);
    expect(inShort(scale(server, true))).toEqual(['scaleReplicaSet new to 2']);
    expect(
      isScalingEvent(server.deployment, { newRS: server.replicaSets.get('new'), oldRSs: [] }),
    ).toBe(false);
  });

  test('Recreate with several active ones: only stale annotations are refreshed', () => {
    const server = stage({ from: 4, to: 5, sizes: { new: 2, v1: 2 } });
    server.deployment = deployment({ replicas: 5, recreate: true });
    expect(inShort(scale(server, false))).toEqual([]);
    expect(inShort(scale(server, true))).toEqual([
      'scaleReplicaSet v1 to 2',
      'scaleReplicaSet new to 2',
    ]);
  });
});

function withSizes(stored: ReplicaSet, sizes: Record<string, string>): ReplicaSet {
  const named = Object.entries(sizes).map(([name, value]) => [
    `deployment.kubernetes.io/${name}`,
    value,
  ]);
  const annotations = { ...stored.metadata.annotations, ...Object.fromEntries(named) };
  return { ...stored, metadata: { ...stored.metadata, annotations } };
}

describe('share of one ReplicaSet', () => {
  test.each([
    // wanted, surge, status.replicas, size, max-replicas, expected
    [0, 0, 0, 10, undefined, -10],
    [10, 0, 0, 5, undefined, 0],
    [10, 0, 0, 5, '0', 0],
    [120, 0, 100, 50, undefined, 10],
    [120, 0, 100, 50, '0', 10],
    [120, 0, 100, 50, 'many', 10],
    [120, 0, 0, 50, '100', 10],
    [120, 10, 0, 50, '110', 9],
    [10, 0, 0, 6, '12', -1],
    [100, 10, 0, 50, '130', -8],
  ] as const)('%p wanted, surge %p, status %p: %p of max %p changes by %p', (...row) => {
    const [replicas, maxSurge, status, size, max, expected] = row;
    const owner = deployment({
      replicas,
      maxSurge,
      maxUnavailable: 1,
      status: { replicas: status },
    });
    const made = replicaSet('a', size);
    const annotations: Record<string, string> =
      max === undefined ? {} : { 'deployment.kubernetes.io/max-replicas': max };
    const marked = { ...made, metadata: { ...made.metadata, annotations } };
    expect(replicaSetFraction(owner, marked)).toBe(expected);
  });
});

describe('which pass', () => {
  const owner = deployment({ replicas: 3 });
  const sized = (size: number, desired: string) =>
    withSizes(replicaSet('a', size), { 'desired-replicas': desired });

  test.each([
    [3, '3', false],
    [3, '2', true],
    [0, '2', false],
    [3, 'x', false],
  ])('size %p with desired-replicas %p is a scaling event: %p', (size, desired, expected) => {
    expect(isScalingEvent(owner, { newRS: sized(size, desired), oldRSs: [] })).toBe(expected);
  });

  test('saturated: size, annotation and available pods all say so', () => {
    const full = replicaSet('a', 3, {}, owner);
    expect(isSaturated(owner, full)).toBe(true);
    expect(isSaturated(owner, undefined)).toBe(false);
    expect(isSaturated(owner, withSizes(full, { 'desired-replicas': '4' }))).toBe(false);
    expect(isSaturated(owner, { ...full, status: { replicas: 3, availableReplicas: 2 } })).toBe(
      false,
    );
    expect(isSaturated(owner, replicaSet('a', 2, {}, owner))).toBe(false);
  });

  test('the one to scale: the only active, else the new, else the newest', () => {
    const [young, old] = [replicaSet('young', 0), replicaSet('old', 0, { age: 5 })];
    const active = replicaSet('active', 2, { age: 9 });
    expect(activeOrLatest({ newRS: young, oldRSs: [old, active] })).toBe(active);
    expect(activeOrLatest({ newRS: old, oldRSs: [young] })).toBe(old);
    expect(activeOrLatest({ newRS: undefined, oldRSs: [old, young] })).toBe(young);
    expect(activeOrLatest({ newRS: undefined, oldRSs: [] })).toBeUndefined();
    expect(activeOrLatest({ newRS: sized(1, '1'), oldRSs: [active] })).toBeUndefined();
  });
});

describe('shares of all', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 6 });
  const owners = fc.record({
    replicas: fc.integer({ min: 0, max: 200 }),
    maxSurge: fc.integer({ min: 0, max: 50 }),
  });
  const sized = (list: readonly number[], before: Deployment) =>
    list.map((size, age) => replicaSet(`r${age}`, size, { age }, before));

  test('they add up to the wanted number with surge, unless the first is empty already', () => {
    fc.assert(
      fc.property(sizes, owners, owners, (list, was, is) => {
        const after = deployment({ ...is, maxUnavailable: 1 });
        const sets = sized(list, deployment({ ...was, maxUnavailable: 1 }));
        const { toAdd, sizes: shares } = proportionalShares(after, sets);
        const wanted = wantedOf(after);
        const allowed = wanted === 0 ? 0 : wanted + maxSurgeOf(after);
        const total = shares.reduce((sum, { size }) => sum + size, 0);
        expect(toAdd).toBe(allowed - sumOf(sets, sizeOf));
        if (shares[0]?.size === 0) expect(total).toBeGreaterThanOrEqual(allowed);
        else expect(total).toBe(allowed);
        expect(shares.every(({ size }) => size >= 0)).toBe(true);
        expect(shares).toHaveLength(sets.length);
      }),
    );
  });

  test("sized for what they are, they add up, none moves the wrong way, order doesn't matter", () => {
    fc.assert(
      fc.property(sizes, owners, (list, is) => {
        const total = list.reduce((sum, size) => sum + size, 0);
        const sets = sized(list, deployment({ replicas: total, maxSurge: 0, maxUnavailable: 1 }));
        const after = deployment({ ...is, maxUnavailable: 1 });
        const { toAdd, sizes: shares } = proportionalShares(after, sets);
        for (const { replicaSet: set, size } of shares) {
          expect(Math.sign(size - sizeOf(set)) * Math.sign(toAdd)).toBeGreaterThanOrEqual(0);
        }
        if (toAdd === 0) return;
        expect(proportionalShares(after, sets.toReversed()).sizes).toEqual(shares);
        const sum = shares.reduce((all, { size }) => all + size, 0);
        expect(sum).toBe(wantedOf(after) === 0 ? 0 : wantedOf(after) + maxSurgeOf(after));
      }),
    );
  });
});
