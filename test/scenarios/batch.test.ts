/**
 * Jobs and CronJobs under the reference manager and under Holdfast: objects, conditions,
 * annotations, finalizers and event reasons must come out equal.
 */
import { setDefaultTimeout } from 'bun:test';
import { compareAll, nodesAndCollector } from './both.ts';
import { CRONJOBS } from './cronjobs.ts';
import { JOBS } from './jobs.ts';
import { type Snapshot, settledSnapshot } from './snapshot.ts';
import { World } from './world.ts';

setDefaultTimeout(180_000);

const SCENARIOS = [...JOBS, ...CRONJOBS];
const CONTROLLERS = ['job', 'cronjob', 'serviceaccount'];

function withoutEvents(seen: Snapshot, reasons: readonly string[]): Snapshot {
  const isRaced = (event: string): boolean => reasons.some((reason) => event.includes(reason));
  return { ...seen, events: seen.events.filter((event: string) => !isRaced(event)) };
}

compareAll('as the reference manager', {
  suite: 'batch',
  scenarios: SCENARIOS,
  controllers: CONTROLLERS,
  atOnce: 6,
  prepare: nodesAndCollector,
  world: World,
  look: async (world, { raced = [] }) => withoutEvents(await settledSnapshot(world), raced),
});
