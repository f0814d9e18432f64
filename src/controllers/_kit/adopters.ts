/** Which owners would like to adopt an orphan: those of its namespace whose selector matches it. */
import { compileSelector } from '../../api/selector.ts';
import type { KubeObject, LabelSelector } from '../../api/types/index.ts';
import type { Lister, ObjectRecord } from '../../runtime/informer/types.ts';

/** An owner as far as its selector goes. */
export interface Selecting extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector };
}

/**
 * Keys of the owners that an orphan concerns. An empty or invalid selector wants nothing, and
 * nobody wants an orphan without labels. `mayAdopt` tells by an owner's record alone that it can't.
 */
export function adoptersOf<T extends Selecting, R extends ObjectRecord>(
  owners: Lister<T, R>,
  orphan: ObjectRecord,
  mayAdopt: (owner: R) => boolean = () => true,
): readonly string[] {
  if (Object.keys(orphan.labels).length === 0) return [];
  const candidates = owners.list(orphan.namespace).filter(mayAdopt);
  return candidates.map(({ key }) => key).filter((key) => wants(owners, key, orphan));
}

function wants<T extends Selecting, R extends ObjectRecord>(
  owners: Lister<T, R>,
  key: string,
  orphan: ObjectRecord,
): boolean {
  let owner: T | undefined;
  try {
    owner = owners.get(key);
  } catch {
    // Its stored object is lost: its own sync fetches it and looks for orphans then.
    return true;
  }
  const { selector } = compileSelector(owner?.spec?.selector);
  return selector !== undefined && !selector.empty && selector.matches(orphan.labels);
}
