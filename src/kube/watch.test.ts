import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { FaultServer, type Reply } from '../../test/kube/support/fault-server.ts';
import { configFor, failureOf, partsFor } from '../../test/kube/support/parts.ts';
import { ApiError, isExpired, TransportError } from '../api/errors.ts';
import { PODS } from '../api/resource.ts';
import type { Pod } from '../api/types/index.ts';
import { WATCH_CHUNK_EVENTS_MAX, WATCH_LINE_BYTES_MAX } from '../runtime/limits.ts';
import type { WatchEvent, WatchStream } from './types.ts';

let server: FaultServer;
beforeAll(async () => {
  server = await FaultServer.start();
});
afterAll(() => server.stop());
beforeEach(() => server.reset());

const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
const podLine = (type: string, name: string, version = '1') =>
  line(type, {
    kind: 'Pod',
    metadata: { name, namespace: 'x', uid: name, resourceVersion: version },
  });
const shown = (event: WatchEvent) =>
  event.type === 'BOOKMARK'
    ? `BOOKMARK ${event.resourceVersion}`
    : `${event.type} ${event.object.metadata.name}`;

/** Everything a stream gives until it ends. */
async function readAll(stream: WatchStream): Promise<string[]> {
  const events: string[] = [];
  for await (const chunk of stream) events.push(...chunk.map(shown));
  return events;
}

function watching(script: (reply: Reply) => void) {
  server.handle = (_, reply) => script(reply);
  const parts = partsFor(configFor(server));
  return { ...parts, client: parts.factory.client('t') };
}

