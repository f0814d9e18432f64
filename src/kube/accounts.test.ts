import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { FaultServer, type Received, type Reply } from '../../test/kube/support/fault-server.ts';
import { configFor, failureOf, partsFor } from '../../test/kube/support/parts.ts';
import { FencedError, TransportError } from '../api/errors.ts';
import { PODS } from '../api/resource.ts';
import { REQUESTS_IN_FLIGHT_MAX } from '../runtime/limits.ts';

let server: FaultServer;
beforeAll(async () => {
  server = await FaultServer.start();
});
afterAll(() => server.stop());
beforeEach(() => server.reset());

const at = { namespace: 'x', name: 'a' };
const START = Date.parse('2026-01-01T00:00:00Z');
const ACCOUNT = '/api/v1/namespaces/kube-system/serviceaccounts/job-controller';
const notFound = { kind: 'Status', reason: 'NotFound', code: 404 };

interface Script {
  /** Accounts and namespaces that exist. */
  exists?: boolean;
  /** Lifetime that the server says it grants, seconds. */
  seconds?: number;
  refuse?: (request: Received) => number | undefined;
}

/** Plays the API server: hands out token-1, token-2, ... */
function serving({ exists = true, seconds = 3_600, refuse }: Script = {}) {
  let there = exists;
  let tokens = 0;
  const parts = partsFor(configFor(server), { useServiceAccountCredentials: true });
  server.handle = (request: Received, reply: Reply) => {
    const refused = refuse?.(request);
    if (refused !== undefined) return reply.json(refused, {});
    if (request.path.startsWith(`${ACCOUNT}/token`)) {
      tokens += 1;
      const expirationTimestamp = new Date(parts.clock.now() + seconds * 1e3).toISOString();
      const status = { token: `token-${tokens}`, expirationTimestamp };
      return reply.json(201, { spec: { expirationSeconds: 3_600 }, status });
    }
    if (request.verb === 'POST') there = true;
    else if (!there) return reply.json(404, notFound);
    return reply.json(200, { metadata: {} });
  };
  const client = parts.factory.client('job-controller', { account: 'job-controller' });
  return { ...parts, client };
}

const asked = () => server.received.map(({ verb, path }) => `${verb} ${path.split('?')[0]}`);
const authorization = () => server.received.at(-1)?.headers.authorization;

/** Runs a call while time is let pass in its waits of this many milliseconds each. */
async function through<T>(
  parts: ReturnType<typeof serving>,
  call: Promise<T>,
  waits: readonly number[],
): Promise<T> {
  for (const [index, wait] of waits.entries()) {
    const warnings = () => parts.log.lines.filter((line) => line === 'W get token failed').length;
    while (warnings() <= index) await parts.clock.settle();
    await parts.clock.advance(wait);
  }
  return call;
}

