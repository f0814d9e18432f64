/** HTTP/1.1 to one API server over pooled TLS connections; the only place that calls fetch. */
import { FencedError, TransportError } from '../api/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import {
  CONNECTION_IDLE_SECONDS,
  FETCHES_IN_PROCESS_MAX,
  FETCHES_RESERVED,
  REQUESTS_IN_FLIGHT_MAX,
} from '../runtime/limits.ts';
import { Attempt } from './attempt.ts';
import { Lane } from './lane.ts';
import type { ClientMetrics, Traffic } from './metrics.ts';
import type { WriteFence } from './types.ts';

export type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** TLS material of a connection: connections with different material are never shared. */
export interface ConnectionTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** What shows a server who a request comes from. */
export interface Presented {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: ConnectionTls;
}

/** Who a request comes from. Asked before each attempt; may need requests of its own for that. */
export interface Identity {
  present(): Promise<Presented>;
  /** What `present` would give, if it needs no wait for that; undefined if it does. */
  atHand(): Presented | undefined;
  /** The server answered 401 to a request that was sent at this time (monotonic ms). */
  refused(sentAt: number): void;
}

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly verb: Verb;
  /** Path and query below the server's base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly identity: Identity;
  /** Limit for the whole answer; for a stream, until its first byte. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Present for writes. */
  readonly fence?: WriteFence;
}

export interface WireAnswer {
  readonly code: number;
  readonly headers: Headers;
  readonly text: string;
  readonly bytes: number;
}

/** An answer whose body is read as it comes. */
export interface WireStream {
  readonly code: number;
  readonly headers: Headers;
  /** The next bytes, undefined at a clean end; fails if nothing comes within `silenceMs`. */
  read(silenceMs: number): Promise<Uint8Array | undefined>;
  /** Must be called when done; closes the connection unless it ended cleanly. */
  close(): void;
}

export interface TransportOptions {
  readonly server: string;
  readonly insecureSkipTlsVerify: boolean;
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
  readonly clock: Clock;
  readonly metrics: ClientMetrics;
  /** Fetches that the whole process may have under way, if it was started with another bound. */
  readonly fetchesAtOnce?: number;
}

/** Connections that were opened with the same material. */
interface Pool {
  readonly tls: ConnectionTls;
  readonly session: Bun.FetchSession;
}

interface Started {
  readonly attempt: Attempt;
  readonly response: Response;
  readonly leave: () => void;
}

const decoder = new TextDecoder();

async function presented(
  { identity, timeoutMs }: WireRequest,
  attempt: Attempt,
): Promise<Presented> {
  attempt.limit(timeoutMs, 'no credentials');
  const shown = await attempt.during(identity.present());
  attempt.unlimited();
  return shown;
}

