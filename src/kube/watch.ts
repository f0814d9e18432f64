/** One watch: an open stream of events about a resource. */
import { type ApiError, TransportError } from '../api/errors.ts';
import { parseJson } from '../api/json.ts';
import type { Resource } from '../api/resource.ts';
import type { KubeObject, Status } from '../api/types/index.ts';
import {
  ERROR_BODY_CHARS_MAX,
  REQUEST_TIMEOUT_MS,
  WATCH_CHUNK_EVENTS_MAX,
  WATCH_LINE_BYTES_MAX,
  WATCH_SILENCE_GRACE_MS,
  WATCH_TIMEOUT_SECONDS_MAX,
} from '../runtime/limits.ts';
import { apiErrorOf, apiErrorOfStatus } from './answer.ts';
import { type ExchangeDeps, openStream } from './exchange.ts';
import { LineSplitter } from './lines.ts';
import { acceptOf, resourcePath } from './paths.ts';
import type { Identity, WireRequest, WireStream } from './transport.ts';
import type { WatchEvent, WatchOptions, WatchStream } from './types.ts';

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** What is watched, and as whom. */
export interface WatchParts {
  readonly resource: Resource;
  readonly options: WatchOptions;
  readonly identity: Identity;
  readonly userAgent: string;
}

/**
 * The stream is opened when iteration begins. Stopping it (`close`, the signal, leaving the loop)
 * ends the iteration without an error.
 */
export class Watch<T extends KubeObject> implements WatchStream<T> {
  readonly #deps: ExchangeDeps;
  readonly #parts: WatchParts;
  readonly #stop = new AbortController();
  readonly #path: string;
  #begun = false;

  constructor(deps: ExchangeDeps, parts: WatchParts) {
    this.#deps = deps;
    this.#parts = parts;
    this.#path = watchPath(parts.resource, parts.options);
  }

  close(): void {
    this.#stop.abort();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
    if (this.#begun) throw new Error('a watch can be read only once');
    this.#begun = true;
    const { signal } = this.#parts.options;
    const stop = () => this.#stop.abort();
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    try {
      yield* this.#events();
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
      this.#stop.abort();
    }
  }

  async *#events(): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
    const stream = await openStream(this.#deps, this.#request());
    try {
      if (stream.code !== 200) throw await this.#refused(stream);
      yield* this.#read(stream);
    } finally {
      stream.close();
    }
  }

  async *#read(stream: WireStream): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
    const silenceMs = timeoutSeconds(this.#parts.options) * 1e3 + WATCH_SILENCE_GRACE_MS;
    const splitter = new LineSplitter(WATCH_LINE_BYTES_MAX);
    for (;;) {
      const bytes = await stream.read(silenceMs);
      if (bytes === undefined) break;
      const lines = this.#lines(splitter, bytes);
      for (let at = 0; at < lines.length; at += WATCH_CHUNK_EVENTS_MAX) {
        yield* this.#decode(lines.slice(at, at + WATCH_CHUNK_EVENTS_MAX));
      }
    }
    if (splitter.pendingBytes > 0) {
      throw new TransportError(`${this.#what}: ended in the middle of an event`);
    }
  }

  #lines(splitter: LineSplitter, bytes: Uint8Array): string[] {
    try {
      return splitter.push(bytes);
    } catch (error) {
      throw new TransportError(`${this.#what}: ${String(error)}`, error);
    }
  }

  /** The events of these lines in one array; an ERROR event is thrown after those before it. */
  *#decode(lines: readonly string[]): Generator<readonly WatchEvent<T>[], void, undefined> {
    const events: WatchEvent<T>[] = [];
    let failure: Error | undefined;
    for (const line of lines) {
      const event = this.#event(line);
      if (event instanceof Error) {
        failure = event;
        break;
      }
      if (event !== undefined) events.push(event);
    }
    if (events.length > 0) yield events;
    if (failure !== undefined) throw failure;
  }

  #event(line: string): WatchEvent<T> | Error | undefined {
    let raw: { readonly type?: string; readonly object?: T };
    try {
      raw = parseJson(line);
    } catch (error) {
      return new TransportError(`${this.#what}: an event is not JSON`, error);
    }
    const { type, object } = raw;
    if (object === undefined) return new TransportError(`${this.#what}: an event has no object`);
    if (type !== 'ERROR' && object.metadata === undefined) {
      return new TransportError(`${this.#what}: an event's object has no metadata`);
    }
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        return { type, object };
      case 'BOOKMARK': {
        const { resourceVersion, annotations } = object.metadata;
        const initialEventsEnd = annotations?.[INITIAL_EVENTS_END] === 'true';
        return { type, resourceVersion, initialEventsEnd };
      }
      case 'ERROR':
        return apiErrorOfStatus(object as unknown as Status);
      default:
        // A type that a newer server may know; upstream's reflector logs and goes on too.
        this.#deps.log.warning('watch event of unknown type', { type, path: this.#path });
        return undefined;
    }
  }

  /** The error of an answer that is no stream. */
  async #refused(stream: WireStream): Promise<ApiError> {
    const decoder = new TextDecoder();
    let text = '';
    while (text.length < ERROR_BODY_CHARS_MAX) {
      const bytes = await stream.read(REQUEST_TIMEOUT_MS);
      if (bytes === undefined) break;
      text += decoder.decode(bytes, { stream: true });
    }
    return apiErrorOf(this.#what, { code: stream.code, headers: stream.headers, text });
  }

  get #what(): string {
    return `WATCH ${this.#path}`;
  }

  #request(): WireRequest {
    const { options, identity, userAgent } = this.#parts;
    const accept = acceptOf(options.metadataOnly, false);
    return {
      verb: 'GET',
      path: this.#path,
      headers: { Accept: accept, 'User-Agent': userAgent },
      identity,
      timeoutMs: REQUEST_TIMEOUT_MS,
      signal: this.#stop.signal,
    };
  }
}

function timeoutSeconds(options: WatchOptions): number {
  return options.timeoutSeconds ?? WATCH_TIMEOUT_SECONDS_MAX;
}

function watchPath(resource: Resource, options: WatchOptions): string {
  const initial = options.sendInitialEvents;
  const query = {
    watch: 1,
    allowWatchBookmarks: true,
    resourceVersion: options.resourceVersion,
    ...(initial === undefined ? {} : { sendInitialEvents: initial }),
    ...(initial === undefined ? {} : { resourceVersionMatch: 'NotOlderThan' }),
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    timeoutSeconds: timeoutSeconds(options),
  };
  return resourcePath(resource, { namespace: options.namespace }, query);
}
