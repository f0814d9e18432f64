/** The ReplicaSet controller as a whole: caches in, writes out. */
import { describe, expect, test } from 'bun:test';
import { controllerReference } from '../../api/meta.ts';
import { DEPLOYMENTS, PODS, REPLICA_SETS } from '../../api/resource.ts';
import { refusal } from '../_kit/testing/fake-run.ts';
import { podOf, replicaSetOf, WEB_LABELS } from '../_kit/testing/objects.ts';
import { replicaSetController } from './index.ts';
import { KEY, NOW, ownPods, settled, setUp, statusOf } from './testing/set-up.ts';

test('the passport', () => {
  const { queue } = setUp(undefined);
  expect(queue.queue.name).toBe('replicaset');
  expect(queue.workers).toBe(5);
  expect(queue.retriesMax).toBeUndefined();
});

describe('the number of pods', () => {
  test('right, and the status as stored: nothing is written', async () => {
    const set = replicaSetOf({ status: settled });
    const { sync, run, podControl } = setUp(set, ownPods(3, set));
    await sync();
    expect(run.writes).toEqual([]);
    expect([...podControl.created, ...podControl.deleted]).toEqual([]);
    expect(run.wishes).toEqual([]);
  });

  test('too few: the missing are announced, created for the set, and awaited', async () => {
    const set = replicaSetOf();
    const { sync, podControl, expectations, run } = setUp(set, ownPods(1, set));
    await sync();
    expect(podControl.created).toHaveLength(2);
    expect(podControl.created[0]).toEqual({
      namespace: 'default',
      owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'uid-web' },
      template: set.spec!.template!,
      generateName: 'web-',
      slot: 'replica',
      ofSlot: expect.any(Function),
      because: '1 active pod, 3 wanted: creating 2',
    });
    expect(podControl.owners[0]).toMatchObject({ apiVersion: 'apps/v1', kind: 'ReplicaSet' });
    expect(expectations.awaited(KEY)).toEqual({ adds: 2, deletes: [] });
    expect(run.notes).toEqual(['1 active pod, 3 wanted: creating 2']);
    expect(statusOf(run)).toMatchObject({ replicas: 1 });
  });

  test('pods of a Deployment are created in the slot of their template hash', async () => {
    const labels = { ...WEB_LABELS, 'pod-template-hash': 'abc' };
    const set = replicaSetOf({ spec: { replicas: 1, template: { metadata: { labels } } } });
    const { sync, podControl } = setUp(set);
    await sync();
    expect(podControl.created.map(({ slot }) => slot)).toEqual(['abc']);
    const [creation] = podControl.created;
    const found = ['abc', 'def'].map((hash) => podOf({ labels: { 'pod-template-hash': hash } }));
    expect(found.map((pod) => creation?.ofSlot?.(pod))).toEqual([true, false]);
  });

  test('too many: the first in deletion order go, and are awaited by key', async () => {
    const set = replicaSetOf({ spec: { replicas: 1 } });
    const pods = [...ownPods(2, set), podOf({ name: 'bad', owner: set, ready: false })];
    const { sync, podControl, expectations, context } = setUp(set, pods);
    await sync();
    expect(podControl.deleted.map(({ record }) => record.name)).toEqual(['bad', 'web-0']);
    expect(podControl.deleted[0]?.because).toBe('2 too many; first in deletion order: not ready');
    expect(expectations.awaited(KEY)).toEqual({
      adds: 0,
      deletes: ['default/bad', 'default/web-0'],
    });
    const text = await context.metrics.registry.metrics();
    expect(text).toContain('replicaset_controller_sorting_deletion_age_ratio_count 1');
  });

  test('more than a burst is left for the next sync', async () => {
    const set = replicaSetOf({ spec: { replicas: 600 } });
    const { sync, podControl } = setUp(set);
    await sync();
    expect(podControl.created).toHaveLength(500);
  });

  test('finished and terminating pods do not count, terminating ones are reported', async () => {
    const set = replicaSetOf({ spec: { replicas: 1 } });
    const pods = [
      podOf({ name: 'done', owner: set, phase: 'Succeeded' }),
      podOf({ name: 'failed', owner: set, phase: 'Failed', deletedAt: NOW }),
      podOf({ name: 'going', owner: set, deletedAt: NOW }),
      podOf({ name: 'released', owner: set, deletedAt: NOW, labels: { app: 'db' } }),
    ];
    const { sync, podControl, run } = setUp(set, pods);
    await sync();
    expect(podControl.created).toHaveLength(1);
    expect(statusOf(run)).toMatchObject({ replicas: 0, terminatingReplicas: 1 });
  });

  test('without expectations met nothing is created, but the status is written', async () => {
    const set = replicaSetOf();
    const { sync, podControl, expectations, run } = setUp(set, ownPods(1, set));
    expectations.expect(KEY, 'uid-web', 2, []);
    await sync();
    expect(podControl.created).toEqual([]);
    expect(statusOf(run)).toMatchObject({ replicas: 1, readyReplicas: 1 });
    expect(run.notes).toHaveLength(1);
  });

  test('a set that is being deleted gets its status only', async () => {
    const meta = { deletionTimestamp: '2026-01-01T11:00:00Z' };
    const set = replicaSetOf({ meta });
    const { sync, podControl, run } = setUp(set, [...ownPods(1, set), podOf({ name: 'orphan' })]);
    await sync();
    expect(podControl.created).toEqual([]);
    expect(run.writes.map(({ resource }) => resource)).toEqual(['replicasets.apps/status']);
    expect(statusOf(run)).toMatchObject({ replicas: 1 });
  });

  test('a deletion that was announced and got no answer is sent again before any other', async () => {
    const set = replicaSetOf({ spec: { replicas: 1 }, status: settled });
    const { sync, podControl } = setUp(set, ownPods(3, set));
    podControl.going.add('uid-web-0');
    await sync();
    expect(podControl.deleted).toMatchObject([
      { record: { uid: 'uid-web-0' }, because: 'its deletion was announced and got no answer' },
    ]);
  });

  test.each([
    [5, 2],
    [3, 0],
  ])(
    'with 3 pods and %d wanted by now, an unanswered deletion is not sent again',
    async (replicas, created) => {
      const set = replicaSetOf({ spec: { replicas }, status: settled });
      const { sync, podControl } = setUp(set, ownPods(3, set));
      podControl.going.add('uid-web-0');
      await sync();
      expect(podControl.deleted).toEqual([]);
      expect(podControl.created).toHaveLength(created);
    },
  );

  test('of unanswered deletions only as many are sent again as pods are too many', async () => {
    const set = replicaSetOf({ spec: { replicas: 2 }, status: settled });
    const { sync, podControl } = setUp(set, ownPods(3, set));
    for (const uid of ['uid-web-0', 'uid-web-1']) podControl.going.add(uid);
    await sync();
    expect(podControl.deleted).toHaveLength(1);
  });
});

