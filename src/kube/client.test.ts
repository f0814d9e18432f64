import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { FaultServer } from '../../test/kube/support/fault-server.ts';
import { configFor, failureOf, partsFor } from '../../test/kube/support/parts.ts';
import { Authority } from '../../test/rig/certs.ts';
import { ApiError, isConflict, isNotFound, TransportError } from '../api/errors.ts';
import { DEPLOYMENTS, NODES, PODS, SERVICE_ACCOUNTS } from '../api/resource.ts';
import type { KubeObject, Pod } from '../api/types/index.ts';

let server: FaultServer;
beforeAll(async () => {
  server = await FaultServer.start();
});
afterAll(() => server.stop());
beforeEach(() => server.reset());

const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'x' } };
const at = { namespace: 'x', name: 'a' };

function answering(code: number, value: unknown, headers: Record<string, string> = {}) {
  server.handle = (_, reply) => reply.json(code, value, headers);
  return partsFor(configFor(server)).factory.client('tester');
}

describe('where requests go', () => {
  const cases: [string, (client: ReturnType<typeof answering>) => Promise<unknown>, string][] = [
    ['get', (c) => c.get(PODS, at), 'GET /api/v1/namespaces/x/pods/a'],
    [
      'get of a group',
      (c) => c.get(DEPLOYMENTS, at),
      'GET /apis/apps/v1/namespaces/x/deployments/a',
    ],
    ['cluster-scoped', (c) => c.get(NODES, { name: 'n:1' }), 'GET /api/v1/nodes/n%3A1'],
    [
      'from the cache',
      (c) => c.get(PODS, at, { resourceVersion: '0' }),
      'GET /api/v1/namespaces/x/pods/a?resourceVersion=0',
    ],
    ['list everywhere', (c) => c.list(PODS), 'GET /api/v1/pods'],
    [
      'list with all options',
      (c) =>
        c.list(PODS, {
          namespace: 'x',
          labelSelector: 'a in (b,c)',
          fieldSelector: 'spec.nodeName=n',
          limit: 500,
          continue: 'tok=',
          resourceVersion: '7',
        }),
      'GET /api/v1/namespaces/x/pods?labelSelector=a%20in%20(b%2Cc)&' +
        'fieldSelector=spec.nodeName%3Dn&limit=500&continue=tok%3D&resourceVersion=7',
    ],
    [
      'create',
      (c) => c.create(PODS, { namespace: 'x' }, pod),
      'POST /api/v1/namespaces/x/pods?fieldManager=kube-controller-manager',
    ],
    [
      'create a subresource',
      (c) => c.create(SERVICE_ACCOUNTS, { ...at, subresource: 'token' }, {}),
      'POST /api/v1/namespaces/x/serviceaccounts/a/token?fieldManager=kube-controller-manager',
    ],
    [
      'update',
      (c) => c.update(PODS, { ...at, subresource: 'status' }, pod, { fieldManager: 'me' }),
      'PUT /api/v1/namespaces/x/pods/a/status?fieldManager=me',
    ],
    [
      'apply',
      (c) => c.patch(PODS, at, 'apply', pod, { force: true }),
      'PATCH /api/v1/namespaces/x/pods/a?fieldManager=kube-controller-manager&force=true',
    ],
    ['delete', (c) => c.delete(PODS, at), 'DELETE /api/v1/namespaces/x/pods/a'],
    [
      'delete many',
      (c) => c.deleteCollection(PODS, { namespace: 'x', labelSelector: 'a=b' }),
      'DELETE /api/v1/namespaces/x/pods?labelSelector=a%3Db',
    ],
  ];
  for (const [name, call, expected] of cases) {
    test(name, async () => {
      await call(answering(200, pod));
      expect(server.received.map(({ verb, path }) => `${verb} ${path}`)).toEqual([expected]);
    });
  }

  test('a target that would reach something else is refused before anything is sent', async () => {
    const client = answering(200, pod);
    expect(() => client.delete(PODS, { namespace: 'x', name: '' })).toThrow('name of pods');
    expect(() => client.get(PODS, { namespace: 'x', name: '../y' })).toThrow('"../y"');
    expect(() => client.get(PODS, { namespace: '..', name: 'y' })).toThrow('namespace of pods');
    expect(() => client.get(PODS, { name: 'a' })).toThrow('a namespace is needed');
    expect(() => client.get(NODES, at)).toThrow('nodes have no namespace');
    expect(() => client.create(PODS, {}, pod)).toThrow('a namespace is needed');
    expect(server.received).toEqual([]);
  });
});