describe('a client with an account', () => {
  test('gets a token with the root identity, then shows only the token', async () => {
    const { client } = serving();
    await client.get(PODS, at);
    await client.get(PODS, at);
    expect(asked()).toEqual([
      `GET ${ACCOUNT}`,
      `POST ${ACCOUNT}/token`,
      'GET /api/v1/namespaces/x/pods/a',
      'GET /api/v1/namespaces/x/pods/a',
    ]);
    expect(JSON.parse(server.received[1]?.body ?? '')).toEqual({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3_600 },
    });
    expect(server.received.map(({ clientName }) => clientName)).toEqual([
      'client',
      'client',
      '',
      '',
    ]);
    expect(authorization()).toBe('Bearer token-1');
    expect(client.userAgent).toEndWith('/system:serviceaccount:kube-system:job-controller');
  });

  test('gets it also when as many requests as may be under way wait for it', async () => {
    const { client } = serving();
    const many = REQUESTS_IN_FLIGHT_MAX + 10;
    await Promise.all(Array.from({ length: many }, () => client.get(PODS, at)));
    expect(asked().filter((request) => request.endsWith('/token')).length).toBe(1);
    expect(server.received.length).toBe(many + 2);
  });

  test('creates the account, and the namespace for it', async () => {
    const { client } = serving({ exists: false });
    await client.get(PODS, at);
    expect(asked()).toEqual([
      `GET ${ACCOUNT}`,
      'GET /api/v1/namespaces/kube-system',
      'POST /api/v1/namespaces',
      'POST /api/v1/namespaces/kube-system/serviceaccounts',
      `POST ${ACCOUNT}/token`,
      'GET /api/v1/namespaces/x/pods/a',
    ]);
  });

  test('renews the token when a fifth of its life is left, once for all', async () => {
    const { client, clock } = serving();
    await client.get(PODS, at);
    await clock.advance(2_879_000);
    await client.get(PODS, at);
    expect(authorization()).toBe('Bearer token-1');
    await clock.advance(1_000);
    await Promise.all([client.get(PODS, at), client.get(PODS, at)]);
    expect(authorization()).toBe('Bearer token-2');
    expect(asked().filter((request) => request.endsWith('/token')).length).toBe(2);
  });

  test('never trusts a skewed clock beyond what was granted, nor below ten minutes', async () => {
    for (const [seconds, lifeMs] of [
      [-7_200, 480_000],
      [360_000, 2_880_000],
    ] as const) {
      server.reset();
      const { client, clock } = serving({ seconds });
      await client.get(PODS, at);
      await clock.advance(lifeMs - 1);
      await client.get(PODS, at);
      expect(authorization()).toBe('Bearer token-1');
      await clock.advance(1);
      await client.get(PODS, at);
      expect(authorization()).toBe('Bearer token-2');
    }
  });

  test('asks for another token after a 401', async () => {
    let refused = false;
    const { client } = serving({
      refuse: ({ path }) => {
        if (refused || !path.includes('/pods/')) return undefined;
        refused = true;
        return 401;
      },
    });
    expect((await failureOf(client.get(PODS, at))).message).toContain('provide credentials');
    await client.get(PODS, at);
    expect(authorization()).toBe('Bearer token-2');
  });

  test('tries four times, half a second apart and doubling, then tells', async () => {
    const parts = serving({ refuse: ({ path }) => (path.includes('/token') ? 500 : undefined) });
    const failed = failureOf(parts.client.get(PODS, at));
    const error = await through(parts, failed, [500, 1_000, 2_000]);
    expect(error).toBeInstanceOf(TransportError);
    expect(error.message).toStartWith('failed to get token for kube-system/job-controller: ');
    expect(asked().filter((request) => request.endsWith('/token')).length).toBe(4);
    expect(parts.clock.now() - START).toBe(3_500);
  });

  test('goes on with the old token while no new one can be had', async () => {
    let broken = false;
    const parts = serving({
      refuse: ({ path }) => (broken && path.includes('/token') ? 500 : undefined),
    });
    await parts.client.get(PODS, at);
    broken = true;
    await parts.clock.advance(2_880_000);
    await through(parts, parts.client.get(PODS, at), [500, 1_000, 2_000]);
    expect(authorization()).toBe('Bearer token-1');
    expect(parts.log.lines.some((line) => line.startsWith('E unable to rotate token'))).toBe(true);
  });

  test('creates no account when writing is not allowed; an existing one may read', async () => {
    const { client, fence } = serving({ exists: false });
    fence.shut();
    expect(await failureOf(client.get(PODS, at))).toBeInstanceOf(FencedError);
    const reading = serving();
    reading.fence.shut();
    await reading.client.get(PODS, at);
    expect(authorization()).toBe('Bearer token-1');
  });

  test('keeps the root identity when no account is named or the flag is off', async () => {
    const { factory } = serving();
    await factory.client('informers').get(PODS, at);
    expect(server.received.at(-1)?.clientName).toBe('client');
    expect(factory.client('informers').userAgent).toEndWith('/informers');
    const off = partsFor(configFor(server)).factory.client('job', { account: 'job-controller' });
    await off.get(PODS, at);
    expect(server.received.at(-1)?.clientName).toBe('client');
    expect(off.userAgent).toEndWith('/job');
  });
});
