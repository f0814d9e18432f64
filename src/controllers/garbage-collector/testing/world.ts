/** An API server in memory, with its rules for finalizers and propagation, around one collector. */
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../../api/owners.ts';
import { apiVersionOf, type Resource, resourceId } from '../../../api/resource.ts';
import { timeText } from '../../../api/time.ts';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../../api/types/index.ts';
import type { ObjectRef, PatchKind } from '../../../kube/types.ts';
import type { Controller, ServedResource, SyncClient } from '../../../runtime/controller.ts';
import { NotYet } from '../../../runtime/requeue.ts';
import { type FakeContext, fakeContext } from '../../_kit/testing/fake-context.ts';
import { FakeRun, refusal } from '../../_kit/testing/fake-run.ts';
import { garbageCollectorController } from '../index.ts';

export const NOW = Date.parse('2026-05-20T12:00:00Z');

/** A kind that can be collected. */
export function kindOf(
  kind: string,
  options: { readonly group?: string; readonly namespaced?: boolean } = {},
): ServedResource {
  const { group = 'apps', namespaced = true } = options;
  const plural = `${kind.toLowerCase()}s`;
  return { group, version: 'v1', plural, kind, namespaced, verbs: ['delete', 'list', 'watch'] };
}

export const SETS = kindOf('ReplicaSet');
export const PODS = kindOf('Pod', { group: '' });
export const MAPS = kindOf('ConfigMap', { group: '' });
export const NODES = kindOf('Node', { group: '', namespaced: false });
/** Knows no strategic patches. */
export const WIDGETS = kindOf('Widget', { group: 'example.com' });

/** A reference to an object, as dependents carry it. */
export function ownedBy(
  owner: KubeObject,
  resource: Resource,
  more: Partial<OwnerReference> = {},
): OwnerReference {
  const { name, uid } = owner.metadata;
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, name, uid, ...more };
}

type Policy = 'Orphan' | 'Background' | 'Foreground' | undefined;
interface Patch {
  readonly metadata: {
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly finalizers?: readonly string[] | null;
    readonly ownerReferences?: readonly (OwnerReference & { readonly $patch?: string })[] | null;
  };
}

/** Objects, the events that informers have not seen yet, and the collector's queues. */
export class World {
  readonly fakes: FakeContext;
  readonly controller: Controller;
  readonly #objects = new Map<string, KubeObject>();
  readonly #served = new Map<string, ServedResource>();
  /** What each informer will be told next. */
  readonly #late = new Map<string, (() => void)[]>();
  /** Informers hear of changes only at `deliver`. */
  lagging = false;
  readonly writes: string[] = [];
  readonly reasons: string[] = [];
  #version = 100;

  constructor(
    kinds: readonly ServedResource[] = [SETS, PODS, MAPS, NODES, WIDGETS],
    fill: (world: World) => void = () => undefined,
  ) {
    const flags = { 'enable-garbage-collector': true, 'concurrent-gc-syncs': 20 };
    this.fakes = fakeContext({ now: NOW, flags });
    for (const kind of kinds) this.serve(kind);
    fill(this);
    const controller = garbageCollectorController.build(this.fakes.context);
    if (controller === undefined) throw new Error('the collector is switched off');
    this.controller = controller;
  }

  /** Starts as a lead does. */
  async start(): Promise<this> {
    await this.controller.start?.(new AbortController().signal);
    return this;
  }

  serve(kind: ServedResource): void {
    this.#served.set(resourceId(kind), kind);
    this.fakes.informers.followed.serve(kind);
  }

  /** Stores an object; "ns/name" or "name". */
  create(kind: Resource, key: string, meta: Partial<ObjectMeta> = {}): KubeObject {
    const [namespace, name] = key.includes('/') ? key.split('/') : [undefined, key];
    const uid = meta.uid ?? `uid-${name}-${this.#version}`;
    const object: KubeObject = {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: { name: name ?? '', namespace, ...meta, uid, resourceVersion: this.#next() },
    };
    this.#store(kind, object);
    return object;
  }

  get(kind: Resource, key: string): KubeObject | undefined {
    return this.#objects.get(`${resourceId(kind)} ${key}`);
  }

  #known(kind: Resource, key: string): KubeObject {
    const object = this.get(kind, key);
    if (object === undefined) throw new Error(`${kind.kind} ${key} is not there`);
    return object;
  }

