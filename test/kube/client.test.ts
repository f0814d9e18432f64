/** The client against a real API server. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type ApiError,
  isAlreadyExists,
  isConflict,
  isExpired,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
} from '../../src/api/errors.ts';
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  NAMESPACES,
  PODS,
  SERVICE_ACCOUNTS,
} from '../../src/api/resource.ts';
import type { ConfigMap, Deployment, KubeObject, Pod } from '../../src/api/types/index.ts';
import {
  type ClientFactory,
  createClientFactory,
  createMapper,
  discover,
  type KubeClient,
  loadClientConfig,
  supportsVerbs,
  type WatchEvent,
  type WatchOptions,
} from '../../src/kube/index.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { type Cluster, startCluster } from '../rig/index.ts';
import { failureOf, memoryLog, TestFence } from './support/parts.ts';

setDefaultTimeout(120_000);

let cluster: Cluster;
let factory: ClientFactory;
let client: KubeClient;
let namespace: string;
const metrics = createMetrics({ process: 'none' });

async function factoryFor(user: string, useServiceAccountCredentials: boolean) {
  const config = await loadClientConfig({ kubeconfig: cluster.kubeconfig(user), env: {} });
  return createClientFactory(config, {
    clock: systemClock(),
    log: memoryLog(),
    metrics,
    fence: new TestFence(),
    qps: -1,
    burst: 0,
    useServiceAccountCredentials,
    version: '0.0.1',
  });
}

beforeAll(async () => {
  cluster = await startCluster();
  factory = await factoryFor('admin', false);
  client = factory.client('tester');
  namespace = await cluster.namespace('kube-client');
});
afterAll(async () => {
  factory.close();
  await cluster.stop();
});

const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels: { test: 'yes' } },
  data,
});

const podSpec = { containers: [{ name: 'c', image: 'none' }] };

/** Reads a watch until an event satisfies `last`, or it ends. */
async function watchUntil(
  options: WatchOptions,
  last: (event: WatchEvent) => boolean,
): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  for await (const chunk of client.watch(CONFIG_MAPS, options)) {
    events.push(...chunk);
    if (chunk.some(last)) break;
  }
  return events;
}

