/**
 * An HTTPS proxy in front of the API server that answers chosen requests with faults. It passes the
 * client's identity on: it knows the key of every user of the rig, and hands tokens on as they are.
 */

import { readFileSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTls, type TLSSocket } from 'node:tls';
import type { Cluster } from './cluster.ts';
import { freePort } from './ports.ts';

/** What happens to a request instead of a plain forward. */
export type Fault =
  /** Answer with this HTTP status; the server never sees the request, unless it was `executed`. */
  | {
      readonly status: number;
      readonly reason?: string;
      readonly retryAfterSeconds?: number;
      /** Reason of the one cause among the details. */
      readonly cause?: string;
      readonly executed?: boolean;
    }
  /** Answer a watch with 200 and one ERROR event of this code. */
  | { readonly watchError: number }
  /** Forward, then end the answer cleanly in the middle of its last line after `lines` whole ones. */
  | { readonly halfLineAfter: number }
  /** Close the connection without an answer; `executed` lets the server do it first. */
  | { readonly cut: 'unsent' | 'executed' }
  /** Forward after this time. */
  | { readonly delayMs: number }
  /** Forward once this has resolved. */
  | { readonly until: Promise<unknown> };

/** Which requests a fault is for. */
export interface FaultRule {
  readonly method?: string;
  /** Matched against path and query. */
  readonly path?: RegExp;
  /** How many requests it hits, default all until cleared. */
  readonly times?: number;
  readonly fault: Fault;
}

/** A request that came by, whole. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** Name in the client certificate, undefined with a token. */
  readonly user: string | undefined;
  readonly faulted: boolean;
  /** What the server answered; undefined while it hasn't. */
  status?: number;
}

interface ActiveRule extends FaultRule {
  left: number;
}

const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function statusBody(
  code: number,
  reason = REASONS[code] ?? 'Unknown',
  retryAfter?: number,
  cause?: string,
) {
  const details = {
    ...(retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter }),
    ...(cause === undefined ? {} : { causes: [{ reason: cause, message: cause }] }),
  };
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `rig fault ${code}`,
    reason,
    code,
    ...(Object.keys(details).length === 0 ? {} : { details }),
  };
}

function isWatch(path: string): boolean {
  return /[?&]watch=/.test(path);
}

