/** How the ReplicaSet controller writes a status, and tries again. */
import { describe, expect, test } from 'bun:test';
import { FencedError } from '../../api/errors.ts';
import { REPLICA_SETS } from '../../api/resource.ts';
import { refusal } from '../_kit/testing/fake-run.ts';
import { replicaSetOf } from '../_kit/testing/objects.ts';
import { KEY, NOW, ownPods, settled, setUp, statusOf } from './testing/set-up.ts';

describe('writing the status', () => {
  test('carries the whole object, the guard and what changed', async () => {
    const set = replicaSetOf({ spec: { replicas: 1 }, meta: { generation: 4 } });
    const { sync, run } = setUp(set, ownPods(1, set));
    await sync();
    const status = { ...settled, replicas: 1, readyReplicas: 1, availableReplicas: 1 };
    expect(run.writes).toEqual([
      {
        verb: 'update',
        resource: 'replicasets.apps/status',
        key: KEY,
        body: { ...set, status: { ...status, fullyLabeledReplicas: 1, observedGeneration: 4 } },
        because:
          'replicas 0->1, fullyLabeledReplicas 0->1, readyReplicas 0->1, availableReplicas 0->1, ' +
          'observedGeneration 0->4, terminatingReplicas none->0',
        guard: { ownerKey: KEY, ownerUid: 'uid-web' },
        uid: undefined,
      },
    ]);
  });

  test('is tried once more over a live read, with the generation that was acted on', async () => {
    const set = replicaSetOf({ spec: { replicas: 0 } });
    const { sync, run } = setUp(set);
    const fresh = replicaSetOf({ meta: { resourceVersion: '99', generation: 2 } });
    run.live(REPLICA_SETS, fresh);
    run.failNext('update', refusal(409, 'Conflict'));
    await sync();
    expect(run.reads).toEqual(['replicasets.apps default/web']);
    expect(run.writes[1]?.body).toMatchObject({
      metadata: { resourceVersion: '99' },
      status: { observedGeneration: 1 },
    });
  });

  test('is given up after the second failure', async () => {
    const { sync, run } = setUp(replicaSetOf({ spec: { replicas: 0 } }));
    run.failNext('update', refusal(409, 'Conflict', 'first'));
    run.failNext('update', refusal(409, 'Conflict', 'second'));
    await expect(sync()).rejects.toThrow('second');
  });

  test('is given up if the live read fails, or finds another object of that name', async () => {
    const first = setUp(replicaSetOf({ spec: { replicas: 0 } }));
    first.run.failNext('update', refusal(409, 'Conflict'));
    first.run.failNext('get', refusal(404, 'NotFound', 'gone'));
    await expect(first.sync()).rejects.toThrow('gone');

    const second = setUp(replicaSetOf({ spec: { replicas: 0 } }));
    second.run.failNext('update', refusal(409, 'Conflict'));
    second.run.live(REPLICA_SETS, replicaSetOf({ meta: { uid: 'uid-new' } }));
    await expect(second.sync()).rejects.toThrow('got uid uid-new, wanted uid-web');
    expect(second.run.writes).toHaveLength(1);
  });

  test('is not tried again without the lead', async () => {
    const { sync, run } = setUp(replicaSetOf({ spec: { replicas: 0 } }));
    run.failNext('update', new FencedError());
    await expect(sync()).rejects.toBeInstanceOf(FencedError);
    expect(run.reads).toEqual([]);
  });

  test('ready pods that wait for minReadySeconds are looked at again in time', async () => {
    const set = replicaSetOf({ spec: { replicas: 1, minReadySeconds: 30 } });
    const { sync, run } = setUp(set, ownPods(1, set, { readySince: NOW - 10_000 }));
    await sync();
    expect(statusOf(run)).toMatchObject({ readyReplicas: 1, availableReplicas: 0 });
    expect(run.wishes).toEqual([
      { delayMs: 20_000, because: '1 of 1 ready pods wait for minReadySeconds 30' },
    ]);
  });

  test('leaves terminatingReplicas out where the gate is off', async () => {
    const set = replicaSetOf({ spec: { replicas: 0 } });
    const { sync, run } = setUp(set, [], ['DeploymentReplicaSetTerminatingReplicas']);
    await sync();
    expect(statusOf(run)).not.toHaveProperty('terminatingReplicas');
  });

  test('a server that drops terminatingReplicas is not asked again and again', async () => {
    const old = { ...settled, terminatingReplicas: undefined };
    const set = replicaSetOf({ status: { ...old, replicas: 2 } });
    const { sync, run, sets } = setUp(set, ownPods(3, set));
    const update = run.update.bind(run);
    run.update = async <T>(...args: Parameters<typeof update>): Promise<T> => {
      await update(...args);
      return { ...set, status: old } as T;
    };
    await sync();
    expect(run.writes).toHaveLength(1);
    sets.put(replicaSetOf({ status: old, meta: { resourceVersion: '8' } }));
    await sync();
    expect(run.writes).toHaveLength(1);
  });
});
