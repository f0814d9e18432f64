/** The controller as a whole over fakes: what queues a StatefulSet, and what a sync sends. */
import { describe, expect, test } from 'bun:test';
import { FencedError } from '../../api/errors.ts';
import { stringifyJson } from '../../api/json.ts';
import { controllerReference } from '../../api/meta.ts';
import {
  CONTROLLER_REVISIONS,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  REPLICA_SETS,
  STATEFUL_SETS,
} from '../../api/resource.ts';
import type {
  ControllerRevision,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
} from '../../api/types/index.ts';
import { STATEFUL_NUMBERS, templateData } from '../_kit/revisions/data.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun, refusal } from '../_kit/testing/fake-run.ts';
import { statefulSetController } from './index.ts';
import { claim, NOON, pod, type SetOptions, statefulSet, template } from './testing/build.ts';

const KEY = 'default/web';
/** The gate that is off by default. */
const OFF = ['MaxUnavailableStatefulSet'];

function revision(name = 'web-now', number = 1, owned = true): ControllerRevision {
  const metadata = {
    name,
    namespace: 'default',
    uid: `${name}-uid`,
    resourceVersion: '5',
    labels: { app: 'web' },
    ownerReferences: owned ? [controllerReference(statefulSet().metadata, STATEFUL_SETS)] : [],
  };
  const data = JSON.parse(templateData(template(), STATEFUL_NUMBERS)) as object;
  return { metadata, data, revision: number };
}

interface World {
  readonly set?: StatefulSet;
  readonly pods?: readonly Pod[];
  readonly claims?: readonly PersistentVolumeClaim[];
  readonly revisions?: readonly ControllerRevision[];
  readonly gatesOff?: string[];
}

function setUp({ set, pods = [], claims = [], revisions = [], gatesOff = OFF }: World = {}) {
  const flags = { 'concurrent-statefulset-syncs': 5 };
  const fakes = fakeContext({ now: NOON, flags, gatesOff });
  const { context, informers, queues } = fakes;
  const sets = informers.of<StatefulSet>(STATEFUL_SETS);
  if (set !== undefined) sets.put(set);
  informers.pods().put(...pods);
  informers.of<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS).put(...claims);
  const revisionInformer = informers.of<ControllerRevision>(CONTROLLER_REVISIONS);
  revisionInformer.put(...revisions);
  const [definition] = statefulSetController.build(context)!.queues;
  const queue = queues.get('statefulset')!;
  queue.drain();
  const run = new FakeRun(NOON);
  if (set !== undefined) run.live(STATEFUL_SETS, set);
  const sync = () => definition!.reconcile(KEY, run);
  return { ...fakes, definition, sets, pods: informers.pods(), queue, run, sync };
}

/** A set with its revision and nothing else. */
function ready(options: SetOptions = {}, more: World = {}) {
  return setUp({ set: statefulSet(options), revisions: [revision()], ...more });
}

function newer(object: Pod, version = '2'): Pod {
  return { ...object, metadata: { ...object.metadata, resourceVersion: version } };
}

test('the queue has five workers by flag and endless retries', () => {
  const { definition } = setUp();
  expect(definition).toMatchObject({ workers: 5 });
  expect(definition?.retriesMax).toBeUndefined();
  expect(definition?.queue.name).toBe('statefulset');
});

