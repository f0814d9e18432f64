import { describe, expect, test } from 'bun:test';
import { ApiError } from '../../api/errors.ts';
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from '../../api/resource.ts';
import type { EndpointSlice, Endpoints, ObjectMeta, Service } from '../../api/types/index.ts';
import { CREATED_AT, service as selecting } from '../_kit/slices/testing/build.ts';
import { SliceServer } from '../_kit/slices/testing/server.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { refusal } from '../_kit/testing/fake-run.ts';
import { endpointSliceMirroringController } from './index.ts';

const KEY = 'default/web';

function service(selector?: Record<string, string>): Service {
  return selecting({ selector });
}

function endpoints(
  ips: readonly string[] = ['10.0.0.1'],
  meta: Partial<ObjectMeta> = {},
): Endpoints {
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];
  return {
    metadata: { name: 'web', namespace: 'default', uid: '', resourceVersion: '', ...meta },
    subsets: [{ addresses: ips.map((ip) => ({ ip })), ports }],
  };
}

function setUp(options: { batchMs?: number; before?: (server: SliceServer) => void } = {}) {
  const flags = {
    'mirroring-concurrent-service-endpoint-syncs': 5,
    'mirroring-max-endpoints-per-subset': 3,
    'mirroring-endpointslice-updates-batch-period': options.batchMs ?? 0,
  };
  const fakes = fakeContext({ now: CREATED_AT, flags });
  const { informers, queues, context, events, behind } = fakes;
  const services = informers.of<Service>(SERVICES);
  const server = new SliceServer(informers, CREATED_AT);
  options.before?.(server);
  const controller = endpointSliceMirroringController.build(context)!;
  const [definition] = controller.queues;
  const queue = queues.get('endpoint_slice_mirroring')!;
  return {
    services,
    informers,
    server,
    queue,
    behind,
    events: events.events,
    put: (...given: Parameters<typeof endpoints>) => server.put(ENDPOINTS, endpoints(...given)),
    sync: () => definition!.reconcile(KEY, server),
    slices: () => server.stored<EndpointSlice>(ENDPOINT_SLICES),
    later: () => queue.later.splice(0).map(({ key, delayMs }) => `${key} ${delayMs}`),
    metrics: () => context.metrics.registry.metrics(),
  };
}

describe('what queues Endpoints', () => {
  test('their own changes', () => {
    const { services, server, queue, put } = setUp();
    services.put(service());
    queue.drain();
    put();
    expect(queue.drain()).toEqual([KEY]);
    put(['10.0.0.2']);
    expect(queue.drain()).toEqual([KEY]);
    server.drop(ENDPOINTS, KEY);
    expect(queue.drain()).toEqual([KEY]);
  });

  test('not if their Service selects pods, unless something is mirrored', async () => {
    const { services, queue, put, sync } = setUp();
    services.put(service({ app: 'web' }));
    put();
    expect(queue.drain()).toEqual([]);
    services.put(service());
    expect(queue.drain()).toEqual([KEY]);
    await sync();
    services.put(service({ app: 'web' }));
    expect(queue.drain()).toEqual([KEY]);
    put(['10.0.0.2']);
    expect(queue.drain()).toEqual([KEY]);
  });

  test('their Service, if it has or had no selector', () => {
    const { services, queue } = setUp();
    services.put(service({ app: 'web' }));
    services.put(service({ app: 'other' }));
    services.remove(service({ app: 'other' }));
    expect(queue.drain()).toEqual([]);
    services.put(service());
    expect(queue.drain()).toEqual([KEY]);
    services.put(service());
    expect(queue.drain()).toEqual([]);
    services.remove(service());
    expect(queue.drain()).toEqual([KEY]);
  });

  test('their slices, if others change them, after the batch period; at the start all of them', async () => {
    const { services, server, put, sync, slices, later } = setUp({ batchMs: 700 });
    services.put(service());
    put();
    server.lags = true;
    await sync();
    server.lags = false;
    server.deliver();
    expect(later()).toEqual([]);
    const [slice] = slices();
    server.put(ENDPOINT_SLICES, { ...slice!, endpoints: [] });
    expect(later()).toEqual([`${KEY} 700`]);
    const next = setUp({ before: (other) => void other.put(ENDPOINT_SLICES, slice!) });
    expect(next.queue.drain()).toEqual([KEY]);
  });
});

