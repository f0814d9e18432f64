import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { FaultServer } from '../../test/kube/support/fault-server.ts';
import { configFor, failureOf, partsFor } from '../../test/kube/support/parts.ts';
import { ApiError } from '../api/errors.ts';
import { createMapper, discover, supportsVerbs } from './index.ts';

let server: FaultServer;
beforeAll(async () => {
  server = await FaultServer.start();
});
afterAll(() => server.stop());
beforeEach(() => server.reset());

type Answers = Readonly<Record<string, unknown>>;

function discovering(answers: Answers) {
  server.handle = ({ path }, reply) => {
    const answer = answers[path];
    if (typeof answer === 'number') reply.json(answer, {});
    else if (answer === undefined)
      reply.json(404, { kind: 'Status', reason: 'NotFound', code: 404 });
    else reply.json(200, answer);
  };
  return discover(partsFor(configFor(server)).factory.client('t'));
}

const all = ['create', 'delete', 'deletecollection', 'get', 'list', 'watch'];

function entry(resource: string, kind: string, more: object = {}) {
  const responseKind = { group: '', version: '', kind };
  return {
    resource,
    responseKind,
    scope: 'Namespaced',
    singularResource: kind.toLowerCase(),
    verbs: all,
    ...more,
  };
}

function group(name: string, ...versions: object[]) {
  return { metadata: { name: name === '' ? undefined : name }, versions };
}

const aggregated = (...items: object[]) => ({ kind: 'APIGroupDiscoveryList', items });

const answers: Answers = {
  '/api': aggregated(
    group('', {
      version: 'v1',
      resources: [
        entry('pods', 'Pod', { subresources: [{ subresource: 'status' }, { subresource: 'log' }] }),
        entry('nodes', 'Node', { scope: 'Cluster' }),
        entry('bindings', 'Binding', { verbs: ['create'] }),
        { resource: 'parents', scope: 'Namespaced', subresources: [{ subresource: 'only' }] },
      ],
    }),
  ),
  '/apis': aggregated(
    group(
      'example.com',
      { version: 'v2', resources: [entry('widgets', 'Widget')] },
      { version: 'v1', resources: [entry('widgets', 'Widget'), entry('gadgets', 'Gadget')] },
    ),
    group('metrics.k8s.io', { version: 'v1beta1', freshness: 'Stale', resources: [] }),
  ),
};

describe('aggregated discovery', () => {
  test('takes two requests and asks for the newest form first', async () => {
    await discovering(answers);
    expect(server.received.map(({ path }) => path)).toEqual(['/api', '/apis']);
    expect(server.received[0]?.headers.accept).toBe(
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,' +
        'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,' +
        'application/json',
    );
  });

  test('gives groups, resources and what is stale', async () => {
    const discovery = await discovering(answers);
    expect(discovery.groups).toEqual([
      { name: '', versions: ['v1'], preferredVersion: 'v1' },
      { name: 'example.com', versions: ['v2', 'v1'], preferredVersion: 'v2' },
      { name: 'metrics.k8s.io', versions: [], preferredVersion: '' },
    ]);
    expect(discovery.resources[0]).toEqual({
      group: '',
      version: 'v1',
      plural: 'pods',
      kind: 'Pod',
      namespaced: true,
      singular: 'pod',
      verbs: all,
      subresources: ['status', 'log'],
    });
    expect(discovery.resources.map(({ version, plural }) => `${version} ${plural}`)).toEqual([
      'v1 pods',
      'v1 nodes',
      'v1 bindings',
      'v2 widgets',
      'v1 widgets',
      'v1 gadgets',
    ]);
    expect([...discovery.failed]).toEqual([
      ['metrics.k8s.io/v1beta1', 'stale GroupVersion discovery: metrics.k8s.io/v1beta1'],
    ]);
  });

  test('an error of the first two requests is thrown', async () => {
    const error = (await failureOf(discovering({ ...answers, '/apis': 403 }))) as ApiError;
    expect(error).toBeInstanceOf(ApiError);
    expect(error.code).toBe(403);
  });

  test('a server without a core group', async () => {
    const { '/apis': apis } = answers;
    const discovery = await discovering({ '/apis': apis });
    expect(discovery.groups.map(({ name }) => name)).toEqual(['example.com', 'metrics.k8s.io']);
  });
});

describe('the old discovery', () => {
  const old: Answers = {
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/apis': {
      kind: 'APIGroupList',
      groups: [
        {
          name: 'example.com',
          versions: [{ version: 'v1' }, { version: 'v2' }],
          preferredVersion: { version: 'v2' },
        },
      ],
    },
    '/api/v1': {
      resources: [
        { name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: all },
        { name: 'pods/status', namespaced: true, kind: 'Pod', verbs: ['get'] },
      ],
    },
    '/apis/example.com/v1': {
      resources: [{ name: 'widgets', namespaced: false, kind: 'Widget', verbs: ['list'] }],
    },
    '/apis/example.com/v2': 503,
  };

  test('is asked version by version; one that fails is named with its error', async () => {
    const discovery = await discovering(old);
    expect(discovery.groups).toEqual([
      { name: '', versions: ['v1'], preferredVersion: 'v1' },
      { name: 'example.com', versions: ['v1', 'v2'], preferredVersion: 'v2' },
    ]);
    expect(discovery.resources).toMatchObject([
      { group: '', plural: 'pods', kind: 'Pod', namespaced: true, subresources: ['status'] },
      { group: 'example.com', version: 'v1', plural: 'widgets', namespaced: false },
    ]);
    expect([...discovery.failed.keys()]).toEqual(['example.com/v2']);
    expect(discovery.failed.get('example.com/v2')).toStartWith('the server is currently unable to');
  });

  test('also when only one of the two answers is aggregated', async () => {
    const { '/api': core } = answers;
    const discovery = await discovering({ ...old, '/api': core });
    expect(discovery.groups.map(({ name }) => name)).toEqual(['', 'example.com']);
    expect(server.received.map(({ path }) => path)).toContain('/api/v1');
  });
});

describe('the mapper', () => {
  test('finds resources by kind and version, and the preferred ones', async () => {
    const mapper = createMapper(await discovering(answers));
    expect(mapper.ofKind('v1', 'Pod')?.plural).toBe('pods');
    expect(mapper.ofKind('example.com/v1', 'Widget')?.version).toBe('v1');
    expect(mapper.ofKind('example.com/v3', 'Widget')).toBeUndefined();
    expect(mapper.ofGroupKind('example.com', 'Widget')?.version).toBe('v2');
    expect(mapper.ofGroupKind('example.com', 'Gadget')?.version).toBe('v1');
    expect(mapper.ofGroupKind('metrics.k8s.io', 'PodMetrics')).toBeUndefined();
    expect(mapper.preferred().map(({ version, plural }) => `${version} ${plural}`)).toEqual([
      'v1 pods',
      'v1 nodes',
      'v1 bindings',
      'v2 widgets',
      'v1 gadgets',
    ]);
  });

  test('what the namespace controller deletes', async () => {
    const mapper = createMapper(await discovering(answers));
    const deletable = mapper
      .preferred()
      .filter((resource) => resource.namespaced && supportsVerbs(resource, 'delete', 'list'));
    expect(deletable.map(({ plural }) => plural)).toEqual(['pods', 'widgets', 'gadgets']);
  });
});
