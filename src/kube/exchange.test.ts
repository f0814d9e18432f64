import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { FaultServer } from '../../test/kube/support/fault-server.ts';
import { configFor, failureOf, partsFor, type TestParts } from '../../test/kube/support/parts.ts';
import { ApiError, FencedError, followsServerError, TransportError } from '../api/errors.ts';
import { PODS, TOKEN_REVIEWS } from '../api/resource.ts';
import { FETCHES_RESERVED, REQUESTS_IN_FLIGHT_MAX } from '../runtime/limits.ts';

let server: FaultServer;
beforeAll(async () => {
  server = await FaultServer.start();
});
afterAll(() => server.stop());
beforeEach(() => server.reset());

const pod = { metadata: { name: 'a', namespace: 'x', uid: 'u', resourceVersion: '1' } };
const at = { namespace: 'x', name: 'a' };
const everywhere = { namespace: 'x' };

/** Lets time pass in the wait before the retry of this number, once that wait has begun. */
async function passWait(parts: TestParts, retry: number, ms: number): Promise<void> {
  const waits = () => parts.log.lines.filter((line) => line.includes('Retry-After')).length;
  while (waits() < retry) await parts.clock.settle();
  await parts.clock.advance(ms);
}

describe('asking again', () => {
  for (const code of [429, 500, 503]) {
    test(`a write is sent again when ${code} says when`, async () => {
      const parts = partsFor(configFor(server));
      server.handle = (_, reply) => {
        if (server.received.length < 3) reply.json(code, {}, { 'retry-after': '2' });
        else reply.json(201, pod);
      };
      const created = parts.factory.client('t').create(PODS, everywhere, pod);
      await passWait(parts, 1, 1_999);
      expect(server.received.length).toBe(1);
      await passWait(parts, 1, 1);
      await passWait(parts, 2, 2_000);
      expect((await created).metadata.name).toBe('a');
      expect(server.received.length).toBe(3);
    });
  }

  test.each([
    [429, false],
    [500, true],
    [504, true],
  ])(
    'an error after an attempt answered %d tells whether that may have been done',
    async (code, tells) => {
      const parts = partsFor(configFor(server));
      server.handle = (_, reply) => {
        if (server.received.length === 1) reply.json(code, {}, { 'retry-after': '1' });
        else reply.json(409, { kind: 'Status', reason: 'AlreadyExists' });
      };
      const failed = failureOf(parts.factory.client('t').create(PODS, everywhere, pod));
      await passWait(parts, 1, 1_000);
      expect(followsServerError(await failed)).toBe(tells);
    },
  );

  test('a 5xx without Retry-After is final', async () => {
    const { factory } = partsFor(configFor(server));
    server.handle = (_, reply) => reply.json(503, {});
    const error = (await failureOf(factory.client('t').get(PODS, at))) as ApiError;
    expect(error).toBeInstanceOf(ApiError);
    expect(error.message).toStartWith('the server is currently unable to handle the request');
    expect(server.received.length).toBe(1);
  });

  test('after ten retries the last answer is what the caller gets', async () => {
    const parts = partsFor(configFor(server));
    server.handle = (_, reply) => reply.json(429, {}, { 'retry-after': '1' });
    const failed = failureOf(parts.factory.client('t').get(PODS, at));
    for (let retry = 1; retry <= 10; retry++) await passWait(parts, retry, 1_000);
    expect(((await failed) as ApiError).code).toBe(429);
    expect(server.received.length).toBe(11);
    const text = await parts.metrics.serialize();
    expect(text).toContain(
      `rest_client_request_retries_total{code="429",verb="GET",host="${server.host}"} 10`,
    );
    expect(text).toContain(
      `rest_client_requests_total{code="429",method="GET",host="${server.host}"} 11`,
    );
  });

  test('a GET whose connection is reset before the answer is sent again after a second', async () => {
    const parts = partsFor(configFor(server));
    server.handle = (_, reply) => {
      if (server.received.length === 1) reply.cut();
      else reply.json(200, pod);
    };
    const got = parts.factory.client('t').get(PODS, at);
    await passWait(parts, 1, 1_000);
    expect((await got).metadata.name).toBe('a');
    expect(server.received.length).toBe(2);
  });

  test('a caller who gives up while waiting is not asked for again', async () => {
    const parts = partsFor(configFor(server));
    server.handle = (_, reply) => reply.json(429, {}, { 'retry-after': '30' });
    const stop = new AbortController();
    const failed = failureOf(parts.factory.client('t').get(PODS, at, { signal: stop.signal }));
    await passWait(parts, 1, 1_000);
    stop.abort();
    expect(await failed).toBeInstanceOf(TransportError);
    expect(server.received.length).toBe(1);
    const total = `rest_client_requests_total{code="429",method="GET",host="${server.host}"} 1`;
    expect(await parts.metrics.serialize()).toContain(total);
  });
});

