import { describe, expect, test } from 'bun:test';
import { DEPLOYMENTS, LEASES, type Resource, resourceId } from '../../api/resource.ts';
import type { DiscoveredResource, Discovery } from '../../kube/index.ts';
import { DISCOVERY_INTERVAL_MS } from '../limits.ts';
import type { StorePort } from '../ports.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { type FakeClock, fakeClock } from '../testing/fake-clock.ts';
import { informersOn, settled } from '../testing/informers.ts';
import { memoryStore } from '../testing/memory-store.ts';
import type { Following } from './follow.ts';
import type { Informers } from './set.ts';
import type { DiscoveryLook, Followed } from './types.ts';

const WIDGETS = served('example.com', 'v1', 'widgets', 'Widget');
const GADGETS = served('other.com', 'v1', 'gadgets', 'Gadget');
const SETS: DiscoveredResource = { ...served('apps', 'v1', 'deployments', 'Deployment') };
const RENEWED: DiscoveredResource = { ...served(LEASES.group, 'v1', 'leases', 'Lease') };

function served(group: string, version: string, plural: string, kind: string): DiscoveredResource {
  const verbs = ['delete', 'list', 'watch'];
  return { group, version, plural, kind, namespaced: true, verbs, singular: '', subresources: [] };
}

function discoveryOf(
  resources: readonly DiscoveredResource[],
  failed: ReadonlyMap<string, string> = new Map(),
): Discovery {
  const versions = new Map<string, string[]>();
  for (const { group, version } of resources) {
    versions.set(group, [...(versions.get(group) ?? []), version]);
  }
  const groups = [...versions].map(([name, all]) => {
    return { name, versions: all, preferredVersion: all[0] ?? '' };
  });
  return { groups, resources, failed };
}

/** A process with one typed resource that follows everything else it is told of. */
class Process {
  readonly api: FakeApi;
  readonly store: StorePort;
  readonly clock: FakeClock;
  readonly informers: Informers;
  readonly looks: DiscoveryLook[] = [];
  readonly #stop = new AbortController();
  discovery: Discovery | Error = discoveryOf([WIDGETS, SETS]);

  constructor(api = new FakeApi(), store: StorePort = memoryStore(), ties = false) {
    this.api = api;
    this.store = store;
    this.clock = fakeClock(Date.parse('2026-01-01T00:00:00Z'));
    const following: Following = {
      ties,
      wants: ({ plural }) => (plural === 'gadgets' ? 'whole' : 'metadata'),
      discover: async () => {
        if (this.discovery instanceof Error) throw this.discovery;
        return this.discovery;
      },
    };
    this.informers = informersOn(this, [DEPLOYMENTS], following);
    this.informers.followed.onLook((look) => this.looks.push(look));
  }

