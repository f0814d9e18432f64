/** Bringing a cache up to date without a watch: a paged LIST, or a comparison by versions. */
import { isExpired } from '../../api/errors.ts';
import { type Resource, resourceId } from '../../api/resource.ts';
import type { KubeObject, PartialObjectMetadata } from '../../api/types/index.ts';
import { compareVersions } from '../../api/version.ts';
import type { KubeClient, ListPage } from '../../kube/types.ts';
import { findOne } from '../find-one.ts';
import {
  DELTA_CHANGED_FRACTION,
  DELTA_GETS_AT_ONCE,
  DELTA_SINGLE_GETS_MAX,
  LIST_PAGE_SIZE,
} from '../limits.ts';
import { type Change, keyOf, type ResourceCache } from './cache.ts';
import type { ObjectRecord } from './types.ts';
import { isNeverStored } from './unstored.ts';

export interface RelistDeps<T extends KubeObject, R extends ObjectRecord> {
  readonly client: KubeClient;
  readonly resource: Resource;
  readonly cache: ResourceCache<T, R>;
  readonly signal: AbortSignal;
  /** Write rows also for objects that are known already: the disk lost some. */
  readonly rewrite: boolean;
  /** Takes each change as soon as the cache has it, so that a failure later loses none. */
  publish(changes: readonly Change<R>[]): void;
  /** Version up to which the watch had told everything. */
  readonly seenTo: string;
}

export interface RelistResult {
  /** How many objects were added, changed or found gone. */
  readonly changed: number;
  /** Version of the list: where the watch goes on. */
  readonly version: string;
}

export interface DeltaResult extends RelistResult {
  /** The cache is complete once it has passed this version. */
  readonly needed: string;
  /** The server holds older versions than the cache did: its history was rewound. */
  readonly rewound: boolean;
  /** Objects that differ although the watch had passed their version: it had missed them. */
  readonly missed: number;
}

/** Reads every object, page by page, into the cache; what is no longer there gets a tombstone. */
export async function fullList<T extends KubeObject, R extends ObjectRecord>(
  deps: RelistDeps<T, R>,
  look: (object: T) => void = () => undefined,
): Promise<RelistResult> {
  const seen = new Set<string>();
  let changed = 0;
  const version = await eachPage<T>(deps, deps.cache.metadataOnly, seen, (page) => {
    const changes: Change<R>[] = [];
    for (const object of page) {
      look(object);
      const change = deps.cache.apply(object, false);
      if (change !== undefined) changes.push(change);
      else if (deps.rewrite) deps.cache.rewrite(object);
    }
    changed += changes.length;
    deps.publish(changes);
  });
  return { changed: changed + evictUnseen(deps, seen), version };
}

/**
 * Compares uid and resourceVersion of every object with the cache and fetches only what differs:
 * one by one, or by a paged LIST where more than 200 objects and 5 % changed.
 */
export async function deltaRelist<T extends KubeObject, R extends ObjectRecord>(
  deps: RelistDeps<T, R>,
): Promise<DeltaResult> {
  if (deps.cache.metadataOnly || isNeverStored(resourceId(deps.resource))) {
    return await deltaByList(deps);
  }
  const seen = new Set<string>();
  const differing = new Map<string, PartialObjectMetadata>();
  let rewound = false;
  let missed = 0;
  const version = await eachPage<PartialObjectMetadata>(deps, true, seen, (page) => {
    for (const head of page) {
      const known = deps.cache.record(keyOf(head));
      const { uid, resourceVersion } = head.metadata;
      if (known?.uid === uid && known.resourceVersion === resourceVersion) continue;
      differing.set(keyOf(head), head);
      if (isOlder(deps.cache, head)) rewound = true;
      if (compareVersions(resourceVersion, deps.seenTo) <= 0) missed++;
    }
  });
  const many = Math.max(DELTA_SINGLE_GETS_MAX, seen.size * DELTA_CHANGED_FRACTION);
  if (differing.size > many) {
    const listed = await fullList(deps);
    return { ...listed, needed: listed.version, rewound, missed };
  }
  const fetched = await fetchAll(deps, [...differing.values()]);
  const newest = compareVersions(fetched.newest, version) > 0 ? fetched.newest : version;
  const changed = fetched.changed + evictUnseen(deps, seen);
  return { changed, version, needed: newest, rewound, missed };
}

