/** What users do with PodDisruptionBudgets. */
import { ApiFailure, type Obj } from '../rig/index.ts';
import { shelf } from './scaled.ts';
import {
  deployment,
  type Fields,
  replicaSet,
  replicationController,
  type Scenario,
  template,
  type World,
} from './world.ts';

const SELECTOR = { matchLabels: { app: 'web' } };
const MINUTE_MS = 60_000;

function budget(spec: Fields, name = 'budget'): Fields {
  const full = { selector: SELECTOR, ...spec };
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec: full };
}

/** A pod on no one's list: `owner` is what it says its controller is. */
function pod(name: string, owner?: Fields, notes: Fields = {}): Fields {
  const { spec } = template('1');
  const ownerReferences = owner === undefined ? [] : [{ controller: true, ...owner }];
  const metadata = { name, labels: { app: 'web' }, annotations: notes, ownerReferences };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec };
}

function ownerOf({ apiVersion, kind, metadata }: Obj): Fields {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
}

const agoText = (ms: number): string =>
  new Date(Date.now() - ms).toISOString().replace(/\.\d+Z/, 'Z');

interface Counts {
  readonly allowed: number;
  readonly healthy?: number;
  readonly expected?: number;
}

/** The pods run, so all managers have seen them by the time a budget is made. */
async function run(world: World, count: number): Promise<void> {
  const areUp = (pods: Obj[]): boolean =>
    pods.length === count && pods.every(({ status }) => status?.phase === 'Running');
  await world.untilList('pods', areUp, `${count} running pods`);
}

function counted(world: World, { allowed, healthy, expected }: Counts, name = 'budget') {
  return world.until('poddisruptionbudgets', name, ({ metadata, status }) => {
    const current = status?.observedGeneration === metadata.generation;
    const asWanted =
      status?.disruptionsAllowed === allowed &&
      (healthy === undefined || status.currentHealthy === healthy) &&
      (expected === undefined || status.expectedPods === expected);
    return current && asWanted;
  });
}

function failed(world: World, message: RegExp): Promise<Obj> {
  return world.until('poddisruptionbudgets', 'budget', ({ status }) =>
    (status?.conditions ?? []).some(
      (one: Fields) => one.reason === 'SyncFailed' && message.test(String(one.message)),
    ),
  );
}

/** The answer's code: 201 if the pod may go, 429 if no disruption is allowed. */
async function evict(world: World, name: string): Promise<number> {
  const { namespace } = world;
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  try {
    await world.api.request('POST', path, body);
    return 201;
  } catch (error) {
    if (error instanceof ApiFailure) return error.status;
    throw error;
  }
}

async function evicted(world: World, name: string, code: number): Promise<void> {
  const answer = await evict(world, name);
  if (answer !== code) throw new Error(`evicting ${name} was answered with ${answer}`);
}

function statefulSet(replicas: number): Fields {
  const spec = { replicas, selector: SELECTOR, template: template('1'), serviceName: 'web' };
  const more = { podManagementPolicy: 'Parallel' };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web' },
    spec: { ...spec, ...more },
  };
}

