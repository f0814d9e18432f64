/** Which version of each Deployment this process wrote last. */
import { compareVersions, isVersion } from '../../api/version.ts';
import type { ObjectRecord } from '../../runtime/informer/types.ts';

/**
 * Deployments that the cache shows older than they were written here. A sync of such a one would
 * only end in a conflict, and what was said in its conditions would be lost.
 */
export class WrittenDeployments {
  readonly #newest = new Map<string, { readonly uid: string; readonly version: string }>();

  /** Notes the version that came back from a write. */
  note(key: string, uid: string, version: string): void {
    if (isVersion(version)) this.#newest.set(key, { uid, version });
  }

  /** True if the cache has still to show the last write; `record`: what it shows. */
  isAhead(key: string, record: Pick<ObjectRecord, 'uid' | 'resourceVersion'> | undefined): boolean {
    const newest = this.#newest.get(key);
    if (newest === undefined) return false;
    const { uid, resourceVersion = '' } = record ?? {};
    const isBehind =
      uid === newest.uid &&
      isVersion(resourceVersion) &&
      compareVersions(resourceVersion, newest.version) < 0;
    if (!isBehind) this.#newest.delete(key);
    return isBehind;
  }
}
