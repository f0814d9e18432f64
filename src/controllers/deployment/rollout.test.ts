/** Whole rollouts against a model of ReplicaSets and pods, with whatever may come in between. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { splitReplicaSets } from './find.ts';
import { isScalingEvent } from './scale.ts';
import { maxSurgeOf, minAvailableOf, wantedOf } from './sizes.ts';
import { deployment } from './testing/build.ts';
import { type Happening, World } from './testing/world.ts';

const ROUNDS_MAX = 200;
const REPLICAS_MAX = 12;

const amount = fc.oneof(
  fc.integer({ min: 0, max: REPLICAS_MAX }),
  fc.integer({ min: 0, max: 100 }).map((percent) => `${percent}%`),
);
const replicas = fc.integer({ min: 0, max: REPLICAS_MAX });
const which = fc.nat({ max: 3 });
const count = fc.integer({ min: 1, max: 4 });
const image = fc.constantFrom('app:1', 'app:2', 'app:3');

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ what: 'sync' } as const) },
  { weight: 5, arbitrary: fc.record({ what: fc.constant('pods' as const), which }) },
  { weight: 5, arbitrary: fc.record({ what: fc.constant('ready' as const), which, count }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('unready' as const), which, count }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('scale' as const), replicas }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('template' as const), image }) },
);

const happenings = fc.array(happening, { minLength: 10, maxLength: 60 });
const owner = fc
  .record({
    replicas,
    maxSurge: amount,
    maxUnavailable: amount,
    revisionHistoryLimit: fc.integer({ min: 0, max: 3 }),
    progressDeadlineSeconds: fc.constantFrom(30, 600, undefined),
  })
  .map(deployment);

function isScaling(world: World): boolean {
  const { deployment: seen, replicaSets } = world.server;
  return isScalingEvent(seen, splitReplicaSets(seen, [...replicaSets.values()]));
}

describe('a rolling update', () => {
  test('never wants more than spec.replicas and surge, beyond what was there', () => {
    fc.assert(
      fc.property(owner, happenings, (it, all) => {
        const world = new World(it);
        for (const each of all) {
          const before = world.specified;
          world.happen(each);
          const wanted = wantedOf(world.server.deployment);
          const allowed = wanted + maxSurgeOf(world.server.deployment);
          expect(world.specified).toBeLessThanOrEqual(Math.max(before, allowed));
        }
      }),
    );
  });

  test('never takes availability below the minimum by its own doing', () => {
    fc.assert(
      fc.property(owner, happenings, (it, all) => {
        const world = new World(it);
        for (const each of all) {
          const before = world.lastingAvailable;
          const checked = each.what === 'sync' && world.settled && !isScaling(world);
          world.happen(each);
          if (!checked) continue;
          const minimum = minAvailableOf(world.server.deployment);
          expect(world.lastingAvailable).toBeGreaterThanOrEqual(Math.min(before, minimum));
        }
      }),
    );
  });

  test('arrives once pods get ready, then rests; the status says so', () => {
    fc.assert(
      fc.property(owner, happenings, (it, all) => {
        const world = new World(it);
        for (const each of all) world.happen(each);
        expect(world.calmDown(ROUNDS_MAX)).toBeLessThan(ROUNDS_MAX);
        const { status, metadata, spec } = world.server.deployment;
        expect(status).toMatchObject({
          observedGeneration: metadata.generation,
          updatedReplicas: spec?.replicas,
          availableReplicas: spec?.replicas,
          unavailableReplicas: 0,
        });
        const reasons = (status?.conditions ?? []).map(({ reason }) => reason);
        expect(reasons.includes('NewReplicaSetAvailable')).toBe(
          spec?.progressDeadlineSeconds !== undefined,
        );
      }),
    );
  });

  test('keeps the new ReplicaSet, and no more idle old ones than the limit', () => {
    fc.assert(
      fc.property(owner, happenings, (it, all) => {
        const world = new World(it);
        for (const each of all) {
          const { deployment: seen, replicaSets } = world.server;
          const { newRS } = splitReplicaSets(seen, [...replicaSets.values()]);
          world.happen(each);
          if (newRS !== undefined) expect(replicaSets.has(newRS.metadata.name)).toBe(true);
        }
        world.calmDown(ROUNDS_MAX);
        const { deployment: seen, replicaSets } = world.server;
        const { oldRSs } = splitReplicaSets(seen, [...replicaSets.values()]);
        expect(oldRSs.length).toBeLessThanOrEqual(seen.spec?.revisionHistoryLimit ?? 0);
      }),
    );
  });

  test('gives each template its own revision, the newest the highest', () => {
    fc.assert(
      fc.property(owner, happenings, (it, all) => {
        const world = new World(it);
        for (const each of all) world.happen(each);
        world.calmDown(ROUNDS_MAX);
        const { deployment: seen, replicaSets } = world.server;
        const revision = 'deployment.kubernetes.io/revision';
        const numbers = [...replicaSets.values()].map(({ metadata }) =>
          Number(metadata.annotations?.[revision]),
        );
        expect(new Set(numbers).size).toBe(numbers.length);
        expect(seen.metadata.annotations?.[revision]).toBe(String(Math.max(...numbers)));
      }),
    );
  });

  test('takes the same steps for the same happenings', () => {
    fc.assert(
      fc.property(owner, happenings, (it, all) => {
        const run = () => {
          const world = new World(it);
          for (const each of all) world.happen(each);
          return world.server.actions;
        };
        expect(run()).toEqual(run());
      }),
      { numRuns: 25 },
    );
  });
});

describe('Recreate', () => {
  const recreated = fc.record({ replicas, recreate: fc.constant(true) }).map(deployment);

  test('never lets pods of two templates live together, and arrives', () => {
    fc.assert(
      fc.property(recreated, happenings, (it, all) => {
        const world = new World(it);
        for (const each of all) {
          world.happen(each);
          expect(world.populated.length).toBeLessThanOrEqual(1);
        }
        expect(world.calmDown(ROUNDS_MAX)).toBeLessThan(ROUNDS_MAX);
      }),
    );
  });
});
