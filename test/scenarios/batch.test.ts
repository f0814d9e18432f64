/**
 * Jobs and CronJobs under the reference manager and under Holdfast: objects, conditions,
 * annotations, finalizers and event reasons must come out equal.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { Both } from './both.ts';
import { CRONJOBS } from './cronjobs.ts';
import { JOBS } from './jobs.ts';
import { testEach } from './servers.ts';

setDefaultTimeout(180_000);

const SCENARIOS = [...JOBS, ...CRONJOBS];
const CONTROLLERS = ['job', 'cronjob', 'serviceaccount'];

let both: Both;

beforeAll(async () => {
  both = await Both.start({ scenarios: SCENARIOS, controllers: CONTROLLERS, atOnce: 5 });
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
