/** Taking a chunk of watch events into a cache. */
import type { KubeObject } from '../../api/types/index.ts';
import type { WatchEvent } from '../../kube/types.ts';
import type { Change, ResourceCache } from './cache.ts';
import type { ObjectRecord } from './types.ts';

/** What the events changed, and the version of the last of them, "" if there was none. */
export function applyEvents<T extends KubeObject, R extends ObjectRecord>(
  cache: ResourceCache<T, R>,
  events: readonly WatchEvent<T>[],
  resumable: boolean,
): { readonly changes: readonly Change<R>[]; readonly last: string } {
  const changes: Change<R>[] = [];
  let last = '';
  for (const event of events) {
    if (event.type === 'BOOKMARK') {
      last = event.resourceVersion;
      continue;
    }
    last = event.object.metadata.resourceVersion;
    const change =
      event.type === 'DELETED' ? cache.remove(event.object) : cache.apply(event.object, resumable);
    if (change !== undefined) changes.push(change);
  }
  return { changes, last };
}
