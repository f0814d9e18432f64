/** Deletions without an answer: sent again where upstream would decide on them anew. */
import { describe, expect, test } from 'bun:test';
import { type SetOptions, statefulSet, template } from './testing/build.ts';
import { CONFIG, Server } from './testing/server.ts';
import { podWritesOf } from './testing/steps.ts';

const MANY = { ...CONFIG, maxUnavailable: true };

/** All pods run at the first revision, made side by side. */
function running(options: SetOptions = {}): Server {
  const server = new Server(statefulSet({ ...options, parallel: true }));
  server.sync();
  for (const name of [...server.pods.keys()]) server.run(name);
  server.sync();
  const { podManagementPolicy } = statefulSet(options).spec!;
  server.edit({ podManagementPolicy });
  return server;
}

function announce(server: Server, ...names: readonly string[]): void {
  for (const name of names) server.going.add(server.pods.get(name)!.metadata.uid);
}

describe.each([false, true])('an update, parallel: %p', (parallel) => {
  test('waits for a pod above that became unavailable meanwhile', () => {
    const server = running({ parallel });
    server.edit({ template: template('app:2') });
    server.sync();
    server.pods.delete('web-2');
    server.sync();
    server.run('web-2', false);
    announce(server, 'web-1');
    expect(podWritesOf(server.sync())).toEqual([]);
    server.run('web-2');
    expect(podWritesOf(server.sync())).toEqual(['deletePod web-1']);
  });
});

test('an ordered update waits for any other pod, and for scaling down', () => {
  const server = running();
  server.edit({ template: template('app:2') });
  announce(server, 'web-2');
  server.run('web-0', false);
  expect(podWritesOf(server.sync())).toEqual([]);
  server.run('web-0');
  expect(podWritesOf(server.sync())).toEqual(['deletePod web-2']);
  const scaled = running();
  scaled.edit({ template: template('app:2'), replicas: 2 });
  announce(scaled, 'web-1');
  expect(podWritesOf(scaled.sync())).toEqual([]);
});

describe('scaling down', () => {
  test('in order waits for unhealthy pods that are wanted', () => {
    const server = running();
    server.edit({ replicas: 2 });
    announce(server, 'web-2');
    server.run('web-0', false);
    expect(podWritesOf(server.sync())).toEqual([]);
    server.run('web-0');
    expect(podWritesOf(server.sync())).toEqual(['deletePod web-2']);
  });

  test('in order takes an unhealthy pod only if it is the lowest', () => {
    const server = running();
    server.edit({ replicas: 1 });
    announce(server, 'web-2');
    server.run('web-2', false);
    expect(podWritesOf(server.sync())).toEqual(['deletePod web-2']);
    const other = running();
    other.edit({ replicas: 1 });
    announce(other, 'web-2');
    for (const name of ['web-1', 'web-2']) other.run(name, false);
    expect(podWritesOf(other.sync())).toEqual([]);
  });

  test('side by side waits for nothing', () => {
    const server = running({ parallel: true });
    server.edit({ replicas: 2 });
    announce(server, 'web-2');
    server.run('web-0', false);
    expect(podWritesOf(server.sync())).toEqual(['deletePod web-2']);
  });
});

test('an ended pod goes in any case', () => {
  const server = running();
  server.run('web-0', false);
  server.run('web-2', false, 'Failed');
  announce(server, 'web-2');
  expect(podWritesOf(server.sync())).toEqual(['deletePod web-2']);
});

test('with MaxUnavailableStatefulSet, as many as may be unavailable beside the others', () => {
  const server = running({ parallel: true, replicas: 5, maxUnavailable: 2 });
  server.edit({ template: template('app:2') });
  announce(server, 'web-4', 'web-3');
  server.run('web-0', false);
  expect(podWritesOf(server.sync(MANY))).toEqual(['deletePod web-4']);
});
