/**
 * Objects that a written status does not count though they were there: their event came late.
 * Nobody else would notice, for a new object makes no quota due: admission has charged it, and then
 * the count of a cache that lagged took that charge back.
 */
import { compareVersions } from '../../api/version.ts';
import type { ObjectRecord } from '../../runtime/informer/types.ts';

/** What is known of one namespace. */
interface Seen {
  /** New objects so far. */
  adds: number;
  /** Version of the last status that was written, "" for none. */
  written: string;
}

/** Compares the versions of new objects with those of written statuses. */
export class MissedObjects {
  readonly #namespaces = new Map<string, Seen>();

  /** Counting begins; hand the number to `written`. */
  counting(namespace: string): number {
    return this.#of(namespace).adds;
  }

  /** A status of this version was written; true if objects appeared since `counting`. */
  written(namespace: string, version: string, before: number): boolean {
    const seen = this.#of(namespace);
    if (compareVersions(version, seen.written) > 0) seen.written = version;
    return seen.adds !== before;
  }

  /** A new object appears; true if a status that was written should have counted it. */
  appeared({ namespace, resourceVersion }: ObjectRecord): boolean {
    const seen = this.#namespaces.get(namespace);
    if (seen === undefined) return false;
    seen.adds++;
    return seen.written !== '' && compareVersions(resourceVersion, seen.written) < 0;
  }

  /** No quota is left in the namespace. */
  forget(namespace: string): void {
    this.#namespaces.delete(namespace);
  }

  #of(namespace: string): Seen {
    const known = this.#namespaces.get(namespace);
    if (known !== undefined) return known;
    const seen = { adds: 0, written: '' };
    this.#namespaces.set(namespace, seen);
    return seen;
  }
}
