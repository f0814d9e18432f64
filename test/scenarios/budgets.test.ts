/**
 * PodDisruptionBudgets under the reference manager and under Holdfast: status, conditions, messages
 * of events, and what pods say about disruptions must come out equal.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { simulateNodes } from '../rig/index.ts';
import { Both } from './both.ts';
import { settledBudgets } from './budget-snapshot.ts';
import { BUDGETS } from './budgets.ts';
import { WIDGETS } from './garbage.ts';
import { SHELVES } from './scaled.ts';
import { testEach } from './servers.ts';

setDefaultTimeout(240_000);

const CONTROLLERS = [
  'disruption',
  'deployment',
  'replicaset',
  'replicationcontroller',
  'statefulset',
  'job',
  'serviceaccount',
];

let both: Both;

beforeAll(async () => {
  both = await Both.start({
    scenarios: BUDGETS,
    controllers: CONTROLLERS,
    atOnce: 4,
    look: settledBudgets,
    async prepare(cluster) {
      // No garbage collector: pods whose owners don't exist must stay.
      await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
      for (const definition of [WIDGETS, SHELVES]) await cluster.api.create(definition);
    },
  });
});

afterAll(async () => {
  await both?.stop();
});

describe('as the reference manager', () => {
  testEach(BUDGETS, async (scenario) => {
    const [wanted, found] = await both.of(scenario);
    expect(found).toEqual(wanted);
  });
});