  /** "pods ns/name" of all objects, sorted. */
  left(): readonly string[] {
    return [...this.#objects.keys()].sort();
  }

  all(): readonly KubeObject[] {
    return [...this.#objects.values()];
  }

  /** A person changes metadata. */
  edit(kind: Resource, key: string, change: Partial<ObjectMeta>): void {
    const object = this.#known(kind, key);
    this.#settle(kind, { ...object, metadata: { ...object.metadata, ...change } });
  }

  /** A person deletes an object. */
  delete(kind: Resource, key: string, policy: Policy): void {
    const object = this.#known(kind, key);
    const old = object.metadata.finalizers ?? [];
    const kept = old.filter((one) => one !== FOREGROUND_FINALIZER && one !== ORPHAN_FINALIZER);
    const finalizers = policy === undefined ? [...old] : [...kept];
    if (policy === 'Foreground') finalizers.push(FOREGROUND_FINALIZER);
    if (policy === 'Orphan') finalizers.push(ORPHAN_FINALIZER);
    const deletionTimestamp = object.metadata.deletionTimestamp ?? timeText(NOW);
    const metadata = { ...object.metadata, finalizers, deletionTimestamp };
    this.#settle(kind, { ...object, metadata });
  }

  /** Informers of this resource hear of their next `count` changes. */
  deliver(kind: Resource, count = Number.POSITIVE_INFINITY): void {
    const late = this.#late.get(resourceId(kind)) ?? [];
    for (const tell of late.splice(0, count)) tell();
  }

  deliverAll(): void {
    for (const late of this.#late.values()) for (const tell of late.splice(0)) tell();
  }

  /** Keys that wait in the three queues. */
  waiting(): readonly { readonly queue: string; readonly key: string }[] {
    return [...this.fakes.queues].flatMap(([queue, { added }]) =>
      added.map((key) => ({ queue, key })),
    );
  }

  /** Takes one key that waits and syncs it; false if it has to come again. */
  async sync({ queue, key }: { readonly queue: string; readonly key: string }): Promise<boolean> {
    const added = this.fakes.queues.get(queue)?.added;
    const definition = this.controller.queues.find((one) => one.queue.name === queue);
    if (added === undefined || definition === undefined) throw new Error(`no queue ${queue}`);
    added.splice(0, added.length, ...added.filter((one) => one !== key));
    const run = new WorldRun(this);
    try {
      await definition.reconcile(key, run);
      return true;
    } catch (error) {
      if (!(error instanceof NotYet) && !(error instanceof Error && 'code' in error)) throw error;
      added.push(key);
      return false;
    } finally {
      this.reasons.push(...run.notes);
    }
  }

  /** Syncs until nothing waits that could get on. */
  async settle(rounds = 200): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const waiting = this.waiting();
      let progress = false;
      for (const one of waiting) progress = (await this.sync(one)) || progress;
      if (!progress && this.waiting().length <= waiting.length) return;
    }
    throw new Error(`still busy: ${JSON.stringify(this.waiting())}`);
  }

  /** A live read; a test may put something in between. */
  read(resource: Resource, at: ObjectRef): KubeObject {
    return this.#find(resource, at);
  }

  #find(resource: Resource, at: ObjectRef): KubeObject {
    const key = at.namespace === undefined ? at.name : `${at.namespace}/${at.name}`;
    const object = this.get(resource, key);
    if (object === undefined) throw refusal(404, 'NotFound', `${key} not found`);
    return object;
  }

  deleteAs(resource: Resource, at: ObjectRef, options: Parameters<SyncClient['delete']>[2]): void {
    const object = this.#find(resource, at);
    const { uid, resourceVersion, propagationPolicy } = options;
    const isOther = object.metadata.uid !== uid;
    const isNewer =
      resourceVersion !== undefined && object.metadata.resourceVersion !== resourceVersion;
    if (isOther || isNewer) throw refusal(409, 'Conflict', 'precondition failed');
    const key = keyIn(object);
    this.writes.push(`delete ${resourceId(resource)} ${key} ${propagationPolicy}`);
    this.delete(resource, key, propagationPolicy);
  }

