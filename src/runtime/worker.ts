/** The one loop that every controller runs in: take a key, reconcile it, decide when it comes again. */
import { FencedError, isDefiniteAnswer } from '../api/errors.ts';
import type { KubeClient } from '../kube/types.ts';
import type { Clock } from './clock.ts';
import type { QueueDefinition } from './controller.ts';
import { ObjectUnavailable } from './informer/cache.ts';
import { DROPPED_KEY_RETRY_MS, FENCED_RETRY_MS, STALE_CACHE_RETRY_MS } from './limits.ts';
import type { Logger } from './log.ts';
import type { JournalRow } from './ports.ts';
import { NotYet, StaleCache } from './requeue.ts';
import { RecordedRun } from './sync-run.ts';

/** The queue as the worker sees it, beyond what controllers see. */
export interface TakingQueue {
  /** The next key, or undefined once the queue is shut down. */
  take(): Promise<string | undefined>;
  /** The key is no longer processed; if it was added meanwhile it comes again. */
  done(key: string): void;
  /** Notes why a key will be retried, for those who look. */
  noteError(key: string, error: string): void;
  /** How often the key has failed in this process. */
  tries(key: string): number;
}

export interface WorkerDeps {
  readonly controller: string;
  readonly definition: QueueDefinition;
  readonly taking: TakingQueue;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  commit(): Promise<void>;
  /** False while the caches may be of another history than the server's. */
  mayWrite(): boolean;
  recordWrite(ownerKey: string, ownerUid: string, resource: string, version: string): void;
  heal(error: ObjectUnavailable): Promise<void>;
  journal(row: JournalRow): void;
}

/** Runs one worker until the queue is shut down. Resolves when its last reconcile has ended. */
export async function runWorker(deps: WorkerDeps): Promise<void> {
  for (;;) {
    const key = await deps.taking.take();
    if (key === undefined) return;
    try {
      await syncOnce(deps, key);
    } finally {
      deps.taking.done(key);
    }
  }
}

async function syncOnce(deps: WorkerDeps, key: string): Promise<void> {
  const { clock, definition, signal } = deps;
  const startedAt = clock.now();
  const startedTick = clock.monotonic();
  const run = new RecordedRun({
    client: deps.client,
    signal,
    now: startedAt,
    commit: deps.commit,
    mayWrite: deps.mayWrite,
    recordWrite: deps.recordWrite,
  });
  let error: unknown;
  try {
    await definition.reconcile(key, run);
    definition.queue.forget(key);
    if (run.wish !== undefined) definition.queue.addAfter(key, run.wish.delayMs, run.wish.because);
  } catch (thrown) {
    error = thrown;
    await handleError(deps, key, run, thrown);
  }
  const durationMs = clock.monotonic() - startedTick;
  if (deps.log.enabled(4)) {
    deps.log.v(4).info('Finished syncing', { key, durationMs, writes: run.writeCount });
  }
  if ((error === undefined || error instanceof NotYet) && run.writeCount === 0) return;
  deps.journal({
    controller: deps.controller,
    key,
    startedAt,
    durationMs,
    outcome: outcomeOf(error),
    error: error === undefined ? '' : messageOf(error),
    because: run.because,
    writes: run.writes,
  });
}

async function handleError(
  deps: WorkerDeps,
  key: string,
  run: RecordedRun,
  error: unknown,
): Promise<void> {
  const { definition, log } = deps;
  const { queue } = definition;
  // The next lead queues every key again; the failure history stays as it was.
  if (deps.signal.aborted) return;
  if (error instanceof FencedError) {
    queue.addAfter(key, FENCED_RETRY_MS, error.message);
    return;
  }
  if (error instanceof ObjectUnavailable && (await healed(deps, error))) {
    queue.add(key);
    return;
  }
  const message = messageOf(error);
  if (definition.dropAtOnce?.(error)) {
    drop(queue, key);
    log.v(2).info('Dropping the key: this error does not go away', { key, error: message });
    return;
  }
  if (error instanceof StaleCache) {
    // No failure: the delay must not grow while the cache lags behind a burst of events.
    queue.addAfter(key, STALE_CACHE_RETRY_MS, message);
    log.v(2).info('The cache is behind; the key is tried again', { key, message });
    return;
  }
  // As a new process of KCM, this one gives no key up for the failures of another.
  if (definition.retriesMax !== undefined && deps.taking.tries(key) >= definition.retriesMax) {
    drop(queue, key);
    log.error('Dropping the key out of the queue', error, { key, retries: definition.retriesMax });
    return;
  }
  if (run.wish !== undefined && definition.wishBeatsError) {
    queue.addAfter(key, run.wish.delayMs, run.wish.because);
  } else {
    deps.taking.noteError(key, message);
    queue.addRateLimited(key);
  }
  if (isExpected(error))
    log.v(2).info('Reconcile failed and will be tried again', { key, message });
  else log.error('Reconcile failed and will be tried again', error, { key });
}

/** Upstream's periodic replay of its caches would bring a dropped key again; nothing else may. */
function drop(queue: QueueDefinition['queue'], key: string): void {
  queue.forget(key);
  queue.addAfter(key, DROPPED_KEY_RETRY_MS, 'it was dropped after too many failures');
}

async function healed(deps: WorkerDeps, error: ObjectUnavailable): Promise<boolean> {
  try {
    await deps.heal(error);
    return true;
  } catch (cause) {
    deps.log.error('Could not fetch an object that the disk lost', cause, { key: error.key });
    return false;
  }
}

/** Conflicts and the like are daily life: the next sync sees a newer state. */
function isExpected(error: unknown): boolean {
  return error instanceof NotYet || isDefiniteAnswer(error);
}

function outcomeOf(error: unknown): JournalRow['outcome'] {
  if (error === undefined) return 'ok';
  if (error instanceof NotYet) return 'requeue';
  return error instanceof FencedError ? 'fenced' : 'error';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
