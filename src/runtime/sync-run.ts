/**
 * What one reconcile is handed: the API server with a commit barrier before its first write, a
 * journal of what was written and why, and the wish to be called again.
 */
import { FencedError } from '../api/errors.ts';
import { type Resource, resourceId } from '../api/resource.ts';
import type { KubeObject } from '../api/types/index.ts';
import type { KubeClient, ObjectRef, PatchKind } from '../kube/types.ts';
import type { BecauseOptions, SyncClient, SyncRun } from './controller.ts';
import { JOURNAL_WRITES_PER_ROW_MAX, LIST_PAGE_SIZE } from './limits.ts';
import type { JournalWrite } from './ports.ts';

export interface SyncRunDeps {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly now: number;
  /** False while the server's history may be another one than the caches': then nothing is sent. */
  mayWrite(): boolean;
  /** Commit barrier: everything announced so far is in the file once it resolves. */
  commit(): Promise<void>;
  /** Remembers a version that our own write produced. */
  recordWrite(ownerKey: string, ownerUid: string, resource: string, version: string): void;
}

/** A sync under way; the worker reads its outcome afterwards. */
export class RecordedRun implements SyncRun, SyncClient {
  readonly signal: AbortSignal;
  readonly now: number;
  readonly #deps: SyncRunDeps;
  readonly #writes: JournalWrite[] = [];
  readonly #notes: string[] = [];
  #writeCount = 0;
  #again: { delayMs: number; because: string } | undefined;
  #committed = false;

  constructor(deps: SyncRunDeps) {
    this.#deps = deps;
    this.signal = deps.signal;
    this.now = deps.now;
  }

  get client(): SyncClient {
    return this;
  }

  /** The earliest wish to be called again, if any. */
  get wish(): { delayMs: number; because: string } | undefined {
    return this.#again;
  }

  get writes(): readonly JournalWrite[] {
    return this.#writes;
  }

  /** How many writes were sent, also those beyond what the journal keeps. */
  get writeCount(): number {
    return this.#writeCount;
  }

  get because(): string {
    const more = this.#writeCount - this.#writes.length;
    const rest = more > 0 ? [`and ${more} more writes`] : [];
    const [first] = this.#writes;
    const reasons = this.#notes.length > 0 || first === undefined ? this.#notes : [first.because];
    return [...reasons, ...rest].join('; ');
  }

  again(delayMs: number, because: string): void {
    if (this.#again === undefined || delayMs < this.#again.delayMs) {
      this.#again = { delayMs, because };
    }
  }

  note(because: string): void {
    this.#notes.push(because);
  }

  async barrier(): Promise<void> {
    this.#committed = true;
    await this.#deps.commit();
  }

  async get<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    options?: Parameters<SyncClient['get']>[2],
  ): Promise<T> {
    return await this.#deps.client.get<T>(resource, at, { ...options, signal: this.signal });
  }

  async listAll<T extends KubeObject>(
    resource: Resource,
    options: Parameters<SyncClient['listAll']>[1],
  ): Promise<readonly T[]> {
    const items: T[] = [];
    let token = '';
    do {
      const page = await this.#deps.client.list<T>(resource, {
        ...options,
        limit: LIST_PAGE_SIZE,
        signal: this.signal,
        ...(token === '' ? {} : { continue: token }),
      });
      items.push(...page.items);
      token = page.continue;
    } while (token !== '');
    return items;
  }

  async create<T extends KubeObject>(
    resource: Resource,
    at: { namespace?: string; name?: string; subresource?: string },
    body: object,
    options: Parameters<SyncClient['create']>[3],
  ): Promise<T> {
    const { metadataOnly } = options;
    const name = at.name ?? (body as Partial<KubeObject>).metadata?.name ?? '';
    return await this.#write('create', resource, { ...at, name }, options, () =>
      this.#deps.client.create<T>(resource, at, body, {
        signal: this.signal,
        ...(metadataOnly === undefined ? {} : { metadataOnly }),
      }),
    );
  }

  async update<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    body: object,
    options: Parameters<SyncClient['update']>[3],
  ): Promise<T> {
    const { metadataOnly } = options;
    return await this.#write('update', resource, at, options, () =>
      this.#deps.client.update<T>(resource, at, body, {
        signal: this.signal,
        ...(metadataOnly === undefined ? {} : { metadataOnly }),
      }),
    );
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    kind: PatchKind,
    body: object,
    options: Parameters<SyncClient['patch']>[4],
  ): Promise<T> {
    const { metadataOnly, fieldManager, force } = options;
    return await this.#write('patch', resource, at, options, () =>
      this.#deps.client.patch<T>(resource, at, kind, body, {
        signal: this.signal,
        ...(metadataOnly === undefined ? {} : { metadataOnly }),
        ...(fieldManager === undefined ? {} : { fieldManager }),
        ...(force === undefined ? {} : { force }),
      }),
    );
  }

  async delete(
    resource: Resource,
    at: ObjectRef,
    options: Parameters<SyncClient['delete']>[2],
  ): Promise<void> {
    const { uid, resourceVersion, propagationPolicy, gracePeriodSeconds } = options;
    await this.#write('delete', resource, at, options, () =>
      this.#deps.client.delete(resource, at, {
        uid,
        metadataOnly: true,
        signal: this.signal,
        ...(resourceVersion === undefined ? {} : { preconditionResourceVersion: resourceVersion }),
        ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      }),
    );
  }

  async deleteCollection(
    resource: Resource,
    namespace: string,
    options: Parameters<SyncClient['deleteCollection']>[2],
  ): Promise<void> {
    const { propagationPolicy } = options;
    await this.#write('deletecollection', resource, { namespace, name: '' }, options, () =>
      this.#deps.client.deleteCollection(resource, {
        namespace,
        signal: this.signal,
        ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
      }),
    );
  }

  async #write<T>(
    verb: string,
    resource: Resource,
    at: ObjectRef,
    options: BecauseOptions,
    send: () => Promise<T>,
  ): Promise<T> {
    this.#checkHistory();
    if (!this.#committed) {
      await this.barrier();
      this.#checkHistory();
    }
    const id = resourceId(resource);
    const full = at.subresource === undefined ? id : `${id}/${at.subresource}`;
    try {
      const result = await send();
      this.#record(verb, full, at, options.because, 'ok');
      this.#guard(options, id, result);
      return result;
    } catch (error) {
      this.#record(verb, full, at, options.because, outcomeOf(error));
      throw error;
    }
  }

  #checkHistory(): void {
    if (this.#deps.mayWrite()) return;
    throw new FencedError('the API server may have been restarted: its history is being checked');
  }

  #guard(options: BecauseOptions, resource: string, result: unknown): void {
    if (options.guard === undefined) return;
    const version = (result as Partial<KubeObject> | undefined)?.metadata?.resourceVersion;
    if (version === undefined) return;
    const { ownerKey, ownerUid } = options.guard;
    this.#deps.recordWrite(ownerKey, ownerUid, resource, version);
  }

  #record(verb: string, resource: string, at: ObjectRef, because: string, outcome: string): void {
    this.#writeCount++;
    if (this.#writes.length >= JOURNAL_WRITES_PER_ROW_MAX && outcome === 'ok') return;
    const { namespace = '', name } = at;
    this.#writes.push({ verb, resource, namespace, name, because, outcome });
  }
}

function outcomeOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 300) : String(error);
}
