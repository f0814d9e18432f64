/** An API server in memory, as far as lists and watches go, for tests of informers. */
import { ApiError } from '../../api/errors.ts';
import { type Resource, resourceId } from '../../api/resource.ts';
import type { KubeObject } from '../../api/types/index.ts';
import type {
  KubeClient,
  ListOptions,
  ListPage,
  WatchEvent,
  WatchOptions,
  WatchStream,
} from '../../kube/types.ts';

interface Change {
  readonly resource: string;
  readonly version: number;
  readonly event: WatchEvent;
}

/** One request that was made: "list pods", "watch pods 12 metadata". */
export type Asked = string;

/** Keeps objects and every change since the last `compact`. */
export class FakeApi implements Pick<KubeClient, 'list' | 'watch'> {
  readonly asked: Asked[] = [];
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #open = new Set<{ readonly wake: () => void; readonly end: () => void }>();
  #changes: Change[] = [];
  #version = 100;
  #oldest = 0;
  /** Resources whose lists and watches fail. */
  readonly broken = new Set<string>();
  /** Lists are answered when this has resolved. */
  held: Promise<void> = Promise.resolve();

  get client(): KubeClient {
    return this as unknown as KubeClient;
  }

  get version(): string {
    return String(this.#version);
  }

  /** How many watches are open. */
  get watches(): number {
    return this.#open.size;
  }

  /** Creates or changes an object; gives it as stored. */
  put(resource: Resource, object: { metadata: Partial<KubeObject['metadata']> }): KubeObject {
    const { name = 'x', uid = `uid-${name}` } = object.metadata;
    const resourceVersion = String(++this.#version);
    const metadata = { ...object.metadata, name, uid, resourceVersion };
    const stored: KubeObject = { kind: resource.kind, ...object, metadata };
    const all = this.#of(resource);
    const type = all.has(keyOf(stored)) ? 'MODIFIED' : 'ADDED';
    all.set(keyOf(stored), stored);
    this.#tell(resource, { type, object: stored });
    return stored;
  }

  remove(resource: Resource, object: KubeObject): void {
    this.#of(resource).delete(keyOf(object));
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) };
    this.#tell(resource, { type: 'DELETED', object: { ...object, metadata } });
  }

  /** Tells the watches of a resource that they have seen everything so far. */
  bookmark(resource: Resource): void {
    const resourceVersion = String(++this.#version);
    this.#tell(resource, { type: 'BOOKMARK', resourceVersion, initialEventsEnd: false });
  }

  /** Forgets what happened until now: watches from before it are refused. */
  compact(): void {
    this.#changes = [];
    this.#oldest = this.#version;
  }

  /** Ends all open watches cleanly. */
  endWatches(): void {
    for (const open of [...this.#open]) open.end();
  }

  async list<T extends KubeObject>(
    resource: Resource,
    options: ListOptions = {},
  ): Promise<ListPage<T>> {
    const id = resourceId(resource);
    this.asked.push(`list ${id}${options.metadataOnly ? ' metadata' : ''}`);
    await this.held;
    if (this.broken.has(id)) throw new ApiError(500, `${id} is broken`);
    const items = [...this.#of(resource).values()].map((one) => shown(one, options.metadataOnly));
    return { items: items as T[], resourceVersion: this.version, continue: '' };
  }

  watch<T extends KubeObject>(resource: Resource, options: WatchOptions): WatchStream<T> {
    const id = resourceId(resource);
    const from = options.resourceVersion ?? 'probe';
    this.asked.push(`watch ${id} ${from}${options.metadataOnly ? ' metadata' : ''}`);
    const stop = new AbortController();
    const events = this.#events(resource, options, stop);
    return {
      [Symbol.asyncIterator]: () => events as AsyncIterator<readonly WatchEvent<T>[]>,
      close: () => stop.abort(),
    };
  }

  async *#events(
    resource: Resource,
    options: WatchOptions,
    stop: AbortController,
  ): AsyncGenerator<readonly WatchEvent[]> {
    const id = resourceId(resource);
    if (this.broken.has(id)) throw new ApiError(500, `${id} is broken`);
    if (options.sendInitialEvents) {
      yield [{ type: 'BOOKMARK', resourceVersion: this.version, initialEventsEnd: true }];
      return;
    }
    let seen = Number(options.resourceVersion);
    if (seen < this.#oldest) throw new ApiError(410, 'too old resource version');
    const isOver = (): boolean => stop.signal.aborted || options.signal?.aborted === true;
    while (!isOver()) {
      const news = this.#changes.filter((one) => one.resource === id && one.version > seen);
      if (news.length > 0) {
        seen = news.at(-1)?.version ?? seen;
        yield news.map(({ event }) => seenAs(event, options.metadataOnly));
        continue;
      }
      await this.#something(stop, options.signal);
    }
  }

  #something(stop: AbortController, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#open.delete(open);
        resolve();
      };
      const end = (): void => stop.abort();
      const open = { wake, end };
      this.#open.add(open);
      stop.signal.addEventListener('abort', wake, { once: true });
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  #of(resource: Resource): Map<string, KubeObject> {
    const id = resourceId(resource);
    const known = this.#objects.get(id);
    if (known !== undefined) return known;
    const made = new Map<string, KubeObject>();
    this.#objects.set(id, made);
    return made;
  }

  #tell(resource: Resource, event: WatchEvent): void {
    this.#changes.push({ resource: resourceId(resource), version: this.#version, event });
    for (const { wake } of [...this.#open]) wake();
  }
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

function shown(object: KubeObject, metadataOnly: boolean | undefined): KubeObject {
  if (metadataOnly !== true) return object;
  const { metadata } = object;
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata };
}

function seenAs(event: WatchEvent, metadataOnly: boolean | undefined): WatchEvent {
  if (event.type === 'BOOKMARK') return event;
  return { ...event, object: shown(event.object, metadataOnly) };
}
