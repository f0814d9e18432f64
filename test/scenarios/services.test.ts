/**
 * Services under the reference manager and under Holdfast: Endpoints, EndpointSlices and events must
 * come out equal.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { settledAddresses } from './addresses.ts';
import { Both } from './both.ts';
import { MIRRORED } from './mirrored.ts';
import { testEach } from './servers.ts';
import { createNodes } from './service-world.ts';
import { SERVICES } from './services.ts';

setDefaultTimeout(240_000);

const SCENARIOS = [...SERVICES, ...MIRRORED];
const CONTROLLERS = ['endpoint', 'endpointslice', 'endpointslicemirroring', 'garbagecollector'];
const FLAGS = ['--max-endpoints-per-slice=3', '--mirroring-max-endpoints-per-subset=4'];
const CLUSTER = {
  apiServerFlags: ['--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112'],
};

let both: Both;

beforeAll(async () => {
  both = await Both.start({
    scenarios: SCENARIOS,
    controllers: CONTROLLERS,
    atOnce: 6,
    flags: FLAGS,
    cluster: CLUSTER,
    prepare: createNodes,
    look: settledAddresses,
  });
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