describe('a sync', () => {
  test('mirrors, follows, and leaves alone', async () => {
    const { services, server, put, sync, slices } = setUp();
    services.put(service());
    put();
    await sync();
    expect(server.drainWrites()).toEqual([expect.stringMatching(/^create default\/web-\w{5}$/)]);
    await sync();
    expect(server.drainWrites()).toEqual([]);
    put(['10.0.0.1', '10.0.0.2']);
    await sync();
    expect(server.drainWrites()).toHaveLength(1);
    expect(slices()[0]?.endpoints).toHaveLength(2);
  });

  test.each<[string, (world: ReturnType<typeof setUp>) => void, string]>([
    ['the Endpoints go', ({ server }) => server.drop(ENDPOINTS, KEY), 'the Endpoints are gone'],
    [
      'the Endpoints ask for it',
      ({ put }) =>
        void put(undefined, { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }),
      'the Endpoints say so',
    ],
    ['the Service goes', ({ services }) => services.remove(service()), 'there is no Service'],
    ['the Service selects', ({ services }) => services.put(service({ a: 'b' })), 'selects pods'],
  ])('removes what was mirrored when %s', async (_, change, because) => {
    const world = setUp();
    const { services, server, put, sync, slices, metrics } = world;
    services.put(service());
    put();
    await sync();
    server.drainWrites();
    change(world);
    await sync();
    expect(slices()).toEqual([]);
    expect(server.writes[0]?.because).toContain(because);
    expect(await metrics()).toContain('endpoint_slice_mirroring_controller_endpoints_desired 0');
    expect(await metrics()).not.toContain('changes{operation="delete"}');
    await sync();
  });

  test('says on the Endpoints what is left out', async () => {
    const { services, put, sync, events, metrics } = setUp();
    services.put(service());
    put(['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', 'a.b']);
    await sync();
    expect(events).toMatchObject([
      {
        about: { kind: 'Endpoints', name: 'web' },
        type: 'Warning',
        reason: 'TooManyAddressesToMirror',
      },
    ]);
    expect(await metrics()).toContain(
      'endpoint_slice_mirroring_controller_addresses_skipped_per_sync_sum 2',
    );
  });

  test('of Endpoints that are being deleted creates nothing', async () => {
    const { services, server, put, sync } = setUp();
    services.put(service());
    put(undefined, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    await sync();
    expect(server.drainWrites()).toEqual([]);
  });

  test('waits for a cache that has not seen its writes, also those of a dead process', async () => {
    const { services, server, put, sync, behind } = setUp();
    services.put(service());
    put();
    behind.add(KEY);
    await expect(sync()).rejects.toThrow('out of date');
    behind.clear();
    server.lags = true;
    await sync();
    await expect(sync()).rejects.toThrow('out of date');
    server.deliver();
    await sync();
    expect(server.drainWrites()).toHaveLength(1);
  });

  test('does not wait for a slice that somebody took over', async () => {
    const { services, informers, put, server, sync, slices } = setUp();
    services.put(service());
    put();
    await sync();
    const [{ metadata, ...slice }] = slices() as [EndpointSlice];
    const manager = { 'endpointslice.kubernetes.io/managed-by': 'somebody' };
    const labels = { ...metadata.labels, ...manager };
    server.put(ENDPOINT_SLICES, { ...slice, metadata: { ...metadata, labels } });
    informers.of(ENDPOINT_SLICES).resourceVersion = () => '1000';
    await sync();
    expect(slices()).toHaveLength(2);
  });
});

describe('a refusal', () => {
  test('is thrown in words that say what was tried', async () => {
    const { services, server, put, sync } = setUp();
    services.put(service());
    put();
    server.refuse = () => refusal(500, 'InternalError', 'no');
    await expect(sync()).rejects.toThrow(
      'failed to create EndpointSlice for Endpoints default/web: no',
    );
    server.refuse = () => undefined;
    await sync();
    services.remove(service());
    server.refuse = () => refusal(500, 'InternalError', 'no');
    await expect(sync()).rejects.toThrow(
      'error(s) deleting 1/1 EndpointSlices for default/web Endpoints, including: no',
    );
  });

  test('by a namespace that goes away is silence', async () => {
    const { services, server, put, sync } = setUp();
    services.put(service());
    put();
    const causes = [{ reason: 'NamespaceTerminating' }];
    server.refuse = () => new ApiError(403, 'going', { details: { causes } });
    await sync();
  });
});

test('metrics tell how slices stand', async () => {
  const { services, put, sync, metrics } = setUp();
  services.put(service());
  put(['10.0.0.1', '10.0.0.2', 'fd00::1']);
  await sync();
  put(['10.0.0.1']);
  await sync();
  const text = await metrics();
  for (const line of [
    'endpoints_desired 1',
    'num_endpoint_slices 1',
    'desired_endpoint_slices 1',
    'changes{operation="create"} 2',
    'changes{operation="update"} 1',
    'changes{operation="delete"} 1',
    'endpoints_added_per_sync_sum 3',
    'endpoints_updated_per_sync_sum 0',
    'endpoints_removed_per_sync_sum 2',
    'endpoints_sync_duration_count 2',
  ]) {
    expect(text).toContain(`endpoint_slice_mirroring_controller_${line}`);
  }
});
