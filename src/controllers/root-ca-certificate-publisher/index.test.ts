import { describe, expect, test } from 'bun:test';
import { ApiError, FencedError } from '../../api/errors.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../api/resource.ts';
import type { ConfigMap, Namespace } from '../../api/types/index.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { FakeRun, refusal } from '../_kit/testing/fake-run.ts';
import { rootCaCertificatePublisherController } from './index.ts';

const NAME = 'kube-root-ca.crt';
const PEM = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n';
const DESCRIPTION = 'kubernetes.io/description';

function configMap(
  data: Record<string, string> | undefined = { 'ca.crt': PEM },
  annotations: Record<string, string> | undefined = { [DESCRIPTION]: 'what it is' },
  name = NAME,
): ConfigMap {
  return {
    metadata: { name, namespace: 'team', uid: name, resourceVersion: '1', annotations },
    data,
  };
}

function namespace(phase: string): Namespace {
  return { metadata: { name: 'team', uid: 'u', resourceVersion: '1' }, status: { phase } };
}

function setUp() {
  const { context, informers, queues } = fakeContext({ now: 0 });
  const built = rootCaCertificatePublisherController.build({ ...context, rootCaPem: PEM });
  const [definition] = built!.queues;
  const run = new FakeRun(0);
  return {
    configMaps: informers.of<ConfigMap>(CONFIG_MAPS),
    namespaces: informers.of<Namespace>(NAMESPACES),
    queue: queues.get('root_ca_cert_publisher')!,
    metrics: context.metrics,
    run,
    sync: () => definition!.reconcile('team', run),
  };
}

describe('what queues a namespace', () => {
  test('its coming; its change while Active', () => {
    const { namespaces, queue } = setUp();
    namespaces.put(namespace('Terminating'));
    expect(queue.drain()).toEqual(['team']);
    namespaces.put(namespace('Terminating'));
    expect(queue.drain()).toEqual([]);
    namespaces.put(namespace('Active'));
    expect(queue.drain()).toEqual(['team']);
  });

  test('change and deletion of its ConfigMap, not of another', () => {
    const { configMaps, queue } = setUp();
    const other = configMap({}, {}, 'other');
    configMaps.put(configMap(), other);
    expect(queue.drain()).toEqual([]);
    configMaps.put(configMap());
    expect(queue.drain()).toEqual(['team']);
    configMaps.remove(configMap());
    expect(queue.drain()).toEqual(['team']);
    configMaps.put(other);
    configMaps.remove(other);
    expect(queue.drain()).toEqual([]);
  });
});

describe('a sync', () => {
  test('creates the missing ConfigMap with bundle and description', async () => {
    const { run, sync } = setUp();
    await sync();
    expect(run.writes).toMatchObject([
      {
        verb: 'create',
        resource: 'configmaps',
        key: `team/${NAME}`,
        body: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: {
            name: NAME,
            namespace: 'team',
            annotations: {
              [DESCRIPTION]: expect.stringMatching(/^Contains a CA bundle .*clusters\.$/),
            },
          },
          data: { 'ca.crt': PEM },
        },
      },
    ]);
  });

  test('leaves a right one alone, whatever its description says', async () => {
    const { configMaps, run, sync } = setUp();
    configMaps.put(configMap());
    await sync();
    expect(run.writes).toEqual([]);
  });

  test.each<[string, ConfigMap]>([
    ['another bundle', configMap({ 'ca.crt': 'other' })],
    ['a key more', configMap({ 'ca.crt': PEM, more: '' })],
    ['no data', { ...configMap(), data: undefined }],
    ['no description', configMap(undefined, { team: 'a' })],
    ['an empty description', configMap(undefined, { [DESCRIPTION]: '' })],
  ])('rewrites one with %s', async (_, stored) => {
    const { configMaps, run, sync } = setUp();
    configMaps.put(stored);
    await sync();
    const [write] = run.writes;
    expect(write).toMatchObject({ verb: 'update', key: `team/${NAME}` });
    expect(write?.body).toMatchObject({
      metadata: {
        uid: NAME,
        resourceVersion: '1',
        annotations: {
          ...stored.metadata.annotations,
          [DESCRIPTION]: expect.stringMatching(/^Cont/),
        },
      },
    });
    const body = write?.body as ConfigMap | undefined;
    expect(body?.data).toEqual({ 'ca.crt': PEM });
  });

  test('does not insist in a namespace that is gone or going; other refusals fail', async () => {
    const causes = [{ reason: 'NamespaceTerminating' }];
    const { run, sync, metrics } = setUp();
    run.failNext('create', refusal(404, 'NotFound'));
    await sync();
    run.failNext('create', new ApiError(403, 'going', { details: { causes } }));
    await sync();
    run.failNext('create', refusal(409, 'AlreadyExists', 'there already'));
    await expect(sync()).rejects.toThrow('there already');
    run.failNext('create', new Error('no answer'));
    await expect(sync()).rejects.toThrow('no answer');
    const text = await metrics.registry.metrics();
    expect(text).toContain('root_ca_cert_publisher_sync_total{code="200"} 2');
    expect(text).toContain('root_ca_cert_publisher_sync_total{code="409"} 1');
    expect(text).toContain('root_ca_cert_publisher_sync_total{code="500"} 1');
    expect(text).toContain('root_ca_cert_publisher_sync_duration_seconds_count{code="200"} 2');
    expect(text).toContain('le="16.384",code="200"');
  });

  test('counts no sync that ended because this process must not write', async () => {
    const { run, sync, metrics } = setUp();
    run.failNext('create', new FencedError());
    await expect(sync()).rejects.toThrow(FencedError);
    expect(await metrics.registry.metrics()).not.toContain('sync_total{');
  });
});
