import { describe, expect, test } from 'bun:test';
import { PODS, RESOURCE_QUOTAS, SERVICES } from '../../api/resource.ts';
import type { Pod, ResourceQuota, Service } from '../../api/types/index.ts';
import type { ServedResource } from '../../runtime/controller.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun } from '../_kit/testing/fake-run.ts';
import { podOf } from '../_kit/testing/objects.ts';
import { resourceQuotaController } from './index.ts';

const NOW = Date.parse('2026-05-20T12:00:00Z');
const MINUTE_MS = 60_000;
const VERBS = ['create', 'list', 'watch', 'delete'];
const served = (group: string, plural: string, kind: string): ServedResource => {
  return { group, version: 'v1', plural, kind, namespaced: true, verbs: VERBS };
};
const MAPS = served('', 'configmaps', 'ConfigMap');
const WIDGETS = served('example.com', 'widgets', 'Widget');

type Hard = Record<string, string>;

function quotaOf(hard: Hard, more: object = {}, name = 'q'): ResourceQuota {
  const metadata = { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '1' };
  return { metadata, spec: { hard }, ...more };
}

function told(hard: Hard, used: Hard): object {
  return { status: { hard, used } };
}

function thing(name: string) {
  return { metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '1' } };
}

function asking(name: string, cpu: string, more: object = {}): Pod {
  const pod = podOf({ name, ...more });
  return { ...pod, spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }] } };
}

function setUp(fill: (fakes: ReturnType<typeof fakeContext>) => void = () => undefined) {
  const flags = {
    'concurrent-resource-quota-syncs': 5,
    'resource-quota-sync-period': 5 * MINUTE_MS,
  };
  const fakes = fakeContext({ now: NOW, flags });
  const { informers, queues, clock } = fakes;
  fill(fakes);
  const { followed } = informers;
  for (const kind of [MAPS, WIDGETS]) followed.serve(kind);
  followed.add({ ...PODS, verbs: VERBS }, informers.pods());
  followed.add({ ...SERVICES, verbs: VERBS }, informers.of<Service>(SERVICES));
  const controller = resourceQuotaController.build(fakes.context)!;
  const quotas = informers.of<ResourceQuota>(RESOURCE_QUOTAS);
  const queue = (name: string) => queues.get(name)!;
  const [primary, urgent] = [queue('resourcequota_primary'), queue('resourcequota_priority')];
  const changes = queue('resource_quota_controller_resource_changes');
  const sync = async (key = 'default/q') => {
    const run = new FakeRun(clock.now());
    let problem = '';
    const syncing = controller.queues[0]!.reconcile(key, run).catch((error: Error) => {
      problem = error.message;
    });
    await clock.advance(0);
    await syncing;
    const [write] = run.writes;
    const status = (write?.body as ResourceQuota | undefined)?.status;
    if (status !== undefined) {
      const quota = quotas.get(key)!;
      quotas.put({ ...quota, status });
    }
    return { status, problem, write };
  };
  const replenish = async () => {
    const due = changes.drain();
    for (const key of due) await controller.queues[2]!.reconcile(key, new FakeRun(NOW));
    return due;
  };
  return { ...fakes, controller, quotas, primary, urgent, changes, sync, replenish };
}

describe('a quota is due', () => {
  test('urgently when it is new, when limits change, when usage is not known', () => {
    const { quotas, primary, urgent } = setUp();
    quotas.put(quotaOf({ pods: '1' }));
    expect(urgent.drain()).toEqual(['default/q']);
    quotas.put(quotaOf({ pods: '2' }, told({ pods: '1' }, { pods: '0' })));
    expect(urgent.drain()).toEqual(['default/q']);
    quotas.put(quotaOf({ pods: '3' }, told({ pods: '3' }, {})));
    expect(urgent.drain()).toEqual(['default/q']);
    expect(primary.drain()).toEqual([]);
  });

  test('in turn when all is told, or the unknown can not be measured', () => {
    const { quotas, primary, urgent } = setUp();
    quotas.put(quotaOf({ pods: '1' }, told({ pods: '1' }, { pods: '0' })));
    expect(primary.drain()).toEqual(['default/q']);
    quotas.put(quotaOf({ 'example.com/x': '1' }, told({ 'example.com/x': '1' }, {}), 'r'));
    expect(primary.drain()).toEqual(['default/r']);
    expect(urgent.drain()).toEqual([]);
  });

  test('not when only its status changed', () => {
    const { quotas, primary, urgent } = setUp();
    quotas.put(quotaOf({ pods: '1000m' }, told({ pods: '1' }, { pods: '0' })));
    primary.drain();
    quotas.put(quotaOf({ pods: '1' }, told({ pods: '1' }, { pods: '1' })));
    expect([...primary.drain(), ...urgent.drain()]).toEqual([]);
  });

  test('with all others at the start and every five minutes', async () => {
    const { quotas, primary, controller, clock } = setUp();
    quotas.put(quotaOf({ pods: '1' }, told({ pods: '1' }, { pods: '0' })));
    primary.drain();
    const lead = new AbortController();
    await controller.start?.(lead.signal);
    expect(primary.drain()).toEqual(['default/q']);
    await clock.advance(5 * MINUTE_MS);
    expect(primary.drain()).toEqual(['default/q']);
    lead.abort();
    await clock.advance(20 * MINUTE_MS);
    expect(primary.drain()).toEqual([]);
  });
});

