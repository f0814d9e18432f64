/**
 * The same scenarios under the reference manager and under Holdfast: objects, conditions,
 * annotations and event reasons must come out equal.
 */
import { setDefaultTimeout } from 'bun:test';
import { compareAll, nodesAndCollector } from './both.ts';
import { COLLISIONS } from './collisions.ts';
import { DAEMONSETS } from './daemonsets.ts';
import { DEPLOYMENTS } from './deployments.ts';
import { REPLICAS } from './replicas.ts';
import { settledSnapshot } from './snapshot.ts';
import { STATEFULSETS } from './statefulsets.ts';
import { World } from './world.ts';

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

compareAll('as the reference manager', {
  suite: 'workloads',
  scenarios: SCENARIOS,
  controllers: CONTROLLERS,
  atOnce: 5,
  prepare: nodesAndCollector,
  world: World,
  look: settledSnapshot,
});