describe('writing', () => {
  test('create, read, update, patch and delete one object', async () => {
    const at = { namespace, name: 'life' };
    const created = await client.create<ConfigMap>(CONFIG_MAPS, { namespace }, configMap('life'));
    const updated = await client.update<ConfigMap>(CONFIG_MAPS, at, {
      ...created,
      data: { a: '1' },
    });
    expect(updated.metadata.managedFields?.map(({ manager }) => manager)).toContain(
      'kube-controller-manager',
    );
    const stale = await failureOf(client.update(CONFIG_MAPS, at, { ...created, data: { a: '2' } }));
    expect(isConflict(stale)).toBe(true);
    await client.patch(CONFIG_MAPS, at, 'merge', { data: { b: '2' } });
    await client.patch(CONFIG_MAPS, at, 'strategic', { data: { c: '3' } });
    await client.patch(CONFIG_MAPS, at, 'json', [{ op: 'add', path: '/data/d', value: '4' }]);
    const apply = { apiVersion: 'v1', kind: 'ConfigMap', metadata: at, data: { e: '5' } };
    await client.patch(CONFIG_MAPS, at, 'apply', apply, { fieldManager: 'applier', force: true });
    const read = await client.get<ConfigMap>(CONFIG_MAPS, at);
    expect(read.data).toEqual({ a: '1', b: '2', c: '3', d: '4', e: '5' });
    const wrongUid = await failureOf(client.delete(CONFIG_MAPS, at, { uid: 'someone-else' }));
    expect(isConflict(wrongUid)).toBe(true);
    await client.delete(CONFIG_MAPS, at, {
      uid: read.metadata.uid,
      preconditionResourceVersion: read.metadata.resourceVersion,
    });
    expect(isNotFound(await failureOf(client.get(CONFIG_MAPS, at)))).toBe(true);
  });

  test('a name that is taken, also with a generateName: one request', async () => {
    const metadata = { ...configMap('taken').metadata, generateName: 'tak' };
    const body = { ...configMap('taken'), metadata };
    const created = await client.create<ConfigMap>(CONFIG_MAPS, { namespace }, body);
    expect(created.metadata).toMatchObject({ name: 'taken', generateName: 'tak' });
    const error = await failureOf(client.create(CONFIG_MAPS, { namespace }, body));
    expect(isAlreadyExists(error)).toBe(true);
    expect((error as ApiError).retryAfterSeconds).toBe(1);
  });

  test('what validation refuses', async () => {
    const error = await failureOf(client.create(CONFIG_MAPS, { namespace }, configMap('No_Name')));
    expect(isInvalid(error)).toBe(true);
  });

  test('a namespace that ends takes nothing more', async () => {
    const ending = await cluster.namespace('ending');
    await client.delete(NAMESPACES, { name: ending });
    const metadata = { ...configMap('late').metadata, namespace: ending };
    const body = { ...configMap('late'), metadata };
    const error = await failureOf(client.create(CONFIG_MAPS, { namespace: ending }, body));
    expect(isNamespaceTerminating(error)).toBe(true);
  });

  test('a 64-bit integer in a template comes back to the last digit', async () => {
    const seconds = 9_223_372_036_854_775_807n;
    const labels = { app: 'big' };
    const tolerations = [{ key: 'k', effect: 'NoExecute', tolerationSeconds: seconds }];
    const body = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'big', namespace },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { ...podSpec, tolerations } },
      },
    };
    const created = await client.create<Deployment>(DEPLOYMENTS, { namespace }, body);
    const read = await client.update<Deployment>(DEPLOYMENTS, { namespace, name: 'big' }, created);
    const back: unknown = read.spec?.template.spec?.tolerations?.[0]?.tolerationSeconds;
    expect(back).toBe(seconds);
    const scale = { ...DEPLOYMENTS, kind: 'Scale' };
    const at = { namespace, name: 'big', subresource: 'scale' };
    expect(await client.get<KubeObject>(scale, at)).toMatchObject({ kind: 'Scale' });
  });

  test('many at once, then all away by their label', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `many-${index}`);
    const bodies = names.map((name) => {
      const body = configMap(name);
      return { ...body, metadata: { ...body.metadata, labels: { many: 'yes' } } };
    });
    await Promise.all(bodies.map((body) => client.create(CONFIG_MAPS, { namespace }, body)));
    const selector = { namespace, labelSelector: 'many=yes' };
    const first = await client.list<ConfigMap>(CONFIG_MAPS, { ...selector, limit: 30 });
    expect(first.items.length).toBe(30);
    expect(first.remainingItemCount).toBe(undefined);
    const rest = await client.list<ConfigMap>(CONFIG_MAPS, {
      ...selector,
      limit: 30,
      continue: first.continue,
    });
    expect([rest.items.length, rest.continue]).toEqual([10, '']);
    expect(rest.resourceVersion).toBe(first.resourceVersion);
    expect(rest.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    const heads = await client.list(CONFIG_MAPS, { ...selector, metadataOnly: true });
    expect(heads.items.length).toBe(40);
    expect(heads.items[0]).toMatchObject({ kind: 'PartialObjectMetadata' });
    await client.deleteCollection(CONFIG_MAPS, selector);
    expect((await client.list(CONFIG_MAPS, selector)).items).toEqual([]);
  });
});

