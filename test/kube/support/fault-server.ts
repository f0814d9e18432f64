/** A TLS server that answers exactly what a test says, and notes what it was asked. */
import type { Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { Authority, type Pair } from '../../rig/certs.ts';

/** A request as it arrived. */
export interface Received {
  readonly verb: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Common name of the client certificate, "" without one. */
  readonly clientName: string;
  /** Which connection of the server it came over, from 1. */
  readonly connection: number;
}

/** How to answer one request. */
export class Reply {
  constructor(private readonly socket: Socket) {}

  json(code: number, value: unknown, headers: Record<string, string> = {}): void {
    this.text(code, JSON.stringify(value), { 'content-type': 'application/json', ...headers });
  }

  text(code: number, body: string, headers: Record<string, string> = {}): void {
    const length = String(Buffer.byteLength(body));
    this.raw(`${head(code, { ...headers, 'content-length': length })}${body}`);
  }

  /** Starts an answer without a length. */
  begin(code = 200, headers: Record<string, string> = {}): void {
    this.raw(head(code, { ...headers, 'transfer-encoding': 'chunked' }));
  }

  chunk(text: string | Buffer): void {
    const bytes = Buffer.from(text);
    this.socket.write(`${bytes.length.toString(16)}\r\n`);
    this.socket.write(bytes);
    this.socket.write('\r\n');
  }

  /** Ends an answer that was begun. */
  end(): void {
    this.raw('0\r\n\r\n');
  }

  raw(text: string): void {
    this.socket.write(text);
  }

  /** Breaks the connection. */
  cut(): void {
    this.socket.destroy();
  }

  /** Resolves when the client has closed the connection. */
  closed(): Promise<void> {
    return new Promise((resolve) => {
      if (this.socket.destroyed) resolve();
      else this.socket.once('close', () => resolve());
    });
  }
}

type Handler = (request: Received, reply: Reply) => void;

function head(code: number, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${code} Answer`, ...lines, '', ''].join('\r\n');
}

/** The server. `handle` may be replaced at any time; without one every request is left silent. */
export class FaultServer {
  handle: Handler = () => undefined;
  readonly received: Received[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #waiting: (() => void)[] = [];
  #connections = 0;
  #port = 0;
  #close: () => void = () => undefined;

  private constructor(
    readonly authority: Authority,
    readonly client: Pair,
  ) {}

  /** Starts on a free port of 127.0.0.1 with an authority of its own and these names. */
  static async start(hosts = ['127.0.0.1']): Promise<FaultServer> {
    const authority = await Authority.create('fault-server-ca');
    const pair = await authority.issue({ commonName: 'server', hosts });
    const client = await authority.issue({ commonName: 'client' });
    const server = new FaultServer(authority, client);
    await server.#listen(pair);
    return server;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#close();
  }

  /** Forgets what was asked and how to answer. */
  reset(): void {
    this.received.length = 0;
    this.handle = () => undefined;
  }

  /** Resolves once this many requests have arrived since the last reset. */
  async asked(count: number): Promise<void> {
    while (this.received.length < count) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #listen(pair: Pair): Promise<void> {
    const options = {
      key: pair.keyPem,
      cert: pair.certPem,
      ca: this.authority.certPem,
      requestCert: true,
      rejectUnauthorized: false,
    };
    const server = createServer(options, (socket) => this.#serve(socket));
    this.#close = () => server.close();
    return new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        this.#port = typeof address === 'object' && address !== null ? address.port : 0;
        resolve();
      });
    });
  }

  #serve(socket: TLSSocket): void {
    this.#connections += 1;
    const connection = this.#connections;
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
    let pending = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => {
      pending = Buffer.concat([pending, bytes]);
      for (let next = takeRequest(pending); next !== undefined; next = takeRequest(pending)) {
        pending = Buffer.from(next.rest);
        const clientName = String(socket.getPeerCertificate()?.subject?.CN ?? '');
        const request = { ...next.request, clientName, connection };
        this.received.push(request);
        this.handle(request, new Reply(socket));
        for (const wake of this.#waiting.splice(0)) wake();
      }
    });
  }
}

interface Taken {
  readonly request: Omit<Received, 'clientName' | 'connection'>;
  readonly rest: Buffer;
}

/** Cuts one whole request off the bytes that have arrived. */
function takeRequest(bytes: Buffer): Taken | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString().split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const [verb = '', path = ''] = first.split(' ');
  const body = takeBody(bytes.subarray(end + 4), headers);
  return body && { request: { verb, path, headers, body: body.text }, rest: body.rest };
}

function takeBody(
  bytes: Buffer,
  headers: Record<string, string>,
): { text: string; rest: Buffer } | undefined {
  if (headers['transfer-encoding'] !== 'chunked') {
    const length = Number(headers['content-length'] ?? 0);
    if (bytes.length < length) return undefined;
    return { text: bytes.subarray(0, length).toString(), rest: bytes.subarray(length) };
  }
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, line).toString(), 16);
    const start = line + 2;
    if (bytes.length < start + size + 2) return undefined;
    if (size === 0)
      return { text: Buffer.concat(parts).toString(), rest: bytes.subarray(start + 2) };
    parts.push(bytes.subarray(start, start + size));
    at = start + size + 2;
  }
}