describe('what queues a StatefulSet', () => {
  test('each of its own events', () => {
    const { sets, queue } = setUp();
    sets.put(statefulSet());
    expect(queue.drain()).toEqual([KEY]);
    sets.put(statefulSet({ generation: 2 }));
    expect(queue.drain()).toEqual([KEY]);
    sets.remove(statefulSet());
    expect(queue.drain()).toEqual([KEY]);
  });

  test('events of its pods, by kind and UID', () => {
    const { pods, queue } = setUp({ set: statefulSet() });
    pods.put(pod(0));
    expect(queue.drain()).toEqual([KEY]);
    pods.put(pod(0));
    expect(queue.drain()).toEqual([]);
    pods.put(newer(pod(0, { deleting: true })));
    expect(queue.drain()).toEqual([KEY]);
    pods.remove(pod(0));
    expect(queue.drain()).toEqual([KEY]);
    const own = { name: 'web', uid: 'set-uid' };
    const others = [
      controllerReference(own, REPLICA_SETS),
      controllerReference({ ...own, uid: 'former' }, STATEFUL_SETS),
    ];
    for (const [at, reference] of others.entries()) {
      const { metadata, ...rest } = pod(at + 5);
      pods.put({ ...rest, metadata: { ...metadata, ownerReferences: [reference] } });
    }
    expect(queue.drain()).toEqual([]);
  });

  test('a pod that it loses or gains', () => {
    const { pods, queue } = setUp({ set: statefulSet(), pods: [pod(0)] });
    const free = newer(pod(0, { orphan: true, labels: { app: 'other' } }));
    pods.put(free);
    expect(queue.drain()).toEqual([KEY]);
    pods.put(newer(pod(0), '3'));
    expect(queue.drain()).toEqual([KEY]);
  });

  test('orphans that its selector matches, when they come or are relabeled', () => {
    const { pods, queue } = setUp({ set: statefulSet() });
    pods.put(pod(0, { orphan: true }));
    expect(queue.drain()).toEqual([KEY]);
    pods.put(newer(pod(0, { orphan: true })));
    expect(queue.drain()).toEqual([]);
    pods.put(newer(pod(0, { orphan: true, labels: { more: 'yes' } }), '3'));
    expect(queue.drain()).toEqual([KEY]);
    pods.put(pod(1, { orphan: true, deleting: true }));
    expect(queue.drain()).toEqual([]);
  });

  test('a pod that becomes ready, once more after minReadySeconds', () => {
    const set = statefulSet({ minReadySeconds: 10 });
    const { pods, queue } = setUp({ set, pods: [pod(0, { ready: false })] });
    pods.put(newer(pod(0)));
    expect(queue.later).toEqual([
      { key: KEY, delayMs: 10_000, because: 'pod web-0 became ready and is available after 10 s' },
    ]);
  });
});