describe('pods of the same controller', () => {
  const ownerReferences = [controllerReference({ name: 'web', uid: 'uid-d' }, DEPLOYMENTS)];

  test('on the same node make a pod go first, whichever set owns them', async () => {
    const set = replicaSetOf({ meta: { ownerReferences }, spec: { replicas: 1 } });
    const oldLabels = { app: 'web', version: 'old' };
    const old = replicaSetOf({
      meta: { ownerReferences, name: 'old', uid: 'uid-old' },
      spec: { selector: { matchLabels: oldLabels } },
    });
    const broken = replicaSetOf({
      meta: { ownerReferences, name: 'broken', uid: 'uid-broken' },
      spec: { selector: { matchExpressions: [{ key: 'app', operator: 'Odd' }] } },
    });
    const far = replicaSetOf({
      meta: { ownerReferences, name: 'far', uid: 'uid-far', namespace: 'elsewhere' },
      spec: { selector: { matchLabels: { app: 'db' } } },
    });
    const pods = [
      podOf({ name: 'alone', owner: set, node: 'n1', uid: 'a' }),
      podOf({ name: 'crowded', owner: set, node: 'n2', uid: 'b' }),
      podOf({ name: 'o1', owner: old, node: 'n2', labels: oldLabels }),
      podOf({ name: 'stopped', owner: old, node: 'n1', labels: oldLabels, phase: 'Failed' }),
      ...['s1', 's2'].map((name) => podOf({ name, node: 'n1', labels: { app: 'db' } })),
    ];
    const { sync, sets, podControl } = setUp(set, pods);
    sets.put(old, broken, far);
    await sync();
    expect(podControl.deleted).toMatchObject([
      {
        record: { name: 'crowded' },
        because: '1 too many; first in deletion order: 2 pods of the same controller on node n2',
      },
    ]);
  });

  test('in another namespace count as well: a cluster-scoped controller may have both', async () => {
    const set = replicaSetOf({ meta: { ownerReferences }, spec: { replicas: 1 } });
    const far = replicaSetOf({
      meta: { ownerReferences, name: 'far', uid: 'uid-far', namespace: 'elsewhere' },
    });
    const { sync, sets, podControl } = setUp(set, [
      podOf({ name: 'later', owner: set, node: 'n1', createdAt: NOW - 1_000 }),
      podOf({ name: 'earlier', owner: set, node: 'n2', createdAt: NOW - 1_000_000 }),
      podOf({ name: 'there', owner: far, node: 'n2', namespace: 'elsewhere' }),
    ]);
    sets.put(far);
    await sync();
    expect(podControl.deleted.map(({ record }) => record.name)).toEqual(['earlier']);
  });
});

