/** What users do with Jobs. Pods end by annotations of the template, or by the scenario's hand. */
import type { Obj } from '../rig/index.ts';
import { type Fields, hanging, type Scenario, template, type World } from './world.ts';

const KIND = 'jobs';
const SIM = 'sim.holdfast.dev/';
const INDEX = 'batch.kubernetes.io/job-completion-index';

/** A template whose containers end by themselves. */
function ending(fields: Fields = {}, annotations: Fields = {}): Fields {
  const notes = { [`${SIM}behaviour`]: 'finish', ...annotations };
  return template('1', { restartPolicy: 'Never', annotations: notes, ...fields });
}

/** A template whose containers fail after a moment. */
function failing(exitCode = 1): Fields {
  return ending({}, { [`${SIM}behaviour`]: 'fail', [`${SIM}exit-code`]: `${exitCode}` });
}

/** A template whose containers run until they are stopped. */
function running(annotations: Fields = {}): Fields {
  return ending({}, { [`${SIM}behaviour`]: 'run', ...annotations });
}

/** A template whose pods wait for a scenario to end them. */
function waiting(): Fields {
  const { metadata, spec } = hanging('1') as { metadata: Fields; spec: Fields };
  return { metadata, spec: { ...spec, restartPolicy: 'Never' } };
}

function job(spec: Fields, name = 'pi', metadata: Fields = {}): Fields {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, ...metadata },
    spec: { template: ending(), ...spec },
  };
}

function indexed(completions: number, spec: Fields = {}): Fields {
  return job({ completionMode: 'Indexed', completions, parallelism: completions, ...spec });
}

/** Waits until the Job has ended, one way or the other. */
async function ended(world: World, name = 'pi'): Promise<Obj> {
  return await world.until(KIND, name, ({ status }) =>
    (status?.conditions ?? []).some(
      (one: Fields) => (one.type === 'Complete' || one.type === 'Failed') && one.status === 'True',
    ),
  );
}

/** Waits until the status counts these numbers. */
async function counts(world: World, wanted: Fields): Promise<Obj> {
  return await world.until(KIND, 'pi', ({ status = {} }) =>
    Object.entries(wanted).every(([field, value]) => (status[field] ?? 0) === value),
  );
}

async function change(world: World, spec: Fields): Promise<void> {
  await world.merge(KIND, 'pi', { spec });
}

/** The pods of the Job that have not ended and are not going. */
async function active(world: World): Promise<Obj[]> {
  const pods = await world.list('pods');
  return pods.filter(
    ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined && !['Succeeded', 'Failed'].includes(status.phase),
  );
}

function indexOf({ metadata }: Obj): number {
  return Number(metadata.annotations?.[INDEX] ?? -1);
}

/** Waits until there is an active pod of an index, and ends it. */
async function endIndex(world: World, index: number, phase: string, exitCode = 0): Promise<void> {
  await world.untilList(
    'pods',
    (pods) => pods.some((pod) => indexOf(pod) === index && pod.status.phase === 'Pending'),
    `a pod of index ${index}`,
  );
  const pods = await active(world);
  for (const pod of pods.filter((one) => indexOf(one) === index)) {
    await endPod(world, pod, phase, exitCode);
  }
}

async function endPod(world: World, pod: Obj, phase: string, exitCode = 0): Promise<void> {
  const finishedAt = new Date().toISOString().replace(/\.\d+/, '');
  const terminated = { exitCode, finishedAt, startedAt: finishedAt };
  await world.api.patchStatus('pods', world.namespace, pod.metadata.name, {
    phase,
    containerStatuses: [
      {
        name: 'web',
        image: 'web:1',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { terminated },
      },
    ],
  });
}

/** Creates a Job and waits for its end. */
function runs(name: string, spec: Fields): Scenario {
  return {
    name: `jobs: ${name}`,
    async play(world) {
      await world.create(job(spec));
      await ended(world);
    },
  };
}

const policy = (action: string, ...values: number[]): Fields => ({
  podFailurePolicy: { rules: [{ action, onExitCodes: { operator: 'In', values } }] },
});

