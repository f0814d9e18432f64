/**
 * Reads one object by a LIST of its name. The manager's own role, and that of most controllers, may
 * list and watch much that it may not GET; for the server both are the read of one key.
 */
import { controllerOf } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import type { KubeObject } from '../api/types/index.ts';
import type { KubeClient, ObjectRef } from '../kube/types.ts';
import type { SyncClient } from './controller.ts';

/** Field selector that only the object of this name matches. */
export function nameSelector(name: string): string {
  return `metadata.name=${name}`;
}

/** The object as the server has it now, undefined if there is none. Throws as KubeClient does. */
export async function findOne<T extends KubeObject>(
  client: Pick<KubeClient, 'list'>,
  resource: Resource,
  { namespace, name }: Pick<ObjectRef, 'namespace' | 'name'>,
  signal: AbortSignal,
): Promise<T | undefined> {
  const place = namespace === undefined ? {} : { namespace };
  const options = { ...place, fieldSelector: nameSelector(name), signal };
  const page = await client.list<T>(resource, options);
  return page.items[0];
}

/** What tells an object that we made from a stranger of the same name. */
export interface Ours<T extends KubeObject> {
  readonly namespace: string;
  readonly name: string;
  /** UID of its controller. */
  readonly ownerUid: string;
  /** Whether an object of this owner was made for what is to be made; default: any was. */
  ofSlot?(object: T): boolean;
}

/**
 * The object that an earlier attempt of ours made under this name and that is not going; undefined
 * if there is none, or if it is a stranger's or another slot's. Throws as SyncClient does.
 */
export async function findOurs<T extends KubeObject>(
  client: Pick<SyncClient, 'listAll'>,
  resource: Resource,
  { namespace, name, ownerUid, ofSlot }: Ours<T>,
): Promise<T | undefined> {
  // Few controllers may GET what they make; all may list it.
  const options = { namespace, fieldSelector: nameSelector(name) };
  const [found] = await client.listAll<T>(resource, options);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
  if (controllerOf(found)?.uid !== ownerUid) return undefined;
  return (ofSlot?.(found) ?? true) ? found : undefined;
}
