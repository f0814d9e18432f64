/** The story of a manager that is killed again and again while real containers come and go. */
import { expect } from 'bun:test';
import { type Random, seededRandom } from '../../src/runtime/random.ts';
import { drawMoment } from '../crash/killer.ts';
import { eventually } from '../rig/index.ts';
import { deployment } from '../scenarios/world.ts';
import { ended, job } from './jobs.ts';
import { labels, marks, PATIENCE, podsOf, type Stage, server } from './stage.ts';

const SEED = Number(process.env.HOLDFAST_CRASH_SEED ?? Date.now() % 1_000_000);
const REPLICAS = 6;
const COMPLETIONS = 10;
const INDEXED = 'echo $JOB_COMPLETION_INDEX $HOSTNAME >> /marks/killed';

/** Of the processes that a killed one is followed by, this part is killed while it starts. */
const KILLED_AT_START = 1 / 3;

/** Kills the manager whenever the rollout has gone on; `made` counts the pods of the new version. */
async function killOnTheWay({ line }: Stage, made: () => number, random: Random): Promise<void> {
  const killOnce = async (): Promise<void> => {
    await line.kill(drawMoment(random));
    await line.restart();
  };
  for (let before = 0; before < REPLICAS; before = made()) {
    await eventually(() => made() > before, { ...PATIENCE, describe: 'the rollout goes on' });
    await killOnce();
    if (random.next() < KILLED_AT_START) await killOnce();
  }
}

/** kill -9 in the middle of a rollout and of an Indexed Job: each pod comes once, and runs once. */
export async function killedInTheMiddle(stage: Stage): Promise<void> {
  const { world, ledger, line } = stage;
  const random = seededRandom(SEED);
  console.log(`kills during a rollout of real containers: seed ${SEED}`);
  await world.create(
    deployment(
      REPLICAS,
      {
        selector: { matchLabels: labels('steady') },
        template: server('steady', '1'),
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } },
      },
      'steady',
    ),
  );
  await world.rolledOut('steady');
  await ledger.reach();
  const before = new Set(ledger.of('steady').map(({ uid }) => uid));
  expect(before.size).toBe(REPLICAS);

  ledger.bound('steady', { asked: REPLICAS + 2, ready: REPLICAS - 1 });
  const completions = { completionMode: 'Indexed', completions: COMPLETIONS, parallelism: 3 };
  await world.create(job(stage, 'killed', INDEXED, completions));
  await world.merge('deployments', 'steady', { spec: { template: server('steady', '2') } });
  const made = () => ledger.of('steady').filter(({ uid }) => !before.has(uid));
  const first = line.kills;
  await killOnTheWay(stage, () => made().length, random);
  console.log(`killed ${line.kills - first} times`);
  await world.rolledOut('steady');
  await ended(stage, 'killed', 'Complete');
  await ledger.reach();
  ledger.bound('steady', undefined);

  expect(made()).toHaveLength(REPLICAS);
  expect(made().filter(({ deleting }) => deleting)).toEqual([]);
  expect(ledger.breaches).toEqual([]);
  expect(ledger.of('killed')).toHaveLength(COMPLETIONS);
  const indexes = marks(stage, 'killed').map((line) => Number(line.split(' ')[0]));
  expect(indexes.sort((a, b) => a - b)).toEqual([...Array(COMPLETIONS).keys()]);
  const restarts = (await podsOf(stage, 'steady')).map(
    ({ status }) => status.containerStatuses[0].restartCount,
  );
  expect(restarts).toEqual(Array(REPLICAS).fill(0));
}