export const JOBS: readonly Scenario[] = [
  runs('one pod, one success', {}),
  runs('five successes, two at a time', { completions: 5, parallelism: 2 }),
  runs('a work queue of three', { parallelism: 3 }),
  runs('nothing to do', { completions: 0 }),
  runs('indexes, two at a time', { completionMode: 'Indexed', completions: 5, parallelism: 2 }),
  runs('no failure is allowed', { backoffLimit: 0, template: failing() }),
  runs('a failure is tried again after ten seconds', { backoffLimit: 1, template: failing() }),
  runs('more pods fail together than are allowed', {
    backoffLimit: 1,
    completions: 3,
    parallelism: 3,
    template: failing(),
  }),
  runs('containers restarted in place too often', {
    backoffLimit: 2,
    template: ending(
      { restartPolicy: 'OnFailure' },
      { [`${SIM}behaviour`]: 'crash', [`${SIM}finish-after`]: '500ms' },
    ),
  }),
  runs('a deadline', { activeDeadlineSeconds: 2, parallelism: 2, template: running() }),
  runs('an exit code that fails the Job at once', {
    ...policy('FailJob', 42),
    template: failing(42),
  }),
  runs('an exit code that counts', {
    ...policy('Count', 7),
    backoffLimit: 0,
    template: failing(7),
  }),
  {
    name: 'jobs: suspended while it runs, and resumed',
    async play(world) {
      await world.create(job({ completions: 2, parallelism: 2, template: running() }));
      await counts(world, { ready: 2 });
      await change(world, { suspend: true });
      await world.condition(KIND, 'pi', 'Suspended', 'JobSuspended');
      await counts(world, { active: 0, terminating: 0 });
      await change(world, { suspend: false });
      await world.condition(KIND, 'pi', 'Suspended', 'JobResumed');
      await counts(world, { ready: 2 });
    },
  },
  {
    name: 'jobs: created suspended, with a deadline, and resumed',
    async play(world) {
      await world.create(job({ suspend: true, activeDeadlineSeconds: 600 }));
      await world.condition(KIND, 'pi', 'Suspended', 'JobSuspended');
      await change(world, { suspend: false });
      await ended(world);
    },
  },
  {
    name: 'jobs: fewer at a time, none, more again',
    async play(world) {
      await world.create(job({ completions: 9, parallelism: 4, template: running() }));
      await counts(world, { ready: 4 });
      for (const parallelism of [1, 0, 3]) {
        await change(world, { parallelism });
        await counts(world, { ready: parallelism, active: parallelism, terminating: 0 });
      }
    },
  },
  {
    name: 'jobs: a pod that is deleted counts as failed and is replaced',
    async play(world) {
      await world.create(job({ completions: 2, parallelism: 2, template: running() }));
      await counts(world, { ready: 2 });
      const [pod] = await active(world);
      await world.api.remove('pods', world.namespace, pod?.metadata.name ?? '');
      await counts(world, { ready: 2, failed: 1, terminating: 0 });
    },
  },
  {
    name: 'jobs: a pod that is going is replaced only once it has ended',
    async play(world) {
      const slow = { [`${SIM}terminate-after`]: '2s', [`${SIM}terminate-exit-code`]: '143' };
      const spec = { podReplacementPolicy: 'Failed', template: running(slow) };
      await world.create(job(spec));
      await counts(world, { ready: 1 });
      const [pod] = await active(world);
      await world.api.remove('pods', world.namespace, pod?.metadata.name ?? '');
      await counts(world, { terminating: 1, active: 0 });
      await counts(world, { failed: 1, active: 1, ready: 1, terminating: 0 });
    },
  },
  {
    name: 'jobs: a success policy ends the Job early',
    async play(world) {
      const successPolicy = { rules: [{ succeededIndexes: '0-1', succeededCount: 1 }] };
      await world.create(indexed(3, { successPolicy, template: waiting() }));
      await endIndex(world, 1, 'Succeeded');
      await ended(world);
    },
  },
  {
    name: 'jobs: each index has its limit, and all but one succeed',
    async play(world) {
      await world.create(indexed(3, { backoffLimitPerIndex: 0, template: waiting() }));
      await endIndex(world, 0, 'Succeeded');
      await endIndex(world, 1, 'Failed', 1);
      await counts(world, { failed: 1, succeeded: 1 });
      await endIndex(world, 2, 'Succeeded');
      await ended(world);
    },
  },
  {
    name: 'jobs: an index is tried again, its failures are carried on',
    async play(world) {
      await world.create(indexed(2, { backoffLimitPerIndex: 1, template: waiting() }));
      await endIndex(world, 0, 'Failed', 1);
      await endIndex(world, 1, 'Succeeded');
      await world.untilList(
        'pods',
        (pods) => pods.filter((pod) => indexOf(pod) === 0).length === 2,
        'a second pod of index 0',
      );
      await endIndex(world, 0, 'Succeeded');
      await ended(world);
    },
  },
  {
    name: 'jobs: more indexes fail than are allowed',
    async play(world) {
      const limits = { backoffLimitPerIndex: 0, maxFailedIndexes: 1 };
      await world.create(indexed(4, { ...limits, template: waiting() }));
      await endIndex(world, 0, 'Failed', 1);
      await counts(world, { failed: 1 });
      await endIndex(world, 2, 'Failed', 1);
      await ended(world);
    },
  },
  {
    name: 'jobs: an exit code fails its index, another is ignored',
    async play(world) {
      const rules = [
        { action: 'FailIndex', onExitCodes: { operator: 'In', values: [3] } },
        { action: 'Ignore', onExitCodes: { operator: 'In', values: [4] } },
      ];
      const spec = { backoffLimitPerIndex: 5, podFailurePolicy: { rules }, template: waiting() };
      await world.create(indexed(2, spec));
      await endIndex(world, 0, 'Failed', 3);
      await endIndex(world, 1, 'Failed', 4);
      await world.untilList(
        'pods',
        (pods) => pods.filter((pod) => indexOf(pod) === 1).length === 2,
        'a second pod of index 1',
      );
      await endIndex(world, 1, 'Succeeded');
      await ended(world);
    },
  },
  {
    name: 'jobs: fewer indexes than before',
    async play(world) {
      await world.create(indexed(4, { template: waiting() }));
      await endIndex(world, 0, 'Succeeded');
      await endIndex(world, 3, 'Succeeded');
      await counts(world, { succeeded: 2 });
      await change(world, { completions: 2, parallelism: 2 });
      await counts(world, { succeeded: 1, active: 1 });
      await endIndex(world, 1, 'Succeeded');
      await ended(world);
    },
  },
  {
    name: 'jobs: somebody else manages it',
    async play(world) {
      await world.create(job({ managedBy: 'example.com/queue' }));
      await world.create(job({}, 'own'));
      await ended(world, 'own');
    },
  },
  {
    name: 'jobs: a pod that was there before is adopted',
    async play(world) {
      const labels = { app: 'web', run: 'x' };
      const pod = template('1', { restartPolicy: 'Never' }, labels);
      await world.create({
        apiVersion: 'v1',
        kind: 'Pod',
        ...pod,
        metadata: { name: 'a', labels },
      });
      const spec = {
        manualSelector: true,
        selector: { matchLabels: { run: 'x' } },
        completions: 2,
        parallelism: 2,
        template: template('1', { restartPolicy: 'Never' }, labels),
      };
      await world.create(job(spec));
      await counts(world, { ready: 2 });
    },
  },
  {
    name: 'jobs: deleted, its pods stay and lose the finalizer',
    async play(world) {
      await world.create(job({ template: running() }));
      await counts(world, { ready: 1 });
      await world.api.remove(KIND, world.namespace, 'pi', { propagationPolicy: 'Orphan' });
      await world.untilList(
        'pods',
        (pods) => pods.every(({ metadata }) => (metadata.finalizers ?? []).length === 0),
        'a pod without finalizers',
      );
    },
  },
];
