import { describe, expect, test } from 'bun:test';
import { ApiError, FencedError } from '../../api/errors.ts';
import { ENDPOINTS, SERVICES } from '../../api/resource.ts';
import type { Endpoints, Service } from '../../api/types/index.ts';
import { CREATED_AT, service, wholePod } from '../_kit/slices/testing/build.ts';
import { SliceServer } from '../_kit/slices/testing/server.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { refusal } from '../_kit/testing/fake-run.ts';
import { endpointsController } from './index.ts';

const KEY = 'default/web';

function setUp(batchMs = 0) {
  const flags = { 'concurrent-endpoint-syncs': 5, 'endpoint-updates-batch-period': batchMs };
  const fakes = fakeContext({ now: CREATED_AT, flags });
  const { informers, queues, context, events, behind } = fakes;
  const services = informers.of<Service>(SERVICES);
  const pods = informers.pods();
  const server = new SliceServer(informers, CREATED_AT);
  const controller = endpointsController.build(context)!;
  const [definition] = controller.queues;
  const queue = queues.get('endpoint')!;
  return {
    services,
    pods,
    server,
    queue,
    behind,
    events: events.events,
    memory: fakes.memory,
    start: () => controller.start?.(new AbortController().signal),
    sync: (key = KEY) => definition!.reconcile(key, server),
    stored: () => server.stored<Endpoints>(ENDPOINTS),
    later: () => queue.later.splice(0).map(({ key, delayMs }) => `${key} ${delayMs}`),
  };
}

function endpoints(name: string, annotations: Record<string, string> = {}): Endpoints {
  return { metadata: { name, namespace: 'default', uid: '', resourceVersion: '', annotations } };
}

describe('what queues a Service', () => {
  test('its own changes, those of its pods after the batch period, the end of its Endpoints', () => {
    const { services, pods, server, queue, later } = setUp(300);
    services.put(service());
    services.put(service());
    expect(queue.drain()).toEqual([KEY]);
    pods.put(wholePod('web-1'));
    expect(later()).toEqual([`${KEY} 300`]);
    server.put(ENDPOINTS, endpoints('web'));
    expect(queue.drain()).toEqual([]);
    server.drop(ENDPOINTS, KEY);
    expect(queue.drain()).toEqual([KEY]);
    services.remove(service());
    expect(queue.drain()).toEqual([KEY]);
  });

  test('at the start Endpoints without a Service, but for locks', () => {
    const { services, server, queue, start } = setUp();
    services.put(service());
    queue.drain();
    server.put(ENDPOINTS, endpoints('web'));
    server.put(ENDPOINTS, endpoints('left'));
    server.put(ENDPOINTS, endpoints('lock', { 'control-plane.alpha.kubernetes.io/leader': '{}' }));
    void start();
    expect(queue.drain()).toEqual(['default/left']);
  });
});

describe('a sync', () => {
  test('creates Endpoints, updates them, and leaves them alone then', async () => {
    const { services, pods, server, sync, stored } = setUp();
    services.put(service());
    await sync();
    expect(server.drainWrites()).toEqual([`create ${KEY}`]);
    pods.put(wholePod('web-1'));
    await sync();
    expect(server.drainWrites()).toEqual([`update ${KEY}`]);
    await sync();
    expect(server.drainWrites()).toEqual([]);
    expect(stored()[0]?.subsets?.[0]?.addresses?.[0]?.ip).toBe('10.0.0.1');
  });

  test('dates its writes by the Service at first, by the pod that changed afterwards', async () => {
    const { services, pods, sync, stored } = setUp();
    const time = () =>
      stored()[0]?.metadata.annotations?.['endpoints.kubernetes.io/last-change-trigger-time'];
    services.put(service());
    await sync();
    expect(time()).toBe('2026-01-01T00:00:00Z');
    pods.put(wholePod('web-1', { readySince: CREATED_AT + 90_000 }));
    await sync();
    expect(time()).toBe('2026-01-01T00:01:30Z');
    pods.remove(wholePod('web-1'));
    await sync();
    expect(time()).toBeUndefined();
  });

  test.each<[string, Service]>([
    ['without a selector', service({ selector: undefined })],
    ['that is an external name', service({ type: 'ExternalName' })],
  ])('leaves the Endpoints of a Service %s alone', async (_, given) => {
    const { services, pods, server, sync } = setUp();
    services.put(given);
    pods.put(wholePod('web-1'));
    server.put(ENDPOINTS, endpoints('web'));
    await sync();
    expect(server.drainWrites()).toEqual([]);
  });

  test('waits for a cache that has not seen its last write', async () => {
    const { services, server, sync, behind } = setUp();
    services.put(service());
    behind.add(KEY);
    await expect(sync()).rejects.toThrow('endpoints informer cache is out of date');
    expect(server.drainWrites()).toEqual([]);
  });
});

