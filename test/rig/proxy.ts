/** A TCP proxy in front of the API server: counts bytes and breaks connections on command. */
import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** Bytes since the start or the last reset: `up` to the server, `down` from it. */
export interface Traffic {
  readonly up: number;
  readonly down: number;
  /** Connections accepted. */
  readonly connections: number;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  readonly lanes: readonly Lane[];
}

/** One direction of a connection: chunks in order, each due at its time. */
class Lane {
  readonly #chunks: { readonly bytes: Buffer; readonly due: number }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = false;

  constructor(
    private readonly to: Socket,
    private readonly held: () => boolean,
    private readonly sent: (bytes: number) => number,
    private readonly cut: () => void,
  ) {}

  push(bytes: Buffer, delayMs: number): void {
    this.#chunks.push({ bytes, due: performance.now() + delayMs });
    this.pump();
  }

  end(): void {
    this.#ended = true;
    this.pump();
  }

  pump(): void {
    clearTimeout(this.#timer);
    while (!this.held()) {
      const next = this.#chunks[0];
      if (next === undefined) {
        if (this.#ended) this.to.end();
        return;
      }
      const wait = next.due - performance.now();
      if (wait > 0) {
        this.#timer = setTimeout(() => this.pump(), wait);
        return;
      }
      this.#chunks.shift();
      const allowed = this.sent(next.bytes.length);
      this.to.write(next.bytes.subarray(0, allowed));
      if (allowed < next.bytes.length) {
        this.cut();
        return;
      }
    }
  }
}

/** The proxy. Give `url` to a client instead of the server's own (Cluster.kubeconfig does it). */
export class TcpProxy {
  readonly #links = new Set<Link>();
  #listener: Server | undefined;
  #up = 0;
  #down = 0;
  #connections = 0;
  #delayMs = 0;
  #holding = false;
  #swallowing = false;
  #downBudget = Number.POSITIVE_INFINITY;

  private constructor(
    readonly port: number,
    private readonly targetPort: number,
  ) {}

  /** Listens on `port` and forwards to `targetPort`, both on 127.0.0.1. */
  static async start(port: number, targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(port, targetPort);
    await proxy.accept();
    return proxy;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  get traffic(): Traffic {
    return { up: this.#up, down: this.#down, connections: this.#connections };
  }

  /** Connections open now. */
  get open(): number {
    return this.#links.size;
  }

  /** Starts counting from zero again. */
  resetTraffic(): void {
    this.#up = 0;
    this.#down = 0;
    this.#connections = 0;
  }

  /** Every byte from now on arrives this much later, both ways. 0 ends it. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Answers are kept back until release(); requests still reach the server. */
  hold(): void {
    this.#holding = true;
  }

  /** Lets everything kept back go. */
  release(): void {
    this.#holding = false;
    this.#swallowing = false;
    for (const link of [...this.#links]) {
      if (link.client.destroyed || link.server.destroyed) this.#close(link);
      else for (const lane of link.lanes) lane.pump();
    }
  }

  /** Half-open: connections stay, new ones are taken, no byte travels either way. */
  swallow(): void {
    this.#swallowing = true;
  }

  /** Cuts all connections now (reset); new ones work. */
  cut(): void {
    for (const { client, server } of [...this.#links]) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
    this.#links.clear();
  }

  /** Lets `bytes` more bytes of answers through, over all connections, then cuts them once. */
  cutAfter(bytes: number): void {
    this.#downBudget = bytes;
  }

  /** Refuses new connections (nothing listens) and cuts the open ones. */
  async refuse(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    this.cut();
    if (listener) await new Promise<void>((resolve) => listener.close(() => resolve()));
  }

  /** Takes connections (again, after refuse). */
  accept(): Promise<void> {
    if (this.#listener) return Promise.resolve();
    const listener = createServer((client) => this.#connect(client));
    this.#listener = listener;
    return new Promise((resolve, reject) => {
      listener.once('error', reject);
      listener.listen(this.port, '127.0.0.1', () => resolve());
    });
  }

  /** Ends everything. */
  async stop(): Promise<void> {
    await this.refuse();
  }

  #connect(client: Socket): void {
    // It was under way when the listener closed, which waits for the end of all connections.
    if (this.#listener === undefined) {
      client.destroy();
      return;
    }
    this.#connections += 1;
    const server = createConnection({ host: '127.0.0.1', port: this.targetPort });
    const cut = () => this.cut();
    const up = new Lane(server, () => this.#swallowing, this.#sentUp, cut);
    const held = () => this.#holding || this.#swallowing;
    const down = new Lane(client, held, this.#sentDown, cut);
    const link: Link = { client, server, lanes: [up, down] };
    this.#links.add(link);
    client.on('data', (bytes: Buffer) => up.push(bytes, this.#delayMs));
    server.on('data', (bytes: Buffer) => down.push(bytes, this.#delayMs));
    client.on('end', () => up.end());
    server.on('end', () => down.end());
    const close = () => {
      if (!this.#swallowing) this.#close(link);
    };
    client.on('error', close);
    server.on('error', close);
    client.on('close', close);
  }

  #close(link: Link): void {
    this.#links.delete(link);
    link.client.destroy();
    link.server.destroy();
  }

  readonly #sentUp = (bytes: number): number => {
    this.#up += bytes;
    return bytes;
  };

  readonly #sentDown = (bytes: number): number => {
    const allowed = Math.min(bytes, this.#downBudget);
    this.#down += allowed;
    this.#downBudget =
      bytes > this.#downBudget ? Number.POSITIVE_INFINITY : this.#downBudget - bytes;
    return allowed;
  };
}
