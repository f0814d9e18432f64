/**
 * Keeps one resource's cache equal to the server: resumes the watch where the last process
 * stopped, lists only when it must, and repairs by comparing versions when the server no longer
 * has the history.
 */
import { ApiError, isExpired } from '../../api/errors.ts';
import { type Resource, resourceId } from '../../api/resource.ts';
import type { KubeObject } from '../../api/types/index.ts';
import { compareVersions } from '../../api/version.ts';
import type { WatchEvent, WatchStream } from '../../kube/types.ts';
import {
  FENCE_WATCH_SECONDS,
  QUIET_WATCH_MS_MIN,
  WATCH_EMPTY_END_MS,
  WATCH_TIMEOUT_SECONDS_MAX,
  WATCH_TIMEOUT_SECONDS_MIN,
} from '../limits.ts';
import type { Logger } from '../log.ts';
import { Waiters } from '../waiters.ts';
import { applyEvents } from './apply-events.ts';
import type { Change, ResourceCache } from './cache.ts';
import { probeVersion } from './probe.ts';
import type { ReflectorDeps, ReflectorStatus, SyncHow } from './reflector-types.ts';
import { deltaRelist, fullList, type RelistDeps } from './relist.ts';
import { retryDelayMs } from './retry.ts';
import type { ObjectRecord } from './types.ts';
import type { Turn } from './watch-turns.ts';

/** One reflector; `run` keeps going until the signal aborts. */
export class Reflector<T extends KubeObject, R extends ObjectRecord> {
  readonly resource: Resource;
  /** plural.group of the resource. */
  readonly id: string;
  readonly #cache: ResourceCache<T, R>;
  readonly #deps: ReflectorDeps;
  readonly #publish: (changes: readonly Change<R>[]) => void;
  readonly #log: Logger;
  readonly #waiters = new Waiters();
  #version = '';
  /** Version the cache must reach to be caught up; undefined: not asked yet. */
  #target: string | undefined;
  /** The server must be asked for its version before the next watch. */
  #mustAsk = true;
  /** The whole cache is to be compared, because it is time. */
  #mustVerify = false;
  /** What is stored is to be thrown away and listed anew, because somebody asked for it. */
  #mustForget = false;
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
  /** Ends the wait after a failure. */
  #pause = new AbortController();
  #problem = '';

  constructor(
    cache: ResourceCache<T, R>,
    deps: ReflectorDeps,
    publish: (changes: readonly Change<R>[]) => void,
  ) {
    this.resource = cache.resource;
    this.id = resourceId(cache.resource);
    this.#cache = cache;
    this.#deps = deps;
    this.#publish = publish;
    this.#log = deps.log.named('reflector', { resource: this.id });
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
      resource: this.id,
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
    await this.#waiters.until(test, signal);
  }

  /** Asks again whether the cache is as new as the server (a new lead begins). */
  expectCatchUp(): void {
    this.#epoch++;
    this.#mustAsk = true;
    this.#target = undefined;
    this.#caughtUp = false;
    // Whoever could take the Lease can reach the server: no need to wait out the last failure.
    this.#pause.abort();
    this.#stream?.close();
  }

  /** Rows of this resource may be missing on the disk. */
  torn(): boolean {
    return this.#deps.rows.torn(this.id);
  }

  /** Ends the watch that is open, so that the next round looks after what is torn. */
  interrupt(): void {
    this.#stream?.close();
  }

  /** Compares every object with the server in the next round, as upstream's re-list would. */
  verify(): void {
    this.#mustVerify = true;
    this.interrupt();
  }