describe('usage', () => {
  test('is counted in the namespace of the quota', async () => {
    const { quotas, informers, sync } = setUp();
    informers
      .pods()
      .put(asking('a', '100m'), asking('b', '1', {}), asking('c', '5', { namespace: 'x' }));
    informers.followed.serve(WIDGETS).put(thing('w1'), thing('w2'));
    informers.followed.serve(MAPS).put(thing('m'));
    quotas.put(
      quotaOf({
        pods: '10',
        'requests.cpu': '8',
        'count/widgets.example.com': '5',
        'count/configmaps': '5',
        configmaps: '5',
        services: '3',
        'count/unheard.example.com': '1',
      }),
    );
    const { status, write } = await sync();
    expect(status?.used).toEqual({
      pods: '2',
      'requests.cpu': '1100m',
      'count/widgets.example.com': '2',
      'count/configmaps': '1',
      configmaps: '1',
      services: '0',
    });
    expect(write).toMatchObject({ verb: 'update', resource: 'resourcequotas/status' });
    expect((await sync()).write).toBeUndefined();
  });

  test('is only that of objects in the scopes', async () => {
    const { quotas, informers, sync } = setUp();
    const timed = asking('timed', '1');
    informers.pods().put(asking('plain', '2'), {
      ...timed,
      spec: { ...timed.spec!, activeDeadlineSeconds: 5 },
    });
    informers.followed.serve(MAPS).put(thing('m'));
    const spec = { hard: { cpu: '9', 'count/configmaps': '9' }, scopes: ['Terminating'] };
    quotas.put({ ...quotaOf({}), spec });
    expect((await sync()).status?.used).toEqual({ cpu: '1', 'count/configmaps': '0' });
  });

  test('of what is not complete stays as it was, and the quota comes again', async () => {
    const { quotas, informers, sync } = setUp();
    informers.followed.serve(WIDGETS).complete = false;
    informers.pods().put(asking('a', '1'));
    const hard = { pods: '3', 'count/widgets.example.com': '4' };
    quotas.put(quotaOf(hard, told(hard, { pods: '0', 'count/widgets.example.com': '2' })));
    const { status, problem } = await sync();
    expect(status?.used).toEqual({ pods: '1', 'count/widgets.example.com': '2' });
    expect(problem).toBe('failed to list content: example.com/v1, Resource=widgets not yet synced');
  });

  test('of a cache that is behind is not counted until it has caught up, then always', async () => {
    const { quotas, informers, controller, sync, clock } = setUp();
    const maps = informers.followed.serve(MAPS);
    maps.caughtUp = () => false;
    maps.put(thing('m'));
    const hard = { 'count/configmaps': '4' };
    quotas.put(quotaOf(hard, told(hard, { 'count/configmaps': '2' })));
    let started = false;
    void Promise.resolve(controller.start?.(new AbortController().signal)).then(() => {
      started = true;
    });
    await clock.advance(29_000);
    expect(started).toBe(false);
    expect((await sync()).problem).toBe(
      'failed to list content: /v1, Resource=configmaps not yet synced',
    );
    maps.caughtUp = () => true;
    await clock.advance(1_000);
    expect(started).toBe(true);
    expect((await sync()).status?.used).toEqual({ 'count/configmaps': '1' });
    maps.caughtUp = () => false;
    maps.put(thing('n'));
    expect((await sync()).status?.used).toEqual({ 'count/configmaps': '2' });
  });

  test('follows pods that change, end, or hang in their deletion', async () => {
    const { quotas, informers, sync, clock } = setUp();
    const pods = informers.pods();
    pods.put(asking('a', '1'), asking('b', '2'));
    quotas.put(quotaOf({ cpu: '9', pods: '9', 'count/pods': '9' }));
    expect((await sync()).status?.used).toMatchObject({ cpu: '3', pods: '2' });
    pods.put(asking('a', '4', { resourceVersion: '2' }));
    expect((await sync()).status?.used).toMatchObject({ cpu: '6' });
    pods.put(asking('b', '2', { resourceVersion: '3', phase: 'Failed' }));
    expect((await sync()).status?.used).toEqual({ cpu: '4', pods: '1', 'count/pods': '2' });
    const going = asking('a', '4', { resourceVersion: '4', deletedAt: NOW });
    pods.put({ ...going, metadata: { ...going.metadata, deletionGracePeriodSeconds: 30 } });
    expect((await sync()).status).toBeUndefined();
    await clock.advance(31_000);
    expect((await sync()).status?.used).toEqual({ cpu: '0', pods: '0', 'count/pods': '2' });
  });

  test('of many equal pods is priced once for each', async () => {
    const { quotas, informers, sync } = setUp();
    const pods = informers.pods();
    for (let index = 0; index < 199; index++) pods.put(asking(`p${index}`, '10m'));
    let reads = 0;
    const { get } = pods;
    pods.get = (key) => {
      reads++;
      return get.call(pods, key);
    };
    quotas.put(quotaOf({ cpu: '9' }));
    expect((await sync()).status?.used).toEqual({ cpu: '1990m' });
    expect(reads).toBe(199);
    pods.put(asking('p0', '20m', { resourceVersion: '2' }));
    reads = 0;
    expect((await sync()).status?.used).toEqual({ cpu: '2' });
    expect(reads).toBeLessThanOrEqual(1);
  });
});

