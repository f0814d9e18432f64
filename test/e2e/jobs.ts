/** Stories of Jobs whose containers really end, with the exit codes that they end with. */
import { expect } from 'bun:test';
import type { Obj } from '../rig/index.ts';
import type { Fields } from '../scenarios/world.ts';
import { labels, marks, PATIENCE, podsOf, type Stage, script } from './stage.ts';

/** Retries wait 10 s, then 20 s. */

/** A Job that runs a line of shell in the pods of `app`, which is its name too. */
export function job(stage: Stage, app: string, text: string, fields: Fields = {}): Fields {
  const { pod, ...spec } = fields;
  const template = script(stage, app, text);
  const podSpec = { ...(template.spec as Fields), ...(pod as Fields) };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: app, labels: labels(app) },
    spec: { ...spec, template: { ...template, spec: podSpec } },
  };
}

/** Waits until a Job is Complete or Failed; gives it. */
export function ended({ world }: Stage, name: string, type: 'Complete' | 'Failed'): Promise<Obj> {
  const wanted = ({ status }: Obj): boolean =>
    (status?.conditions ?? []).some((one: Obj) => one.type === type && one.status === 'True');
  const options = { ...PATIENCE, describe: `Job ${name} is ${type}` };
  return world.api.waitFor('jobs', world.namespace, name, wanted, options);
}

function reason({ status }: Obj, type: string): string {
  return status.conditions.find((one: Obj) => one.type === type)?.reason;
}

const TRIES = `echo $HOSTNAME >> /marks/retried; [ $(wc -l < /marks/retried) -ge 3 ]`;
const SECOND_TRY = `echo try >> /marks/again; [ $(wc -l < /marks/again) -ge 2 ]`;
const INDEXED = `echo $JOB_COMPLETION_INDEX >> /marks/indexed
[ $JOB_COMPLETION_INDEX != 2 ] || [ $(grep -c 2 /marks/indexed) -ge 2 ]`;

/** Jobs that fail, that are tried again, that fail for good at once, and an Indexed one. */
export async function jobsAreRetried(stage: Stage): Promise<void> {
  const { world } = stage;
  const onExitCodes = { operator: 'In', values: [42] };
  const podFailurePolicy = { rules: [{ action: 'FailJob', onExitCodes }] };
  await Promise.all([
    world.create(job(stage, 'retried', TRIES, { backoffLimit: 3 })),
    world.create(job(stage, 'hopeless', 'exit 1', { backoffLimit: 1 })),
    world.create(job(stage, 'refused', 'exit 42', { podFailurePolicy })),
    world.create(job(stage, 'again', SECOND_TRY, { pod: { restartPolicy: 'OnFailure' } })),
    world.create(
      job(stage, 'indexed', INDEXED, { completionMode: 'Indexed', completions: 4, parallelism: 2 }),
    ),
  ]);

  const refused = await ended(stage, 'refused', 'Failed');
  expect(reason(refused, 'Failed')).toBe('PodFailurePolicy');
  expect(refused.status).toMatchObject({ failed: 1 });
  expect(await podsOf(stage, 'refused')).toHaveLength(1);

  const hopeless = await ended(stage, 'hopeless', 'Failed');
  expect(reason(hopeless, 'Failed')).toBe('BackoffLimitExceeded');
  expect(hopeless.status).toMatchObject({ failed: 2 });
  expect(await podsOf(stage, 'hopeless')).toHaveLength(2);

  const again = await ended(stage, 'again', 'Complete');
  expect(again.status).toMatchObject({ succeeded: 1 });
  expect(again.status.failed ?? 0).toBe(0);
  const [pod, ...others] = await podsOf(stage, 'again');
  expect(others).toEqual([]);
  expect(pod?.status.containerStatuses[0].restartCount).toBe(1);

  const indexed = await ended(stage, 'indexed', 'Complete');
  expect(indexed.status).toMatchObject({ succeeded: 4, failed: 1, completedIndexes: '0-3' });
  expect(marks(stage, 'indexed').sort()).toEqual(['0', '1', '2', '2', '3']);

  const retried = await ended(stage, 'retried', 'Complete');
  expect(retried.status).toMatchObject({ succeeded: 1, failed: 2 });
  const names = (await podsOf(stage, 'retried')).map(({ metadata }) => metadata.name);
  expect(marks(stage, 'retried').sort()).toEqual(names.sort());
  expect(names).toHaveLength(3);
}
