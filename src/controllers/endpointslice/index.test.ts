import { describe, expect, test } from 'bun:test';
import { ApiError, FencedError, TransportError } from '../../api/errors.ts';
import { ENDPOINT_SLICES, NODES, SERVICES } from '../../api/resource.ts';
import type { EndpointSlice, KubeObject, Node, Service } from '../../api/types/index.ts';
import {
  CREATED_AT,
  node,
  type PodFacts,
  service,
  wholePod,
} from '../_kit/slices/testing/build.ts';
import { SliceServer } from '../_kit/slices/testing/server.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { refusal } from '../_kit/testing/fake-run.ts';
import { endpointSliceController } from './index.ts';

const KEY = 'default/web';
const AUTO = { 'service.kubernetes.io/topology-mode': 'Auto' };

interface Options {
  readonly batchMs?: number;
  readonly endpointsMax?: number;
  readonly gatesOff?: string[];
  /** A node of which the cache has only the record. */
  readonly lost?: Node;
}

function setUp(options: Options = {}) {
  const flags = {
    'concurrent-service-endpoint-syncs': 5,
    'max-endpoints-per-slice': options.endpointsMax ?? 100,
    'endpointslice-updates-batch-period': options.batchMs ?? 0,
  };
  const fakes = fakeContext({ now: CREATED_AT, flags, gatesOff: options.gatesOff });
  const { informers, queues, context, events, behind } = fakes;
  const services = informers.of<Service>(SERVICES);
  const nodes = informers.of<Node>(NODES);
  const pods = informers.pods();
  const server = new SliceServer(informers, CREATED_AT);
  nodes.put(node('node-1', 'zone-a'));
  if (options.lost !== undefined) {
    nodes.put(options.lost);
    nodes.lose(options.lost);
  }
  const controller = endpointSliceController.build(context);
  const [definition] = controller!.queues;
  const queue = queues.get('endpoint_slice')!;
  return {
    ...fakes,
    definition: definition!,
    services,
    nodes,
    pods,
    server,
    queue,
    behind,
    addPods: (count: number, facts: PodFacts = {}) => {
      for (let at = 1; at <= count; at++) pods.put(wholePod(`web-${at}`, facts));
    },
    sync: (key = KEY) => definition!.reconcile(key, server),
    slices: () => server.stored<EndpointSlice>(ENDPOINT_SLICES),
    told: () => events.events.splice(0).map(({ reason, message }) => `${reason}: ${message}`),
    metrics: () => context.metrics.registry.metrics(),
    later: () => queue.later.splice(0).map(({ key, delayMs }) => `${key} ${delayMs}`),
  };
}

describe('what queues a Service', () => {
  test('its own changes at once, those of its pods after the batch period', () => {
    const { services, pods, queue, later } = setUp({ batchMs: 500 });
    services.put(service());
    expect(queue.drain()).toEqual([KEY]);
    pods.put(wholePod('web-1'));
    expect(later()).toEqual([`${KEY} 500`]);
    services.remove(service());
    expect(queue.drain()).toEqual([KEY]);
  });

  test.each([
    [0, 1_000],
    [3_000, 3_000],
  ])(
    'a slice that others changed, after a second or the batch period %d',
    async (batchMs, wait) => {
      const { services, server, sync, slices, later, addPods } = setUp({ batchMs });
      services.put(service());
      addPods(1);
      server.lags = true;
      await sync();
      server.lags = false;
      server.deliver();
      later();
      const [slice] = slices();
      server.put(ENDPOINT_SLICES, { ...slice!, endpoints: [] });
      expect(later()).toEqual([`${KEY} ${wait}`]);
      server.drop(ENDPOINT_SLICES, `default/${slice!.metadata.name}`);
      expect(later()).toEqual([`${KEY} ${wait}`]);
    },
  );

  test('none of the writes of its own syncs', async () => {
    const { services, pods, server, sync, slices, later, addPods } = setUp({ endpointsMax: 2 });
    services.put(service());
    addPods(3);
    server.lags = true;
    await sync();
    server.deliver();
    pods.put(wholePod('web-1', { ready: false, resourceVersion: '2' }));
    pods.remove(wholePod('web-3'));
    later();
    await sync();
    server.deliver();
    expect(slices()).toHaveLength(1);
    expect(later()).toEqual([]);
  });

  test('a slice that is moved to another Service concerns both; one of another controller none', () => {
    const { server, later } = setUp();
    const managed = (name: string, labels: Record<string, string>): EndpointSlice => ({
      metadata: { name, namespace: 'default', uid: '', resourceVersion: '', labels },
      addressType: 'IPv4',
      endpoints: [],
      ports: [],
    });
    const of = (name: string, manager = 'endpointslice-controller.k8s.io') => ({
      'kubernetes.io/service-name': name,
      'endpointslice.kubernetes.io/managed-by': manager,
    });
    server.put(ENDPOINT_SLICES, managed('s', of('web')));
    expect(later()).toEqual(['default/web 1000']);
    server.put(ENDPOINT_SLICES, managed('s', of('db')));
    expect(later()).toEqual(['default/db 1000', 'default/web 1000']);
    server.put(ENDPOINT_SLICES, managed('s', of('db', 'somebody')));
    expect(later()).toEqual(['default/db 1000']);
    server.put(ENDPOINT_SLICES, managed('t', of('db', 'somebody')));
    server.drop(ENDPOINT_SLICES, 'default/t');
    server.put(ENDPOINT_SLICES, managed('u', { 'kubernetes.io/service-name': '' }));
    expect(later()).toEqual([]);
  });
});

