import { describe, expect, test } from 'bun:test';
import { DEPLOYMENTS, NODES, PODS } from '../../api/resource.ts';
import type { KubeObject, Pod } from '../../api/types/index.ts';
import { memoryObjects } from '../testing/memory-store.ts';
import { ObjectUnavailable, ResourceCache } from './cache.ts';
import { plainTraits, podTraits, type Redact } from './traits.ts';
import type { ObjectRecord } from './types.ts';

const keep: Redact = (_resource, object) => object;

function thing(
  name: string,
  version: string,
  fields: object = {},
  uid = `uid-${name}`,
): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'ns', uid, resourceVersion: version, ...fields },
  } as KubeObject;
}

function deploymentCache(rows = memoryObjects()): ResourceCache<KubeObject, ObjectRecord> {
  return new ResourceCache(DEPLOYMENTS, rows, plainTraits(DEPLOYMENTS, keep));
}

describe('ResourceCache', () => {
  test('an older version than the known one changes nothing', () => {
    const cache = deploymentCache();
    cache.apply(thing('web', '100'));
    expect(cache.apply(thing('web', '99'))).toBeUndefined();
    expect(cache.get('ns/web')?.metadata.resourceVersion).toBe('100');
  });

  test('versions are compared by length before text', () => {
    const cache = deploymentCache();
    cache.apply(thing('web', '99'));
    expect(cache.apply(thing('web', '100'))?.kind).toBe('update');
  });

  test('a rewound server may bring an older version', () => {
    const cache = deploymentCache();
    cache.apply(thing('web', '100'));
    expect(cache.apply(thing('web', '99'), false)?.kind).toBe('update');
    expect(cache.apply(thing('web', '99'), false)).toBeUndefined();
  });

  test('a deletion applies only to its own UID', () => {
    const cache = deploymentCache();
    cache.apply(thing('web', '100', {}, 'new'));
    expect(cache.remove(thing('web', '101', {}, 'old'))).toBeUndefined();
    expect(cache.remove(thing('web', '101', {}, 'new'))?.kind).toBe('delete');
    expect(cache.record('ns/web')).toBeUndefined();
  });

  test('the same name with another UID is an update that tells both', () => {
    const cache = deploymentCache();
    cache.apply(thing('web', '100', {}, 'old'));
    const change = cache.apply(thing('web', '50', {}, 'new'));
    expect(change).toMatchObject({
      kind: 'update',
      record: { uid: 'new' },
      previous: { uid: 'old' },
    });
  });

  test('objects of all namespaces are found by their labels', () => {
    const cache = deploymentCache();
    cache.apply(thing('web', '1', { labels: { app: 'web' } }));
    cache.apply(thing('db', '2', { labels: { app: 'db' } }));
    cache.apply(thing('far', '3', { namespace: undefined, labels: { app: 'web' } }));
    const isWeb = ({ app }: Readonly<Record<string, string>>) => app === 'web';
    expect(cache.selected('', isWeb).map(({ key }) => key)).toEqual(['ns/web', 'far']);
    expect(cache.selected('ns', isWeb).map(({ key }) => key)).toEqual(['ns/web']);
  });

  test('indexes follow the owner', () => {
    const cache = deploymentCache();
    const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x1', controller: true };
    cache.apply(thing('a', '1', { ownerReferences: [owner] }));
    cache.apply(thing('b', '2'));
    expect(cache.controlledBy('x1').map((record) => record.name)).toEqual(['a']);
    expect(cache.orphans('ns').map((record) => record.name)).toEqual(['b']);
    cache.apply(thing('a', '3'));
    expect(cache.controlledBy('x1')).toEqual([]);
    expect(cache.orphans('ns').map((record) => record.name)).toEqual(['b', 'a']);
  });

  test('a second process finds the same objects in the rows', () => {
    const rows = memoryObjects();
    const first = deploymentCache(rows);
    first.apply(thing('a', '1'));
    first.apply(thing('b', '2'));
    first.evict('ns/a');
    const second = deploymentCache(rows);
    second.load();
    expect([...second.keys()]).toEqual(['ns/b']);
    expect(second.get('ns/b')).toEqual(first.get('ns/b') as KubeObject);
  });

  test('list items get the kind that they lack', () => {
    const cache = deploymentCache();
    const { apiVersion: _a, kind: _k, ...bare } = thing('web', '1');
    cache.apply(bare);
    expect(cache.get('ns/web')).toMatchObject({ apiVersion: 'apps/v1', kind: 'Deployment' });
  });

  test('a row that the disk lost is told apart from an object that is not there', () => {
    const rows = memoryObjects();
    const cache = new ResourceCache(PODS, rows, podTraits(keep));
    cache.apply({ ...thing('p', '1'), spec: { containers: [] } } as unknown as Pod);
    rows.delete('pods', 'ns/p');
    expect(cache.get('ns/none')).toBeUndefined();
    expect(() => cache.get('ns/p')).toThrow(ObjectUnavailable);
    cache.heal({ ...thing('p', '1'), spec: { containers: [] } } as unknown as Pod);
    expect(cache.get('ns/p')?.metadata.name).toBe('p');
  });

  test('a heartbeat reaches readers at once and the disk with the next real change', () => {
    const rows = memoryObjects();
    const cache = new ResourceCache(NODES, rows, plainTraits(NODES, keep));
    cache.apply(node('1', 'a', '10:00'));
    cache.apply(node('2', 'a', '10:05'));
    expect(cache.get('n')?.metadata.resourceVersion).toBe('2');
    expect(rows.get('nodes', 'n')?.resourceVersion).toBe('1');
    cache.writeHeldBack();
    expect(rows.get('nodes', 'n')?.resourceVersion).toBe('2');
    cache.apply(node('3', 'b', '10:05'));
    expect(rows.get('nodes', 'n')?.resourceVersion).toBe('3');
  });
});

function node(version: string, status: string, heartbeat: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n', uid: 'n1', resourceVersion: version },
    status: { conditions: [{ type: 'Ready', status, lastHeartbeatTime: heartbeat }] },
  } as unknown as KubeObject;
}
