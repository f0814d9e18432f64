/** Rolling updates, partitions, OnDelete, and the gate for more than one pod at a time. */
import { describe, expect, test } from 'bun:test';
import { refusal } from '../_kit/testing/fake-run.ts';
import { type SetOptions, statefulSet, template } from './testing/build.ts';
import { CONFIG, Server } from './testing/server.ts';
import { podWritesOf, statusOf } from './testing/steps.ts';

const MANY = { ...CONFIG, maxUnavailable: true };

/** All pods run at the first revision; then the template changes. */
function updating(options: SetOptions): Server {
  const server = new Server(statefulSet({ parallel: true, ...options }));
  server.sync();
  for (const name of [...server.pods.keys()]) server.run(name);
  server.sync();
  const { podManagementPolicy } = statefulSet(options).spec!;
  server.edit({ template: template('app:2'), podManagementPolicy });
  return server;
}

/** Replaces what is terminating, and makes it run. */
function kubelet(server: Server): void {
  for (const { metadata, status } of [...server.pods.values()]) {
    if (metadata.deletionTimestamp !== undefined) server.pods.delete(metadata.name);
    else if (status?.phase === 'Pending') server.run(metadata.name);
  }
}

function revisionsOf(server: Server): Record<string, string> {
  const { currentRevision, updateRevision } = server.set.status!;
  return Object.fromEntries(
    [...server.pods.values()].map(({ metadata }) => {
      const revision = metadata.labels?.['controller-revision-hash'];
      const word = revision === updateRevision ? 'update' : 'current';
      expect([currentRevision, updateRevision]).toContain(revision!);
      return [metadata.name, word];
    }),
  );
}

function roll(server: Server, config = CONFIG, rounds = 20): string[] {
  const writes: string[] = [];
  for (let round = 0; round < rounds; round++) {
    writes.push(...podWritesOf(server.sync(config)));
    kubelet(server);
  }
  return writes;
}

describe('one at a time', () => {
  test('from the highest ordinal down, each waiting for the one before', () => {
    const server = updating({});
    expect(roll(server)).toEqual([
      'deletePod web-2',
      'createPod web-2',
      'deletePod web-1',
      'createPod web-1',
      'deletePod web-0',
      'createPod web-0',
    ]);
    const status = server.set.status!;
    expect(status.currentRevision).toBe(status.updateRevision);
    expect(status).toMatchObject({ currentReplicas: 3, updatedReplicas: 3 });
  });

  test('the status counts the deleted pod off the current ones at once', () => {
    const server = updating({});
    const status = statusOf(server.sync());
    expect(status).toMatchObject({ replicas: 3, currentReplicas: 2, updatedReplicas: 0 });
  });

  test('pods of neither revision go too, and the count stays at 0', () => {
    const server = updating({ parallel: true });
    server.edit({ template: template('app:3') });
    for (const name of server.pods.keys()) {
      server.patch(name, (pod) => {
        const labels = { ...pod.metadata.labels, 'controller-revision-hash': 'web-x' };
        return { ...pod, metadata: { ...pod.metadata, labels } };
      });
    }
    expect(statusOf(server.sync())).toMatchObject({ currentReplicas: 0, updatedReplicas: 0 });
  });

  test('a pod that is not available stops it; a terminating one too', () => {
    const server = updating({ parallel: true });
    server.run('web-2', false);
    expect(podWritesOf(server.sync())).toEqual(['deletePod web-2']);
    expect(podWritesOf(server.sync())).toEqual([]);
  });

  test('waits for minReadySeconds', () => {
    const server = updating({ parallel: true, minReadySeconds: 30 });
    server.now += 60_000;
    server.sync();
    kubelet(server);
    server.sync();
    kubelet(server);
    expect(podWritesOf(server.sync())).toEqual([]);
    server.now += 30_000;
    expect(podWritesOf(server.sync())).toEqual(['deletePod web-1']);
  });
});