  async start(): Promise<this> {
    this.informers.start(this.#stop.signal);
    await this.settle();
    return this;
  }

  async settle(): Promise<void> {
    await settled(this.clock);
  }

  async nextLook(): Promise<void> {
    await this.clock.advance(DISCOVERY_INTERVAL_MS);
    await this.settle();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.informers.stopped();
  }

  followed(resource: Resource): Followed {
    const id = resourceId(resource);
    return this.informers.followed.list().find((one) => resourceId(one.resource) === id)!;
  }

  names(resource: Resource): readonly string[] {
    const { informer } = this.followed(resource);
    return informer.lister.list('').map(({ name }) => name);
  }
}

const inNamespace = (name: string, more: object = {}) => ({
  metadata: { name, namespace: 'ns', ...more },
});

describe('following', () => {
  test('reads metadata of what discovery finds and shares the informer that is there', async () => {
    const { api } = new Process();
    api.put(WIDGETS, { ...inNamespace('a', { annotations: { big: 'x' } }), ...{ spec: { x: 1 } } });
    const process = await new Process(api).start();
    expect(process.names(WIDGETS)).toEqual(['a']);
    expect(api.asked).toContain('list widgets.example.com metadata');
    expect(api.asked).toContain('list deployments.apps');
    expect(api.asked).not.toContain('list deployments.apps metadata');
    expect(process.followed(SETS).informer).toBe(process.informers.of(DEPLOYMENTS) as never);
    const row = process.store.objects.get('widgets.example.com', 'ns/a');
    expect(JSON.parse(row!.json)).toEqual({
      apiVersion: 'meta.k8s.io/v1',
      kind: 'PartialObjectMetadata',
      metadata: { name: 'a', namespace: 'ns', uid: 'uid-a', resourceVersion: '101' },
    });
    await process.stop();
  });

  test('hears of new objects, and of new resources at the next look', async () => {
    const process = await new Process().start();
    process.api.put(WIDGETS, inNamespace('b'));
    await process.settle();
    expect(process.names(WIDGETS)).toEqual(['b']);
    process.discovery = discoveryOf([WIDGETS, GADGETS, SETS]);
    process.api.put(GADGETS, { ...inNamespace('g'), ...{ spec: { size: 3 } } });
    await process.nextLook();
    expect(process.looks.at(-1)?.added.map(({ resource }) => resource.plural)).toEqual(['gadgets']);
    const { informer } = process.followed(GADGETS);
    expect(informer.synced()).toBe(true);
    expect(informer.lister.get('ns/g')).toMatchObject({ spec: { size: 3 } });
    await process.stop();
  });

  test('what is served no longer ends, its rows go, its last records can be read', async () => {
    const process = await new Process().start();
    process.api.put(WIDGETS, inNamespace('a'));
    await process.settle();
    const open = process.api.watches;
    process.discovery = discoveryOf([SETS]);
    await process.nextLook();
    const [removed] = process.looks.at(-1)?.removed ?? [];
    expect(removed?.informer.lister.list('').map(({ name }) => name)).toEqual(['a']);
    expect(process.store.objects.get('widgets.example.com', 'ns/a')).toBeUndefined();
    expect(process.store.objects.resumePoint('widgets.example.com')).toBeUndefined();
    expect(process.api.watches).toBe(open - 1);
    expect(process.informers.followed.serving('example.com/v1', 'Widget')).toBeUndefined();
    await process.stop();
  });

  test('a group that can not be read keeps what is followed', async () => {
    const process = await new Process().start();
    process.discovery = discoveryOf([SETS], new Map([['example.com/v1', 'no answer']]));
    await process.nextLook();
    expect(process.looks.at(-1)).toMatchObject({ removed: [], learned: 'part' });
    expect(process.followed(WIDGETS)).toBeDefined();
    process.discovery = new Error('no route');
    await process.nextLook();
    expect(process.looks.at(-1)).toMatchObject({ learned: 'nothing', problem: 'no route' });
    expect(process.followed(WIDGETS)).toBeDefined();
    await process.stop();
  });

  test('another preferred version gets an informer of its own', async () => {
    const process = await new Process().start();
    const before = process.followed(WIDGETS).informer;
    process.discovery = discoveryOf([{ ...WIDGETS, version: 'v2' }, WIDGETS, SETS]);
    await process.nextLook();
    expect(process.followed(WIDGETS).resource.version).toBe('v2');
    expect(process.followed(WIDGETS).informer).not.toBe(before);
    expect(process.informers.followed.serving('example.com/v1', 'Widget')).toBeDefined();
    await process.stop();
  });

  test('kinds are found in every served version', async () => {
    const process = await new Process().start();
    const { followed } = process.informers;
    expect(followed.serving('apps/v1', 'Deployment')?.plural).toBe('deployments');
    expect(followed.serving('apps/v1beta1', 'Deployment')).toBeUndefined();
    await process.stop();
  });
});

describe('after a restart', () => {
  test('metadata is resumed without a list', async () => {
    const first = await new Process().start();
    first.api.put(WIDGETS, inNamespace('a'));
    await first.settle();
    await first.stop();
    first.api.put(WIDGETS, inNamespace('b'));
    first.api.asked.length = 0;
    const second = await new Process(first.api, first.store).start();
    expect([...second.names(WIDGETS)].sort()).toEqual(['a', 'b']);
    expect(first.api.asked).not.toContain('list widgets.example.com metadata');
    await second.stop();
  });

  test('without the history, what differs is listed and what is gone goes', async () => {
    const first = await new Process().start();
    const a = first.api.put(WIDGETS, inNamespace('a'));
    first.api.put(WIDGETS, inNamespace('b'));
    await first.settle();
    await first.stop();
    first.api.remove(WIDGETS, a);
    first.api.put(WIDGETS, inNamespace('c'));
    first.api.compact();
    const second = await new Process(first.api, first.store).start();
    await second.clock.advance(5_000);
    await second.settle();
    expect([...second.names(WIDGETS)].sort()).toEqual(['b', 'c']);
    expect(second.followed(WIDGETS).informer.caughtUp()).toBe(true);
    await second.stop();
  });

  test('rows of a resource that is gone meanwhile are dropped', async () => {
    const first = await new Process().start();
    first.api.put(WIDGETS, inNamespace('a'));
    await first.settle();
    await first.stop();
    const second = new Process(first.api, first.store);
    second.discovery = discoveryOf([SETS]);
    await second.start();
    expect(second.store.objects.get('widgets.example.com', 'ns/a')).toBeUndefined();
    await second.stop();
  });

  test('objects of which only metadata is stored are listed when whole ones are needed', async () => {
    const first = new Process();
    first.api.put(DEPLOYMENTS, { ...inNamespace('web'), ...{ spec: { replicas: 1 } } });
    first.store.objects.put({
      resource: 'deployments.apps',
      key: 'ns/web',
      uid: 'uid-web',
      resourceVersion: '101',
      json: JSON.stringify({
        kind: 'PartialObjectMetadata',
        metadata: { name: 'web', namespace: 'ns', uid: 'uid-web', resourceVersion: '101' },
      }),
    });
    const point = { resource: 'deployments.apps', resourceVersion: '101', observedAt: 0 };
    first.store.objects.setResumePoint(point);
    await first.start();
    const informer = first.informers.of(DEPLOYMENTS);
    expect(informer.lister.get('ns/web')).toMatchObject({ spec: { replicas: 1 } });
    await first.stop();
  });
});

describe('what is not resumed', () => {
  test('APIs of other servers are listed by every process and never stored', async () => {
    const first = new Process();
    const services = { group: 'apiregistration.k8s.io', version: 'v1', plural: 'apiservices' };
    const resource = { ...services, kind: 'APIService', namespaced: false };
    const spec = { group: 'example.com', version: 'v1', service: { name: 's', namespace: 'n' } };
    first.api.put(resource, { metadata: { name: 'v1.example.com' }, ...{ spec } });
    await first.start();
    first.api.put(WIDGETS, inNamespace('a'));
    await first.settle();
    expect(first.names(WIDGETS)).toEqual(['a']);
    expect(first.store.objects.get('widgets.example.com', 'ns/a')).toBeUndefined();
    await first.stop();
    first.api.asked.length = 0;
    const second = await new Process(first.api, first.store).start();
    expect(first.api.asked).toContain('list widgets.example.com metadata');
    second.informers.expectCatchUp();
    first.api.asked.length = 0;
    await second.settle();
    expect(first.api.asked).toContain('list widgets.example.com metadata');
    await second.stop();
  });

  test('Leases are followed without a row', async () => {
    const process = new Process();
    process.discovery = discoveryOf([RENEWED]);
    process.api.put(LEASES, inNamespace('node-1'));
    await process.start();
    expect(process.names(LEASES)).toEqual(['node-1']);
    expect([...process.store.objects.scan('leases.coordination.k8s.io')]).toEqual([]);
    await process.stop();
  });
});

describe('a resource that can not be read', () => {
  test('keeps nobody from writing, and harms no other', async () => {
    const process = new Process();
    process.api.broken.add('widgets.example.com');
    await process.start();
    expect(process.followed(WIDGETS).informer.synced()).toBe(false);
    await process.clock.advance(60_000);
    await process.settle();
    expect(process.informers.trusted()).toBe(true);
    process.api.put(DEPLOYMENTS, inNamespace('web'));
    await process.settle();
    expect(process.names(SETS)).toEqual(['web']);
    process.api.broken.clear();
    await process.clock.advance(60_000);
    await process.settle();
    expect(process.followed(WIDGETS).informer.synced()).toBe(true);
    await process.stop();
  });
});

describe('records of followed resources', () => {
  test('share their ties and tell of finalizers', async () => {
    const process = new Process(new FakeApi(), memoryStore(), true);
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'uid-rs' };
    const tied = { ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }] };
    for (const name of ['a', 'b']) process.api.put(WIDGETS, inNamespace(name, tied));
    process.api.put(WIDGETS, inNamespace('c', { finalizers: ['foregroundDeletion', 'x'] }));
    await process.start();
    const { lister } = process.followed(WIDGETS).informer;
    expect(lister.record('ns/a')?.ties).toBe(lister.record('ns/b')?.ties);
    expect(lister.record('ns/a')?.ties?.owners[0]).toMatchObject(owner);
    expect(lister.record('ns/a')?.controller?.uid).toBe('uid-rs');
    expect(lister.record('ns/c')?.ties).toEqual({ owners: [], foreground: true, orphan: false });
    await process.stop();
  });

  test('a change that nobody reads costs no row of its own', async () => {
    const process = await new Process().start();
    process.api.put(WIDGETS, inNamespace('a'));
    await process.settle();
    const point = () => process.store.objects.resumePoint('widgets.example.com')?.resourceVersion;
    const before = point();
    process.api.put(WIDGETS, inNamespace('a', { generation: 2 }));
    await process.settle();
    expect(process.followed(WIDGETS).informer.lister.record('ns/a')?.resourceVersion).toBe('102');
    expect(process.followed(WIDGETS).informer.resourceVersion()).toBe('102');
    expect(process.store.objects.get('widgets.example.com', 'ns/a')?.resourceVersion).toBe('101');
    expect(point()).toBe(before!);
    process.store.commit();
    expect(process.store.objects.get('widgets.example.com', 'ns/a')?.resourceVersion).toBe('102');
    expect(point()).toBe('102');
    await process.stop();
  });
});
