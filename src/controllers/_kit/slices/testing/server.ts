/**
 * An API server for tests of slices and Endpoints: it stores what is written with versions and
 * generations, refuses what the real one refuses, and feeds the fake informers, late if asked to.
 */
import { ApiError } from '../../../../api/errors.ts';
import { canonicalJson } from '../../../../api/hash.ts';
import { keyOf, splitKey } from '../../../../api/meta.ts';
import { type Resource, resourceId } from '../../../../api/resource.ts';
import type { KubeObject } from '../../../../api/types/index.ts';
import type { ObjectRef } from '../../../../kube/types.ts';
import type { BecauseOptions, SyncClient, SyncRun } from '../../../../runtime/controller.ts';
import type { FakeInformers } from '../../testing/fake-informers.ts';
import { refusal } from '../../testing/fake-run.ts';

/** One write as it was asked for. */
export interface ServerWrite {
  readonly verb: 'create' | 'update' | 'delete';
  readonly key: string;
  readonly because: string;
}

/** Serves any resource; a namespace is never checked. */
export class SliceServer implements SyncRun, SyncClient {
  readonly signal = new AbortController().signal;
  readonly notes: string[] = [];
  readonly writes: ServerWrite[] = [];
  /** Changes wait for `deliver` instead of reaching the informers at once. */
  lags = false;
  /** Refuses a call before it takes effect. */
  refuse: (verb: string, key: string) => unknown = () => undefined;
  now: number;
  readonly #informers: FakeInformers;
  readonly #stored = new Map<string, KubeObject>();
  readonly #late: (() => void)[] = [];
  #version = 100;

  constructor(informers: FakeInformers, now: number) {
    this.#informers = informers;
    this.now = now;
  }

  get client(): SyncClient {
    return this;
  }

  /** Stores an object as if somebody else had written it. */
  put<T extends KubeObject>(resource: Resource, object: T): T {
    const before = this.#stored.get(idOf(resource, keyOf(object.metadata)));
    return this.#store(resource, object, before);
  }

  /** Deletes an object as if somebody else had. */
  drop(resource: Resource, key: string): void {
    const stored = this.#stored.get(idOf(resource, key));
    if (stored !== undefined) this.#remove(resource, stored);
  }

  stored<T extends KubeObject>(resource: Resource): T[] {
    const prefix = `${resourceId(resource)} `;
    const found = [...this.#stored].filter(([id]) => id.startsWith(prefix));
    return found.map(([, object]) => object as T);
  }

  /** The informers hear of everything that happened. */
  deliver(): void {
    for (const event of this.#late.splice(0)) event();
  }

  /** Writes since the last call: "update default/web-x1". */
  drainWrites(): string[] {
    return this.writes.splice(0).map(({ verb, key }) => `${verb} ${key}`);
  }

  again(): void {}

  note(because: string): void {
    this.notes.push(because);
  }

  async barrier(): Promise<void> {}

  async get<T extends KubeObject>(resource: Resource, at: ObjectRef): Promise<T> {
    return this.#found(resource, keyOf(at)) as T;
  }

  async listAll<T extends KubeObject>(
    resource: Resource,
    options: { namespace?: string; fieldSelector?: string },
  ): Promise<readonly T[]> {
    const name = options.fieldSelector?.replace('metadata.name=', '');
    return this.stored<T>(resource).filter(({ metadata }) => metadata.name === name);
  }

  async create<T extends KubeObject>(
    resource: Resource,
    at: { namespace?: string },
    body: object,
    options: BecauseOptions,
  ): Promise<T> {
    const { metadata } = body as KubeObject;
    const key = keyOf({ ...at, name: metadata.name });
    this.#begin('create', key, options);
    if (this.#stored.has(idOf(resource, key))) throw refusal(409, 'AlreadyExists');
    return this.#store(resource, { ...(body as T), metadata: { ...metadata, ...at } }, undefined);
  }

  async update<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    body: object,
    options: BecauseOptions,
  ): Promise<T> {
    const key = keyOf(at);
    this.#begin('update', key, options);
    const before = this.#found(resource, key);
    const { uid, resourceVersion } = (body as KubeObject).metadata;
    const { metadata } = before;
    if (uid !== metadata.uid || resourceVersion !== metadata.resourceVersion) {
      throw refusal(409, 'Conflict', `${key} has been modified`);
    }
    return this.#store(resource, body as T, before);
  }

  async delete(
    resource: Resource,
    at: ObjectRef,
    options: Parameters<SyncClient['delete']>[2],
  ): Promise<void> {
    const key = keyOf(at);
    this.#begin('delete', key, options);
    const stored = this.#found(resource, key);
    if (stored.metadata.uid !== options.uid) throw refusal(409, 'Conflict');
    this.#remove(resource, stored);
  }

  patch(): Promise<never> {
    throw new Error('nobody patches slices');
  }

  deleteCollection(): Promise<never> {
    throw new Error('nobody deletes collections of slices');
  }

  #begin(verb: ServerWrite['verb'], key: string, { because }: BecauseOptions): void {
    this.writes.push({ verb, key, because });
    const refused = this.refuse(verb, key);
    if (refused !== undefined) throw refused;
  }

  #found(resource: Resource, key: string): KubeObject {
    const stored = this.#stored.get(idOf(resource, key));
    if (stored === undefined) throw new ApiError(404, `${key} not found`, { reason: 'NotFound' });
    return stored;
  }

  #store<T extends KubeObject>(resource: Resource, given: T, before: KubeObject | undefined): T {
    const kept = before?.metadata ?? { uid: `uid-${++this.#version}`, generation: 0 };
    const content = asStored(given);
    const { uid, generation = 0 } = kept;
    const metadata = { ...given.metadata, uid, generation };
    const same = before !== undefined && textOf({ ...content, metadata }) === textOf(before);
    if (same) return before as T;
    const changed = before === undefined || contentText(before) !== contentText(content);
    const stored = {
      ...content,
      metadata: {
        ...metadata,
        generation: changed ? generation + 1 : generation,
        resourceVersion: String(++this.#version),
      },
    };
    this.#stored.set(idOf(resource, keyOf(stored.metadata)), stored);
    this.#tell(() => this.#informers.of<KubeObject>(resource).put(stored));
    return stored;
  }

  #remove(resource: Resource, stored: KubeObject): void {
    this.#stored.delete(idOf(resource, keyOf(stored.metadata)));
    this.#tell(() => this.#informers.of<KubeObject>(resource).remove(stored));
  }

  #tell(event: () => void): void {
    this.#late.push(event);
    if (!this.lags) this.deliver();
  }
}

function idOf(resource: Resource, key: string): string {
  const { namespace, name } = splitKey(key);
  return `${resourceId(resource)} ${namespace}/${name}`;
}

/** Empty lists of slices come back as null, those of Endpoints not at all, as from the real one. */
function asStored<T extends KubeObject>(object: T): T {
  const fields = Object.entries(object).filter(
    ([name, value]) => name !== 'subsets' || !isEmpty(value),
  );
  return Object.fromEntries(
    fields.map(([name, value]) => [name, isEmpty(value) ? null : value]),
  ) as unknown as T;
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function contentText(object: KubeObject): string {
  return canonicalJson({ ...object, metadata: undefined });
}

function textOf(object: KubeObject): string {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return canonicalJson({ ...object, metadata });
}