/** The list is all there is to know, or nearly all differs: it is taken over as it is read. */
async function deltaByList<T extends KubeObject, R extends ObjectRecord>(
  deps: RelistDeps<T, R>,
): Promise<DeltaResult> {
  let rewound = false;
  let missed = 0;
  const listed = await fullList(deps, (head) => {
    if (isOlder(deps.cache, head)) rewound = true;
    const known = deps.cache.record(keyOf(head));
    const { uid, resourceVersion } = head.metadata;
    const same = known?.uid === uid && known.resourceVersion === resourceVersion;
    if (!same && compareVersions(resourceVersion, deps.seenTo) <= 0) missed++;
  });
  return { ...listed, needed: listed.version, rewound, missed };
}

/** True if the cache holds a newer version of this very object. */
function isOlder<T extends KubeObject, R extends ObjectRecord>(
  cache: ResourceCache<T, R>,
  head: KubeObject,
): boolean {
  const known = cache.record(keyOf(head));
  const { uid, resourceVersion } = head.metadata;
  return known?.uid === uid && compareVersions(resourceVersion, known.resourceVersion) < 0;
}

async function fetchAll<T extends KubeObject, R extends ObjectRecord>(
  deps: RelistDeps<T, R>,
  heads: PartialObjectMetadata[],
): Promise<{ changed: number; newest: string }> {
  let newest = '';
  let changed = 0;
  const worker = async (): Promise<void> => {
    for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
      const object = await fetchOne(deps, head);
      const change =
        object === undefined ? deps.cache.evict(keyOf(head)) : deps.cache.apply(object, false);
      const version = object?.metadata.resourceVersion ?? '';
      if (compareVersions(version, newest) > 0) newest = version;
      if (change === undefined) continue;
      changed++;
      deps.publish([change]);
    }
  };
  await Promise.all(Array.from({ length: DELTA_GETS_AT_ONCE }, worker));
  return { changed, newest };
}

async function fetchOne<T extends KubeObject, R extends ObjectRecord>(
  deps: RelistDeps<T, R>,
  head: PartialObjectMetadata,
): Promise<T | undefined> {
  return await findOne<T>(deps.client, deps.resource, head.metadata, deps.signal);
}

async function eachPage<I extends KubeObject>(
  deps: { client: KubeClient; resource: Resource; signal: AbortSignal },
  metadataOnly: boolean,
  seen: Set<string>,
  visit: (items: readonly I[]) => void,
): Promise<string> {
  const { signal } = deps;
  let token: string | undefined;
  for (;;) {
    let page: ListPage<I>;
    try {
      page = await deps.client.list<I>(deps.resource, {
        limit: LIST_PAGE_SIZE,
        metadataOnly,
        signal,
        ...(token === undefined ? {} : { continue: token }),
      });
    } catch (error) {
      // The pages' version was compacted meanwhile: begin again.
      if (token === undefined || !isExpired(error)) throw error;
      token = undefined;
      seen.clear();
      continue;
    }
    for (const item of page.items) seen.add(keyOf(item));
    visit(page.items);
    if (page.continue === '') return page.resourceVersion;
    token = page.continue;
  }
}

function evictUnseen<T extends KubeObject, R extends ObjectRecord>(
  deps: RelistDeps<T, R>,
  seen: ReadonlySet<string>,
): number {
  const changes: Change<R>[] = [];
  for (const key of [...deps.cache.keys()]) {
    if (seen.has(key)) continue;
    const change = deps.cache.evict(key);
    if (change !== undefined) changes.push(change);
  }
  deps.publish(changes);
  return changes.length;
}