/** Budgets over the controllers that everybody uses. */
const COUNTED: readonly Scenario[] = [
  {
    name: 'minAvailable as a number counts the pods that are there',
    async play(world) {
      await world.create(deployment(4));
      await world.create(budget({ minAvailable: 3 }));
      await counted(world, { allowed: 1, healthy: 4, expected: 4 });
    },
  },
  {
    name: 'minAvailable in percent is rounded up',
    async play(world) {
      await world.create(budget({ minAvailable: '50%' }));
      await world.create(deployment(3));
      await counted(world, { allowed: 1, healthy: 3, expected: 3 });
    },
  },
  {
    name: 'maxUnavailable over a ReplicaSet of its own',
    async play(world) {
      await world.create(replicaSet(3));
      await world.create(budget({ maxUnavailable: 2 }));
      await counted(world, { allowed: 2, healthy: 3, expected: 3 });
    },
  },
  {
    name: 'maxUnavailable in percent over a StatefulSet is rounded up',
    async play(world) {
      await world.create(statefulSet(3));
      await world.create(budget({ maxUnavailable: '34%' }));
      await counted(world, { allowed: 2, healthy: 3, expected: 3 });
    },
  },
  {
    name: 'maxUnavailable over a ReplicationController, which is scaled',
    async play(world) {
      await world.create(replicationController(2));
      await world.create(budget({ maxUnavailable: 1 }));
      await counted(world, { allowed: 1, healthy: 2, expected: 2 });
      await world.api.scale('replicationcontrollers', world.namespace, 'web', 4);
      await counted(world, { allowed: 1, healthy: 4, expected: 4 });
    },
  },
  {
    name: 'one budget over two Deployments sums what they want',
    async play(world) {
      await world.create(deployment(2, {}, 'one'));
      await world.create(
        deployment(
          3,
          {
            template: template('1', {}, { app: 'web', more: 'x' }),
            selector: { matchLabels: { app: 'web', more: 'x' } },
          },
          'two',
        ),
      );
      await world.create(budget({ maxUnavailable: '20%' }));
      await counted(world, { allowed: 1, healthy: 5, expected: 5 });
    },
  },
  {
    name: 'a spec that changes',
    async play(world) {
      await world.create(deployment(3));
      await world.create(budget({ maxUnavailable: 1 }));
      await counted(world, { allowed: 1, healthy: 3 });
      await world.merge('poddisruptionbudgets', 'budget', { spec: { maxUnavailable: 0 } });
      await counted(world, { allowed: 0, healthy: 3 });
      const spec = { maxUnavailable: null, minAvailable: '0%' };
      await world.merge('poddisruptionbudgets', 'budget', { spec });
      await counted(world, { allowed: 3, healthy: 3 });
    },
  },
  {
    name: 'pods that do not get ready are not healthy',
    async play(world) {
      const notes = { 'sim.holdfast.dev/behaviour': 'unready' };
      await world.create(deployment(2, { template: template('1', { annotations: notes }) }));
      await world.create(pod('ready'));
      await world.create(budget({ minAvailable: 1 }));
      await world.untilList(
        'pods',
        (pods) => pods.every(({ status }) => status.phase === 'Running'),
        'running pods',
      );
      await counted(world, { allowed: 0, healthy: 1, expected: 3 });
    },
  },
];

/** Selectors, and pods whose controller is unusual or missing. */
const OWNERS: readonly Scenario[] = [
  {
    name: 'a budget without pods, one for all pods, one without a selector',
    async play(world) {
      await world.create(
        budget({ minAvailable: 1, selector: { matchLabels: { app: 'no' } } }, 'none'),
      );
      await world.create(pod('alone'));
      await world.create(budget({ minAvailable: 0, selector: {} }, 'all'));
      await world.create(budget({ minAvailable: 0, selector: null }, 'nobody'));
      await counted(world, { allowed: 0 }, 'none');
      await counted(world, { allowed: 1, healthy: 1 }, 'all');
      await counted(world, { allowed: 0, expected: 0 }, 'nobody');
    },
  },
  {
    name: 'pods without a controller only count for numbers',
    async play(world) {
      const expression = { key: 'app', operator: 'In', values: ['web', 'other'] };
      const selector = { matchLabels: { app: 'web' }, matchExpressions: [expression] };
      await world.create(pod('alone'));
      await world.create(budget({ maxUnavailable: 1, selector }, 'relative'));
      await counted(world, { allowed: 0, healthy: 1, expected: 0 }, 'relative');
    },
  },
  {
    name: 'two budgets for one pod',
    async play(world) {
      await world.create(budget({ minAvailable: 0 }, 'one'));
      await world.create(budget({ minAvailable: 0 }, 'two'));
      await world.create(pod('both'));
      const told = (events: Obj[]) =>
        events.some(({ reason }) => reason === 'MultiplePodDisruptionBudgets');
      await world.untilList('events', told, 'an event about two budgets');
      for (const name of ['one', 'two']) {
        // Only one of them hears of the pod: a change of the other has it counted as well.
        await world.until('pods', 'both', ({ status }) => status.phase === 'Running');
        await world.merge('poddisruptionbudgets', name, { spec: { minAvailable: '0%' } });
      }
      for (const name of ['one', 'two']) await counted(world, { allowed: 0, expected: 0 }, name);
    },
  },
  {
    name: 'a pod of a custom resource that can be scaled',
    async play(world) {
      const owner = await world.create(shelf(5));
      await world.create(pod('book', ownerOf(owner)));
      await run(world, 1);
      await world.create(budget({ maxUnavailable: '80%' }));
      await counted(world, { allowed: 0, healthy: 1, expected: 5 });
    },
  },
  {
    name: 'a pod of a custom resource that can not be scaled',
    async play(world) {
      const owner = await world.create({
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        metadata: { name: 'widget' },
      });
      await world.create(pod('part', ownerOf(owner)));
      await run(world, 1);
      await world.create(budget({ maxUnavailable: 1 }));
      await failed(world, /^widgets.example.com does not implement/);
    },
  },
  {
    name: 'pods of a Job have no scale',
    async play(world) {
      const pods = template('1', { restartPolicy: 'Never' });
      await world.create({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'job' },
        spec: { template: pods },
      });
      await run(world, 1);
      await world.create(budget({ minAvailable: '10%' }));
      await failed(world, /^jobs.batch does not implement/);
    },
  },
  {
    name: 'a pod of a kind that nobody serves',
    async play(world) {
      const owner = { apiVersion: 'none.example.com/v1', kind: 'Ghost', name: 'g', uid: 'g-1' };
      await world.create(pod('haunted', owner));
      await run(world, 1);
      await world.create(budget({ maxUnavailable: 1 }));
      await failed(world, /^no matches for kind "Ghost" in version "none.example.com\/v1"$/);
    },
  },
  {
    name: 'a pod whose controller is gone, until it is right again',
    async play(world) {
      const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'gone', uid: 'gone-1' };
      await world.create(pod('left', owner));
      await run(world, 1);
      await world.create(budget({ maxUnavailable: 1 }));
      await failed(world, /^found no controllers for pod "left"$/);
      await world.merge('pods', 'left', { metadata: { ownerReferences: null } });
      await counted(world, { allowed: 0, expected: 0 });
      await world.merge('poddisruptionbudgets', 'budget', {
        spec: { maxUnavailable: null, minAvailable: 0 },
      });
      await counted(world, { allowed: 1, healthy: 1, expected: 1 });
    },
  },
];

