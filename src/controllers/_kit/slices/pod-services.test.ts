import { describe, expect, test } from 'bun:test';
import { SERVICES } from '../../../api/resource.ts';
import type { Service } from '../../../api/types/index.ts';
import type { ServiceRecord } from '../../../runtime/informer/types.ts';
import { FakeInformers } from '../testing/fake-informers.ts';
import { PodServices } from './pod-services.ts';
import { type PodFacts, service, wholePod } from './testing/build.ts';

function setUp() {
  const informers = new FakeInformers();
  const services = informers.of<Service, ServiceRecord>(SERVICES);
  const byPods: string[] = [];
  const byServices: string[] = [];
  const podServices = new PodServices(services.lister);
  services.addHandler(podServices.services((key) => byServices.push(key)));
  const pods = informers.pods();
  const listen = () => pods.addHandler(podServices.pods((key) => byPods.push(key)));
  const drain = (list: string[]) => list.splice(0).sort();
  return {
    services,
    pods,
    listen,
    byPods: () => drain(byPods),
    byServices: () => drain(byServices),
  };
}

const selecting = (
  name: string,
  selector: Record<string, string> | undefined,
  namespace = 'default',
) => service({ selector }, { name, namespace });

describe('a pod', () => {
  test('that comes or goes concerns the Services of its namespace that select it', () => {
    const { services, pods, listen, byPods } = setUp();
    services.put(
      selecting('web', { app: 'web' }),
      selecting('front', { app: 'web', tier: 'front' }),
      selecting('none', undefined),
      selecting('web', { app: 'web' }, 'other'),
    );
    listen();
    pods.put(wholePod('web-1'));
    expect(byPods()).toEqual(['default/web']);
    pods.put(wholePod('web-2', { labels: { app: 'web', tier: 'front' } }));
    expect(byPods()).toEqual(['default/front', 'default/web']);
    pods.remove(wholePod('web-2', { labels: { app: 'web', tier: 'front' } }));
    expect(byPods()).toEqual(['default/front', 'default/web']);
    pods.put(wholePod('db', { labels: { app: 'db' } }));
    expect(byPods()).toEqual([]);
  });

  test('that was there at the start concerns nobody: all Services are synced then', () => {
    const { services, pods, listen, byPods } = setUp();
    services.put(selecting('web', { app: 'web' }));
    pods.put(wholePod('web-1'));
    listen();
    expect(byPods()).toEqual([]);
  });

  test.each<[string, PodFacts, boolean]>([
    ['gets unready', { ready: false }, true],
    ['is being deleted', { deleting: true }, true],
    ['has another address', { ips: ['10.0.0.9'] }, true],
    ['has one address more', { ips: ['10.0.0.1', 'fd00::1'] }, true],
    ['is over', { phase: 'Succeeded' }, true],
    ['is another one of that name', { uid: 'other' }, true],
    ['has run for a while', { phase: 'Running' }, false],
    ['changed its readiness twice', { readySince: 1_000 }, false],
  ])('that %s', (_, facts, concerns) => {
    const { services, pods, listen, byPods } = setUp();
    services.put(selecting('web', { app: 'web' }));
    pods.put(wholePod('web-1'));
    listen();
    pods.put(wholePod('web-1', { resourceVersion: '2', ...facts }));
    expect(byPods()).toEqual(concerns ? ['default/web'] : []);
  });

  test('whose labels change concerns those that select it no more or anew', () => {
    const { services, pods, listen, byPods } = setUp();
    for (const app of ['a', 'b']) services.put(selecting(app, { app }));
    services.put(selecting('both', { team: 'x' }));
    pods.put(wholePod('web-1', { labels: { app: 'a', team: 'x' } }));
    listen();
    const moved = { labels: { app: 'b', team: 'x' } };
    pods.put(wholePod('web-1', { resourceVersion: '2', ...moved }));
    expect(byPods()).toEqual(['default/a', 'default/b']);
    const back = { labels: { app: 'a', team: 'x' }, ready: false };
    pods.put(wholePod('web-1', { resourceVersion: '3', ...back }));
    expect(byPods()).toEqual(['default/a', 'default/b', 'default/both']);
  });
});

describe('a Service', () => {
  test('concerns itself whatever happens to it', () => {
    const { services, byServices } = setUp();
    services.put(selecting('web', { app: 'web' }));
    services.put(selecting('web', { app: 'web' }));
    services.remove(selecting('web', { app: 'web' }));
    expect(byServices()).toEqual(['default/web', 'default/web', 'default/web']);
  });

  test('that selects others from now on is found by them', () => {
    const { services, pods, listen, byPods } = setUp();
    listen();
    const labels = { app: 'db' };
    services.put(selecting('web', { app: 'web' }));
    pods.put(wholePod('web-1', { labels }));
    expect(byPods()).toEqual([]);
    services.put(selecting('web', labels));
    pods.put(wholePod('web-2', { labels }));
    expect(byPods()).toEqual(['default/web']);
    services.remove(selecting('web', labels));
    pods.put(wholePod('web-3', { labels }));
    expect(byPods()).toEqual([]);
  });
});
