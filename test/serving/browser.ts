/** A real headless Chromium, driven over the DevTools protocol. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../rig/eventually.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const ANSWER_TIMEOUT_MS = 30_000;

/** The browser's program; undefined where none is installed. */
export function chromium(): string | undefined {
  return NAMES.map((name) => Bun.which(name)).find((path) => path !== null) ?? undefined;
}

/** How a page is to be shown. */
export interface Look {
  /** Width of the window, px. */
  readonly width: number;
  readonly height?: number;
  readonly scheme: 'light' | 'dark';
}

/** A page as it was shown. */
export interface Shown {
  readonly status: number;
  /** Width of what is laid out, px: wider than the window means that one has to scroll. */
  readonly contentWidth: number;
  readonly contentHeight: number;
  /** What the console said: errors, warnings, violations of the policy. */
  readonly complaints: readonly string[];
  /** The text of the page. */
  readonly text: string;
  readonly links: readonly string[];
  /** "rgb(…)" of the body. */
  readonly background: string;
  /** The page as PNG, the whole of it or down to the height of the window. */
  png(whole: boolean): Promise<Uint8Array>;
}

type Answer = Record<string, unknown>;

/** The one connection to a browser with one tab. */
export class Browser {
  readonly #process: Bun.Subprocess;
  readonly #folder: string;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #complaints: string[] = [];
  #socket: WebSocket | undefined;
  #serial = 0;
  #loaded: () => void = () => undefined;
  #status = 0;

  private constructor(program: string) {
    this.#folder = mkdtempSync(join(tmpdir(), 'holdfast-browser-'));
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars'];
    const quiet = ['--no-first-run', '--disable-background-networking', '--disable-dev-shm-usage'];
    const own = [`--user-data-dir=${this.#folder}`, '--remote-debugging-port=0'];
    this.#process = Bun.spawn([program, ...flags, ...quiet, ...own, 'about:blank'], {
      stdout: 'ignore',
      stderr: 'ignore',
    });
  }

  /** Starts one and opens its tab. */
  static async start(program: string): Promise<Browser> {
    const browser = new Browser(program);
    try {
      await browser.#connect();
      return browser;
    } catch (error) {
      await browser.close();
      throw error;
    }
  }

  /** Loads a page with scripts switched off and tells how it looks. */
  async show(url: string, { width, height = 800, scheme }: Look): Promise<Shown> {
    this.#complaints.length = 0;
    this.#status = 0;
    await this.#ask('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: false,
    });
    await this.#ask('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: scheme }],
    });
    const loaded = new Promise<void>((resolve) => {
      this.#loaded = resolve;
    });
    await this.#ask('Page.navigate', { url });
    await loaded;
    const { cssContentSize } = (await this.#ask('Page.getLayoutMetrics', {})) as {
      cssContentSize: { width: number; height: number };
    };
    // DevTools may look into a page whose own scripts are off.
    const text = await this.#evaluate<string>('document.body.innerText');
    const links = await this.#evaluate<string[]>('[...document.links].map((link) => link.href)');
    const background = await this.#evaluate<string>(
      'getComputedStyle(document.body).backgroundColor',
    );
    return {
      status: this.#status,
      contentWidth: cssContentSize.width,
      contentHeight: cssContentSize.height,
      complaints: [...this.#complaints],
      text,
      links,
      background,
      png: (whole) => this.#png(whole),
    };
  }

  async close(): Promise<void> {
    this.#socket?.close();
    this.#process.kill('SIGKILL');
    await this.#process.exited;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #connect(): Promise<void> {
    const file = join(this.#folder, 'DevToolsActivePort');
    const port = await eventually(async () => /^\d+(?=\n)/.exec(await Bun.file(file).text())?.[0]);
    const tabs = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
      type: string;
      webSocketDebuggerUrl: string;
    }[];
    const tab = tabs.find(({ type }) => type === 'page');
    const socket = new WebSocket(tab?.webSocketDebuggerUrl ?? '');
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error('the browser does not answer'));
    });
    socket.onmessage = ({ data }) => this.#hear(JSON.parse(String(data)));
    this.#socket = socket;
    for (const part of ['Page', 'Log', 'Runtime', 'Network']) await this.#ask(`${part}.enable`, {});
    await this.#ask('Emulation.setScriptExecutionDisabled', { value: true });
  }

  #hear(message: { id?: number; method?: string; params?: Answer; result?: Answer }): void {
    if (message.id !== undefined) {
      this.#waiting.get(message.id)?.(message);
      return;
    }
    if (message.method === 'Page.loadEventFired') this.#loaded();
    if (message.method === 'Network.responseReceived') {
      const { type, response } = message.params as { type: string; response: { status: number } };
      if (type === 'Document') this.#status = response.status;
    }
    const said = ['Log.entryAdded', 'Runtime.consoleAPICalled', 'Runtime.exceptionThrown'];
    if (said.includes(message.method ?? '')) this.#complaints.push(JSON.stringify(message.params));
  }

  async #ask(method: string, params: object): Promise<Answer> {
    const id = ++this.#serial;
    const answer = await new Promise<Answer>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), ANSWER_TIMEOUT_MS);
      this.#waiting.set(id, (message) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(message);
      });
      this.#socket?.send(JSON.stringify({ id, method, params }));
    });
    if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result as Answer;
  }

  async #evaluate<T>(expression: string): Promise<T> {
    const { result } = (await this.#ask('Runtime.evaluate', {
      expression,
      returnByValue: true,
    })) as { result: { value: T } };
    return result.value;
  }

  async #png(whole: boolean): Promise<Uint8Array> {
    const { data } = await this.#ask('Page.captureScreenshot', {
      format: 'png',
      captureBeyondViewport: whole,
    });
    return Buffer.from(String(data), 'base64');
  }
}

/** Serves on a free port of this machine what `answer` gives: what the browser is pointed at. */
export function inFront(answer: (path: string, headers: Headers) => Promise<Response>) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      return answer(pathname + search, request.headers);
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}