describe('a refusal', () => {
  test.each([
    ['create', 'FailedToCreateEndpoint', 'Failed to create endpoint for service default/web: no'],
    ['update', 'FailedToUpdateEndpoint', 'Failed to update endpoint default/web: no'],
  ])('to %s is told of and thrown', async (verb, reason, message) => {
    const { services, pods, server, sync, events } = setUp();
    services.put(service());
    if (verb === 'update') await sync();
    pods.put(wholePod('web-1'));
    server.refuse = () => refusal(500, 'InternalError', 'no');
    await expect(sync()).rejects.toThrow('no');
    expect(events).toMatchObject([
      {
        about: { kind: 'Endpoints', namespace: 'default', name: 'web' },
        type: 'Warning',
        reason,
        message,
      },
    ]);
    expect(events[0]?.about.uid === undefined).toBe(verb === 'create');
  });

  test('by a namespace that goes away, or for lack of the Lease, brings no event', async () => {
    const { services, server, sync, events } = setUp();
    services.put(service());
    const causes = [{ reason: 'NamespaceTerminating' }];
    server.refuse = () => new ApiError(403, 'going', { details: { causes } });
    await sync();
    server.refuse = () => new FencedError();
    await expect(sync()).rejects.toBeInstanceOf(FencedError);
    expect(events).toEqual([]);
  });

  test('leaves the trigger to the next try', async () => {
    const { services, pods, server, sync, stored } = setUp();
    services.put(service());
    await sync();
    pods.put(wholePod('web-1', { readySince: CREATED_AT + 90_000 }));
    server.refuse = () => refusal(409, 'Conflict');
    await expect(sync()).rejects.toThrow();
    server.refuse = () => undefined;
    await sync();
    expect(Object.values(stored()[0]?.metadata.annotations ?? {})).toEqual([
      '2026-01-01T00:01:30Z',
    ]);
  });
});

describe('Endpoints whose Service is gone', () => {
  test('go, by their UID', async () => {
    const { services, server, sync, stored, memory } = setUp();
    services.put(service());
    await sync();
    server.drainWrites();
    services.remove(service());
    await sync();
    expect(server.writes).toEqual([
      { verb: 'delete', key: KEY, because: 'Service default/web does not exist' },
    ]);
    expect(stored()).toEqual([]);
    expect(memory.all()).toEqual([]);
    await sync();
  });

  test('go as well if the cache has not seen them yet', async () => {
    const { server, sync, stored } = setUp();
    server.lags = true;
    server.put(ENDPOINTS, endpoints('web'));
    await sync();
    expect(stored()).toEqual([]);
  });

  test('are not deleted twice, nor is a namesake', async () => {
    const { server, sync } = setUp();
    server.put(ENDPOINTS, endpoints('web'));
    server.refuse = () => refusal(404, 'NotFound');
    await sync();
    server.refuse = () => refusal(409, 'Conflict');
    await sync();
    server.refuse = () => refusal(500, 'InternalError', 'no');
    await expect(sync()).rejects.toThrow('no');
  });

  test('stay if the Service is only newer than its cache', async () => {
    const { services, server, sync, stored, start } = setUp();
    server.put(ENDPOINTS, endpoints('web'));
    server.lags = true;
    server.put(SERVICES, service());
    void start();
    await sync();
    expect(stored()).toHaveLength(1);
    expect(server.notes).toEqual([
      'Service default/web exists, though the cache does not show it yet',
    ]);
    services.put(service());
    services.remove(service());
    server.drop(SERVICES, KEY);
    await sync();
    expect(stored()).toEqual([]);
  });
});
