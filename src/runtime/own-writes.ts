/**
 * Read your own writes: which versions this process's writes produced, so that an owner isn't
 * synced from a cache that hasn't seen them. Follows upstream's consistency store, and outlives the
 * process as well.
 */
import { compareVersions, isVersion } from '../api/version.ts';
import type { OwnWriteRow, RowTable } from './ports.ts';
import { isOwnTerm, type OwnTerms } from './term.ts';

/** A write that the cache has not reached. */
export interface StaleRead {
  readonly resource: string;
  readonly wrote: string;
  readonly read: string;
}

export interface OwnWritesOptions extends OwnTerms {
  readonly controller: string;
  readonly store: RowTable<OwnWriteRow>;
  /** Is told each time `caughtUp` says no; upstream counts these as stale_sync_skips_total. */
  skipped?(stale: StaleRead): void;
}

export interface OwnWrites {
  /** Notes the version of an object that was written for an owner; the newest counts. */
  record(ownerKey: string, ownerUid: string, resource: string, resourceVersion: string): void;
  /**
   * True if every noted version is in the caches, and forgets them then. `versionOf` gives the
   * version up to which a resource's cache is complete; what it can't say ("") is no obstacle.
   */
  caughtUp(ownerKey: string, ownerUid: string, versionOf: (resource: string) => string): boolean;
  /** The owner is gone. */
  forget(ownerKey: string): void;
  /** Takes over the rows of our own terms; rows from before another one led are deleted. */
  restore(): void;
  /** Forgets everything, also what is only in the store; e.g. when the server was rewound. */
  clear(): void;
  list(): readonly OwnWriteRow[];
}

interface Writes {
  readonly ownerUid: string;
  readonly versions: Map<string, string>;
}

class Guard implements OwnWrites {
  readonly #options: OwnWritesOptions;
  readonly #owners = new Map<string, Writes>();

  constructor(options: OwnWritesOptions) {
    this.#options = options;
  }

  record(ownerKey: string, ownerUid: string, resource: string, resourceVersion: string): void {
    const writes = this.#ofOwner(ownerKey, ownerUid);
    const known = writes.versions.get(resource) ?? '';
    if (isVersion(known) && isVersion(resourceVersion)) {
      if (compareVersions(known, resourceVersion) >= 0) return;
    }
    writes.versions.set(resource, resourceVersion);
    this.#options.store.put(this.#row(ownerKey, ownerUid, resource, resourceVersion));
  }

  caughtUp(ownerKey: string, ownerUid: string, versionOf: (resource: string) => string): boolean {
    const writes = this.#owners.get(ownerKey);
    if (writes === undefined) return true;
    if (writes.ownerUid === ownerUid) {
      for (const [resource, wrote] of writes.versions) {
        const read = versionOf(resource);
        if (!isVersion(wrote) || !isVersion(read) || compareVersions(wrote, read) <= 0) continue;
        this.#options.skipped?.({ resource, wrote, read });
        return false;
      }
    }
    this.forget(ownerKey);
    return true;
  }

  forget(ownerKey: string): void {
    const writes = this.#owners.get(ownerKey);
    if (writes === undefined) return;
    this.#owners.delete(ownerKey);
    for (const row of this.#rows(ownerKey, writes)) this.#options.store.delete(row);
  }

  restore(): void {
    const { controller, store } = this.#options;
    for (const row of store.all()) {
      if (row.controller !== controller) continue;
      if (isOwnTerm(row.term, this.#options)) {
        this.record(row.ownerKey, row.ownerUid, row.resource, row.resourceVersion);
      } else store.delete(row);
    }
  }

  clear(): void {
    const { controller, store } = this.#options;
    this.#owners.clear();
    for (const row of store.all()) if (row.controller === controller) store.delete(row);
  }

  list(): readonly OwnWriteRow[] {
    return [...this.#owners].flatMap(([ownerKey, writes]) => this.#rows(ownerKey, writes));
  }

  #ofOwner(ownerKey: string, ownerUid: string): Writes {
    const known = this.#owners.get(ownerKey);
    if (known?.ownerUid === ownerUid) return known;
    this.forget(ownerKey);
    const writes: Writes = { ownerUid, versions: new Map() };
    this.#owners.set(ownerKey, writes);
    return writes;
  }

  #rows(ownerKey: string, { ownerUid, versions }: Writes): OwnWriteRow[] {
    return Array.from(versions, ([resource, version]) =>
      this.#row(ownerKey, ownerUid, resource, version),
    );
  }

  #row(ownerKey: string, ownerUid: string, resource: string, resourceVersion: string): OwnWriteRow {
    const { controller, term } = this.#options;
    return { controller, ownerKey, ownerUid, resource, resourceVersion, term };
  }
}

/** The own writes of one controller in one term; empty until `restore`. */
export function createOwnWrites(options: OwnWritesOptions): OwnWrites {
  return new Guard(options);
}

/**
 * Name and help of the family that counts what `skipped` tells, as upstream's. `kind`: what the
 * controller syncs.
 */
export function skipsFamily(
  controller: string,
  kind: string,
): { readonly name: string; readonly help: string } {
  return {
    name: `${controller.replaceAll('-', '_')}_stale_sync_skips_total`,
    help: `Total number of ${kind} syncs skipped due to a stale watch cache.`,
  };
}
