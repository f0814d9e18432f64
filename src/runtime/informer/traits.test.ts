import { describe, expect, test } from 'bun:test';
import { ENDPOINT_SLICES, PODS, SERVICES } from '../../api/resource.ts';
import type { KubeObject, Pod, Service } from '../../api/types/index.ts';
import { memoryObjects } from '../testing/memory-store.ts';
import { ResourceCache } from './cache.ts';
import { SLICES_BY_SERVICE } from './indexes.ts';
import { plainTraits, podTraits, type Redact } from './traits.ts';
import type { PodRecord, ServiceRecord } from './types.ts';

const keep: Redact = (_resource, object) => object;

function pod(name: string, fields: Partial<KubeObject['metadata']> = {}, port = 80): Pod {
  const metadata = { name, namespace: 'ns', uid: name, resourceVersion: '1', ...fields };
  const ports = [{ name: 'http', containerPort: port, protocol: 'TCP' }];
  return { metadata, spec: { nodeName: 'n', containers: [{ name: 'c', ports }] } };
}

describe('pods', () => {
  const cacheOf = (...pods: Pod[]): ResourceCache<Pod, PodRecord> => {
    const cache = new ResourceCache(PODS, memoryObjects(), podTraits(keep));
    for (const one of pods) cache.apply(one);
    return cache;
  };

  test('with equal ports hold one list of them', () => {
    const cache = cacheOf(pod('a'), pod('b'), pod('c', {}, 81));
    const ports = (name: string) => cache.record(`ns/${name}`)?.namedPorts;
    expect(ports('a')).toBe(ports('b') as object as never);
    expect(ports('c')).toEqual([{ name: 'http', port: 81, protocol: 'TCP' }]);
  });

  test('are found by namespace, labels, owner and node, whatever changes', () => {
    const names = (records: readonly PodRecord[]) => records.map(({ name }) => name).sort();
    const labels = { app: 'web' };
    const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x', controller: true };
    const cache = cacheOf(
      pod('a', { labels, ownerReferences: [owner] }),
      pod('b', { labels: { app: 'web' } }),
      pod('c', { labels: { app: 'db' } }),
      pod('d', { labels, namespace: 'other' }),
      pod('e'),
    );
    const web = (namespace = 'ns') => names(cache.selected(namespace, ({ app }) => app === 'web'));
    expect(web()).toEqual(['a', 'b']);
    expect(web('other')).toEqual(['d']);
    expect(names(cache.list('ns'))).toEqual(['a', 'b', 'c', 'e']);
    expect(names(cache.list(''))).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(names(cache.controlledBy('x'))).toEqual(['a']);
    expect(names(cache.orphans('ns'))).toEqual(['b', 'c', 'e']);
    expect(names(cache.byIndex('nodeName', 'n'))).toHaveLength(5);
    cache.apply(pod('a', { labels: { app: 'debug' }, resourceVersion: '2' }));
    cache.evict('ns/b');
    expect(web()).toEqual([]);
    expect(names(cache.list('ns'))).toEqual(['a', 'c', 'e']);
    cache.reset();
    expect(cache.list('ns')).toEqual([]);
  });
});

test('records of Services have the selector', () => {
  const traits = plainTraits<Service>(SERVICES, keep);
  const metadata = { name: 'web', namespace: 'ns', uid: 'u', resourceVersion: '1' };
  const selectorOf = (spec: Service['spec']) =>
    (traits.record({ metadata, spec }) as ServiceRecord).selector;
  expect(selectorOf({ selector: { app: 'web' } })).toEqual({ app: 'web' });
  expect(selectorOf({})).toBeUndefined();
});

test('slices are found by the Service they belong to', () => {
  const cache = new ResourceCache(
    ENDPOINT_SLICES,
    memoryObjects(),
    plainTraits(ENDPOINT_SLICES, keep),
  );
  const slice = (name: string, service: string, namespace = 'ns'): KubeObject => {
    const labels: Record<string, string> =
      service === '' ? {} : { 'kubernetes.io/service-name': service };
    return { metadata: { name, namespace, uid: name, resourceVersion: '1', labels } };
  };
  for (const one of [
    slice('a', 'web'),
    slice('b', 'web', 'other'),
    slice('c', 'db'),
    slice('d', ''),
  ]) {
    cache.apply(one);
  }
  const names = (key: string) => cache.byIndex(SLICES_BY_SERVICE, key).map(({ name }) => name);
  expect(names('ns/web')).toEqual(['a']);
  expect(names('ns/db')).toEqual(['c']);
  cache.apply({
    ...slice('a', 'db'),
    metadata: { ...slice('a', 'db').metadata, resourceVersion: '2' },
  });
  expect(names('ns/web')).toEqual([]);
  expect(names('ns/db')).toEqual(['c', 'a']);
});