describe('what goes away makes quotas due that limit it', () => {
  test('and no others', async () => {
    const { quotas, informers, primary, replenish } = setUp();
    quotas.put(quotaOf({ pods: '1' }, told({ pods: '1' }, { pods: '0' })));
    quotas.put(quotaOf({ services: '1' }, told({ services: '1' }, { services: '0' }), 's'));
    const widgets = { 'count/widgets.example.com': '1' };
    quotas.put(quotaOf(widgets, told(widgets, widgets), 'w'));
    primary.drain();
    const pod = asking('a', '1');
    informers.pods().put(pod);
    const widget = thing('w');
    informers.followed.serve(WIDGETS).put(widget);
    expect(await replenish()).toEqual([]);
    informers.pods().remove(pod);
    expect(await replenish()).toEqual(['pods default']);
    expect(primary.drain()).toEqual(['default/q']);
    informers.followed.serve(WIDGETS).remove(widget);
    await replenish();
    expect(primary.drain()).toEqual(['default/w']);
  });

  test('also before their own status has been seen', async () => {
    const { quotas, informers, primary, replenish } = setUp();
    const pod = asking('a', '1');
    informers.pods().put(pod);
    quotas.put(quotaOf({ pods: '1' }));
    informers.pods().remove(pod);
    await replenish();
    expect(primary.drain()).toEqual(['default/q']);
  });

  test('in namespaces without a quota costs nothing', async () => {
    const { informers, replenish } = setUp();
    const pod = asking('a', '1');
    informers.pods().put(pod);
    informers.pods().remove(pod);
    expect(await replenish()).toEqual([]);
  });

  test('also a pod that ends, or whose resources change', async () => {
    const { quotas, informers, replenish, sync } = setUp();
    const pods = informers.pods();
    pods.put(asking('a', '1'), asking('b', '1'));
    quotas.put(quotaOf({ pods: '9', cpu: '9' }));
    await sync();
    pods.put(asking('a', '1', { resourceVersion: '2', ready: false }));
    expect(await replenish()).toEqual([]);
    pods.put(asking('a', '2', { resourceVersion: '3' }));
    expect(await replenish()).toEqual(['pods default']);
    pods.put(asking('b', '1', { resourceVersion: '4', phase: 'Succeeded' }));
    expect(await replenish()).toEqual(['pods default']);
  });

  test('also a pod of which the disk has lost all but the record', async () => {
    const { quotas, informers, replenish, sync } = setUp();
    const pods = informers.pods();
    pods.put(asking('a', '1'));
    quotas.put(quotaOf({ cpu: '9' }));
    await sync();
    const get = pods.get.bind(pods);
    pods.get = () => {
      throw new Error('lost');
    };
    pods.put(asking('a', '2', { resourceVersion: '2' }), asking('b', '1'));
    pods.get = get;
    expect(await replenish()).toEqual(['pods default']);
    expect((await sync()).status?.used).toEqual({ cpu: '3' });
  });

  test('also a Service that changes its type', async () => {
    const { quotas, informers, replenish, sync } = setUp();
    const services = informers.of<Service>(SERVICES);
    const service = (type: string, resourceVersion: string): Service => {
      const { metadata } = thing('s');
      return { metadata: { ...metadata, resourceVersion }, spec: { type, ports: [{ port: 1 }] } };
    };
    services.put(service('NodePort', '1'));
    quotas.put(quotaOf({ 'services.nodeports': '9' }));
    await sync();
    services.put(service('ClusterIP', '2'));
    expect(await replenish()).toEqual(['services default']);
  });
});

