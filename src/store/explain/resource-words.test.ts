import { describe, expect, test } from 'bun:test';
import { objectNamed, resourceNamed } from './named.ts';
import { resolveResource } from './resource-words.ts';

const CACHED = [
  'cronjobs.batch',
  'daemonsets.apps',
  'deployments.apps',
  'endpoints',
  'endpointslices.discovery.k8s.io',
  'events',
  'events.events.k8s.io',
  'horizontalpodautoscalers.autoscaling',
  'ingresses.networking.k8s.io',
  'jobs.batch',
  'networkpolicies.networking.k8s.io',
  'nodes',
  'poddisruptionbudgets.policy',
  'pods',
  'replicasets.apps',
  'serviceaccounts',
  'services',
  'statefulsets.apps',
  'widgets.example.com',
];

function inspector(known: readonly string[]) {
  const watch = (resource: string) => ({
    resource,
    resourceVersion: '1',
    ageMs: 0,
    rows: 0,
    how: '',
  });
  return {
    resolveResource: (word: string) => resolveResource(known, word),
    watches: () => known.map(watch),
  };
}

describe('a word means a resource', () => {
  test.each([
    ['cj', 'cronjobs.batch'],
    ['deploy', 'deployments.apps'],
    ['DEPLOY', 'deployments.apps'],
    ['deploy.apps', 'deployments.apps'],
    ['deployment.apps', 'deployments.apps'],
    ['ds', 'daemonsets.apps'],
    ['ep', 'endpoints'],
    ['EndpointSlice', 'endpointslices.discovery.k8s.io'],
    ['hpa', 'horizontalpodautoscalers.autoscaling'],
    ['ing', 'ingresses.networking.k8s.io'],
    ['Ingress', 'ingresses.networking.k8s.io'],
    ['job', 'jobs.batch'],
    ['networkpolicy', 'networkpolicies.networking.k8s.io'],
    ['no', 'nodes'],
    ['pdb', 'poddisruptionbudgets.policy'],
    ['po', 'pods'],
    ['rs', 'replicasets.apps'],
    ['sa', 'serviceaccounts'],
    ['sts', 'statefulsets.apps'],
    ['svc', 'services'],
    ['Widget.example.com', 'widgets.example.com'],
  ])('%s is %s', (word, id) => {
    expect(resolveResource(CACHED, word)).toEqual([id]);
  });

  test.each(['nothing', 'deploy.batch', 'pod.example.com', '', 'constructor'])(
    '%j is none',
    (word) => {
      expect(resolveResource(CACHED, word)).toEqual([]);
    },
  );

  test('a resource that is called like a short name goes before it', () => {
    const known = [...CACHED, 'deploys.example.com'];
    expect(resolveResource(known, 'deploy')).toEqual(['deploys.example.com']);
    expect(resolveResource(known, 'deploy.apps')).toEqual(['deployments.apps']);
  });

  test('of several it must be said which', () => {
    expect(resourceNamed(inspector(CACHED), 'event')).toEqual({
      problem: '"event" may mean events or events.events.k8s.io; say which',
    });
  });

  test('what is not cached, and what is no resource, are told apart, with what is valid', () => {
    const few = inspector(['jobs.batch', 'pods']);
    expect(resourceNamed(few, 'sts')).toEqual({
      problem: '"sts" is statefulsets.apps, which is not cached; valid are jobs.batch, pods (po)',
    });
    expect(resourceNamed(few, 'stss')).toEqual({
      problem: 'no cached resource is called "stss"; valid are jobs.batch, pods (po)',
    });
  });
});

describe('a word means an object', () => {
  test.each([
    ['deploy/shop/web', { resource: 'deployments.apps', key: 'shop/web' }],
    ['no/worker-1', { resource: 'nodes', key: 'worker-1' }],
    ['widgets/shop/a', { resource: 'widgets.example.com', key: 'shop/a' }],
    ['widgets/a', { resource: 'widgets.example.com', key: 'a' }],
    ['deploy/web', { problem: '"deploy/web" lacks the namespace; valid is deploy/NAMESPACE/web' }],
    ['no/shop/a', { problem: '"no/shop/a": nodes have no namespace; valid is no/a' }],
  ])('%s', (word, named) => {
    expect(objectNamed(inspector(CACHED), word)).toEqual(named);
  });
});
