/**
 * What this process wrote to the slices of each owner, so that a sync never starts from a cache
 * that hasn't seen it, and its own writes bring no new sync. Follows upstream's tracker; what must
 * outlive the process is noted by the own-write guard.
 */
import type { KubeObject } from '../../../api/types/index.ts';
import { compareVersions, isVersion } from '../../../api/version.ts';

/** Stands for a generation: the slice was deleted. */
const DELETED = -1;

/** What the server made of a write. */
interface Written {
  readonly generation: number;
  readonly version: string;
}

/** Generations of the slices written, by owner key and UID. */
export class SliceTracker {
  readonly #owners = new Map<string, Map<string, Written>>();

  /** A slice was created or updated, and this is what the server made of it. */
  wrote(ownerKey: string, slice: KubeObject): void {
    const { uid, generation = 0, resourceVersion } = slice.metadata;
    this.#of(ownerKey).set(uid, { generation, version: resourceVersion });
  }

  /**
   * A slice was there that an earlier attempt made, and it may hold something else: the cache has
   * to show it before the next sync, and then it is news.
   */
  found(ownerKey: string, { metadata: { uid, resourceVersion } }: KubeObject): void {
    this.#of(ownerKey).set(uid, { generation: 0, version: resourceVersion });
  }

  /** A slice is about to be deleted; what is returned takes that back. */
  deleting(ownerKey: string, uid: string): () => void {
    const written = this.#of(ownerKey);
    const before = written.get(uid);
    written.set(uid, { generation: DELETED, version: '' });
    return () => {
      if (before === undefined) this.gone(ownerKey, uid);
      else this.#of(ownerKey).set(uid, before);
    };
  }

  /** True if this process has written that slice. */
  knows(ownerKey: string, uid: string): boolean {
    return this.#owners.get(ownerKey)?.has(uid) ?? false;
  }

  /** True if this state of a slice is not what this process wrote, or older. */
  isNews(ownerKey: string, slice: KubeObject): boolean {
    const written = this.#owners.get(ownerKey)?.get(slice.metadata.uid);
    return written === undefined || (slice.metadata.generation ?? 0) > written.generation;
  }

  /**
   * How the cache, which shows these slices and is complete up to version `upTo`, is behind what
   * was written; undefined if it isn't. One that is being deleted is neither missed nor too much.
   * One that is not shown by a cache that is new enough is forgotten: somebody took it away from
   * this owner or from this controller, and it would be waited for without end.
   */
  staleness(ownerKey: string, slices: readonly KubeObject[], upTo: string): string | undefined {
    const written = this.#owners.get(ownerKey);
    if (written === undefined) return undefined;
    for (const { metadata } of slices) {
      if (metadata.deletionTimestamp !== undefined) continue;
      const generation = written.get(metadata.uid)?.generation;
      if (generation === DELETED) return `slice ${metadata.name} was deleted`;
      const { generation: shown = 0 } = metadata;
      if (generation !== undefined && generation > shown) {
        return `slice ${metadata.name} was written as generation ${generation}, not ${shown}`;
      }
    }
    const shown = new Set(slices.map(({ metadata }) => metadata.uid));
    for (const [uid, { generation, version }] of written) {
      if (generation === DELETED || shown.has(uid)) continue;
      if (!hasReached(upTo, version)) return `slice with UID ${uid} was written`;
      this.gone(ownerKey, uid);
    }
    return undefined;
  }

  /** A slice is gone; true if that was this process's doing, or nothing was known of it. */
  gone(ownerKey: string, uid: string): boolean {
    const written = this.#owners.get(ownerKey);
    const generation = written?.get(uid)?.generation;
    written?.delete(uid);
    if (written?.size === 0) this.#owners.delete(ownerKey);
    return generation === undefined || generation === DELETED;
  }

  /** The owner is gone. */
  forget(ownerKey: string): void {
    this.#owners.delete(ownerKey);
  }

  #of(ownerKey: string): Map<string, Written> {
    const known = this.#owners.get(ownerKey);
    if (known !== undefined) return known;
    const made = new Map<string, Written>();
    this.#owners.set(ownerKey, made);
    return made;
  }
}

/** False if the cache is older than the version, or nobody can tell. */
function hasReached(upTo: string, version: string): boolean {
  return isVersion(upTo) && isVersion(version) && compareVersions(version, upTo) <= 0;
}