/** Evictions, and pods that are said to be disrupted. */
const EVICTIONS: readonly Scenario[] = [
  {
    name: 'evictions go on as long as the budget allows them',
    async play(world) {
      const notes = { 'sim.holdfast.dev/terminate-after': '1s' };
      for (const name of ['a', 'b', 'c']) await world.create(pod(name, undefined, notes));
      await world.create(budget({ minAvailable: 2 }));
      await counted(world, { allowed: 1, healthy: 3, expected: 3 });
      await evicted(world, 'a', 201);
      await counted(world, { allowed: 0, healthy: 2 });
      await evicted(world, 'b', 429);
      await counted(world, { allowed: 0, healthy: 2, expected: 2 });
    },
  },
  {
    name: 'an evicted pod that never went counts again',
    async play(world) {
      for (const name of ['late', 'soon']) await world.create(pod(name));
      await world.create(budget({ minAvailable: 0 }));
      await counted(world, { allowed: 2, healthy: 2 });
      const disruptedPods = {
        late: agoText(3 * MINUTE_MS),
        soon: agoText(0),
        unknown: agoText(0),
      };
      await world.api.patchStatus('poddisruptionbudgets', world.namespace, 'budget', {
        disruptedPods,
      });
      await counted(world, { allowed: 1, healthy: 1 });
    },
  },
  {
    name: 'an evicted pod counts again when its time is over',
    async play(world) {
      await world.create(pod('stays'));
      await world.create(budget({ minAvailable: 0 }));
      await counted(world, { allowed: 1, healthy: 1 });
      const disruptedPods = { stays: agoText(2 * MINUTE_MS - 4_000) };
      await world.api.patchStatus('poddisruptionbudgets', world.namespace, 'budget', {
        disruptedPods,
      });
      await counted(world, { allowed: 0, healthy: 0 });
      await counted(world, { allowed: 1, healthy: 1 });
      const told = (events: Obj[]) => events.some(({ reason }) => reason === 'NotDeleted');
      await world.untilList('events', told, 'an event about the pod');
    },
  },
  {
    name: 'a pod that is not disrupted after all',
    async play(world) {
      const condition = (reason: string, ageMs: number): Fields => ({
        type: 'DisruptionTarget',
        status: 'True',
        reason,
        message: 'for a test',
        lastTransitionTime: agoText(ageMs),
      });
      const disrupt = async (name: string, reason: string, ageMs: number): Promise<void> => {
        const { status } = await world.until('pods', name, (one) => one.status.phase === 'Running');
        const conditions = [...status.conditions, condition(reason, ageMs)];
        await world.api.patchStatus('pods', world.namespace, name, { conditions });
      };
      for (const name of ['old', 'soon', 'fresh', 'kubelet']) await world.create(pod(name));
      await disrupt('old', 'PreemptionByScheduler', 3 * MINUTE_MS);
      await disrupt('soon', 'EvictionByEvictionAPI', 2 * MINUTE_MS - 4_000);
      await disrupt('fresh', 'EvictionByEvictionAPI', 0);
      await disrupt('kubelet', 'TerminationByKubelet', 3 * MINUTE_MS);
      for (const name of ['old', 'soon']) {
        await world.until('pods', name, ({ status }) =>
          status.conditions.some(
            (one: Fields) => one.type === 'DisruptionTarget' && one.status === 'False',
          ),
        );
      }
    },
  },
];

export const BUDGETS: readonly Scenario[] = [...EVICTIONS, ...OWNERS, ...COUNTED];
