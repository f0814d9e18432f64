/** What somebody without credentials can do with bytes of his own making. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type ConnectionOptions, connect, type SecureVersion } from 'node:tls';
import { systemClock } from '../runtime/clock.ts';
import { createLogger } from '../runtime/log.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { systemRandom } from '../runtime/random.ts';
import { type Serving, serve } from './index.ts';
import { PLAIN_OPTIONS, PLAIN_STATUS } from './testing/plain.ts';

const clock = systemClock();
const HOST = 'Host: x\r\n';
const LAST = `${HOST}Connection: close\r\n`;
const HIDDEN = `GET /metrics HTTP/1.1\r\n${LAST}\r\n`;

let serving: Serving;
let asked: string[] = [];

beforeAll(async () => {
  serving = await serve(
    {
      ...PLAIN_OPTIONS,
      alwaysAllowPaths: ['/healthz', '/readyz', '/livez'],
      profiling: true,
    },
    {
      status: PLAIN_STATUS,
      metrics: createMetrics({ process: 'none' }),
      clock,
      random: systemRandom(),
      log: createLogger({ format: 'text', verbosity: 0, write: () => undefined, clock, pid: 1 }),
      reviews: {
        reviewToken: async () => undefined,
        reviewAccess: async (user, verb, path) => {
          asked.push(`${user.name} ${verb} ${path}`);
          return { allowed: false, reason: '' };
        },
      },
      versions: { runtime: 'bun', binary: '1.36.3', emulation: '1.36' },
      setVerbosity: () => undefined,
    },
  );
});

afterAll(() => serving.close());
beforeEach(() => {
  asked = [];
});

/** Everything that comes back until the server closes, or "no connection". */
function send(bytes: string, options: ConnectionOptions = {}): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    let isOpen = false;
    const to = { port: serving.port, host: '127.0.0.1', rejectUnauthorized: false, ...options };
    const socket = connect(to, () => {
      isOpen = true;
      socket.write(bytes);
    });
    socket.on('data', (data) => {
      text += data.toString();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(isOpen ? text : 'no connection'));
  });
}

/** Status codes of all answers. */
function statuses(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code));
}

describe('requests that two parsers could read differently are refused', () => {
  const body = `0\r\n\r\n${HIDDEN}`;
  test.each([
    [
      'a length and chunks',
      `${HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
    ],
    ['two lengths', `${HOST}Content-Length: 5\r\nContent-Length: 6\r\n\r\n${body}`],
    ['a length that is none', `${HOST}Content-Length: +5\r\n\r\n${body}`],
    ['an unknown encoding', `${HOST}Transfer-Encoding: xchunked\r\n\r\n${body}`],
    ['a space before the colon', `${HOST}Content-Length : 5\r\n\r\n${body}`],
    ['a folded line', `${HOST}X-A: b\r\n c\r\n\r\n${body}`],
  ])('%s', async (_, rest) => {
    const answer = await send(`POST /healthz HTTP/1.1\r\n${rest}`);
    expect(statuses(answer)).toEqual([400]);
    expect(asked).toEqual([]);
  });

  test.each([
    ['no host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['line feeds alone', `GET /healthz HTTP/1.1\nHost: x\n\n`],
    ['the first words of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('%s', async (_, bytes) => {
    expect(statuses(await send(bytes))).toEqual([400]);
  });
});

describe('who has no credentials', () => {
  test('is judged for each request of a connection', async () => {
    const answer = await send(`GET /healthz HTTP/1.1\r\n${HOST}\r\n${HIDDEN}`);
    expect(statuses(answer)).toEqual([200, 403]);
    expect(asked).toEqual(['system:anonymous get /metrics']);
  });

  test.each([
    ['/healthz/../metrics', '/metrics'],
    ['/healthz/%2e%2e/metrics', '/metrics'],
    ['/%6detrics', '/metrics'],
    ['//metrics', '//metrics'],
    ['/metrics?/healthz', '/metrics'],
  ])('gets no further with the path %s', async (path, judged) => {
    const answer = await send(`GET ${path} HTTP/1.1\r\n${LAST}\r\n`);
    expect(statuses(answer)).toEqual([403]);
    expect(asked).toEqual([`system:anonymous get ${judged}`]);
  });

  test('can not name a user', async () => {
    const claim = 'X-Remote-User: admin\r\nX-Remote-Group: system:masters\r\n';
    expect(statuses(await send(`GET /metrics HTTP/1.1\r\n${claim}${LAST}\r\n`))).toEqual([403]);
    expect(asked).toEqual(['system:anonymous get /metrics']);
  });

  test('can change nothing', async () => {
    for (const [verb, path] of [
      ['PUT', '/debug/flags/v'],
      ['DELETE', '/metrics/slis'],
    ]) {
      const bytes = `${verb} ${path} HTTP/1.1\r\nContent-Length: 1\r\n${LAST}\r\n9`;
      expect(statuses(await send(bytes))).toEqual([403]);
    }
    expect(asked).toEqual([
      'system:anonymous put /debug/flags/v',
      'system:anonymous delete /metrics/slis',
    ]);
  });

  test('does not make it hold headers without end', async () => {
    const bytes = `GET /healthz HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(1_000_000)}\r\n\r\n`;
    expect(statuses(await send(bytes))).not.toContain(200);
  });
});

describe('TLS', () => {
  const get = `GET /healthz HTTP/1.1\r\n${LAST}\r\n`;

  test.each<[SecureVersion, string]>([
    ['TLSv1.2', 'an answer'],
    ['TLSv1.3', 'an answer'],
    ['TLSv1.1', 'no connection'],
    ['TLSv1', 'no connection'],
  ])('%s: %s', async (version, outcome) => {
    const answer = await send(get, { minVersion: version, maxVersion: version });
    expect(statuses(answer).join() === '200' ? 'an answer' : answer).toBe(outcome);
  });

  test('plain text gets no answer', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      let text = '';
      Bun.connect({
        hostname: '127.0.0.1',
        port: serving.port,
        socket: {
          open: (socket) => void socket.write(get),
          data: (_, data) => {
            text += data.toString('latin1');
          },
          close: () => resolve(text),
        },
      }).catch(reject);
    });
    expect(answer).not.toContain('HTTP/');
  });
});
