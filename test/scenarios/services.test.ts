/**
 * Services under the reference manager and under Holdfast: Endpoints, EndpointSlices and events must
 * come out equal.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Cluster, startCluster } from '../rig/index.ts';
import { type Addresses, settledAddresses } from './addresses.ts';
import { alike } from './alike.ts';
import { MIRRORED } from './mirrored.ts';
import { createNodes } from './service-world.ts';
import { SERVICES } from './services.ts';
import { type Scenario, World } from './world.ts';

setDefaultTimeout(240_000);

const SCENARIOS = [...SERVICES, ...MIRRORED];
const PLAYED_AT_ONCE = 6;
const CONTROLLERS = ['endpoint', 'endpointslice', 'endpointslicemirroring', 'garbagecollector'];
const FLAGS = [
  `--controllers=${CONTROLLERS.join(',')}`,
  '--max-endpoints-per-slice=3',
  '--mirroring-max-endpoints-per-subset=4',
  '--kube-api-qps=500',
  '--kube-api-burst=1000',
];
const CLUSTER = {
  apiServerFlags: ['--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112'],
};

let reference: Cluster;
let holdfast: Cluster;
let played: Map<string, Promise<readonly [Addresses, Addresses]>>;

beforeAll(async () => {
  [reference, holdfast] = await Promise.all([startCluster(CLUSTER), startCluster(CLUSTER)]);
  await Promise.all([reference, holdfast].map(createNodes));
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
function playAll(): Map<string, Promise<readonly [Addresses, Addresses]>> {
  const waiting = [...SCENARIOS];
  const settlers = new Map<string, PromiseWithResolvers<readonly [Addresses, Addresses]>>();
  for (const scenario of SCENARIOS) settlers.set(scenario.name, Promise.withResolvers());
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const settler = settlers.get(next.name);
      await playBoth(next).then(settler?.resolve, settler?.reject);
    }
  };
  for (let i = 0; i < PLAYED_AT_ONCE; i++) void worker();
  for (const settler of settlers.values()) settler.promise.catch(() => undefined);
  return new Map([...settlers].map(([name, settler]) => [name, settler.promise]));
}

async function playBoth(scenario: Scenario): Promise<readonly [Addresses, Addresses]> {
  return await alike(scenario.name, () =>
    Promise.all([play(scenario, reference), play(scenario, holdfast)]),
  );
}

async function play(scenario: Scenario, cluster: Cluster): Promise<Addresses> {
  const world = new World(cluster, await cluster.namespace('svc'));
  await scenario.play(world);
  return await settledAddresses(world);
}

describe('as the reference manager', () => {
  for (const scenario of SCENARIOS) {
    test(scenario.name, async () => {
      const [wanted, found] = (await played.get(scenario.name)) as readonly [Addresses, Addresses];
      expect(found).toEqual(wanted);
    });
  }
});
