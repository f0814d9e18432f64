import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { finishedType, JOB_TRACKING_FINALIZER } from '../../api/job.ts';
import type { Job, JobSpec } from '../../api/types/index.ts';
import { indexedJobOf, jobOf, podOf, podsOf } from './testing/build.ts';
import { observedOf, planOf } from './testing/plan.ts';
import { JobWorld } from './testing/world.ts';

/** What may happen; `which` picks a pod. */
type Happening =
  | { readonly what: 'sync' | 'catchUp' | 'crash' | 'restart' }
  | { readonly what: 'jobs' | 'pods'; readonly count: number }
  | { readonly what: 'pass'; readonly ms: number }
  | { readonly what: 'run' | 'succeed' | 'fail' | 'delete' | 'stop'; readonly which: number }
  | { readonly what: 'unsent' | 'lost'; readonly count: number }
  | { readonly what: 'suspend' | 'resume' }
  | { readonly what: 'parallelism'; readonly count: number };

const which = fc.nat({ max: 20 });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Happening>({ what: 'sync' }) },
  { weight: 2, arbitrary: fc.constant<Happening>({ what: 'catchUp' }) },
  { weight: 8, arbitrary: fc.record({ what: fc.constant('jobs' as const), count: fc.nat(4) }) },
  { weight: 8, arbitrary: fc.record({ what: fc.constant('pods' as const), count: fc.nat(8) }) },
  {
    weight: 4,
    arbitrary: fc.record({ what: fc.constant('pass' as const), ms: fc.nat(120_000) }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      what: fc.constantFrom('run', 'run', 'succeed', 'succeed', 'fail', 'delete', 'stop'),
      which,
    }) as fc.Arbitrary<Happening>,
  },
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constantFrom('unsent', 'lost'), count: fc.nat(3) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constantFrom('suspend', 'resume', 'crash', 'restart'),
    }) as fc.Arbitrary<Happening>,
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant('parallelism' as const), count: fc.nat(4) }),
  },
);

const SUCCESS_POLICY = { rules: [{ succeededCount: 2 }] };
const kinds: readonly [string, (spec: Partial<JobSpec>) => Job][] = [
  ['plain', (spec) => jobOf({ spec })],
  ['a work queue', (spec) => jobOf({ spec: { ...spec, completions: undefined } })],
  [
    'replacing only failed pods',
    (spec) => jobOf({ spec: { ...spec, podReplacementPolicy: 'Failed' } }),
  ],
  ['Indexed', (spec) => indexedJobOf({ spec })],
  [
    'Indexed with limits per index',
    (spec) =>
      indexedJobOf({ spec: { ...spec, backoffLimitPerIndex: 1, backoffLimit: 2 ** 31 - 1 } }),
  ],
  [
    'Indexed with a success policy',
    (spec) => indexedJobOf({ spec: { ...spec, successPolicy: SUCCESS_POLICY } }),
  ],
];

async function happen(world: JobWorld, event: Happening): Promise<void> {
  const { server } = world;
  switch (event.what) {
    case 'sync':
      await world.sync();
      return;
    case 'catchUp':
      return world.catchUp();
    case 'crash':
      return world.restart(true);
    case 'restart':
      return world.restart(false);
    case 'jobs':
    case 'pods':
      return world.deliver(event.what, event.count);
    case 'pass':
      return await world.pass(event.ms);
    case 'unsent':
    case 'lost':
      for (let i = 0; i < event.count; i++) server.faults.push(event.what);
      return;
    case 'suspend':
      return server.edit({ suspend: true });
    case 'resume':
      return server.edit({ suspend: false });
    case 'parallelism':
      return server.edit({ parallelism: event.count });
    default:
      return pod(world, event.what, event.which);
  }
}

function pod(
  world: JobWorld,
  what: 'run' | 'succeed' | 'fail' | 'delete' | 'stop',
  at: number,
): void {
  const { server } = world;
  const keys = [...server.pods.keys()];
  const key = keys[at % Math.max(1, keys.length)];
  if (key === undefined) return;
  if (what === 'run') server.phase(key, 'Running');
  else if (what === 'succeed') server.phase(key, 'Succeeded');
  else if (what === 'fail') server.phase(key, 'Failed');
  else if (what === 'stop') server.stopped(key);
  else server.remove(key, undefined);
}

/**
 * What must be true at every moment. A pod whose creation got no answer may be there beside one of
 * another index that was created instead; of a Job without indexes the same pod is asked for again.
 */
