import { expect, test } from 'bun:test';
import type { DiscoveryResult, ServedResource } from '../../runtime/controller.ts';
import { deletableKinds, kindText, PartialDiscoveryError } from './kinds.ts';

function served(
  group: string,
  version: string,
  plural: string,
  more: Partial<ServedResource> = {},
): ServedResource {
  const verbs = ['list', 'delete', 'deletecollection'];
  return { group, version, plural, kind: plural, namespaced: true, verbs, ...more };
}

function discovered(...resources: ServedResource[]): DiscoveryResult {
  const groups = [
    { name: '', preferredVersion: 'v1' },
    { name: 'example.com', preferredVersion: 'v1' },
  ];
  return { groups, resources, failed: new Map() };
}

test('namespaced kinds that can be deleted, each in one version', () => {
  const kinds = deletableKinds(
    discovered(
      served('', 'v1', 'pods'),
      served('', 'v1', 'bindings', { verbs: ['create'] }),
      served('', 'v1', 'nodes', { namespaced: false }),
      served('example.com', 'v2beta1', 'widgets'),
      served('example.com', 'v1', 'widgets'),
      served('example.com', 'v2beta1', 'gadgets'),
      served('example.com', 'v2alpha1', 'gadgets'),
    ),
  );
  expect(kinds.map(kindText)).toEqual([
    '/v1, Resource=pods',
    'example.com/v1, Resource=widgets',
    'example.com/v2beta1, Resource=gadgets',
  ]);
});

test('the preferred version decides what a kind supports', () => {
  const old = served('example.com', 'v2beta1', 'widgets');
  const preferred = served('example.com', 'v1', 'widgets', { verbs: ['get'] });
  expect(deletableKinds(discovered(old, preferred))).toEqual([]);
});

test('what discovery left out is told sorted', () => {
  const error = new PartialDiscoveryError(
    new Map([
      ['metrics.k8s.io/v1beta1', 'stale GroupVersion discovery: metrics.k8s.io/v1beta1'],
      ['a.io/v1', 'gone'],
    ]),
  );
  expect(error.groups).toBe(2);
  expect(error.message).toBe(
    'unable to retrieve the complete list of server APIs: a.io/v1: gone, ' +
      'metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1',
  );
});