function bodyOf(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

/** The proxy. Give `url` to a client (Cluster.kubeconfig(user, url)). */
export class FaultProxy {
  readonly seen: SeenRequest[] = [];
  #underWay = 0;
  readonly #rules: ActiveRule[] = [];
  readonly #sockets = new Set<TLSSocket>();
  readonly #sessions = new Map<string, Bun.FetchSession>();
  #close: () => void = () => undefined;
  /** Watches that say nothing until the promise resolves. */
  #muted: { readonly path: RegExp; readonly end: PromiseWithResolvers<void> } | undefined;

  private constructor(
    readonly port: number,
    private readonly cluster: Cluster,
  ) {}

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  /** Requests other than watches that came and have not been answered. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Starts a proxy for a cluster; it stops with it. */
  static async start(cluster: Cluster): Promise<FaultProxy> {
    const proxy = new FaultProxy(await freePort(), cluster);
    await proxy.#listen();
    cluster.onStop(() => proxy.stop());
    return proxy;
  }

  /** Adds a fault; gives a function that takes it away. Earlier rules win. */
  fail(rule: FaultRule): () => void {
    const active: ActiveRule = { ...rule, left: rule.times ?? Number.POSITIVE_INFINITY };
    this.#rules.push(active);
    return () => {
      active.left = 0;
    };
  }

  /** Takes all faults away. */
  heal(): void {
    this.#rules.length = 0;
  }

  /** Such watches stay open and can be opened, but nothing is passed on; other requests work. */
  mute(path: RegExp): void {
    this.#muted = { path, end: Promise.withResolvers<void>() };
  }

  /** What those watches had to say meanwhile is passed on. */
  unmute(): void {
    this.#muted?.end.resolve();
    this.#muted = undefined;
  }

  /** Closes all connections now; new ones work. */
  cut(): void {
    for (const socket of [...this.#sockets]) socket.destroy();
  }

  stop(): void {
    this.#close();
    this.cut();
    for (const session of this.#sessions.values()) session.close();
    this.#sessions.clear();
  }

  #listen(): Promise<void> {
    const { files } = this.cluster;
    const http = createHttp((request, response) => {
      const one = isWatch(request.url ?? '') ? 0 : 1;
      this.#underWay += one;
      this.#handle(request, response)
        .catch(() => request.socket.destroy())
        .finally(() => {
          this.#underWay -= one;
        });
    });
    const tls = createTls(
      {
        cert: readFileSync(files.servingCert),
        key: readFileSync(files.servingKey),
        ca: readFileSync(files.ca),
        requestCert: true,
        rejectUnauthorized: false,
      },
      (socket) => {
        this.#sockets.add(socket);
        socket.on('close', () => this.#sockets.delete(socket));
        socket.on('error', () => socket.destroy());
        http.emit('connection', socket);
      },
    );
    this.#close = () => tls.close();
    return new Promise((resolve, reject) => {
      tls.once('error', reject);
      tls.listen(this.port, '127.0.0.1', () => resolve());
    });
  }

  #take(method: string, path: string): Fault | undefined {
    const rule = this.#rules.find(
      (one) =>
        one.left > 0 &&
        (one.method === undefined || one.method === method) &&
        (one.path === undefined || one.path.test(path)),
    );
    if (rule) rule.left -= 1;
    return rule?.fault;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/' } = request;
    const socket = request.socket as TLSSocket;
    const fault = this.#take(method, path);
    const user = socket.authorized ? String(socket.getPeerCertificate().subject.CN) : undefined;
    const body = await bodyOf(request);
    const seen: SeenRequest = { method, path, user, faulted: fault !== undefined };
    this.seen.push(seen);
    if (fault && 'status' in fault && !fault.executed) return answerStatus(response, fault);
    if (fault && 'watchError' in fault) {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(`${JSON.stringify({ type: 'ERROR', object: statusBody(fault.watchError) })}\n`);
      return;
    }
    if (fault && 'cut' in fault && fault.cut === 'unsent') return void socket.destroy();
    if (fault && 'delayMs' in fault) await Bun.sleep(fault.delayMs);
    if (fault && 'until' in fault) await fault.until;
    // Who waited for a watch is gone; a write reaches the server all the same, late.
    if (socket.destroyed && isWatch(path)) return;
    const stop = new AbortController();
    const close = (): void => stop.abort();
    response.on('close', close);
    // A response whose connection breaks doesn't always say so, and a watch would go on for ever.
    socket.once('close', close);
    response.on('finish', () => socket.off('close', close));
    const answer = await this.#forward(request, body, user, stop.signal);
    seen.status = answer.status;
    if (fault && 'cut' in fault) {
      await answer.arrayBuffer();
      return void socket.destroy();
    }
    if (fault && 'status' in fault) {
      await answer.arrayBuffer();
      return answerStatus(response, fault);
    }
    const lines = fault && 'halfLineAfter' in fault ? fault.halfLineAfter : -1;
    await passOn(answer, response, lines, () => this.#whileMuted(path));
  }

  #whileMuted(path: string): Promise<void> | undefined {
    const muted = this.#muted;
    if (muted === undefined || !isWatch(path) || !muted.path.test(path)) return undefined;
    return muted.end.promise;
  }

  #forward(
    request: IncomingMessage,
    body: Buffer,
    user: string | undefined,
    signal: AbortSignal,
  ): Promise<Response> {
    const headers = new Headers({ 'Accept-Encoding': 'identity' });
    for (const name of ['accept', 'content-type', 'user-agent', 'authorization']) {
      const value = request.headers[name];
      if (typeof value === 'string') headers.set(name, value);
    }
    const session = this.#session(user);
    return session.fetch(this.cluster.server + request.url, {
      method: request.method,
      headers,
      signal,
      proxy: false,
      timeout: false,
      ...(body.length > 0 ? { body } : {}),
    } as BunFetchRequestInit);
  }

  /** One connection pool for each user, with that user's own certificate. */
  #session(user = ''): Bun.FetchSession {
    const known = this.#sessions.get(user);
    if (known) return known;
    const pair = this.cluster.identities.pairOf(user);
    const client = pair ? { cert: pair.certPem, key: pair.keyPem } : {};
    const session = new Bun.FetchSession({ tls: { ca: this.cluster.caPem, ...client } });
    this.#sessions.set(user, session);
    return session;
  }
}

function answerStatus(
  response: ServerResponse,
  fault: Extract<Fault, { readonly status: number }>,
): void {
  const { status, reason, retryAfterSeconds, cause } = fault;
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds);
  response.writeHead(status, headers);
  response.end(JSON.stringify(statusBody(status, reason, retryAfterSeconds, cause)));
}

/**
 * Streams an answer on; with `lines` >= 0 only so many whole lines and half of the next. Each piece
 * waits for what `held` gives.
 */
async function passOn(
  answer: Response,
  response: ServerResponse,
  lines: number,
  held: () => Promise<void> | undefined,
): Promise<void> {
  const headers: Record<string, string> = {};
  for (const name of ['content-type', 'retry-after', 'audit-id', 'warning']) {
    const value = answer.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  response.writeHead(answer.status, headers);
  response.flushHeaders();
  let left = lines;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    await held();
    if (lines < 0) {
      response.write(chunk);
      continue;
    }
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      if (left === 0) {
        response.end(chunk.subarray(start, start + Math.ceil((end - start) / 2)));
        return;
      }
      left -= 1;
      response.write(chunk.subarray(start, end + 1));
      start = end + 1;
    }
    response.write(chunk.subarray(start));
  }
  response.end();
}