describe('what requests carry', () => {
  test('user-agent, certificate, and no compression, as upstream', async () => {
    await answering(200, pod).get(PODS, at);
    const [request] = server.received;
    expect(request?.headers['user-agent']).toMatch(/^holdfast\/1\.2\.3 \(linux\/\w+\)\/tester$/);
    expect(request?.headers['accept-encoding']).toBe('identity');
    expect(request?.headers.accept).toBe('application/json');
    expect(request?.clientName).toBe('client');
  });

  test('the wish for metadata alone', async () => {
    const client = answering(200, { items: [] });
    await client.list(PODS, { metadataOnly: true });
    await client.get(PODS, at, { metadataOnly: true });
    expect(server.received.map(({ headers }) => headers.accept)).toEqual([
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
    ]);
  });

  test('of what a collection held only metadata comes back, and it is not read', async () => {
    const client = answering(200, {});
    server.handle = (_, reply) => reply.text(200, '{"items":[');
    await client.deleteCollection(PODS, { namespace: 'x' });
    expect(server.received[0]?.headers.accept).toBe(
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
    );
    server.handle = (_, reply) => reply.json(405, { kind: 'Status', code: 405, message: 'no' });
    const error = await failureOf(client.deleteCollection(PODS, { namespace: 'x' }));
    expect(error).toMatchObject({ code: 405, message: 'no' });
  });

  test('the kinds of patches', async () => {
    const client = answering(200, pod);
    for (const kind of ['json', 'merge', 'strategic', 'apply'] as const) {
      await client.patch(PODS, at, kind, { a: 1 });
    }
    expect(server.received.map(({ headers }) => headers['content-type'])).toEqual([
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/strategic-merge-patch+json',
      'application/apply-patch+yaml',
    ]);
  });

  test('deletion options', async () => {
    const client = answering(200, { kind: 'Status', status: 'Success' });
    const conditions = { uid: 'u', preconditionResourceVersion: '7' };
    await client.delete(PODS, at, {
      ...conditions,
      propagationPolicy: 'Foreground',
      gracePeriodSeconds: 0,
    });
    await client.delete(PODS, at);
    const bodies = server.received.map(({ body }) => JSON.parse(body));
    expect(bodies[0]).toEqual({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      gracePeriodSeconds: 0,
      preconditions: { uid: 'u', resourceVersion: '7' },
      propagationPolicy: 'Foreground',
    });
    expect(bodies[1]).toEqual({ kind: 'DeleteOptions', apiVersion: 'v1' });
  });

  test('integers beyond 2^53, both ways', async () => {
    const text = '{"spec":{"tolerations":[{"tolerationSeconds":9223372036854775807}]}}';
    server.handle = (_, reply) => reply.text(200, text);
    const client = partsFor(configFor(server)).factory.client('tester');
    const got = await client.get<Pod>(PODS, at);
    await client.update(PODS, at, got);
    expect(server.received[1]?.body).toBe(text);
  });
});

