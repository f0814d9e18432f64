/**
 * Cleaning up under the reference manager and under Holdfast: what is left of objects, references,
 * finalizers, quota status and events must be the same.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Cluster, startCluster } from '../rig/index.ts';
import { alike } from './alike.ts';
import { FINISHED_JOBS } from './finished-jobs.ts';
import { GARBAGE, WIDGETS } from './garbage.ts';
import { LEFTOVER_PODS, TOO_MANY_PODS } from './leftover-pods.ts';
import { type Leftovers, settledLeftovers } from './leftovers.ts';
import { QUOTAS } from './quotas.ts';
import { type Scenario, World } from './world.ts';

setDefaultTimeout(400_000);

// The slow ones first: they only wait.
const SCENARIOS = [...LEFTOVER_PODS, ...GARBAGE.toReversed(), ...QUOTAS, ...FINISHED_JOBS];
const PLAYED_AT_ONCE = 5;
const CONTROLLERS = [
  'garbagecollector',
  'resourcequota',
  'podgc',
  'ttl-after-finished',
  'deployment',
  'replicaset',
  'serviceaccount',
].join(',');
const FLAGS = [
  `--controllers=${CONTROLLERS}`,
  '--terminated-pod-gc-threshold=3',
  '--kube-api-qps=500',
  '--kube-api-burst=1000',
];

let reference: Cluster;
let holdfast: Cluster;
let played: Map<string, Promise<readonly [Leftovers, Leftovers]>>;
let allPlayed: Promise<unknown>;

beforeAll(async () => {
  [reference, holdfast] = await Promise.all([startCluster(), startCluster()]);
  await Promise.all([reference, holdfast].map((cluster) => cluster.api.create(WIDGETS)));
  const managers = [
    await reference.startReference({ flags: FLAGS }),
    await holdfast.startHoldfast({ flags: FLAGS }),
  ];
  await Promise.all(managers.map((manager) => manager.waitServing()));
  played = playAll();
});

afterAll(async () => {
  await Promise.all([reference?.stop(), holdfast?.stop()]);
});

/** Starts all scenarios, a few at a time; each test waits for its own. */
function playAll(): Map<string, Promise<readonly [Leftovers, Leftovers]>> {
  const waiting = [...SCENARIOS];
  const settlers = new Map<string, PromiseWithResolvers<readonly [Leftovers, Leftovers]>>();
  for (const scenario of SCENARIOS) settlers.set(scenario.name, Promise.withResolvers());
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const settler = settlers.get(next.name);
      await playBoth(next).then(settler?.resolve, settler?.reject);
    }
  };
  allPlayed = Promise.all(Array.from({ length: PLAYED_AT_ONCE }, worker));
  for (const settler of settlers.values()) settler.promise.catch(() => undefined);
  return new Map([...settlers].map(([name, settler]) => [name, settler.promise]));
}

async function playBoth(scenario: Scenario): Promise<readonly [Leftovers, Leftovers]> {
  return await alike(scenario.name, () =>
    Promise.all([play(scenario, reference), play(scenario, holdfast)]),
  );
}

async function play(scenario: Scenario, cluster: Cluster): Promise<Leftovers> {
  const world = new World(cluster, await cluster.namespace('clean'));
  await scenario.play(world);
  return await settledLeftovers(world);
}

describe('as the reference manager', () => {
  for (const scenario of SCENARIOS) {
    test(scenario.name, async () => {
      const [wanted, found] = (await played.get(scenario.name)) as readonly [Leftovers, Leftovers];
      expect(found).toEqual(wanted);
    });
  }

  test(TOO_MANY_PODS.name, async () => {
    await allPlayed;
    const [wanted, found] = await playBoth(TOO_MANY_PODS);
    expect(found).toEqual(wanted);
  });
});
