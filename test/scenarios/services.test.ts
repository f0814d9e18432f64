/**
 * Services under the reference manager and under Holdfast: Endpoints, EndpointSlices and events must
 * come out equal.
 */
import { setDefaultTimeout } from 'bun:test';
import { settledAddresses } from './addresses.ts';
import { compareAll } from './both.ts';
import { MIRRORED } from './mirrored.ts';
import { createNodes } from './service-world.ts';
import { SERVICES } from './services.ts';
import { World } from './world.ts';

setDefaultTimeout(240_000);

const SCENARIOS = [...SERVICES, ...MIRRORED];
const CONTROLLERS = ['endpoint', 'endpointslice', 'endpointslicemirroring', 'garbagecollector'];
const FLAGS = ['--max-endpoints-per-slice=3', '--mirroring-max-endpoints-per-subset=4'];
const CLUSTER = {
  apiServerFlags: ['--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112'],
};

compareAll('as the reference manager', {
  suite: 'services',
  scenarios: SCENARIOS,
  controllers: CONTROLLERS,
  atOnce: 8,
  flags: FLAGS,
  cluster: CLUSTER,
  prepare: createNodes,
  world: World,
  look: settledAddresses,
});
