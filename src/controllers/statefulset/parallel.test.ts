/** Parallel sets: everything in one sync, in growing batches. */
import { describe, expect, test } from 'bun:test';
import { refusal } from '../_kit/testing/fake-run.ts';
import { pod, statefulSet, template } from './testing/build.ts';
import { Server } from './testing/server.ts';
import { eventsOf, podWritesOf } from './testing/steps.ts';

const set = statefulSet({ parallel: true });

test('creates all missing pods without waiting', () => {
  const server = new Server(set, pod(1, { phase: 'Pending' }));
  expect(podWritesOf(server.sync())).toEqual(['createPod web-0', 'createPod web-2']);
});

test('a batch with an error is the last one', () => {
  const server = new Server(statefulSet({ parallel: true, replicas: 10 }));
  server.refuse = (action) =>
    action.kind === 'createPod' && action.pod.name === 'web-1'
      ? refusal(403, 'Forbidden')
      : undefined;
  const { actions, error } = server.trySync();
  expect(podWritesOf(actions)).toEqual(['createPod web-0', 'createPod web-1', 'createPod web-2']);
  expect(error).toMatchObject({ code: 403 });
  expect(eventsOf(actions)).toHaveLength(3);
});

test('deletes all surplus pods, healthy or not, but not those that are going', () => {
  const server = new Server(
    statefulSet({ parallel: true, onDelete: true }),
    ...[0, 1, 2, 3].map((ordinal) => pod(ordinal)),
    pod(4, { ready: false }),
    pod(5, { deleting: true }),
  );
  expect(podWritesOf(server.sync())).toEqual(['deletePod web-4', 'deletePod web-3']);
});

describe('in one sync', () => {
  test('replaces, scales down and updates', () => {
    const server = new Server(statefulSet({ parallel: true, replicas: 4 }));
    server.sync();
    for (const name of [...server.pods.keys()]) server.run(name);
    server.sync();
    server.run('web-0', false, 'Failed');
    server.edit({ replicas: 3, template: template('app:2') });
    expect(podWritesOf(server.sync())).toEqual([
      'deletePod web-0',
      'deletePod web-3',
      'deletePod web-2',
    ]);
  });

  test('an update waits for an unavailable pod above', () => {
    const server = new Server(set);
    server.sync();
    for (const name of [...server.pods.keys()]) server.run(name);
    server.sync();
    server.edit({ template: template('app:2') });
    expect(podWritesOf(server.sync())).toEqual(['deletePod web-2']);
    expect(podWritesOf(server.sync())).toEqual([]);
    server.pods.delete('web-2');
    // The new pod is created in this sync and not available yet.
    expect(podWritesOf(server.sync())).toEqual(['createPod web-2']);
  });
});
