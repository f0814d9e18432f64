import { describe, expect, test } from 'bun:test';
import { Glob } from 'bun';
import { keyOfIdentity } from '../controllers/garbage-collector/identity.ts';
import { CONTROLLERS } from '../controllers/registry.ts';
import { accountKey, secretKey } from '../controllers/serviceaccount-token/keys.ts';
import { controllerOfQueue, isAbout, mayServe, subjectOfWork, subjectsOfSync } from './subjects.ts';

const record = { namespace: 'default', name: 'ci', uid: 'u-1' } as never;

/** The names of all queues, as the controllers' sources have them. */
async function queuesInSources(): Promise<string[]> {
  const found = new Set<string>();
  const glob = new Glob('src/controllers/**/*.ts');
  for await (const path of glob.scan('.')) {
    if (path.includes('.test.') || path.includes('/testing/')) continue;
    const text = await Bun.file(path).text();
    for (const [, name = ''] of text.matchAll(/context\.queue\(\s*'([^']+)'/g)) found.add(name);
    for (const [, name = ''] of text.matchAll(/^\s*queue: '([^']+)',$/gm)) found.add(name);
  }
  return [...found];
}

describe('what a key is about', () => {
  test('every queue of every controller is known', async () => {
    const names = await queuesInSources();
    expect(names.length).toBeGreaterThan(30);
    expect(names.filter((name) => controllerOfQueue(name) === '')).toEqual([]);
    for (const of of ['accounts', 'secrets']) {
      expect(controllerOfQueue(`serviceaccount_tokens_service/${of}`)).not.toBe('');
    }
  });

  test('and belongs to a controller that there is', async () => {
    const known = CONTROLLERS.map(({ name }) => name);
    const names = await queuesInSources();
    expect(names.map(controllerOfQueue).filter((name) => !known.includes(name))).toEqual([]);
  });

  test.each([
    ['deployment', 'default/web', 'deployments.apps', 'default/web'],
    ['namespace', 'default', 'namespaces', 'default'],
    ['noexec_taint_pod', 'default/web-1', 'pods', 'default/web-1'],
    ['horizontalpodautoscaler', 'a/b', 'horizontalpodautoscalers.autoscaling', 'a/b'],
    ['resource_quota_controller_resource_changes', 'pods default', 'namespaces', 'default'],
    ['serviceaccount_tokens_service/accounts', accountKey(record), 'serviceaccounts', 'default/ci'],
    [
      'serviceaccount_tokens_service/secrets',
      secretKey(record, { name: 'a/b', uid: 'u' }),
      'secrets',
      'default/ci',
    ],
  ])('%s: %s', (queue, key, resource, object) => {
    expect(subjectOfWork(queue, key)).toMatchObject({ resource, key: object });
  });

  test('the garbage collector names kinds', () => {
    const key = keyOfIdentity({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      namespace: 'default',
      name: 'web',
      uid: 'u-2',
    });
    const subject = subjectOfWork('garbage_collector_attempt_to_delete', key);
    expect(subject).toEqual({
      resource: '',
      kind: 'ReplicaSet',
      group: 'apps',
      key: 'default/web',
      uid: 'u-2',
    });
    const web = { resource: 'replicasets.apps', key: 'default/web' };
    expect(subject && isAbout(subject, { ...web, uid: 'u-2' })).toBe(true);
    expect(subject && isAbout(subject, { ...web, uid: '' })).toBe(true);
    expect(subject && isAbout(subject, { ...web, uid: 'u-3' })).toBe(false);
    expect(subject && isAbout(subject, { ...web, resource: 'deployments.apps', uid: '' })).toBe(
      false,
    );
    expect(subjectOfWork('garbage_collector_attempt_to_delete', 'no list')).toBeUndefined();
  });

  test('a controller with several queues leaves several possibilities', () => {
    const resources = subjectsOfSync('disruption-controller', 'default/web').map(
      ({ resource }) => resource,
    );
    expect(resources).toEqual(['poddisruptionbudgets.policy', 'pods']);
    expect(subjectsOfSync('nobody', 'default/web')).toEqual([]);
    expect(subjectOfWork('podgc', 'all pods')).toBeUndefined();
    expect(subjectOfWork('constructor', 'x')).toBeUndefined();
  });

  test('plurals: policies, classes, endpoints', () => {
    expect(
      mayServe('networkpolicies.networking.k8s.io', 'NetworkPolicy', 'networking.k8s.io'),
    ).toBe(true);
    expect(mayServe('storageclasses.storage.k8s.io', 'StorageClass', 'storage.k8s.io')).toBe(true);
    expect(mayServe('endpoints', 'Endpoints', '')).toBe(true);
    expect(mayServe('deployments.apps', 'Deployment', 'extensions')).toBe(false);
  });
});
