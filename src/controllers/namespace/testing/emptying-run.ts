/** A SyncRun over a namespace in memory whose objects go when they are deleted, if nothing holds them. */
import { isNotFound } from '../../../api/errors.ts';
import { NAMESPACES, type Resource, resourceId } from '../../../api/resource.ts';
import { timeText } from '../../../api/time.ts';
import type { KubeObject, Namespace } from '../../../api/types/index.ts';
import type { ObjectRef } from '../../../kube/types.ts';
import type { BecauseOptions, ServedResource, SyncClient } from '../../../runtime/controller.ts';
import { FakeRun, refusal } from '../../_kit/testing/fake-run.ts';

/** Object of a test: its name and what holds it. */
export interface Held {
  readonly name: string;
  readonly finalizers?: readonly string[];
  /** Grace period of a pod, seconds: it stays after its deletion. */
  readonly grace?: number;
  /** Stays though nothing explains it. */
  readonly stuck?: boolean;
}

type Item = KubeObject & { readonly held: Held };

/** A kind that can do everything unless told otherwise. */
export function kindOf(
  plural: string,
  group = '',
  verbs: readonly string[] = ['list', 'delete', 'deletecollection'],
): ServedResource {
  return { group, version: 'v1', plural, kind: `${plural} kind`, namespaced: true, verbs };
}

/** Namespace "team", deleted `goingMs` before the run. */
export class EmptyingRun extends FakeRun {
  namespace: Namespace | undefined;
  readonly #items = new Map<string, Item[]>();
  readonly #refusals = new Map<string, Error[]>();

  constructor(now: number, goingMs: number, more: Partial<Namespace> = {}) {
    super(now);
    this.namespace = {
      metadata: {
        name: 'team',
        uid: 'team-uid',
        resourceVersion: '1',
        deletionTimestamp: timeText(now - goingMs),
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
      ...more,
    };
  }

  put(kind: Resource, ...held: readonly Held[]): void {
    const items = held.map((one) => ({
      metadata: {
        name: one.name,
        namespace: 'team',
        uid: `${one.name}-uid`,
        resourceVersion: '1',
        finalizers: one.finalizers,
      },
      spec: { terminationGracePeriodSeconds: one.grace },
      held: one,
    }));
    this.#items.set(resourceId(kind), items);
  }

  /** Everything that held objects of a kind back is over. */
  release(kind: Resource): void {
    this.#items.delete(resourceId(kind));
  }

  /** The next call of this verb ("list", "get" too) for this resource is refused. */
  refuse(verb: string, resource: string, error: Error): void {
    const id = `${verb} ${resource}`;
    this.#refusals.set(id, [...(this.#refusals.get(id) ?? []), error]);
  }

  left(kind: Resource): readonly string[] {
    return (this.#items.get(resourceId(kind)) ?? []).map(({ metadata }) => metadata.name);
  }

  /** Calls that write, in short. */
  get calls(): readonly string[] {
    return this.writes.map(({ verb, resource, key }) => `${verb} ${resource} ${key}`);
  }

  override async get<T extends KubeObject>(resource: Resource, at: ObjectRef): Promise<T> {
    this.#check('get', resourceId(resource));
    if (this.namespace === undefined) throw refusal(404, 'NotFound', `${at.name} not found`);
    return this.namespace as KubeObject as T;
  }

  override async listAll<T extends KubeObject>(resource: Resource): Promise<readonly T[]> {
    this.#check('list', resourceId(resource));
    return (this.#items.get(resourceId(resource)) ?? []) as readonly KubeObject[] as readonly T[];
  }

  override async update<T extends KubeObject>(
    resource: Resource,
    at: ObjectRef,
    body: object,
    options: BecauseOptions,
  ): Promise<T> {
    const stored = await super.update<T>(resource, at, body, options);
    this.#check('update', `${resourceId(NAMESPACES)}/${at.subresource}`);
    const { status } = this.namespace ?? {};
    this.namespace = { status, ...(stored as KubeObject) } as Namespace;
    return stored;
  }

  override async delete(
    resource: Resource,
    at: ObjectRef,
    options: Parameters<SyncClient['delete']>[2],
  ): Promise<void> {
    await super.delete(resource, at, options);
    try {
      this.#check('delete', resourceId(resource));
    } catch (error) {
      if (isNotFound(error)) this.release(resource);
      throw error;
    }
    this.#drop(resource, ({ metadata }) => metadata.name === at.name);
  }

  override async deleteCollection(
    resource: Resource,
    namespace: string,
    options: Parameters<SyncClient['deleteCollection']>[2],
  ): Promise<void> {
    await super.deleteCollection(resource, namespace, options);
    this.#check('deletecollection', resourceId(resource));
    this.#drop(resource, () => true);
  }

  #drop(resource: Resource, which: (item: Item) => boolean): void {
    const items = this.#items.get(resourceId(resource)) ?? [];
    const stays = ({ held }: Item) =>
      held.stuck || (held.finalizers ?? []).length > 0 || held.grace !== undefined;
    this.#items.set(
      resourceId(resource),
      items.filter((item) => !which(item) || stays(item)),
    );
  }

  #check(verb: string, resource: string): void {
    const error = this.#refusals.get(`${verb} ${resource}`)?.shift();
    if (error !== undefined) throw error;
  }
}