describe('an object that a written status did not count', () => {
  // The fake server gives its writes versions from 1000 on.
  const seenLate = (name: string, resourceVersion: string) =>
    asking(name, '1', { resourceVersion });

  test('makes its quota due if it was there before the writing', async () => {
    const { quotas, informers, replenish, sync, primary } = setUp();
    quotas.put(quotaOf({ pods: '9' }));
    expect((await sync()).status?.used).toEqual({ pods: '0' });
    informers.pods().put(seenLate('late', '999'));
    expect(await replenish()).toEqual(['pods default']);
    expect(primary.drain()).toEqual(['default/q']);
    expect((await sync()).status?.used).toEqual({ pods: '1' });
  });

  test('does not if it came afterwards: admission has charged it', async () => {
    const { quotas, informers, replenish, sync } = setUp();
    quotas.put(quotaOf({ pods: '9' }));
    await sync();
    informers.pods().put(seenLate('new', '2000'));
    informers.followed
      .serve(MAPS)
      .put({ metadata: { ...thing('m').metadata, resourceVersion: '2001' } });
    expect(await replenish()).toEqual([]);
  });

  test('is counted again if it appeared during the writing', async () => {
    const { quotas, informers, controller, primary } = setUp();
    quotas.put(quotaOf({ pods: '9' }));
    primary.drain();
    const run = new FakeRun(NOW);
    const { update } = run;
    run.update = async (...given) => {
      informers.pods().put(seenLate('between', '999'));
      return (await update.apply(run, given)) as never;
    };
    await controller.queues[0]!.reconcile('default/q', run);
    expect(primary.drain()).toEqual(['default/q']);
  });
});

describe('resources come and go', () => {
  test('a new one can be limited once its cache is complete', async () => {
    const { quotas, informers, sync, clock } = setUp();
    const GADGETS = served('other.com', 'gadgets', 'Gadget');
    quotas.put(quotaOf({ 'count/gadgets.other.com': '5' }));
    expect((await sync()).status?.used).toEqual({});
    const gadgets = informers.followed.serve(GADGETS);
    gadgets.complete = false;
    gadgets.put(thing('g'));
    informers.followed.look({ added: informers.followed.list().slice(-1) });
    let synced: Awaited<ReturnType<typeof sync>> | undefined;
    const syncing = sync().then((result) => {
      synced = result;
    });
    await clock.advance(10_000);
    expect(synced).toBeUndefined();
    gadgets.complete = true;
    await clock.advance(200);
    await syncing;
    expect(synced?.status?.used).toEqual({ 'count/gadgets.other.com': '1' });
  });

  test('what could not be discovered is told, whether it is a part or all', () => {
    const { informers, lines } = setUp();
    informers.followed.look();
    expect(lines).toEqual([]);
    informers.followed.look({ learned: 'part', problem: 'example.com/v1: down' });
    informers.followed.look({ learned: 'nothing', problem: 'no route' });
    expect(lines).toEqual(Array(2).fill('Error during resource discovery'));
  });

  test('one that is lost keeps the usage it had', async () => {
    const { quotas, informers, sync } = setUp();
    informers.followed.serve(WIDGETS).put(thing('w'));
    const hard = { 'count/widgets.example.com': '5', pods: '1' };
    quotas.put(quotaOf(hard));
    await sync();
    const lost = informers.followed.list().filter(({ resource }) => resource.kind === 'Widget');
    informers.followed.look({ removed: lost });
    informers.pods().put(asking('a', '1'));
    const { status } = await sync();
    expect(status?.used).toEqual({ 'count/widgets.example.com': '1', pods: '1' });
  });
});
