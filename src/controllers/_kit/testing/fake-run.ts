/** A SyncRun for controller tests: writes are recorded, live reads come from a small map. */
import { ApiError } from '../../../api/errors.ts';
import { keyOf } from '../../../api/meta.ts';
import { type Resource, resourceId } from '../../../api/resource.ts';
import type { KubeObject } from '../../../api/types/index.ts';
import type { ObjectRef, PatchKind } from '../../../kube/types.ts';
import type { BecauseOptions, SyncClient, SyncRun } from '../../../runtime/controller.ts';

/** One write as a controller asked for it. */
export interface RecordedWrite {
  readonly verb: 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';
  /** "pods", "replicasets.apps/status". */
  readonly resource: string;
  readonly key: string;
  readonly body?: object;
  readonly because: string;
  readonly guard?: BecauseOptions['guard'];
  /** UID precondition of a delete. */
  readonly uid?: string;
}

/** An answer of the API server with this code and reason, e.g. `refusal(409, 'Conflict')`. */
export function refusal(code: number, reason: string, message = reason): ApiError {
  return new ApiError(code, message, { code, reason, message });
}

/** Records what a sync does. Writes succeed unless `failNext` said otherwise. */
export class FakeRun implements SyncRun, SyncClient {
  readonly signal = new AbortController().signal;
  readonly now: number;
  readonly writes: RecordedWrite[] = [];
  readonly notes: string[] = [];
  readonly wishes: { readonly delayMs: number; readonly because: string }[] = [];
  readonly reads: string[] = [];
  readonly #live = new Map<string, KubeObject>();
  readonly #failures: { readonly verb: string; readonly error: unknown }[] = [];
  #version = 1000;

  constructor(now: number) {
    this.now = now;
  }

  get client(): SyncClient {
    return this;
  }

  /** What a live read of this resource finds. */
  live(resource: Resource, ...objects: readonly KubeObject[]): void {
    for (const object of objects) {
      this.#live.set(`${resourceId(resource)} ${keyOf(object.metadata)}`, object);
    }
  }

  /** The next call of this verb (or "get") fails with this error; several are used up in order. */
  failNext(verb: RecordedWrite['verb'] | 'get', error: unknown): void {
    this.#failures.push({ verb, error });
  }

  again(delayMs: number, because: string): void {
    this.wishes.push({ delayMs, because });
  }

  note(because: string): void {
    this.notes.push(because);
  }

  async barrier(): Promise<void> {}

  async get<T extends KubeObject>(resource: Resource, at: ObjectRef): Promise<T> {
    this.reads.push(`${resourceId(resource)} ${keyOf(at)}`);
    this.#mayFail('get');
    const found = this.#live.get(`${resourceId(resource)} ${keyOf(at)}`);
    if (found === undefined) throw refusal(404, 'NotFound', `${keyOf(at)} not found`);
    return found as T;
  }

  async listAll<T extends KubeObject>(
    resource: Resource,
    options: { namespace?: string },
  ): Promise<readonly T[]> {
    return [...this.#live]
      .filter(([id]) => id.startsWith(`${resourceId(resource)} `))
      .map(([, object]) => object as T)
      .filter(({ metadata }) => !options.namespace || metadata.namespace === options.namespace);
  }

  async create<T extends KubeObject>(
    resource: Resource,
    at: { namespace?: string; name?: string },
    body: object,
    options: BecauseOptions,
  ): Promise<T> {
    const name = at.name ?? (body as Partial<KubeObject>).metadata?.name ?? '';
    return this.#write('create', resource, { ...at, name }, body, options);
  }

  async update<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    body: object,
    options: BecauseOptions,
  ): Promise<T> {
    return this.#write('update', resource, at, body, options);
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    _kind: PatchKind,
    body: object,
    options: BecauseOptions,
  ): Promise<T> {
    return this.#write('patch', resource, at, body, options);
  }

  async delete(
    resource: Resource,
    at: ObjectRef,
    options: Parameters<SyncClient['delete']>[2],
  ): Promise<void> {
    this.#write('delete', resource, at, undefined, options);
  }

  async deleteCollection(
    resource: Resource,
    namespace: string,
    options: Parameters<SyncClient['deleteCollection']>[2],
  ): Promise<void> {
    this.#write('deletecollection', resource, { namespace, name: '' }, undefined, options);
  }

  #write<T>(
    verb: RecordedWrite['verb'],
    resource: Resource,
    at: ObjectRef,
    body: object | undefined,
    options: BecauseOptions & { readonly uid?: string },
  ): T {
    const { because, guard, uid } = options;
    const full = [resourceId(resource), at.subresource].filter((part) => part).join('/');
    this.writes.push({ verb, resource: full, key: keyOf(at), body, because, guard, uid });
    this.#mayFail(verb);
    const given = (body ?? {}) as Partial<KubeObject>;
    const metadata = { ...given.metadata, name: at.name, resourceVersion: `${this.#version++}` };
    return { ...given, metadata } as T;
  }

  #mayFail(verb: string): void {
    const index = this.#failures.findIndex((failure) => failure.verb === verb);
    const [failure] = index < 0 ? [] : this.#failures.splice(index, 1);
    if (failure !== undefined) throw failure.error;
  }
}
