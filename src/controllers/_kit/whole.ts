/** Whole objects for syncs that go through many and must not end at one that the disk lost. */
import { splitKey } from '../../api/meta.ts';
import type { KubeObject } from '../../api/types/index.ts';
import type { SyncRun } from '../../runtime/controller.ts';
import { ObjectUnavailable } from '../../runtime/informer/cache.ts';
import type { Informer, Lister, ObjectRecord } from '../../runtime/informer/types.ts';

/** What is cached, or live if the disk lost it. Throws as a live read does; undefined: not cached. */
export async function whole<T extends KubeObject, R extends ObjectRecord>(
  run: Pick<SyncRun, 'client'>,
  resource: Informer<T, R>['resource'],
  lister: Pick<Lister<T, R>, 'get'>,
  key: string,
): Promise<T | undefined> {
  try {
    return lister.get(key);
  } catch (error) {
    if (!(error instanceof ObjectUnavailable)) throw error;
    const { namespace, name } = splitKey(key);
    return await run.client.get<T>(resource, namespace === '' ? { name } : { namespace, name });
  }
}