describe('watching', () => {
  test('from a list on: changes, metadata alone, bookmarks, a clean end', async () => {
    const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace, limit: 1 });
    const at = { namespace, name: 'seen' };
    await client.create(CONFIG_MAPS, { namespace }, configMap('seen', { a: '1' }));
    await client.patch(CONFIG_MAPS, at, 'merge', { data: { a: '2' } });
    await client.delete(CONFIG_MAPS, at);
    const options = { namespace, resourceVersion, fieldSelector: 'metadata.name=seen' };
    const whole = await watchUntil(options, (event) => event.type === 'DELETED');
    expect(whole.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    const heads = await watchUntil(
      { ...options, metadataOnly: true },
      (event) => event.type === 'DELETED',
    );
    expect(heads[0]).toMatchObject({ object: { kind: 'PartialObjectMetadata' } });
    // A bookmark is only sent when something newer happens while the watch is open.
    let newer: Promise<unknown> | undefined;
    const bookmarked = await watchUntil({ ...options, timeoutSeconds: 5 }, () => {
      newer ??= client.create(CONFIG_MAPS, { namespace }, configMap('unseen'));
      return false;
    });
    await newer;
    expect(bookmarked.at(-1)).toMatchObject({ type: 'BOOKMARK', initialEventsEnd: false });
  });

  test('the current version of a resource costs one bookmark', async () => {
    const events = await watchUntil(
      { namespace: 'kube-system', sendInitialEvents: true, fieldSelector: 'metadata.name=-' },
      () => true,
    );
    expect(events).toMatchObject([{ type: 'BOOKMARK', initialEventsEnd: true }]);
    const { resourceVersion } = await client.list(CONFIG_MAPS, { limit: 1 });
    const [bookmark] = events;
    const seen = bookmark?.type === 'BOOKMARK' ? bookmark.resourceVersion : '';
    expect(resourceVersion.length).toBeGreaterThanOrEqual(seen.length);
  });

  test('a burst arrives whole and in order', async () => {
    const { resourceVersion } = await client.list(PODS, { namespace, limit: 1 });
    const count = 300;
    const watched = (async () => {
      const names: string[] = [];
      let version = resourceVersion;
      // A server that is short of time ends the watch of a busy client: it goes on at its version.
      while (names.length < count) {
        const options = { namespace, resourceVersion: version };
        for await (const chunk of client.watch<Pod>(PODS, options)) {
          for (const event of chunk) {
            if (event.type !== 'ADDED') continue;
            names.push(event.object.metadata.name);
            version = event.object.metadata.resourceVersion;
          }
          if (names.length >= count) break;
        }
      }
      return names;
    })();
    const created: string[] = [];
    await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const metadata = { name: `burst-${index}`, namespace };
        const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: podSpec };
        await client.create<Pod>(PODS, { namespace }, pod);
        created.push(metadata.name);
      }),
    );
    expect((await watched).toSorted()).toEqual(created.toSorted());
  });
});

describe('discovery', () => {
  test('finds the real resources', async () => {
    const discovery = await discover(client);
    expect([...discovery.failed]).toEqual([]);
    const mapper = createMapper(discovery);
    expect(mapper.ofKind('apps/v1', 'Deployment')).toMatchObject({
      plural: 'deployments',
      namespaced: true,
    });
    expect(mapper.ofGroupKind('', 'Pod')?.subresources).toContain('status');
    const deletable = mapper
      .preferred()
      .filter((found) => found.namespaced && supportsVerbs(found, 'delete', 'list', 'watch'))
      .map(({ plural }) => plural);
    expect(deletable).toEqual(expect.arrayContaining(['pods', 'configmaps', 'jobs', 'leases']));
    expect(deletable).not.toContain('bindings');
    expect(deletable).not.toContain('nodes');
  });

  test('plain paths', async () => {
    expect(await client.getPath('/healthz')).toBe('ok');
    expect(JSON.parse(await client.getPath('/version')).gitVersion).toStartWith('v1.');
  });
});

describe('who we are', () => {
  test('a controller under its own account', async () => {
    const manager = await factoryFor('kube-controller-manager', true);
    const own = manager.client('job-controller', { account: 'job-controller' });
    const error = (await failureOf(own.get(NAMESPACES, { name: 'kube-system' }))) as ApiError;
    expect(error.code).toBe(403);
    expect(error.message).toContain('system:serviceaccount:kube-system:job-controller');
    expect((await own.list(PODS, { namespace, limit: 1 })).items.length).toBe(1);
    const at = { namespace: 'kube-system', name: 'job-controller' };
    expect((await client.get(SERVICE_ACCOUNTS, at)).metadata.name).toBe('job-controller');
    manager.close();
  });

  test('somebody without rights, and the identity of the cluster', async () => {
    const nobody = await factoryFor('nobody', false);
    const error = (await failureOf(nobody.client('x').list(PODS))) as ApiError;
    expect([error.code, error.reason]).toEqual([403, 'Forbidden']);
    expect(nobody.caPem).toBe(cluster.caPem);
    expect(nobody.caHash).toBe(factory.caHash);
    expect(nobody.server).toBe(cluster.server);
    nobody.close();
  });
});

describe('a restart of the API server', () => {
  test('makes every earlier version expired, and clients go on', async () => {
    const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace, limit: 1 });
    await client.create(CONFIG_MAPS, { namespace }, configMap('newer'));
    await cluster.restartApiServer();
    await client.create(CONFIG_MAPS, { namespace }, configMap('after'));
    const error = await failureOf(watchUntil({ namespace, resourceVersion }, () => true));
    expect(isExpired(error)).toBe(true);
  });
});
