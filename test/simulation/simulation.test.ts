import { expect, setDefaultTimeout, test } from 'bun:test';
import { simulate } from './run.ts';

/** Only a run that hangs comes near it. */
setDefaultTimeout(600_000);

/** Seeds that once showed something, and a few more; each lives through one or two storms. */
const SEEDS = [11, 112, 200, 402, 403, 404, 9120, 9123, 9210, 9339];
/** Seeds that showed something later, and the model hours until then. */
const LATE_SEEDS = [[30018, 10]] as const;
const HOURS = Number(process.env.HOLDFAST_SIM_HOURS ?? 3);
const asked = process.env.HOLDFAST_SIM_SEED;
/** The same in each run: what a change breaks shows as a change. `make simulate` draws new ones. */
const short = (asked === undefined ? SEEDS : [Number(asked)]).map((seed) => [seed, HOURS] as const);
const lives = asked === undefined ? [...short, ...LATE_SEEDS] : short;

for (const [seed, hours] of lives) {
  test(`seed ${seed}: nothing is made twice, nothing is lost, and all comes to rest`, async () => {
    const figures = await simulate(seed, hours);
    expect(figures.podsCreated).toBeGreaterThan(0);
  });
}

test('the same seed is the same run, step by step', async () => {
  const once = await simulate(7, 1);
  const again = await simulate(7, 1);
  expect(again).toEqual(once);
});

test('other seeds are other runs', async () => {
  const one = await simulate(8, 1);
  const other = await simulate(9, 1);
  expect(one.digest).not.toBe(other.digest);
});