describe('claiming', () => {
  test('a matching orphan is adopted and counted', async () => {
    const set = replicaSetOf({ spec: { replicas: 1 } });
    const { sync, run, podControl } = setUp(set, [podOf({ name: 'orphan' })]);
    await sync();
    expect(run.writes[0]).toMatchObject({ verb: 'patch', resource: 'pods', key: 'default/orphan' });
    expect(run.writes[0]?.guard).toEqual({ ownerKey: KEY, ownerUid: 'uid-web' });
    expect(podControl.created).toEqual([]);
    expect(statusOf(run)).toMatchObject({ replicas: 1 });
  });

  test('an own pod that no longer matches is released and replaced', async () => {
    const set = replicaSetOf({ spec: { replicas: 1 } });
    const { sync, run, podControl } = setUp(set, ownPods(1, set, { labels: { app: 'db' } }));
    await sync();
    expect(run.writes[0]).toMatchObject({ verb: 'patch', key: 'default/web-0' });
    expect(podControl.created).toHaveLength(1);
  });

  test('pods of others are left alone, even under our name or UID', async () => {
    const set = replicaSetOf({ spec: { replicas: 0 }, status: { ...settled, replicas: 0 } });
    const other = replicaSetOf({ meta: { uid: 'uid-before' } });
    const renamed = replicaSetOf({ meta: { name: 'renamed' } });
    const pods = [
      podOf({ owner: other }),
      podOf({ name: 'web-2', owner: renamed }),
      podOf({ name: 'far', namespace: 'elsewhere', owner: set }),
    ];
    const { sync, run, podControl } = setUp(set, pods);
    await sync();
    expect(podControl.deleted).toEqual([]);
    expect(run.writes.filter(({ resource }) => resource === 'pods')).toEqual([]);
  });

  test('if it fails, nothing else is done and the key is tried again', async () => {
    const set = replicaSetOf();
    const { sync, run, podControl } = setUp(set, [podOf({ name: 'orphan' })]);
    run.failNext('patch', refusal(500, 'InternalError', 'broken'));
    await expect(sync()).rejects.toThrow('broken');
    expect(podControl.created).toEqual([]);
    expect(statusOf(run)).toBeUndefined();
  });

  test('a set deleted behind the cache adopts nothing', async () => {
    const set = replicaSetOf();
    const { sync, run, podControl } = setUp(set, [podOf({ name: 'orphan' })]);
    run.live(REPLICA_SETS, replicaSetOf({ meta: { deletionTimestamp: '2026-01-01T11:59:59Z' } }));
    await expect(sync()).rejects.toThrow('default/web has just been deleted at');
    expect(run.writes).toEqual([]);
    expect(podControl.created).toEqual([]);
  });
});