describe('a write without an answer', () => {
  const writes = {
    POST: 'create',
    PUT: 'update',
    PATCH: 'patch',
    DELETE: 'delete',
  } as const;
  for (const [verb, what] of Object.entries(writes)) {
    test(`${verb} on a connection that was used before is sent once, and its loss is told`, async () => {
      const client = partsFor(configFor(server)).factory.client('t');
      server.handle = (request, reply) => {
        if (request.verb === 'GET') reply.json(200, pod);
        else reply.cut();
      };
      await client.get(PODS, at);
      const calls = {
        create: () => client.create(PODS, everywhere, pod),
        update: () => client.update(PODS, at, pod),
        patch: () => client.patch(PODS, at, 'merge', {}),
        delete: () => client.delete(PODS, at),
      };
      const error = await failureOf(calls[what]());
      expect(error).toBeInstanceOf(TransportError);
      expect(server.received.map((request) => request.verb)).toEqual(['GET', verb]);
      expect(server.received[1]?.connection).toBe(server.received[0]?.connection ?? 0);
    });
  }
});

describe('time', () => {
  test('an answer that does not come in time is a TransportError', async () => {
    const { factory, clock } = partsFor(configFor(server));
    const failed = failureOf(factory.client('t').get(PODS, at, { timeoutMs: 5_000 }));
    await server.asked(1);
    await clock.advance(5_000);
    const error = await failed;
    expect(error).toBeInstanceOf(TransportError);
    expect(error.message).toBe('GET /api/v1/namespaces/x/pods/a: no answer within 5 s');
  });

  test('a body that trickles is cut at the same limit', async () => {
    const { factory, clock } = partsFor(configFor(server));
    let begun: () => void = () => undefined;
    const sent = new Promise<void>((resolve) => {
      begun = resolve;
    });
    server.handle = (_, reply) => {
      reply.begin();
      reply.chunk('{"meta');
      begun();
    };
    const failed = failureOf(factory.client('t').get(PODS, at, { timeoutMs: 5_000 }));
    await sent;
    await clock.advance(5_000);
    expect((await failed).message).toContain('no answer within 5 s');
  });

  test('a caller can stop a request under way; the connection is closed', async () => {
    const { factory } = partsFor(configFor(server));
    const stop = new AbortController();
    let closed: Promise<void> = Promise.resolve();
    server.handle = (_, reply) => {
      closed = reply.closed();
    };
    const failed = failureOf(factory.client('t').get(PODS, at, { signal: stop.signal }));
    await server.asked(1);
    stop.abort(new Error('no longer wanted'));
    const error = await failed;
    expect(error).toBeInstanceOf(TransportError);
    expect((error.cause as Error).message).toBe('no longer wanted');
    await closed;
  });
});

describe('the fence', () => {
  test('a write is not sent when it is shut; reads and reviews are', async () => {
    const { factory, fence } = partsFor(configFor(server));
    server.handle = (_, reply) => reply.json(200, pod);
    fence.shut();
    const client = factory.client('t');
    const writes = [
      () => client.create(PODS, everywhere, pod),
      () => client.update(PODS, at, pod),
      () => client.patch(PODS, at, 'merge', {}),
      () => client.delete(PODS, at),
      () => client.deleteCollection(PODS, everywhere),
    ];
    for (const write of writes) expect(await failureOf(write())).toBeInstanceOf(FencedError);
    expect(server.received).toEqual([]);
    await client.get(PODS, at);
    await client.create(TOKEN_REVIEWS, {}, {});
    expect(server.received.length).toBe(2);
  });

  test('is looked at after the waiting: a write that waited for the rate limit is stopped', async () => {
    const { factory, clock, fence } = partsFor(configFor(server), { qps: 1, burst: 1 });
    server.handle = (_, reply) => reply.json(200, pod);
    const client = factory.client('t');
    await client.get(PODS, at);
    const waiting = failureOf(client.create(PODS, everywhere, pod));
    fence.shut();
    await clock.advance(1_000);
    expect(await waiting).toBeInstanceOf(FencedError);
    expect(server.received.length).toBe(1);
  });

  test('cuts a write under way, and works again in the next term', async () => {
    const { factory, fence } = partsFor(configFor(server));
    const client = factory.client('t');
    const failed = failureOf(client.create(PODS, everywhere, pod));
    await server.asked(1);
    fence.shut();
    const error = await failed;
    expect(error).toBeInstanceOf(FencedError);
    expect(error.message).toContain('was cut off under way');
    fence.reopen();
    server.handle = (_, reply) => reply.json(201, pod);
    await client.create(PODS, everywhere, pod);
  });
});

