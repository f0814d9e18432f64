/**
 * PodDisruptionBudgets under the reference manager and under Holdfast: status, conditions, messages
 * of events, and what pods say about disruptions must come out equal.
 */
import { setDefaultTimeout } from 'bun:test';
import { simulateNodes } from '../rig/index.ts';
import { compareAll } from './both.ts';
import { settledBudgets } from './budget-snapshot.ts';
import { BUDGETS } from './budgets.ts';
import { WIDGETS } from './garbage.ts';
import { SHELVES } from './scaled.ts';
import { World } from './world.ts';

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

compareAll('as the reference manager', {
  suite: 'budgets',
  scenarios: BUDGETS,
  controllers: CONTROLLERS,
  atOnce: 5,
  world: World,
  look: settledBudgets,
  async prepare(cluster) {
    // No garbage collector: pods whose owners don't exist must stay.
    await simulateNodes(cluster, { count: 2, clearTaint: true, bind: true });
    for (const definition of [WIDGETS, SHELVES]) await cluster.api.create(definition);
  },
});