describe('what answers become', () => {
  test('a list page; items are told apart like watched ones', async () => {
    const metadata = { resourceVersion: '9', continue: 'next', remainingItemCount: 4 };
    const client = answering(200, {
      kind: 'PodList',
      metadata,
      items: [{ metadata: pod.metadata }],
    });
    expect(await client.list(PODS)).toEqual({
      items: [{ apiVersion: 'v1', kind: 'Pod', metadata: pod.metadata }] as unknown as KubeObject[],
      resourceVersion: '9',
      continue: 'next',
      remainingItemCount: 4,
    });
  });

  test('a Status becomes an ApiError with its reason', async () => {
    const status = { kind: 'Status', message: 'pods "a" not found', reason: 'NotFound', code: 404 };
    const error = await failureOf(answering(404, status).get(PODS, at));
    expect(error).toBeInstanceOf(ApiError);
    expect(error.message).toBe('pods "a" not found');
    expect(isNotFound(error)).toBe(true);
  });

  test('a page of a proxy becomes an ApiError in plain words', async () => {
    server.handle = (_, reply) => reply.text(502, '<h1>bad gateway</h1>');
    const client = partsFor(configFor(server)).factory.client('tester');
    const error = (await failureOf(client.get(PODS, at))) as ApiError;
    expect(error.code).toBe(502);
    expect(error.reason).toBe('');
    expect(error.message).toContain('an error on the server ("<h1>bad gateway</h1>")');
  });

  test('a 409 with Retry-After is final: both names were set', async () => {
    const details = { retryAfterSeconds: 1 };
    const status = { kind: 'Status', reason: 'AlreadyExists', code: 409, details };
    const client = answering(409, status, { 'retry-after': '1' });
    const error = (await failureOf(client.create(PODS, { namespace: 'x' }, pod))) as ApiError;
    expect(error.reason).toBe('AlreadyExists');
    expect(isConflict(error)).toBe(false);
    expect(error.retryAfterSeconds).toBe(1);
    expect(server.received.length).toBe(1);
  });

  test('half a body is no answer', async () => {
    server.handle = (_, reply) => {
      reply.raw('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"kind":"Pod"');
      reply.cut();
    };
    const client = partsFor(configFor(server)).factory.client('tester');
    const error = await failureOf(client.get(PODS, at));
    expect(error).toBeInstanceOf(TransportError);
    expect(error.message).toContain('closed before the answer was complete');
    expect(server.received.length).toBe(1);
  });

  test('half a JSON text that ends cleanly is no answer either', async () => {
    server.handle = (_, reply) => reply.text(200, '{"kind":"Po');
    const client = partsFor(configFor(server)).factory.client('tester');
    const error = await failureOf(client.get(PODS, at));
    expect(error).toBeInstanceOf(TransportError);
    expect(error.message).toBe(
      'GET /api/v1/namespaces/x/pods/a: the answer is not JSON: "{\\"kind\\":\\"Po"',
    );
  });

  test('a server that nobody serves', async () => {
    const client = partsFor(configFor(server, { server: 'https://127.0.0.1:1' })).factory.client(
      't',
    );
    const error = await failureOf(client.get(PODS, at));
    expect(error).toBeInstanceOf(TransportError);
    expect(error.message).toBe(
      'GET /api/v1/namespaces/x/pods/a: connection refused (ECONNREFUSED)',
    );
  });

  test('a server whose certificate we do not trust, unless told not to look', async () => {
    server.handle = (_, reply) => reply.json(200, pod);
    const other = await Authority.create('other');
    const ca = { pem: other.certPem };
    const client = partsFor(configFor(server, { ca })).factory.client('t');
    const error = await failureOf(client.get(PODS, at));
    expect(error).toBeInstanceOf(TransportError);
    expect(error.message).toMatch(/certificate/);
    const blind = configFor(server, { ca: undefined, insecureSkipTlsVerify: true });
    await partsFor(blind).factory.client('t').get(PODS, at);
  });

  test('a server under another name than its certificate’s, unless told the name', async () => {
    const named = await FaultServer.start(['kubernetes.default']);
    named.handle = (_, reply) => reply.json(200, pod);
    const error = await failureOf(partsFor(configFor(named)).factory.client('t').get(PODS, at));
    expect(error).toBeInstanceOf(TransportError);
    const told = configFor(named, { tlsServerName: 'kubernetes.default' });
    await partsFor(told).factory.client('t').get(PODS, at);
    named.stop();
  });

  test('a server below a path of a front', async () => {
    server.handle = (_, reply) => reply.json(200, pod);
    const config = configFor(server, { server: `${server.url}/clusters/one` });
    await partsFor(config).factory.client('t').get(PODS, at);
    expect(server.received[0]?.path).toBe('/clusters/one/api/v1/namespaces/x/pods/a');
  });

  test('a factory that was closed', async () => {
    const { factory } = partsFor(configFor(server));
    factory.close();
    const error = await failureOf(factory.client('t').get(PODS, at));
    expect(error).toBeInstanceOf(TransportError);
    expect(server.received).toEqual([]);
  });

  test('a plain path', async () => {
    server.handle = (_, reply) => reply.text(200, 'ok');
    const client = partsFor(configFor(server)).factory.client('tester');
    expect(await client.getPath('/healthz')).toBe('ok');
  });
});