describe('a partition', () => {
  test('keeps lower ordinals at the current revision', () => {
    const server = updating({ partition: 2 });
    expect(roll(server)).toEqual(['deletePod web-2', 'createPod web-2']);
    expect(revisionsOf(server)).toEqual({
      'web-0': 'current',
      'web-1': 'current',
      'web-2': 'update',
    });
    expect(server.set.status).toMatchObject({ currentReplicas: 2, updatedReplicas: 1 });
  });

  test('a pod below it that is lost comes back at the current revision', () => {
    const server = updating({ partition: 2 });
    roll(server);
    server.pods.delete('web-0');
    expect(roll(server, CONFIG, 2)).toEqual(['createPod web-0']);
    expect(revisionsOf(server)['web-0']).toBe('current');
    const image = server.pods.get('web-0')?.spec?.containers[0]?.image;
    expect(image).toBe('app:1');
  });

  test('counts from the first ordinal', () => {
    const server = updating({ partition: 2, start: 10 });
    expect(roll(server)).toEqual(['deletePod web-12', 'createPod web-12']);
  });

  test('lowered step by step, rolls the rest out', () => {
    const server = updating({ partition: 3 });
    expect(roll(server)).toEqual([]);
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 0 } };
    server.edit({ updateStrategy });
    expect(roll(server)).toHaveLength(6);
  });

  test('without a rollingUpdate block, the first currentReplicas keep the current one', () => {
    const server = updating({ partition: null });
    server.sync();
    server.pods.delete('web-0');
    server.pods.delete('web-2');
    server.sync();
    kubelet(server);
    expect(revisionsOf(server)['web-0']).toBe('current');
  });
});

test('a pod that this sync has only planned is not deleted for its revision', () => {
  const server = updating({ parallel: true, partition: null });
  server.sync();
  server.pods.clear();
  expect(podWritesOf(server.sync())).toEqual([
    'createPod web-0',
    'createPod web-1',
    'createPod web-2',
  ]);
});

describe('OnDelete', () => {
  test('deletes nothing, and makes a deleted pod at the update revision', () => {
    const server = updating({ onDelete: true });
    expect(roll(server)).toEqual([]);
    server.pods.delete('web-1');
    expect(roll(server)).toEqual(['createPod web-1']);
    expect(revisionsOf(server)).toMatchObject({ 'web-0': 'current', 'web-1': 'update' });
    for (const name of ['web-0', 'web-2']) server.pods.delete(name);
    roll(server);
    const status = server.set.status!;
    expect(status.updatedReplicas).toBe(3);
    expect(status.currentRevision).not.toBe(status.updateRevision);
  });
});

describe('with MaxUnavailableStatefulSet', () => {
  test.each([
    [undefined, ['deletePod web-4']],
    [1, ['deletePod web-4']],
    [3, ['deletePod web-4', 'deletePod web-3', 'deletePod web-2']],
    ['50%', ['deletePod web-4', 'deletePod web-3']],
    ['10%', ['deletePod web-4']],
    ['100%', [4, 3, 2, 1, 0].map((ordinal) => `deletePod web-${ordinal}`)],
  ])('maxUnavailable %p of 5', (maxUnavailable, deleted) => {
    const server = updating({ parallel: true, replicas: 5, maxUnavailable });
    expect(podWritesOf(server.sync(MANY))).toEqual(deleted);
  });

  test('less all that are unavailable already, whatever their revision', () => {
    const server = updating({ parallel: true, replicas: 5, maxUnavailable: 3 });
    server.run('web-0', false);
    server.run('web-4', false);
    expect(podWritesOf(server.sync(MANY))).toEqual(['deletePod web-4']);
    server.run('web-3', false);
    expect(podWritesOf(server.sync(MANY))).toEqual([]);
  });

  test('what was deleted before a refusal is taken off the status', () => {
    const server = updating({ parallel: true, replicas: 5, maxUnavailable: 3 });
    server.refuse = (action) =>
      action.kind === 'deletePod' && action.record.name === 'web-2'
        ? refusal(403, 'Forbidden', 'no')
        : undefined;
    const { actions, error } = server.trySync(MANY);
    expect(podWritesOf(actions)).toEqual(['deletePod web-4', 'deletePod web-3', 'deletePod web-2']);
    expect(error?.message).toBe('no');
    expect(statusOf(actions)).toMatchObject({ currentReplicas: 3, updatedReplicas: 0 });
  });

  test('without the gate the field is ignored', () => {
    const server = updating({ parallel: true, replicas: 5, maxUnavailable: 3 });
    expect(podWritesOf(server.sync())).toEqual(['deletePod web-4']);
  });

  test('measures both numbers', () => {
    const server = updating({ parallel: true, replicas: 5, maxUnavailable: '50%' });
    const measured = server.sync(MANY).filter(({ kind }) => kind === 'measure');
    expect(measured).toEqual([{ kind: 'measure', maxUnavailable: 2, unavailable: 0 }]);
  });

  test('a maxUnavailable that means nothing is an error that names it', () => {
    const server = updating({ parallel: true, maxUnavailable: 'some' });
    expect(() => server.sync(MANY)).toThrow(
      'spec.updateStrategy.rollingUpdate.maxUnavailable of web is "some": must be a number or "N%"',
    );
  });
});
