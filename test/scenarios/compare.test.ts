/**
 * The same scenarios under the reference manager and under Holdfast: objects, conditions,
 * annotations and event reasons must come out equal.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { Both } from './both.ts';
import { COLLISIONS } from './collisions.ts';
import { DAEMONSETS } from './daemonsets.ts';
import { DEPLOYMENTS } from './deployments.ts';
import { REPLICAS } from './replicas.ts';
import { testEach } from './servers.ts';
import { STATEFULSETS } from './statefulsets.ts';

setDefaultTimeout(120_000);

const SCENARIOS = [...DEPLOYMENTS, ...REPLICAS, ...STATEFULSETS, ...DAEMONSETS, ...COLLISIONS];
const CONTROLLERS = [
  'deployment',
  'replicaset',
  'replicationcontroller',
  'statefulset',
  'daemonset',
  'serviceaccount',
  'root-ca-certificate-publisher-controller',
];

let both: Both;

beforeAll(async () => {
  both = await Both.start({ scenarios: SCENARIOS, controllers: CONTROLLERS, atOnce: 4 });
});

afterAll(async () => {
  await both?.stop();
});

describe('as the reference manager', () => {
  testEach(SCENARIOS, async (scenario) => {
    const [wanted, found] = await both.of(scenario);
    expect(found).toEqual(wanted);
  });
});
