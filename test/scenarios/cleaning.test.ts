/**
 * Cleaning up under the reference manager and under Holdfast: what is left of objects, references,
 * finalizers, quota status and events must be the same.
 */
import { setDefaultTimeout } from 'bun:test';
import { compareAll } from './both.ts';
import { FINISHED_JOBS } from './finished-jobs.ts';
import { GARBAGE, WIDGETS } from './garbage.ts';
import { LEFTOVER_PODS, TOO_MANY_PODS } from './leftover-pods.ts';
import { settledLeftovers } from './leftovers.ts';
import { QUOTAS } from './quotas.ts';
import { World } from './world.ts';

setDefaultTimeout(400_000);

// The slow ones first: they only wait.
const SCENARIOS = [...LEFTOVER_PODS, ...GARBAGE.toReversed(), ...QUOTAS, ...FINISHED_JOBS];
const CONTROLLERS = [
  'garbagecollector',
  'resourcequota',
  'podgc',
  'ttl-after-finished',
  'deployment',
  'replicaset',
  'serviceaccount',
];

compareAll('as the reference manager', {
  suite: 'cleaning',
  scenarios: SCENARIOS,
  alone: [TOO_MANY_PODS],
  controllers: CONTROLLERS,
  atOnce: 6,
  flags: ['--terminated-pod-gc-threshold=3'],
  prepare: (cluster) => cluster.api.create(WIDGETS),
  world: World,
  look: settledLeftovers,
});