describe('bounds', () => {
  test(`no more than ${REQUESTS_IN_FLIGHT_MAX} requests are under way; watches don't count`, async () => {
    const { factory } = partsFor(configFor(server));
    const client = factory.client('t');
    const answer: (() => void)[] = [];
    let watching = 0;
    server.handle = (request, reply) => {
      if (request.path.includes('watch=1')) {
        watching += 1;
        reply.begin();
        reply.chunk('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"5"}}}\n');
      } else answer.push(() => reply.json(200, pod));
    };
    const watches = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const watch = client.watch(PODS, {});
        await watch[Symbol.asyncIterator]().next();
        return watch;
      }),
    );
    const wanted = REQUESTS_IN_FLIGHT_MAX + 20;
    const gets = Array.from({ length: wanted }, () => client.get(PODS, at));
    await server.asked(30 + REQUESTS_IN_FLIGHT_MAX);
    expect(answer.length).toBe(REQUESTS_IN_FLIGHT_MAX);
    let answered = 0;
    while (answered < wanted) {
      await server.asked(30 + Math.min(wanted, answered + 1));
      for (const reply of answer.splice(0)) {
        reply();
        answered += 1;
      }
    }
    expect((await Promise.all(gets)).length).toBe(wanted);
    expect(watching).toBe(30);
    for (const watch of watches) watch.close();
  });

  test('a watch too many waits for a place and says so', async () => {
    const fetchesAtOnce = REQUESTS_IN_FLIGHT_MAX + FETCHES_RESERVED + 1;
    const { factory, log } = partsFor(configFor(server), { fetchesAtOnce });
    server.handle = (_, reply) => {
      reply.begin();
      reply.chunk('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"5"}}}\n');
    };
    const client = factory.client('t');
    const first = client.watch(PODS, {});
    await first[Symbol.asyncIterator]().next();
    expect(log.lines.some((line) => line.startsWith('W no place for another watch'))).toBe(false);
    const second = client.watch(PODS, {});
    const event = second[Symbol.asyncIterator]().next();
    expect(log.lines.some((line) => line.startsWith('W no place for another watch'))).toBe(true);
    expect(server.received.length).toBe(1);
    first.close();
    expect((await event).done).toBe(false);
    second.close();
  });
});

describe('metrics', () => {
  test('are upstream’s, with the host and one count per attempt', async () => {
    const { factory, metrics } = partsFor(configFor(server), { qps: 100, burst: 100 });
    server.handle = (request, reply) => {
      if (request.verb === 'GET') reply.json(200, pod);
      else reply.cut();
    };
    const client = factory.client('t');
    await client.get(PODS, at);
    await failureOf(client.create(PODS, everywhere, pod));
    const text = await metrics.serialize();
    const host = server.host;
    const size = Buffer.byteLength(JSON.stringify(pod));
    for (const line of [
      `rest_client_requests_total{code="200",method="GET",host="${host}"} 1`,
      `rest_client_requests_total{code="<error>",method="POST",host="${host}"} 1`,
      `rest_client_request_duration_seconds_count{verb="GET",host="${host}"} 1`,
      `rest_client_rate_limiter_duration_seconds_count{verb="POST",host="${host}"} 1`,
      `rest_client_request_size_bytes_sum{verb="GET",host="${host}"} 0`,
      `rest_client_request_size_bytes_sum{verb="POST",host="${host}"} ${size}`,
      `rest_client_response_size_bytes_sum{verb="GET",host="${host}"} ${size}`,
      `holdfast_client_received_bytes_total{traffic="request"} ${size}`,
      'rest_client_transport_cache_entries 1',
      'rest_client_exec_plugin_ttl_seconds +Inf',
    ]) {
      expect(text).toContain(line);
    }
    expect(text).toContain('le="1.6777216e+07"');
    expect(text).not.toContain('rest_client_request_retries_total{');
  });
});
