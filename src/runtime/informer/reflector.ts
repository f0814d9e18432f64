/**
 * Keeps one resource's cache equal to the server: resumes the watch where the last process stopped,
 * lists only when it must, and repairs by comparing versions when the server no longer has the history.
 */
import { ApiError, isExpired } from '../../api/errors.ts';
import { type Resource, resourceId } from '../../api/resource.ts';
import type { KubeObject } from '../../api/types/index.ts';
import { compareVersions } from '../../api/version.ts';
import type { KubeClient, WatchEvent, WatchStream } from '../../kube/types.ts';
import type { Clock } from '../clock.ts';
import {
  FENCE_WATCH_SECONDS,
  REFLECTOR_BACKOFF_BASE_MS,
  REFLECTOR_BACKOFF_MAX_MS,
  WATCH_EMPTY_END_MS,
  WATCH_TIMEOUT_SECONDS_MAX,
  WATCH_TIMEOUT_SECONDS_MIN,
} from '../limits.ts';
import type { Logger } from '../log.ts';
import type { ObjectRows } from '../ports.ts';
import type { Random } from '../random.ts';
import type { Change, ResourceCache } from './cache.ts';
import type { HistoryCheck } from './history.ts';
import { probeVersion } from './probe.ts';
import type { ReflectorMetrics } from './reflector-metrics.ts';
import { deltaRelist, fullList, type RelistDeps } from './relist.ts';
import type { ObjectRecord } from './types.ts';

/** How the cache came to be, for the status pages. */
export type SyncHow = 'none' | 'resumed' | 'listed' | 'delta';

export interface ReflectorDeps {
  readonly client: KubeClient;
  readonly rows: ObjectRows;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly history: HistoryCheck;
  readonly metrics: ReflectorMetrics;
}

/** What the reflector can be asked; plain data. */
export interface ReflectorStatus {
  readonly resource: string;
  readonly resourceVersion: string;
  readonly objects: number;
  readonly how: SyncHow;
  readonly synced: boolean;
  readonly caughtUp: boolean;
  readonly lastEventAt: number;
  readonly lists: number;
  readonly watches: number;
  readonly problem: string;
}

/** One reflector; `run` keeps going until the signal aborts. */
export class Reflector<T extends KubeObject, R extends ObjectRecord> {
  readonly resource: Resource;
  readonly #id: string;
  readonly #cache: ResourceCache<T, R>;
  readonly #deps: ReflectorDeps;
  readonly #publish: (changes: readonly Change<R>[]) => void;
  readonly #log: Logger;
  readonly #waiters = new Set<() => void>();
  #version = '';
  /** Version the cache must reach to be caught up; undefined: not asked yet. */
  #target: string | undefined;
  /** The server must be asked for its version before the next watch. */
  #mustAsk = true;
  /** Moves with each new demand to be caught up; a list begun before it doesn't answer it. */
  #epoch = 0;
  #stream: WatchStream<T> | undefined;
  #synced = false;
  #caughtUp = false;
  #how: SyncHow = 'none';
  #lastEventAt = 0;
  #bookmarkPending = false;
  #lists = 0;
  #watches = 0;
  #failures = 0;
  #problem = '';

  constructor(
    cache: ResourceCache<T, R>,
    deps: ReflectorDeps,
    publish: (changes: readonly Change<R>[]) => void,
  ) {
    this.resource = cache.resource;
    this.#id = resourceId(cache.resource);
    this.#cache = cache;
    this.#deps = deps;
    this.#publish = publish;
    this.#log = deps.log.named('reflector', { resource: this.#id });
  }

  get version(): string {
    return this.#version;
  }

  /** The cache holds a complete state of some moment. */
  get synced(): boolean {
    return this.#synced;
  }

  get caughtUp(): boolean {
    return this.#caughtUp;
  }

  get how(): SyncHow {
    return this.#how;
  }