  patch(resource: Resource, at: ObjectRef, kind: PatchKind, { metadata }: Patch): KubeObject {
    const object = this.#find(resource, at);
    const isCustom = resource.group.includes('.');
    if (kind === 'strategic' && isCustom) throw refusal(415, 'UnsupportedMediaType');
    const { uid, resourceVersion } = metadata;
    const isOther = uid !== undefined && uid !== object.metadata.uid;
    const isNewer =
      resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion;
    if (isOther || isNewer) throw refusal(409, 'Conflict', 'the object has been modified');
    const changed = {
      ...object.metadata,
      ...(metadata.finalizers === undefined ? {} : { finalizers: metadata.finalizers ?? [] }),
      ...(metadata.ownerReferences === undefined
        ? {}
        : { ownerReferences: referencesAfter(object, kind, metadata.ownerReferences ?? []) }),
    };
    this.writes.push(`patch ${resourceId(resource)} ${keyIn(object)}`);
    this.#settle(resource, { ...object, metadata: changed });
    return object;
  }

  /** Stores the object, or removes it if its deletion has nothing to wait for. */
  #settle(kind: Resource, object: KubeObject): void {
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    const metadata = { ...object.metadata, resourceVersion: this.#next() };
    const next = { ...object, metadata };
    if (deletionTimestamp === undefined || finalizers.length > 0) {
      this.#store(kind, next);
      return;
    }
    this.#objects.delete(`${resourceId(kind)} ${keyIn(object)}`);
    this.#tell(kind, () => this.#informer(kind).remove(next));
  }

  #store(kind: Resource, object: KubeObject): void {
    this.#objects.set(`${resourceId(kind)} ${keyIn(object)}`, object);
    this.#tell(kind, () => this.#informer(kind).put(object));
  }

  #tell(kind: Resource, tell: () => void): void {
    if (!this.#served.has(resourceId(kind))) return;
    const id = resourceId(kind);
    this.#late.set(id, [...(this.#late.get(id) ?? []), tell]);
    if (!this.lagging) this.deliver(kind);
  }

  #informer(kind: Resource) {
    const served = this.#served.get(resourceId(kind));
    if (served === undefined) throw new Error(`${kind.kind} is not served`);
    return this.fakes.informers.followed.serve(served);
  }

  #next(): string {
    return String(++this.#version);
  }
}

/** A sync whose reads and writes go to the world. */
class WorldRun extends FakeRun {
  readonly #world: World;

  constructor(world: World) {
    super(NOW);
    this.#world = world;
  }

  override async get<T extends KubeObject>(resource: Resource, at: ObjectRef): Promise<T> {
    await Promise.resolve();
    return this.#world.read(resource, at) as T;
  }

  override async delete(
    resource: Resource,
    at: ObjectRef,
    options: Parameters<SyncClient['delete']>[2],
  ): Promise<void> {
    await Promise.resolve();
    this.#world.deleteAs(resource, at, options);
    this.notes.push(options.because);
  }

  override async patch<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    kind: PatchKind,
    body: object,
    options: Parameters<SyncClient['patch']>[4],
  ): Promise<T> {
    await Promise.resolve();
    const stored = this.#world.patch(resource, at, kind, body as Patch);
    this.notes.push(options.because);
    return stored as T;
  }
}

function keyIn({ metadata }: KubeObject): string {
  return metadata.namespace === undefined
    ? metadata.name
    : `${metadata.namespace}/${metadata.name}`;
}

function referencesAfter(
  object: KubeObject,
  kind: PatchKind,
  patch: NonNullable<Patch['metadata']['ownerReferences']>,
): readonly OwnerReference[] {
  if (kind === 'merge') return patch;
  const old = object.metadata.ownerReferences ?? [];
  return old.flatMap((reference) => {
    const change = patch.find(({ uid }) => uid === reference.uid);
    if (change === undefined) return [reference];
    return change.$patch === 'delete' ? [] : [{ ...reference, ...change }];
  });
}