describe('failing to create or delete', () => {
  test('lowers expectations for what was not done, writes the condition, then fails', async () => {
    const set = replicaSetOf();
    const { sync, podControl, expectations, run } = setUp(set);
    podControl.nextResult = { done: 1, notDone: ['', ''], error: new Error('exceeded quota') };
    await expect(sync()).rejects.toThrow('exceeded quota');
    expect(expectations.awaited(KEY).adds).toBe(1);
    expect(statusOf(run)?.conditions).toEqual([
      {
        type: 'ReplicaFailure',
        status: 'True',
        lastTransitionTime: '2026-01-01T12:00:00Z',
        reason: 'FailedCreate',
        message: 'exceeded quota',
      },
    ]);
  });

  test('a pod that was gone already is no error, but its expectation is lowered', async () => {
    const set = replicaSetOf({ spec: { replicas: 0 } });
    const { sync, podControl, expectations } = setUp(set, ownPods(2, set));
    podControl.nextResult = { done: 1, notDone: ['default/web-1'] };
    await sync();
    expect(expectations.awaited(KEY).deletes).toEqual(['default/web-0']);
  });

  test('a failed deletion has its own reason', async () => {
    const set = replicaSetOf({ spec: { replicas: 0 } });
    const { sync, podControl, run, expectations } = setUp(set, ownPods(1, set));
    const error = new Error('unable to delete pods: no');
    podControl.nextResult = { done: 0, notDone: ['default/web-0'], error };
    await expect(sync()).rejects.toBe(error);
    expect(statusOf(run)?.conditions).toMatchObject([{ reason: 'FailedDelete' }]);
    expect(expectations.satisfied(KEY)).toBe(true);
  });
});

describe('what is not synced', () => {
  test('a set that is gone: its expectations are forgotten', async () => {
    const { sync, expectations, run } = setUp(undefined);
    expectations.expect(KEY, 'uid-web', 2, []);
    await sync();
    expect(expectations.satisfied(KEY)).toBe(true);
    expect(run.writes).toEqual([]);
  });

  test('a set whose last write the caches have not reached', async () => {
    const set = replicaSetOf();
    const { sync, behind, podControl } = setUp(set);
    behind.add(KEY);
    await expect(sync()).rejects.toThrow('have not reached the last write made for default/web');
    expect(podControl.created).toEqual([]);
  });

  test('unless the guard is switched off', async () => {
    const gates = ['StaleControllerConsistencyReplicaSet'];
    const { sync, behind, podControl, run } = setUp(replicaSetOf(), [], gates);
    behind.add(KEY);
    await sync();
    expect(podControl.created).toHaveLength(3);
    expect(run.writes[0]?.guard).toBeUndefined();
  });

  test('an invalid selector: said in the log and the journal, and no retry', async () => {
    const selector = { matchExpressions: [{ key: 'app', operator: 'Odd' }] };
    const { sync, run, errors } = setUp(replicaSetOf({ spec: { selector } }));
    await sync();
    expect(run.writes).toEqual([]);
    expect(run.notes).toEqual(['spec.selector: "Odd" is not a valid label selector operator']);
    expect(errors).toHaveLength(1);
  });
});

test('pods and sets are watched', () => {
  expect(replicaSetController.watches).toEqual([REPLICA_SETS, PODS]);
});