  status(): ReflectorStatus {
    return {
      resource: this.#id,
      resourceVersion: this.#version,
      objects: this.#cache.size,
      how: this.#how,
      synced: this.#synced,
      caughtUp: this.#caughtUp,
      lastEventAt: this.#lastEventAt,
      lists: this.#lists,
      watches: this.#watches,
      problem: this.#problem,
    };
  }

  /** Resolves once `test` holds, rechecked at every step forward; also when the signal aborts. */
  async until(test: () => boolean, signal: AbortSignal): Promise<void> {
    while (!test() && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiters.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#waiters.add(wake);
        signal.addEventListener('abort', wake);
      });
    }
  }

  /** Asks again whether the cache is as new as the server (a new lead begins). */
  expectCatchUp(): void {
    this.#epoch++;
    this.#mustAsk = true;
    this.#target = undefined;
    this.#caughtUp = false;
    this.#stream?.close();
  }

  /** Takes the stored objects as they are if they may be resumed; call before `run`. */
  loadStored(): void {
    const point = this.#deps.rows.resumePoint(this.#id);
    if (point === undefined || this.#deps.rows.torn(this.#id)) {
      this.#cache.reset();
      return;
    }
    this.#cache.load();
    this.#version = point.resourceVersion;
    this.#lastEventAt = point.observedAt;
    this.#how = 'resumed';
    this.#synced = true;
    this.#wake();
  }

  /** Writes a bookmark's progress; called before commits and on a slow timer. */
  saveProgress(): void {
    if (!this.#bookmarkPending) return;
    this.#bookmarkPending = false;
    this.#saveVersion();
  }

  /** Lists and watches until the signal aborts; errors are logged, counted and retried. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#round(signal);
        this.#failures = 0;
        this.#problem = '';
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error, signal);
      }
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    await this.#deps.history.verified(signal);
    if (!this.#synced) await this.#list(signal, false);
    else if (this.#deps.history.mustCompare(this.#id)) await this.#delta(signal);
    else if (this.#deps.rows.torn(this.#id)) await this.#list(signal, true);
    if (this.#mustAsk) await this.#askTarget(signal);
    await this.#watch(signal);
  }

  async #askTarget(signal: AbortSignal): Promise<void> {
    const newest = await probeVersion(this.#deps.client, this.resource, signal);
    if (compareVersions(newest, this.#version) < 0) {
      this.#log.warning('The server is behind what this cache has seen: its history was rewound', {
        server: newest,
        cache: this.#version,
      });
      await this.#delta(signal);
    }
    this.#mustAsk = false;
    if (!this.#caughtUp) this.#target ??= newest;
    this.#checkCaughtUp();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const fencing = !this.#caughtUp;
    const startedAt = this.#deps.clock.monotonic();
    this.#watches++;
    this.#deps.metrics.watchStarted(this.#id);
    const stream = this.#deps.client.watch<T>(this.resource, {
      resourceVersion: this.#version,
      timeoutSeconds: fencing ? FENCE_WATCH_SECONDS : this.#watchSeconds(),
      signal,
    });
    this.#stream = stream;
    let chunks = 0;
    for await (const events of stream) {
      chunks++;
      this.#applyChunk(events);
      this.#failures = 0;
    }
    if (signal.aborted || this.#mustAsk) return;
    if (fencing && !this.#caughtUp) this.#quietEnd();
    const lastedMs = this.#deps.clock.monotonic() - startedAt;
    if (chunks === 0 && lastedMs < WATCH_EMPTY_END_MS) {
      await this.#deps.clock.sleep(WATCH_EMPTY_END_MS, signal);
    }
  }

  /** A watch opened after the probe that ended cleanly without news: there was none. */
  #quietEnd(): void {
    this.#target = undefined;
    this.#caughtUp = true;
    this.#wake();
  }

  #watchSeconds(): number {
    const span = WATCH_TIMEOUT_SECONDS_MAX - WATCH_TIMEOUT_SECONDS_MIN;
    return Math.floor(WATCH_TIMEOUT_SECONDS_MIN + this.#deps.random.next() * span);
  }

  #applyChunk(events: readonly WatchEvent<T>[]): void {
    const changes: Change<R>[] = [];
    let last = '';
    let real = false;
    for (const event of events) {
      if (event.type === 'BOOKMARK') {
        last = event.resourceVersion;
        continue;
      }
      real = true;
      last = event.object.metadata.resourceVersion;
      const change =
        event.type === 'DELETED'
          ? this.#cache.remove(event.object)
          : this.#cache.apply(event.object);
      if (change !== undefined) changes.push(change);
    }
    this.#advance(last, real);
    this.#deps.metrics.events(this.#id, changes.length);
    this.#publish(changes);
    this.#wake();
  }

  #advance(version: string, real: boolean): void {
    this.#lastEventAt = this.#deps.clock.now();
    if (version === '' || compareVersions(version, this.#version) <= 0) return;
    this.#version = version;
    if (real) this.#saveVersion();
    else this.#bookmarkPending = true;
    this.#checkCaughtUp();
  }

  #saveVersion(): void {
    this.#cache.writeHeldBack();
    this.#bookmarkPending = false;
    this.#deps.rows.setResumePoint({
      resource: this.#id,
      resourceVersion: this.#version,
      observedAt: this.#lastEventAt,
    });
  }

  #checkCaughtUp(): void {
    if (this.#caughtUp || this.#target === undefined) return;
    if (compareVersions(this.#version, this.#target) >= 0) {
      this.#caughtUp = true;
      this.#wake();
    }
  }

  async #list(signal: AbortSignal, rewrite: boolean): Promise<void> {
    const epoch = this.#epoch;
    const { version } = await fullList({ ...this.#relistDeps(signal), rewrite });
    this.#deps.metrics.listed(this.#id, 'full');
    this.#adopt(version, 'listed');
    if (epoch !== this.#epoch) return;
    this.#mustAsk = false;
    this.#caughtUp = true;
    this.#wake();
  }

  async #delta(signal: AbortSignal): Promise<void> {
    const before = this.#version;
    const { changed, version, needed, rewound } = await deltaRelist(this.#relistDeps(signal));
    if (rewound || compareVersions(version, before) < 0) this.#deps.history.rewound(this.#id);
    this.#deps.metrics.listed(this.#id, 'delta');
    this.#adopt(version, 'delta');
    this.#deps.history.compared(this.#id);
    this.#target = needed;
    this.#caughtUp = false;
    this.#checkCaughtUp();
    this.#log.info('Compared the cache with the server', { changed, version });
  }

  #adopt(version: string, how: SyncHow): void {
    this.#lists++;
    this.#version = version;
    this.#how = how;
    this.#lastEventAt = this.#deps.clock.now();
    this.#saveVersion();
    this.#synced = true;
    this.#wake();
  }

  #relistDeps(signal: AbortSignal): RelistDeps<T, R> {
    return {
      client: this.#deps.client,
      resource: this.resource,
      cache: this.#cache,
      signal,
      rewrite: false,
      publish: this.#publish,
    };
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    this.#problem = error instanceof Error ? error.message : String(error);
    this.#deps.metrics.failed(this.#id);
    if (isExpired(error) && this.#synced) {
      this.#log.info('The server no longer has this history: comparing', {
        version: this.#version,
      });
      this.#deps.history.expired(this.#id);
      if (this.#failures++ === 0) return;
    } else {
      this.#deps.history.uncleanEnd();
      this.#mustAsk = true;
      if (this.#failures++ > 0 || error instanceof ApiError) {
        this.#log.warning('List or watch failed', {
          error: this.#problem,
          failures: this.#failures,
        });
      }
    }
    await this.#deps.clock.sleep(this.#backoffMs(error), signal);
  }

  #backoffMs(error: unknown): number {
    const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    const grown = REFLECTOR_BACKOFF_BASE_MS * 2 ** Math.min(this.#failures - 1, 10);
    const capped = Math.min(grown, REFLECTOR_BACKOFF_MAX_MS);
    return Math.max(asked, capped * (1 + this.#deps.random.next()));
  }

  #wake(): void {
    for (const wake of [...this.#waiters]) wake();
  }
}