  /** Throws away what is stored and lists it anew; the cache stays in use. Resolves when done. */
  async forget(signal: AbortSignal): Promise<void> {
    this.#mustForget = true;
    this.#pause.abort();
    this.interrupt();
    await this.until(() => !this.#mustForget, signal);
  }

  /** Takes the stored objects as they are if they may be resumed; call before `run`. */
  loadStored(): void {
    const point = this.#deps.rows.resumePoint(this.id);
    const { rows, resumable } = this.#deps;
    const usable = point !== undefined && resumable && !rows.torn(this.id) && this.#cache.load();
    if (!usable) {
      this.#cache.reset();
      return;
    }
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
    else if (this.#deps.history.mustCompare(this.id)) await this.#delta(signal);
    else if (this.#mustMend()) await this.#mend(signal);
    else if (this.#mustVerify) await this.#verifyAll(signal);
    if (this.#mustAsk && this.#deps.resumable) await this.#askTarget(signal);
    else if (this.#mustAsk) await this.#list(signal, false);
    await this.#watchInTurn(signal);
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

  async #watchInTurn(signal: AbortSignal): Promise<void> {
    const { turns } = this.#deps;
    if (turns === undefined) return await this.#watch(signal);
    const turn = await turns.take(signal);
    if (turn === undefined) return;
    try {
      if (!this.#mustAsk) await this.#watch(signal, turn);
    } finally {
      turn.end();
    }
  }

  async #watch(signal: AbortSignal, turn?: Turn): Promise<void> {
    const fencing = !this.#caughtUp;
    const startedAt = this.#deps.clock.monotonic();
    this.#watches++;
    this.#deps.metrics.watchStarted(this.id);
    const stream = this.#deps.client.watch<T>(this.resource, {
      resourceVersion: this.#version,
      timeoutSeconds: fencing ? FENCE_WATCH_SECONDS : this.#watchSeconds(),
      metadataOnly: this.#cache.metadataOnly,
      signal,
    });
    this.#stream = stream;
    turn?.over.addEventListener('abort', () => stream.close(), { once: true });
    let chunks = 0;
    for await (const events of stream) {
      chunks++;
      this.#applyChunk(events);
      this.#failures = 0;
    }
    if (signal.aborted || this.#mustAsk || turn?.over.aborted) return;
    const lastedMs = this.#deps.clock.monotonic() - startedAt;
    // Opened after the probe and without news to its end: there was none. One that ends earlier,
    // however cleanly, was ended by a server or proxy that stops.
    if (fencing && lastedMs >= QUIET_WATCH_MS_MIN) this.#target = this.#version;
    this.#checkCaughtUp();
    if (chunks === 0 && lastedMs < WATCH_EMPTY_END_MS) {
      await this.#deps.clock.sleep(WATCH_EMPTY_END_MS, signal);
    }
  }

  #watchSeconds(): number {
    const span = WATCH_TIMEOUT_SECONDS_MAX - WATCH_TIMEOUT_SECONDS_MIN;
    return Math.floor(WATCH_TIMEOUT_SECONDS_MIN + this.#deps.random.next() * span);
  }

  #applyChunk(events: readonly WatchEvent<T>[]): void {
    const startedAt = this.#deps.clock.monotonic();
    const { rowChanges } = this.#cache;
    const { changes, last } = applyEvents(this.#cache, events, this.#deps.resumable);
    this.#advance(last, this.#cache.rowChanges !== rowChanges);
    this.#publish(changes);
    const durationMs = this.#deps.clock.monotonic() - startedAt;
    this.#deps.metrics.events(this.id, changes.length, durationMs);
    this.#wake();
  }

  /** Progress without a row of its own travels with the next commit. */
  #advance(version: string, rowsChanged: boolean): void {
    this.#lastEventAt = this.#deps.clock.now();
    if (version === '') return;
    if (this.#deps.resumable && compareVersions(version, this.#version) <= 0) return;
    this.#version = version;
    if (rowsChanged) this.#saveVersion();
    else this.#bookmarkPending = true;
    this.#checkCaughtUp();
  }

  #saveVersion(): void {
    this.#cache.writeHeldBack();
    this.#bookmarkPending = false;
    this.#deps.rows.setResumePoint({
      resource: this.id,
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
    this.#deps.metrics.listed(this.id, 'full');
    this.#adopt(version, 'listed');
    if (epoch !== this.#epoch) return;
    this.#mustAsk = false;
    this.#caughtUp = true;
    this.#wake();
  }

  #mustMend(): boolean {
    return this.#mustForget || (this.#deps.rows.torn(this.id) && this.#deps.diskWell());
  }

  /** Every row is written again before the resource counts as whole. */
  async #mend(signal: AbortSignal): Promise<void> {
    // A bookmark's version would be ahead of the rows until all are listed.
    this.#bookmarkPending = false;
    this.#deps.rows.drop(this.id);
    await this.#list(signal, true);
    this.#mustForget = false;
    this.#wake();
  }

  async #verifyAll(signal: AbortSignal): Promise<void> {
    const missed = await this.#delta(signal);
    this.#mustVerify = false;
    this.#deps.metrics.verified(this.id, missed);
    if (missed > 0) {
      this.#log.warning('The cache had missed changes; they are repaired', { objects: missed });
    }
  }

  /** Gives how many objects differ that the watch should have told of. */
  async #delta(signal: AbortSignal): Promise<number> {
    const before = this.#version;
    const result = await deltaRelist(this.#relistDeps(signal));
    const { changed, version, needed, rewound, missed } = result;
    if (rewound || compareVersions(version, before) < 0) this.#deps.history.rewound(this.id);
    this.#deps.metrics.listed(this.id, 'delta');
    this.#adopt(version, 'delta');
    this.#deps.history.compared(this.id);
    this.#target = needed;
    this.#caughtUp = false;
    this.#checkCaughtUp();
    this.#log.info('Compared the cache with the server', { changed, version });
    return missed;
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
      seenTo: this.#version,
    };
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    this.#problem = error instanceof Error ? error.message : String(error);
    this.#deps.metrics.failed(this.id);
    if (isExpired(error) && this.#synced) {
      this.#log.info('The server no longer has this history: comparing', {
        version: this.#version,
      });
      this.#deps.history.expired(this.id);
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
    this.#pause = new AbortController();
    const woken = AbortSignal.any([signal, this.#pause.signal]);
    const delayMs = retryDelayMs(error, this.#failures, this.#deps.random);
    await this.#deps.clock.sleep(delayMs, woken);
  }

  #wake(): void {
    this.#waiters.wake();
  }
}