describe('a sync', () => {
  test('writes slices once, and again only what changed', async () => {
    const { services, pods, server, sync, slices, addPods } = setUp({ endpointsMax: 2 });
    services.put(service());
    addPods(3);
    await sync();
    expect(server.drainWrites()).toEqual([
      expect.stringMatching(/^create default\/web-[a-z0-9]{5}$/),
      expect.stringMatching(/^create default\/web-[a-z0-9]{5}$/),
    ]);
    await sync();
    expect(server.drainWrites()).toEqual([]);
    pods.put(wholePod('web-3', { ready: false, resourceVersion: '2' }));
    await sync();
    expect(server.drainWrites()).toHaveLength(1);
    expect(slices()).toHaveLength(2);
  });

  test('dates its writes by the Service at first, by the pod that changed afterwards', async () => {
    const { services, pods, sync, slices } = setUp();
    const time = () =>
      slices()[0]?.metadata.annotations?.['endpoints.kubernetes.io/last-change-trigger-time'];
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

  test('keeps both families, and removes one that the Service gives up', async () => {
    const { services, server, sync, slices, addPods } = setUp();
    services.put(service({ ipFamilies: ['IPv6', 'IPv4'] }));
    addPods(1, { ips: ['10.0.0.1', 'fd00::1'] });
    await sync();
    expect(slices().map(({ addressType }) => addressType)).toEqual(['IPv6', 'IPv4']);
    services.put(service({ ipFamilies: ['IPv4'] }));
    server.drainWrites();
    await sync();
    expect(slices().map(({ addressType }) => addressType)).toEqual(['IPv4']);
    expect(server.writes.map(({ because }) => because)).toEqual([
      'Service default/web has no IPv6 addresses',
    ]);
  });

  test('of a Service that has no families yet goes by its cluster IP', async () => {
    const { services, sync, slices } = setUp();
    services.put(service({ ipFamilies: undefined, clusterIP: 'fd00::10' }));
    await sync();
    expect(slices().map(({ addressType }) => addressType)).toEqual(['IPv6']);
    services.put(service({ ipFamilies: [], clusterIP: 'None' }, { name: 'h', uid: 'h' }));
    await sync('default/h');
    expect(slices()).toHaveLength(3);
  });

  test.each<[string, Service]>([
    ['without a selector', service({ selector: undefined })],
    ['that is an external name', service({ type: 'ExternalName' })],
  ])('leaves the slices of a Service %s alone', async (_, given) => {
    const { services, server, sync, addPods } = setUp();
    addPods(1);
    services.put(service());
    await sync();
    services.put(given);
    server.drainWrites();
    await sync();
    expect(server.drainWrites()).toEqual([]);
  });

  test('of a Service that is being deleted creates nothing, but still updates', async () => {
    const { services, server, sync, addPods } = setUp();
    const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    services.put(service({}, going));
    addPods(1);
    await sync();
    expect(server.drainWrites()).toEqual([]);
    services.put(service());
    await sync();
    server.drainWrites();
    services.put(service({}, going));
    addPods(2);
    await sync();
    expect(server.drainWrites()).toHaveLength(1);
  });

  test('of a Service that is gone writes nothing and forgets it', async () => {
    const { services, server, sync, addPods, metrics, memory } = setUp();
    services.put(service());
    addPods(3);
    await sync();
    expect(await metrics()).toContain('endpoint_slice_controller_endpoints_desired 3');
    expect(memory.all()).toHaveLength(1);
    services.remove(service());
    server.drainWrites();
    await sync();
    expect(server.drainWrites()).toEqual([]);
    expect(await metrics()).toContain('endpoint_slice_controller_endpoints_desired 0');
    expect(await metrics()).toContain('endpoint_slice_controller_num_endpoint_slices 0');
    expect(memory.all()).toEqual([]);
  });
});

describe('a cache that is behind', () => {
  test('stops the sync until it has caught up, and then nothing is lost', async () => {
    const { services, pods, server, sync, slices, addPods, told, metrics } = setUp();
    services.put(service());
    addPods(1);
    server.lags = true;
    await sync();
    pods.put(wholePod('web-2'));
    await expect(sync()).rejects.toThrow('EndpointSlice informer cache is out of date');
    server.deliver();
    await sync();
    expect(slices().flatMap(({ endpoints }) => endpoints ?? [])).toHaveLength(2);
    pods.put(wholePod('web-3'));
    await expect(sync()).rejects.toThrow('out of date');
    expect(told()).toEqual([]);
    expect(await metrics()).toContain('endpoint_slice_controller_syncs{result="stale"} 2');
    expect(await metrics()).toContain('endpoint_slice_controller_syncs{result="success"} 2');
  });

  test('that shows a slice which was deleted stops it too', async () => {
    const { services, server, sync, addPods } = setUp({ endpointsMax: 1 });
    services.put(service());
    addPods(2);
    await sync();
    server.lags = true;
    services.put(service({ selector: { app: 'nobody' } }));
    await sync();
    await expect(sync()).rejects.toThrow('out of date');
    server.deliver();
    server.drainWrites();
    await sync();
    expect(server.drainWrites()).toEqual([]);
  });

  test('that does not show the slice of an attempt without an answer stops it too', async () => {
    const { services, pods, server, sync, slices, later, addPods } = setUp();
    services.put(service());
    addPods(1);
    server.lags = true;
    const create = server.create.bind(server);
    server.create = async <T extends KubeObject>(...args: Parameters<typeof create>) => {
      await create<T>(...args);
      throw new TransportError('cut off');
    };
    await expect(sync()).rejects.toThrow('cut off');
    server.create = create;
    await sync();
    pods.put(wholePod('web-2'));
    later();
    await expect(sync()).rejects.toThrow('out of date');
    server.deliver();
    expect(later()).toEqual([`${KEY} 1000`]);
    await sync();
    expect(slices()).toHaveLength(1);
    expect(slices()[0]?.endpoints).toHaveLength(2);
  });

  test('after a restart the writes of the dead process count', async () => {
    const { services, server, sync, behind } = setUp();
    services.put(service());
    behind.add(KEY);
    await expect(sync()).rejects.toThrow('out of date: slices of default/web were written');
    expect(server.drainWrites()).toEqual([]);
    behind.clear();
    await sync();
    expect(server.drainWrites()).toHaveLength(1);
  });

  test.each([
    ['endpointslice.kubernetes.io/managed-by', [KEY]],
    ['kubernetes.io/service-name', [KEY, 'default/somebody']],
  ])('a slice whose label %s was changed is not waited for', async (label, keys) => {
    const { services, informers, server, sync, slices, later, addPods } = setUp();
    services.put(service());
    addPods(1);
    await sync();
    later();
    const [{ metadata, ...slice }] = slices() as [EndpointSlice];
    const labels = { ...metadata.labels, [label]: 'somebody' };
    server.put(ENDPOINT_SLICES, { ...slice, metadata: { ...metadata, labels } });
    expect(later().sort()).toEqual(keys.map((key) => `${key} 1000`).sort());
    informers.of(ENDPOINT_SLICES).resourceVersion = () => '1000';
    await sync();
    expect(slices().map((one) => one.metadata.labels?.[label] === 'somebody')).toEqual([
      true,
      false,
    ]);
  });

  test('a slice with a finalizer that is being deleted does not stop it', async () => {
    const { services, server, sync, slices, addPods } = setUp();
    services.put(service());
    addPods(1);
    await sync();
    const [slice] = slices();
    const metadata = { ...slice!.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    server.put(ENDPOINT_SLICES, { ...slice!, metadata });
    await sync();
    expect(slices()).toHaveLength(2);
    await sync();
    expect(slices()).toHaveLength(2);
  });
});

describe('a refusal', () => {
  test('is told of and thrown; the other family is synced nevertheless', async () => {
    const { services, server, sync, slices, told, metrics } = setUp();
    services.put(service({ ipFamilies: ['IPv4', 'IPv6'] }));
    let calls = 0;
    server.refuse = () =>
      calls++ === 0 ? refusal(500, 'InternalError', 'etcd is away') : undefined;
    const message = 'failed to create EndpointSlice for Service default/web: etcd is away';
    await expect(sync()).rejects.toThrow(message);
    expect(slices().map(({ addressType }) => addressType)).toEqual(['IPv6']);
    expect(told()).toEqual([
      `FailedToUpdateEndpointSlices: Error updating Endpoint Slices for Service default/web: ${message}`,
    ]);
    expect(await metrics()).toContain('endpoint_slice_controller_syncs{result="error"} 1');
  });

  test('of an update and a deletion names the slice', async () => {
    const { services, pods, server, sync, slices, addPods } = setUp({ endpointsMax: 1 });
    services.put(service());
    addPods(2);
    await sync();
    const [first, second] = slices().map(({ metadata }) => metadata.name);
    server.refuse = () => refusal(500, 'InternalError', 'no');
    pods.put(wholePod('web-1', { ready: false, resourceVersion: '2' }));
    await expect(sync()).rejects.toThrow(
      `failed to update ${first} EndpointSlice for Service default/web: no`,
    );
    pods.put(wholePod('web-1', { resourceVersion: '3' }));
    pods.remove(wholePod('web-2'));
    await expect(sync()).rejects.toThrow(
      `failed to delete ${second} EndpointSlice for Service default/web: no`,
    );
    server.refuse = () => undefined;
    await sync();
    expect(slices()).toHaveLength(1);
  });

  test('to delete what is gone is none', async () => {
    const { services, pods, server, sync, addPods } = setUp({ endpointsMax: 1 });
    services.put(service());
    addPods(2);
    await sync();
    pods.remove(wholePod('web-2'));
    server.refuse = (verb) => (verb === 'delete' ? refusal(404, 'NotFound') : undefined);
    await sync();
  });

  test('by a namespace that goes away is silence', async () => {
    const { services, server, sync, told } = setUp();
    const causes = [{ reason: 'NamespaceTerminating' }];
    services.put(service());
    server.refuse = () => new ApiError(403, 'going', { details: { causes } });
    await sync();
    expect(told()).toEqual([]);
  });

  test('because the Lease is lost ends the sync without an event, and counts nowhere', async () => {
    const { services, server, sync, told, metrics } = setUp();
    services.put(service({ ipFamilies: ['IPv4', 'IPv6'] }));
    server.refuse = () => new FencedError();
    await expect(sync()).rejects.toBeInstanceOf(FencedError);
    expect(server.writes).toHaveLength(1);
    expect(told()).toEqual([]);
    expect(await metrics()).not.toContain('endpoint_slice_controller_syncs{');
  });

  test('a pod without its node is told of once for both families, and tried again', async () => {
    const { services, pods, sync, slices, told, nodes } = setUp();
    services.put(service({ ipFamilies: ['IPv4', 'IPv6'] }));
    pods.put(wholePod('web-1', { node: 'gone', ips: ['10.0.0.1', 'fd00::1'] }));
    const problem = 'skipping Pod web-1 for Service default/web: Node gone Not Found';
    await expect(sync()).rejects.toThrow(problem);
    expect(told()).toEqual([
      `FailedToUpdateEndpointSlices: Error updating Endpoint Slices for Service default/web: ${problem}`,
    ]);
    nodes.put(node('gone', ''));
    await sync();
    expect(slices().flatMap(({ endpoints }) => endpoints ?? [])).toHaveLength(2);
  });

  test('and a pod without its node are told of together', async () => {
    const { services, pods, server, sync, told } = setUp();
    services.put(service());
    pods.put(wholePod('web-1', { node: 'gone' }), wholePod('web-2'));
    server.refuse = () => refusal(500, 'InternalError', 'no');
    const problem = 'skipping Pod web-1 for Service default/web: Node gone Not Found';
    const refused = 'failed to create EndpointSlice for Service default/web: no';
    await expect(sync()).rejects.toThrow(`[${problem}, ${refused}]`);
    expect(told()).toEqual([
      `FailedToUpdateEndpointSlices: Error updating Endpoint Slices for Service default/web: [${problem}, ${refused}]`,
    ]);
  });
});

describe('hints by the CPUs of zones', () => {
  function inZones() {
    const world = setUp();
    world.nodes.put(node('node-2', 'zone-b'));
    world.services.put(service({}, { annotations: AUTO }));
    world.pods.put(wholePod('web-1'), wholePod('web-2', { node: 'node-2' }));
    return world;
  }

  test('come with an event, once', async () => {
    const { sync, slices, told } = inZones();
    await sync();
    expect(told()).toEqual([
      'TopologyAwareHintsEnabled: Topology Aware Hints has been enabled, addressType: IPv4',
    ]);
    expect(slices()[0]?.endpoints?.map(({ hints }) => hints?.forZones)).toEqual([
      [{ name: 'zone-a' }],
      [{ name: 'zone-b' }],
    ]);
    await sync();
    expect(told()).toEqual([]);
  });

  test('a node that changes them brings a sync, and they go if nodes do not allow them', async () => {
    const { sync, slices, told, nodes, queue } = inZones();
    await sync();
    told();
    queue.drain();
    nodes.put(node('node-2', 'zone-b'));
    expect(queue.drain()).toEqual([]);
    nodes.put(node('node-2', 'zone-b', { ready: false }));
    expect(queue.drain()).toEqual([KEY]);
    await sync();
    expect(told()[0]).toStartWith('TopologyAwareHintsDisabled: Insufficient Node information');
    expect(slices()[0]?.endpoints?.map(({ hints }) => hints)).toEqual([undefined, undefined]);
    nodes.remove(node('node-2', 'zone-b'));
    expect(queue.drain()).toEqual([]);
  });

  test('wait until a node that the disk lost has been fetched', async () => {
    const lost = node('node-2', 'zone-b');
    const { services, nodes, pods, sync, slices, told } = setUp({ lost });
    pods.put(wholePod('web-1'), wholePod('web-2', { node: 'node-2' }));
    services.put(service());
    await sync();
    services.put(service({}, { annotations: AUTO }));
    await expect(sync()).rejects.toThrow('nodes node-2 is known but');
    expect(told()).toEqual([]);
    nodes.put(lost);
    await sync();
    expect(slices()[0]?.endpoints?.map(({ hints }) => hints?.forZones)).toEqual([
      [{ name: 'zone-a' }],
      [{ name: 'zone-b' }],
    ]);
  });

  test('are counted apart from other syncs', async () => {
    const { sync, services, metrics } = inZones();
    await sync();
    services.put(service({ trafficDistribution: 'PreferSameZone' }));
    await sync();
    const text = await metrics();
    const family = 'endpoint_slice_controller_endpointslices_changed_per_sync_sum';
    expect(text).toContain(`${family}{topology="Auto",traffic_distribution=""} 1`);
    expect(text).toContain(
      `${family}{topology="Disabled",traffic_distribution="PreferSameZone"} 0`,
    );
    const services_ = 'endpoint_slice_controller_services_count_by_traffic_distribution';
    expect(text).toContain(`${services_}{traffic_distribution="PreferSameZone"} 1`);
  });

  test('without the gate only PreferClose is known', async () => {
    const { sync, services, pods, slices } = setUp({ gatesOff: ['PreferSameTrafficDistribution'] });
    pods.put(wholePod('web-1'));
    services.put(service({ trafficDistribution: 'PreferSameZone' }));
    await sync();
    expect(slices()[0]?.endpoints?.[0]).not.toHaveProperty('hints');
    services.put(service({ trafficDistribution: 'PreferClose' }));
    await sync();
    expect(slices()[0]?.endpoints?.[0]).toHaveProperty('hints');
  });
});

test('metrics tell how slices stand', async () => {
  const { services, sync, addPods, metrics } = setUp({ endpointsMax: 2 });
  services.put(service());
  addPods(3);
  await sync();
  services.put(service({}, { name: 'none', uid: 'none' }));
  services.put(service({ selector: { app: 'none' } }, { name: 'none', uid: 'none' }));
  await sync('default/none');
  const text = await metrics();
  for (const line of [
    'endpoint_slice_controller_endpoints_desired 3',
    'endpoint_slice_controller_num_endpoint_slices 3',
    'endpoint_slice_controller_desired_endpoint_slices 3',
    'endpoint_slice_controller_changes{operation="create"} 3',
    'endpoint_slice_controller_endpoints_added_per_sync_sum 3',
    'endpoint_slice_controller_endpoints_removed_per_sync_count 2',
    'endpoint_slice_controller_endpoints_added_per_sync_bucket{le="32768"} 2',
  ]) {
    expect(text).toContain(line);
  }
});
