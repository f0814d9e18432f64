/** Whole objects for syncs that go through many and must not end at one that the disk lost. */
import { isNotFound } from '../../api/errors.ts';
import { splitKey } from '../../api/meta.ts';
import type { Resource } from '../../api/resource.ts';
import type { KubeObject } from '../../api/types/index.ts';
import type { SyncRun } from '../../runtime/controller.ts';
import { ObjectUnavailable } from '../../runtime/informer/cache.ts';
import type { Lister, ObjectRecord } from '../../runtime/informer/types.ts';

/**
 * What is cached, or live if the disk lost it; undefined if there is none. Throws as a live read
 * does that gets no object for another reason.
 */
export async function whole<T extends KubeObject, R extends ObjectRecord>(
  run: Pick<SyncRun, 'client'>,
  resource: Resource,
  lister: Pick<Lister<T, R>, 'get'>,
  key: string,
): Promise<T | undefined> {
  try {
    return lister.get(key);
  } catch (error) {
    if (!(error instanceof ObjectUnavailable)) throw error;
    return await live<T>(run, resource, key);
  }
}

async function live<T extends KubeObject>(
  { client }: Pick<SyncRun, 'client'>,
  resource: Resource,
  key: string,
): Promise<T | undefined> {
  const { namespace, name } = splitKey(key);
  try {
    return await client.get<T>(resource, namespace === '' ? { name } : { namespace, name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