/** Sends requests; knows nothing of retries, rate limits or what the bytes mean. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #pools: Pool[] = [];
  readonly #lanes: Readonly<Record<Traffic, Lane>>;
  readonly #isSecure: boolean;
  #closed = false;

  constructor(options: TransportOptions) {
    const all = options.fetchesAtOnce ?? FETCHES_IN_PROCESS_MAX;
    const watches = Math.max(1, all - FETCHES_RESERVED - REQUESTS_IN_FLIGHT_MAX);
    this.#options = options;
    this.#isSecure = options.server.startsWith('https:');
    this.#lanes = { request: new Lane(REQUESTS_IN_FLIGHT_MAX), watch: new Lane(watches) };
  }

  /** True if the next of these must wait until another one ends. */
  isFull(traffic: Traffic): boolean {
    return this.#lanes[traffic].isFull;
  }

  /**
   * Sends one request and reads the whole answer, whatever its code. Throws TransportError if no
   * complete answer came, FencedError for a write that must not leave or was cut off.
   */
  async send(request: WireRequest): Promise<WireAnswer> {
    const { attempt, response, leave } = await this.#start(request, 'request');
    try {
      const body = await response.bytes();
      this.#options.metrics.received('request', body.length);
      const { status: code, headers } = response;
      return { code, headers, text: decoder.decode(body), bytes: body.length };
    } catch (error) {
      throw asCut(attempt.failure(error));
    } finally {
      attempt.end();
      leave();
    }
  }

  /** Sends one request and gives its body as a stream; occupies a place among the watches. */
  async open(request: WireRequest): Promise<WireStream> {
    const started = await this.#start(request, 'watch');
    started.attempt.unlimited();
    return new BodyStream(started, (bytes) => this.#options.metrics.received('watch', bytes));
  }

  /** Closes idle connections; what is under way ends by itself. Nothing can be sent any more. */
  close(): void {
    this.#closed = true;
    for (const pool of this.#pools.splice(0)) this.#discard(pool);
  }

  async #start(request: WireRequest, traffic: Traffic): Promise<Started> {
    const what = `${request.verb} ${request.path}`;
    const attempt = new Attempt(what, this.#options.clock);
    let leave: (() => void) | undefined;
    try {
      attempt.stopWith(request.signal);
      // Before taking a place: getting a token may itself need one.
      const { headers, tls } = request.identity.atHand() ?? (await presented(request, attempt));
      leave = await this.#lanes[traffic].enter(attempt.signal);
      attempt.signal.throwIfAborted();
      if (leave === undefined || this.#closed) throw new TransportError(`${what}: client closed`);
      if (request.fence !== undefined) raise(request.fence, attempt, what);
      attempt.limit(request.timeoutMs, 'no answer');
      const sentAt = this.#options.clock.monotonic();
      const response = await this.#fetch(request, { ...request.headers, ...headers }, tls, attempt);
      if (request.body !== undefined) {
        this.#options.metrics.sent(traffic, Buffer.byteLength(request.body));
      }
      if (response.status === 401) request.identity.refused(sentAt);
      return { attempt, response, leave };
    } catch (error) {
      attempt.end();
      leave?.();
      if (error instanceof FencedError || error instanceof TransportError) throw error;
      throw attempt.failure(error);
    }
  }

  #fetch(
    request: WireRequest,
    headers: Readonly<Record<string, string>>,
    tls: ConnectionTls,
    attempt: Attempt,
  ): Promise<Response> {
    attempt.signal.throwIfAborted();
    const init = {
      method: request.verb,
      headers: { ...headers, 'Accept-Encoding': 'identity' },
      signal: attempt.signal,
      redirect: 'manual' as const,
      // Bun's own limit would also cut a watch that is silent for 360 s.
      timeout: false,
      // A flag of the environment would switch to HTTP/2, over which watches end early.
      ...(this.#isSecure ? { protocol: 'http1.1' as const } : {}),
      body: request.body === undefined ? undefined : bodyOf(request.verb, request.body),
    };
    return this.#session(tls).fetch(`${this.#options.server}${request.path}`, init);
  }

  #session(tls: ConnectionTls): Bun.FetchSession {
    const known = this.#pools.find((pool) => isSame(pool.tls, tls));
    if (known !== undefined) return known.session;
    this.#retireOld(tls);
    const { tlsServerName, insecureSkipTlsVerify, proxyUrl } = this.#options;
    const session = new Bun.FetchSession({
      tls: {
        ...tls,
        serverName: tlsServerName,
        rejectUnauthorized: !insecureSkipTlsVerify,
      },
      proxy: proxyUrl ?? proxyFor(this.#options.server),
      keepAlive: { idleTimeout: CONNECTION_IDLE_SECONDS },
    });
    this.#pools.push({ tls, session });
    this.#options.metrics.pools(1);
    return session;
  }

  /** New material of the same kind of identity replaces the old: its connections aren't reused. */
  #retireOld(tls: ConnectionTls): void {
    const old = this.#pools.findIndex(
      (pool) => (pool.tls.cert === undefined) === (tls.cert === undefined),
    );
    if (old >= 0) for (const pool of this.#pools.splice(old, 1)) this.#discard(pool);
  }

  #discard(pool: Pool): void {
    pool.session.close();
    this.#options.metrics.pools(-1);
  }
}

/** As Go: this machine is never reached through the environment's proxy. */
function proxyFor(server: string): false | undefined {
  const { hostname } = new URL(server);
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname) ? false : undefined;
}

function isSame(one: ConnectionTls, other: ConnectionTls): boolean {
  return one.ca === other.ca && one.cert === other.cert && one.key === other.key;
}

function raise(fence: WriteFence, attempt: Attempt, what: string): void {
  if (!fence.mayWrite()) throw new FencedError(`not the leader any more: ${what} was not sent`);
  attempt.fenceWith(fence.signal());
}

/**
 * Bun sends a PUT or DELETE again by itself when a reused connection dies before the answer. A
 * body that can be read only once keeps it from that: a lost answer must reach the caller.
 */
function bodyOf(verb: Verb, text: string): string | ReadableStream<Uint8Array> {
  if (verb !== 'PUT' && verb !== 'DELETE') return text;
  return new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from(text));
      controller.close();
    },
  });
}

/** Once the answer has begun, a reset is no reason to send even a GET again. */
function asCut(error: Error): Error {
  return error instanceof FencedError ? error : new TransportError(error.message, error.cause);
}

class BodyStream implements WireStream {
  readonly code: number;
  readonly headers: Headers;
  readonly #started: Started;
  readonly #count: (bytes: number) => void;
  readonly #reader: { read(): Promise<{ done: boolean; value?: Uint8Array }> } | undefined;
  #open = true;

  constructor(started: Started, count: (bytes: number) => void) {
    this.code = started.response.status;
    this.headers = started.response.headers;
    this.#started = started;
    this.#count = count;
    this.#reader = started.response.body?.getReader();
    // Whoever cuts the stream may never read again: the place is free at that moment.
    started.attempt.signal.addEventListener('abort', () => this.#release(), { once: true });
  }

  async read(silenceMs: number): Promise<Uint8Array | undefined> {
    const { attempt } = this.#started;
    attempt.limit(silenceMs, 'no sign of life');
    try {
      attempt.signal.throwIfAborted();
      const { done, value } = (await this.#reader?.read()) ?? { done: true };
      if (done || value === undefined) {
        this.#release();
        return undefined;
      }
      this.#count(value.length);
      return value;
    } catch (error) {
      throw asCut(attempt.failure(error));
    } finally {
      attempt.unlimited();
    }
  }

  close(): void {
    if (this.#open) this.#started.attempt.cut(new TransportError('the stream was closed'));
  }

  #release(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#started.attempt.end();
    this.#started.leave();
  }
}
