import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { cronOf, MINUTE, ownJob, TEN } from './testing/build.ts';
import { cronPlan } from './testing/plan.ts';
import { CronWorld } from './testing/world.ts';

type Happening =
  | { readonly what: 'sync' | 'restart' | 'suspend' | 'resume' }
  | { readonly what: 'deliver'; readonly count: number }
  | { readonly what: 'pass'; readonly seconds: number }
  | { readonly what: 'complete' | 'fail'; readonly which: number }
  | { readonly what: 'unsent' | 'lost'; readonly count: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 10, arbitrary: fc.constant<Happening>({ what: 'sync' }) },
  {
    weight: 8,
    arbitrary: fc.record({ what: fc.constant('deliver' as const), count: fc.nat(4) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ what: fc.constant('pass' as const), seconds: fc.nat(400) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ what: fc.constantFrom('complete', 'fail'), which: fc.nat(5) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constantFrom('unsent', 'lost'), count: fc.nat(2) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constantFrom('restart', 'suspend', 'resume') }),
  },
) as fc.Arbitrary<Happening>;

async function happen(world: CronWorld, event: Happening): Promise<void> {
  switch (event.what) {
    case 'sync':
      await world.sync();
      break;
    case 'restart':
      world.restart();
      break;
    case 'suspend':
    case 'resume':
      world.edit({ suspend: event.what === 'suspend' });
      break;
    case 'deliver':
      world.deliver(event.count);
      break;
    case 'pass':
      world.now += event.seconds * 1_000;
      break;
    case 'complete':
    case 'fail':
      world.end(event.which, event.what === 'complete' ? 'Complete' : 'Failed');
      break;
    default:
      for (let i = 0; i < event.count; i++) world.faults.push(event.what);
  }
}

describe('whatever happens', () => {
  // Jobs are kept: once one is deleted nothing but the status tells that its time was done.
  const kept = { successfulJobsHistoryLimit: 1_000, failedJobsHistoryLimit: 1_000 };
  for (const concurrencyPolicy of ['Allow', 'Forbid', 'Replace']) {
    test(`no time is started twice: ${concurrencyPolicy}`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(happening, { minLength: 10, maxLength: 80 }),
          fc.constantFrom('* * * * *', '*/2 * * * *', '@every 90s'),
          async (events, schedule) => {
            const spec = { ...kept, concurrencyPolicy };
            const world = new CronWorld(cronOf({ schedule, createdAt: TEN, spec }), TEN);
            world.deliver(1);
            for (const event of events) await happen(world, event);
            expect(new Set(world.started).size).toBe(world.started.length);
            // Undisturbed it goes on with the time that is due, and its status tells the truth.
            world.faults.length = 0;
            world.edit({ suspend: false });
            world.now += 10 * MINUTE;
            for (let i = 0; i < 5; i++) {
              while (world.running.length > 0) world.end(0, 'Complete');
              world.deliver(Number.POSITIVE_INFINITY);
              await world.sync();
            }
            world.deliver(Number.POSITIVE_INFINITY);
            const { active = [], lastScheduleTime = '' } = world.cronJob.status ?? {};
            expect(active.length).toBe(world.running.length);
            expect(world.now - Date.parse(lastScheduleTime)).toBeLessThan(2 * MINUTE);
          },
        ),
        { numRuns: 150 },
      );
    });
  }
});

describe('a decision', () => {
  test('is the same for the same observation, and never starts two Jobs', () => {
    const minutes = fc.integer({ min: -600, max: 600 });
    fc.assert(
      fc.property(
        fc.constantFrom('* * * * *', '0 * * * *', '@every 7m', '30 2 * * 1-5'),
        minutes,
        fc.option(minutes, { nil: undefined }),
        fc.option(fc.nat(4_000), { nil: undefined }),
        fc.constantFrom('Allow', 'Forbid', 'Replace'),
        fc.array(fc.constantFrom(undefined, 'Complete' as const, 'Failed' as const)),
        (schedule, created, last, startingDeadlineSeconds, concurrencyPolicy, endings) => {
          const cronJob = cronOf({
            schedule,
            createdAt: TEN + created * MINUTE,
            lastAt: last === undefined ? undefined : TEN + last * MINUTE,
            spec: { startingDeadlineSeconds, concurrencyPolicy },
          });
          const jobs = endings.map((ended, at) => ownJob({ name: `tick-${at}`, ended }));
          const plan = cronPlan(cronJob, TEN, { jobs });
          expect(cronPlan(structuredClone(cronJob), TEN, { jobs: structuredClone(jobs) })).toEqual(
            plan,
          );
          expect(plan.created.length).toBeLessThanOrEqual(1);
          if (plan.error === undefined) expect(plan.again).toBeGreaterThan(0);
        },
      ),
    );
  });
});
