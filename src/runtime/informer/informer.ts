/** An informer: one resource's cache, its reflector, and the handlers of the controllers that lead. */
import type { Resource } from '../../api/resource.ts';
import type { KubeObject } from '../../api/types/index.ts';
import type { Logger } from '../log.ts';
import type { Change, ResourceCache } from './cache.ts';
import type { Reflector } from './reflector.ts';
import type { Handler, Informer, Lister, ObjectRecord } from './types.ts';

/** The framework's view of an informer; controllers see only `Informer`. */
export class CachedInformer<T extends KubeObject, R extends ObjectRecord>
  implements Informer<T, R>
{
  readonly cache: ResourceCache<T, R>;
  readonly #log: Logger;
  #reflector: Reflector<T, R> | undefined;
  #handlers: Handler<R>[] = [];

  constructor(cache: ResourceCache<T, R>, log: Logger) {
    this.cache = cache;
    this.#log = log;
  }

  get resource(): Resource {
    return this.cache.resource;
  }

  get lister(): Lister<T, R> {
    return this.cache;
  }

  get reflector(): Reflector<T, R> {
    if (this.#reflector === undefined) throw new Error('the informer has no reflector yet');
    return this.#reflector;
  }

  /** False until the cluster is known to be the one of the state file. */
  get started(): boolean {
    return this.#reflector !== undefined;
  }

  attach(reflector: Reflector<T, R>): void {
    this.#reflector = reflector;
  }

  /** The handler sees an add for each stored object now, then every change. */
  addHandler(handler: Handler<R>): void {
    for (const record of this.cache.all())
      this.#call(() => handler.add?.(record, true), record.key);
    this.#handlers.push(handler);
  }

  /** The lead has ended: no controller hears of changes any more. */
  removeHandlers(): void {
    this.#handlers = [];
  }

  synced(): boolean {
    return this.reflector.synced;
  }

  caughtUp(): boolean {
    return this.reflector.caughtUp;
  }

  resourceVersion(): string {
    return this.reflector.version;
  }

  /** Tells all handlers of changes, in order. A handler that throws harms no other. */
  publish(changes: readonly Change<R>[]): void {
    for (const change of changes) {
      for (const handler of this.#handlers) {
        this.#call(() => deliver(handler, change), change.record.key);
      }
    }
  }

  #call(action: () => void, key: string): void {
    try {
      action();
    } catch (error) {
      this.#log.error('An informer handler failed', error, {
        resource: this.resource.plural,
        key,
      });
    }
  }
}

function deliver<R extends ObjectRecord>(handler: Handler<R>, change: Change<R>): void {
  if (change.kind === 'add') handler.add?.(change.record, false);
  else if (change.kind === 'update') handler.update?.(change.record, change.previous);
  else handler.delete?.(change.record, change.stale);
}