function check(world: JobWorld, parallelismMax: number, lost: number): void {
  const { job, active, everSucceeded, violations } = world.server;
  expect(violations).toEqual([]);
  const { completions, completionMode } = job.spec ?? {};
  const { succeeded = 0, uncountedTerminatedPods } = job.status ?? {};
  const spare = completionMode === 'Indexed' ? lost : 0;
  expect(active.length).toBeLessThanOrEqual(parallelismMax + spare);
  const counted = succeeded + (uncountedTerminatedPods?.succeeded?.length ?? 0);
  expect(counted).toBeLessThanOrEqual(everSucceeded.size);
  if (completions === undefined) return;
  if (completionMode === 'Indexed') {
    expect(succeeded).toBeLessThanOrEqual(completions);
    const indexes = active.map(
      ({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-completion-index'],
    );
    expect(new Set(indexes).size).toBe(indexes.length);
  }
}

/** Nothing disturbs any more, every pod that runs succeeds: the Job must come to an end. */
async function settle(world: JobWorld): Promise<void> {
  const { server } = world;
  server.faults.length = 0;
  server.edit({ suspend: false, parallelism: 2 });
  for (let round = 0; round < 200; round++) {
    world.catchUp();
    await world.sync();
    for (const [key, { metadata }] of [...server.pods]) {
      if (metadata.deletionTimestamp !== undefined) server.stopped(key);
      else if (round % 2 === 0) server.phase(key, 'Running');
      else server.phase(key, 'Succeeded');
    }
    await world.pass(60_000);
    if (finishedType(server.job) !== '' && server.jobChanges.length === 0) break;
  }
  world.catchUp();
  await world.sync();
}

function checkEnd(world: JobWorld): void {
  const { job, pods, everSucceeded, everFailed, late, violations } = world.server;
  expect(violations).toEqual([]);
  const ending = finishedType(job);
  expect(ending).not.toBe('');
  const finalizers = [...pods.values()].flatMap(({ metadata }) => metadata.finalizers ?? []);
  expect(finalizers).not.toContain(JOB_TRACKING_FINALIZER);
  const { succeeded = 0, failed = 0, active = 0, terminating = 0 } = job.status ?? {};
  expect([active, terminating]).toEqual([0, 0]);
  expect(failed).toBeLessThanOrEqual(world.server.created);
  if (job.spec?.completionMode !== 'Indexed') {
    expect(succeeded + failed).toBeLessThanOrEqual(world.server.created);
    expect(succeeded).toBeLessThanOrEqual(everSucceeded.size);
    const good = succeeded + late.size;
    if (ending === 'Complete') expect(good).toBeGreaterThanOrEqual(job.spec?.completions ?? 1);
  }
  expect(everFailed.size).toBeLessThanOrEqual(world.server.created);
  expect(world.reasons.every((because) => because.length > 0)).toBe(true);
}

describe('whatever happens', () => {
  for (const gatesOff of [[], ['StaleControllerConsistencyJob']]) {
    const guarded = gatesOff.length === 0 ? '' : ', without the guard';
    for (const [kind, make] of kinds) {
      test(`a Job never runs or counts too many pods, and ends: ${kind}${guarded}`, async () => {
        await fc.assert(
          fc.asyncProperty(
            fc.array(happening, { minLength: 20, maxLength: 120 }),
            fc.nat(),
            fc.integer({ min: 1, max: 3 }),
            async (events, seed, parallelism) => {
              const world = new JobWorld(make({ parallelism, completions: 4, backoffLimit: 5 }), {
                seed,
                gatesOff,
              });
              let most = parallelism;
              let lost = 0;
              for (const event of events) {
                if (event.what === 'parallelism') most = Math.max(most, event.count);
                if (event.what === 'lost') lost += event.count;
                await happen(world, event);
                check(world, most, lost);
              }
              await settle(world);
              checkEnd(world);
            },
          ),
          { numRuns: 60 },
        );
      }, 60_000);
    }
  }
});

test('a ready pod that went before it could be stopped is neither active nor ready', async () => {
  const world = new JobWorld(
    jobOf({ spec: { parallelism: 1, completions: 4, podReplacementPolicy: 'Failed' } }),
    { gatesOff: ['StaleControllerConsistencyJob'] },
  );
  const { server } = world;
  const step = async (): Promise<void> => {
    world.deliver('jobs', 9);
    await world.sync();
  };
  await step();
  const [key = ''] = server.pods.keys();
  server.phase(key, 'Running');
  world.catchUp();
  server.edit({ suspend: true });
  server.remove(key, undefined);
  server.stopped(key);
  // The cache shows the pod all the while; the first time only its finalizer is left to be taken.
  await step();
  await step();
  expect(server.job.status).toMatchObject({ active: 0, ready: 0 });
  expect(server.violations).toEqual([]);
});

describe('a decision', () => {
  const facts = fc.record({
    phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'),
    deleting: fc.boolean(),
    tracked: fc.boolean(),
    ready: fc.boolean(),
    index: fc.constantFrom(0, 1, 2, 9, 'x'),
    exitCode: fc.constantFrom(0, 1, 2),
  });
  const jobs = kinds.map(([, make]) => make({ parallelism: 2, completions: 3, backoffLimit: 2 }));

  test('is the same for the same observation', () => {
    fc.assert(
      fc.property(fc.array(facts), fc.constantFrom(...jobs), (pods, job) => {
        const made = pods.map((each, at) => podOf({ name: `pi-${at}`, ...each }));
        const first = planOf(job, made);
        expect(planOf(structuredClone(job), structuredClone(made))).toEqual(first);
        expect(observedOf(job, made).pods).toHaveLength(pods.length);
      }),
    );
  });

  test('never releases a pod that has not ended, unless the Job ends', () => {
    fc.assert(
      fc.property(fc.array(facts), fc.constantFrom(...jobs), (pods, job) => {
        const made = pods.map((each, at) => podOf({ name: `pi-${at}`, ...each }));
        const plan = planOf(job, made);
        if (plan.conditions.length > 0) return;
        const running = made
          .filter(({ metadata, status }) => {
            const going = metadata.deletionTimestamp !== undefined;
            return !going && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
          })
          .map(({ metadata }) => metadata.name);
        expect(plan.released.filter((name) => running.includes(name))).toEqual([]);
      }),
    );
  });

  test('never asks for more than 500 pods at a time', () => {
    fc.assert(
      fc.property(fc.nat(2_000), fc.nat(20), (parallelism, active) => {
        const job = jobOf({ spec: { parallelism, completions: 5_000 } });
        const plan = planOf(job, podsOf(active, 'run'));
        expect(plan.created.length).toBe(Math.min(500, Math.max(0, parallelism - active)));
      }),
    );
  });
});