describe('a sync', () => {
  test('without the set does nothing, and forgets what was written for it', async () => {
    const { sync, run, context } = setUp();
    await sync();
    expect(run.writes).toEqual([]);
    const asked: string[][] = [];
    const caughtUp = (...about: string[]) => asked.push(about) > 0;
    const [queue] = statefulSetController.build({ ...context, caughtUp })!.queues;
    await queue!.reconcile(KEY, run);
    expect(asked).toEqual([[KEY, '']]);
  });

  test('waits for its own writes to be seen, unless the gate is off', async () => {
    const { sync, behind } = ready();
    behind.add(KEY);
    await expect(sync()).rejects.toThrow(`the caches have not reached the last write made`);
    const off = ready({}, { gatesOff: [...OFF, 'StaleControllerConsistencyStatefulSet'] });
    off.behind.add(KEY);
    await off.sync();
    expect(off.podControl.created).toHaveLength(1);
  });

  test('with an invalid selector is noted and not tried again', async () => {
    const selector = { matchExpressions: [{ key: 'a', operator: 'Odd' }] };
    const { sync, run, errors } = ready({ selector });
    await sync();
    expect(run.writes).toEqual([]);
    expect(errors).toHaveLength(1);
  });

  test('creates a pod under its name, in the slot of ordinal and revision', async () => {
    const { sync, podControl, events, run } = ready();
    await sync();
    expect(podControl.created).toMatchObject([
      {
        namespace: 'default',
        owner: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'set-uid' },
        generateName: 'web-',
        name: 'web-0',
        slot: '0/web-now',
        because: 'pod web-0 is missing: creating it at revision web-now',
      },
    ]);
    expect(events.events.map(({ about, reason }) => [about.kind, about.name, reason])).toEqual([
      ['StatefulSet', 'web', 'SuccessfulCreate'],
    ]);
    const status = run.writes.find(({ resource }) => resource === 'statefulsets.apps/status');
    expect(status?.guard).toEqual({ ownerKey: KEY, ownerUid: 'set-uid' });
  });

  test('creates its revision with the exact bytes, and claims under guard', async () => {
    const { sync, run } = setUp({ set: statefulSet({ claims: ['data'] }) });
    await sync();
    const [made, claimed] = run.writes;
    expect(made).toMatchObject({ verb: 'create', resource: 'controllerrevisions.apps' });
    expect(made?.guard).toBeUndefined();
    const text = stringifyJson(made?.body);
    expect(text).toContain(`"data":${templateData(template(), STATEFUL_NUMBERS)},`);
    expect(claimed).toMatchObject({ verb: 'create', resource: 'persistentvolumeclaims' });
    expect(claimed?.guard).toEqual({ ownerKey: KEY, ownerUid: 'set-uid' });
  });

  test('takes batches of 1, 2, 4 in a Parallel set', async () => {
    const { sync, podControl } = ready({ parallel: true, replicas: 8 });
    const { createPods } = podControl;
    const open: (() => void)[] = [];
    podControl.createPods = async (...given) => {
      const result = await createPods.apply(podControl, given);
      await new Promise<void>((resolve) => open.push(resolve));
      return result;
    };
    const done = sync();
    const batches: number[] = [];
    for (;;) {
      await new Promise(setImmediate);
      if (open.length === 0) break;
      batches.push(open.length);
      for (const resolve of open.splice(0)) resolve();
    }
    await done;
    expect(batches).toEqual([1, 2, 4, 1]);
  });

  test('a refusal of pod control is shown in its own words', async () => {
    const { sync, podControl, events } = ready({ replicas: 0 }, { pods: [pod(0)] });
    const cause = refusal(403, 'Forbidden', 'no');
    const error = new Error('unable to delete pods: no', { cause });
    podControl.nextResult = { done: 0, notDone: ['default/web-0'], error };
    await expect(sync()).rejects.toThrow('no');
    expect(events.events.map(({ message }) => message)).toEqual([
      'Delete Pod web-0 in StatefulSet web failed error: no',
    ]);
  });

  test('a namespace that is being deleted is a refusal like others', async () => {
    const { sync, podControl, events } = ready();
    const terminating = refusal(403, 'Forbidden', 'being terminated');
    podControl.nextResult = { done: 1, notDone: [], terminating };
    await expect(sync()).rejects.toThrow('being terminated');
    expect(events.events.map(({ reason }) => reason)).toEqual(['FailedCreate']);
  });

  test('a pod that is gone is deleted', async () => {
    const { sync, podControl, events } = ready({ replicas: 0 }, { pods: [pod(0)] });
    podControl.nextResult = { done: 0, notDone: ['default/web-0'] };
    await sync();
    expect(events.events.map(({ reason }) => reason)).toEqual(['SuccessfulDelete']);
  });

  test('the lost Lease ends it at once, also inside a deletion', async () => {
    const { sync, podControl, run } = ready({ replicas: 0 }, { pods: [pod(0)] });
    const error = new Error('unable to delete pods', { cause: new FencedError() });
    podControl.nextResult = { done: 0, notDone: ['default/web-0'], error };
    await expect(sync()).rejects.toThrow(FencedError);
    expect(run.writes).toEqual([]);
  });

  test('adopts pods of its names and matching revisions, releases the others', async () => {
    const orphan = pod(0, { orphan: true });
    const stranger = pod('stranger', { orphan: true });
    const misnamed = pod('other-1');
    const { sync, run } = setUp({
      set: statefulSet(),
      pods: [orphan, stranger, misnamed],
      revisions: [revision('web-now', 1, false)],
    });
    await sync();
    const patches = run.writes.filter(({ verb }) => verb === 'patch');
    expect(patches.map(({ key }) => key)).toEqual([
      'default/web-now',
      'default/web-0',
      'default/other-1',
    ]);
  });

  test('releases nothing and adopts nothing while it is deleted', async () => {
    const { sync, run } = ready(
      { deleting: true },
      { pods: [pod('other-1'), pod(0, { orphan: true })] },
    );
    await sync();
    expect(run.writes.map(({ resource }) => resource)).toEqual(['statefulsets.apps/status']);
  });

  test('an announced deletion counts as going, and is looked at again', async () => {
    const { sync, podControl, run } = ready({}, { pods: [pod(0)] });
    podControl.going.add('web-0-uid');
    await sync();
    expect(podControl.created).toEqual([]);
    expect(run.wishes[0]).toMatchObject({ delayMs: 120_000 });
  });

  test('after a conflict writes the status over a live read, five times at most', async () => {
    const { sync, run } = ready();
    run.live(STATEFUL_SETS, statefulSet({ replicas: 9 }));
    for (let i = 0; i < 4; i++) run.failNext('update', refusal(409, 'Conflict'));
    await sync();
    const writes = run.writes.filter(({ verb }) => verb === 'update');
    expect(writes).toHaveLength(5);
    expect(writes[4]?.body).toMatchObject({ spec: { replicas: 9 } });
    for (let i = 0; i < 5; i++) run.failNext('update', refusal(409, 'Conflict', 'moved'));
    await expect(sync()).rejects.toThrow('moved');
    const later = { ...statefulSet().metadata, uid: 'later' };
    run.live(STATEFUL_SETS, { ...statefulSet(), metadata: later });
    run.failNext('update', refusal(409, 'Conflict', 'moved'));
    await expect(sync()).rejects.toThrow('moved');
  });

  test('repairs pods and claims by whole updates under guard', async () => {
    const labels = { 'statefulset.kubernetes.io/pod-name': 'lost' };
    const policy = { whenDeleted: 'Delete', whenScaled: 'Retain' };
    const volumes = { data: 'data-web-0' };
    const { sync, run } = ready(
      { replicas: 1, claims: ['data'], policy },
      { pods: [pod(0, { labels, volumes })], claims: [claim('data-web-0')] },
    );
    await sync();
    const updates = run.writes.filter(({ resource }) => !resource.includes('status'));
    expect(updates.map(({ verb, resource, guard }) => [verb, resource, guard?.ownerKey])).toEqual([
      ['update', 'persistentvolumeclaims', KEY],
      ['update', 'pods', KEY],
    ]);
  });

  test('renumbers and deletes revisions with their UID and version', async () => {
    const old = { ...revision('web-old', 4), data: {} };
    const older = { ...revision('web-older', 3), data: {} };
    const { sync, run } = ready(
      { revisionHistoryLimit: 1 },
      { revisions: [revision(), old, older] },
    );
    await sync();
    expect(run.writes[0]).toMatchObject({
      verb: 'patch',
      body: { metadata: { uid: 'web-now-uid', resourceVersion: '5' }, revision: 5 },
    });
    expect(run.writes.at(-1)).toMatchObject({ verb: 'delete', uid: 'web-older-uid' });
  });

  test('reads pods live when an update meets a conflict', async () => {
    const labels = { 'statefulset.kubernetes.io/pod-name': 'lost' };
    const broken = pod(0, { labels });
    const { sync, run } = ready({ replicas: 1 }, { pods: [broken] });
    run.live(PODS, newer(broken, '9'));
    run.failNext('update', refusal(409, 'Conflict'));
    await sync();
    const updates = run.writes.filter(({ resource }) => resource === 'pods');
    expect(updates).toHaveLength(2);
    expect(updates[1]?.body).toMatchObject({ metadata: { resourceVersion: '9' } });
  });
});

describe('metrics', () => {
  test('of the update are there with gate MaxUnavailableStatefulSet only', async () => {
    const { sync, context } = ready({ replicas: 1 }, { pods: [pod(0)] });
    await sync();
    expect(await context.metrics.registry.metrics()).not.toContain('statefulset_max_unavailable');
    const on = ready({ replicas: 4, maxUnavailable: '50%', parallel: true }, { gatesOff: [] });
    await on.sync();
    const text = await on.context.metrics.registry.metrics();
    const labels =
      'statefulset_namespace="default",statefulset_name="web",pod_management_policy="Parallel"';
    expect(text).toContain(`statefulset_controller_statefulset_max_unavailable{${labels}} 2`);
    expect(text).toContain(`statefulset_controller_statefulset_unavailable_replicas{${labels}} 4`);
  });
});
