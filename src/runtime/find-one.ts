/**
 * Reads one object by a LIST of its name. The manager's own role, and that of most controllers, may
 * list and watch much that it may not GET; for the server both are the read of one key.
 */
import type { Resource } from '../api/resource.ts';
import type { KubeObject } from '../api/types/index.ts';
import type { KubeClient, ObjectRef } from '../kube/types.ts';

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