describe('a watch', () => {
  test('asks as upstream’s reflector', async () => {
    const { client } = watching((reply) => {
      reply.begin();
      reply.end();
    });
    await readAll(
      client.watch(PODS, {
        namespace: 'x',
        resourceVersion: '7',
        labelSelector: 'a=b',
        timeoutSeconds: 300,
        metadataOnly: true,
      }),
    );
    await readAll(
      client.watch(PODS, { sendInitialEvents: true, fieldSelector: 'metadata.name=n' }),
    );
    expect(server.received.map(({ path }) => path)).toEqual([
      '/api/v1/namespaces/x/pods?watch=1&allowWatchBookmarks=true&resourceVersion=7' +
        '&labelSelector=a%3Db&timeoutSeconds=300',
      '/api/v1/pods?watch=1&allowWatchBookmarks=true&sendInitialEvents=true' +
        '&resourceVersionMatch=NotOlderThan&fieldSelector=metadata.name%3Dn&timeoutSeconds=600',
    ]);
    expect(server.received[0]?.headers.accept).toStartWith('application/json;as=PartialObjectMeta');
  });

  test('gives events and bookmarks until the server ends it', async () => {
    const end = { metadata: { resourceVersion: '9', annotations: {} } };
    const initial = {
      metadata: { resourceVersion: '8', annotations: { 'k8s.io/initial-events-end': 'true' } },
    };
    const { client } = watching((reply) => {
      reply.begin();
      reply.chunk(podLine('ADDED', 'a') + line('BOOKMARK', initial));
      reply.chunk(podLine('MODIFIED', 'a') + podLine('DELETED', 'a') + line('BOOKMARK', end));
      reply.end();
    });
    const events: WatchEvent[] = [];
    for await (const chunk of client.watch(PODS, {})) events.push(...chunk);
    expect(events.map(shown)).toEqual([
      'ADDED a',
      'BOOKMARK 8',
      'MODIFIED a',
      'DELETED a',
      'BOOKMARK 9',
    ]);
    const bookmarks = events.filter((event) => event.type === 'BOOKMARK');
    expect(bookmarks.map((event) => event.initialEventsEnd)).toEqual([true, false]);
  });

  test('gives what arrived together in one piece, up to a bound', async () => {
    const many = WATCH_CHUNK_EVENTS_MAX + 10;
    const { client } = watching((reply) => {
      const names = Array.from({ length: many }, (_, index) => `p${index}`);
      reply.text(200, names.map((name) => podLine('ADDED', name)).join(''));
    });
    const sizes: number[] = [];
    for await (const chunk of client.watch(PODS, {})) sizes.push(chunk.length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(many);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(WATCH_CHUNK_EVENTS_MAX);
    expect(sizes.length).toBeLessThan(many / 10);
  });

  test('puts events together again that were cut anywhere, also inside a character', async () => {
    const bytes = Buffer.from(podLine('ADDED', 'größe-✓') + podLine('MODIFIED', 'größe-✓'));
    const { client } = watching((reply) => {
      reply.begin();
      for (const byte of bytes) reply.chunk(Buffer.from([byte]));
      reply.end();
    });
    expect(await readAll(client.watch(PODS, {}))).toEqual(['ADDED größe-✓', 'MODIFIED größe-✓']);
  });

  test('keeps integers beyond 2^53', async () => {
    const { client } = watching((reply) => {
      reply.text(
        200,
        '{"type":"ADDED","object":{"metadata":{"name":"a"},' +
          '"spec":{"tolerations":[{"tolerationSeconds":9223372036854775807}]}}}\n',
      );
    });
    for await (const [event] of client.watch<Pod>(PODS, {})) {
      const pod = event?.type === 'ADDED' ? event.object : undefined;
      const seconds: unknown = pod?.spec?.tolerations?.[0]?.tolerationSeconds;
      expect(seconds).toBe(9223372036854775807n);
    }
    expect.assertions(1);
  });

  test('leaves an unknown type of event out and says so', async () => {
    const { client, log } = watching((reply) => {
      reply.text(200, podLine('RENAMED', 'a') + podLine('ADDED', 'b'));
    });
    expect(await readAll(client.watch(PODS, {}))).toEqual(['ADDED b']);
    expect(log.lines).toContain('W watch event of unknown type');
  });
});

describe('a watch that fails', () => {
  const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };

  test('410 as an event, after what came before it', async () => {
    const { client } = watching((reply) => {
      reply.text(200, podLine('ADDED', 'a') + line('ERROR', expired) + podLine('ADDED', 'b'));
    });
    const seen: string[] = [];
    const failure = failureOf(
      (async () => {
        for await (const chunk of client.watch(PODS, {})) seen.push(...chunk.map(shown));
      })(),
    );
    const error = await failure;
    expect(error).toBeInstanceOf(ApiError);
    expect(isExpired(error)).toBe(true);
    expect(error.message).toBe('too old');
    expect(seen).toEqual(['ADDED a']);
  });

  test('410 as the answer', async () => {
    const { client } = watching((reply) => reply.json(410, expired));
    expect(isExpired(await failureOf(readAll(client.watch(PODS, {}))))).toBe(true);
  });

  test('an answer that says when to ask again is asked again', async () => {
    const { client, clock, log } = watching((reply) => {
      if (server.received.length === 1) reply.json(429, {}, { 'retry-after': '1' });
      else reply.text(200, podLine('ADDED', 'a'));
    });
    const events = readAll(client.watch(PODS, {}));
    while (!log.lines.some((text) => text.includes('Retry-After'))) await clock.settle();
    await clock.advance(1_000);
    expect(await events).toEqual(['ADDED a']);
  });

  test('half an event at a clean end', async () => {
    const { client } = watching((reply) => {
      reply.begin();
      reply.chunk(`${podLine('ADDED', 'a')}{"type":"ADD`);
      reply.end();
    });
    const error = await failureOf(readAll(client.watch(PODS, {})));
    expect(error).toBeInstanceOf(TransportError);
    expect(error.message).toContain('ended in the middle of an event');
  });

  test('a cut connection', async () => {
    const { client } = watching((reply) => {
      reply.begin();
      reply.chunk(podLine('ADDED', 'a'));
      reply.cut();
    });
    const error = await failureOf(readAll(client.watch(PODS, {})));
    expect(error).toBeInstanceOf(TransportError);
    expect(error.message).toContain('the connection was closed');
  });

  test('something that is no JSON, or no event', async () => {
    for (const text of ['<html>\n', '{"type":"ADDED"}\n', '{"type":"ADDED","object":{}}\n']) {
      const { client } = watching((reply) => reply.text(200, text));
      const error = await failureOf(readAll(client.watch(PODS, {})));
      expect(error).toBeInstanceOf(TransportError);
      expect(error.message).toContain('event');
    }
  });

  test('a line without end', async () => {
    const { client } = watching((reply) => {
      reply.begin();
      reply.chunk('x'.repeat(WATCH_LINE_BYTES_MAX + 1));
    });
    const error = await failureOf(readAll(client.watch(PODS, {})));
    expect(error).toBeInstanceOf(TransportError);
    expect(error.message).toContain('a line is longer than');
  });

  test('silence for longer than the server may be silent', async () => {
    const { client, clock } = watching((reply) => {
      reply.begin();
      reply.chunk(podLine('ADDED', 'a'));
    });
    const stream = client.watch(PODS, { timeoutSeconds: 300 })[Symbol.asyncIterator]();
    await stream.next();
    const next = failureOf(stream.next());
    await clock.advance(314_999);
    expect(clock.timers()).toBe(1);
    await clock.advance(1);
    const error = await next;
    expect(error).toBeInstanceOf(TransportError);
    expect(error.message).toContain('no sign of life within 315 s');
  });

  test('no answer at all', async () => {
    const { client, clock } = watching(() => undefined);
    const failed = failureOf(readAll(client.watch(PODS, {})));
    await server.asked(1);
    await clock.advance(60_000);
    expect((await failed).message).toContain('no answer within 60 s');
  });
});

describe('a watch that is stopped', () => {
  test('ends without an error and closes the connection', async () => {
    let closed: Promise<void> = Promise.resolve();
    const { client, clock } = watching((reply) => {
      reply.begin();
      reply.chunk(podLine('ADDED', 'a'));
      closed = reply.closed();
    });
    const stop = new AbortController();
    const bySignal = client.watch(PODS, { signal: stop.signal });
    for await (const _ of bySignal) stop.abort();
    await closed;
    const byClose = client.watch(PODS, {});
    for await (const _ of byClose) byClose.close();
    await closed;
    for await (const _ of client.watch(PODS, {})) break;
    await closed;
    expect(clock.timers()).toBe(0);
    expect(server.received.length).toBe(3);
  });

  test('before it began', async () => {
    const { client } = watching((reply) => reply.text(200, podLine('ADDED', 'a')));
    expect(await readAll(client.watch(PODS, { signal: AbortSignal.abort() }))).toEqual([]);
    const closed = client.watch(PODS, {});
    closed.close();
    expect(await readAll(closed)).toEqual([]);
    expect(server.received).toEqual([]);
  });

  test('can be read only once', async () => {
    const { client } = watching((reply) => reply.text(200, podLine('ADDED', 'a')));
    const stream = client.watch(PODS, {});
    await readAll(stream);
    expect((await failureOf(readAll(stream))).message).toBe('a watch can be read only once');
  });
});
