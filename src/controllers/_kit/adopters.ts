/** Which owners would like to adopt an orphan: those of its namespace whose selector matches it. */
import { compileSelector, type Selector } from '../../api/selector.ts';
import type { KubeObject, LabelSelector } from '../../api/types/index.ts';
import type { Lister, ObjectRecord } from '../../runtime/informer/types.ts';
import { OWNER_SELECTORS_MAX } from '../../runtime/limits.ts';

/** Finds owners by the labels of an orphan, keeping their compiled selectors. */
export class Adopters<T extends KubeObject, R extends ObjectRecord = ObjectRecord> {
  readonly #owners: Lister<T, R>;
  readonly #selectorOf: (owner: T) => LabelSelector | undefined;
  readonly #emptyWantsAll: boolean;
  readonly #selectors = new Map<
    string,
    { readonly version: string; readonly selector: Selector }
  >();

  /** `emptyWantsAll`: an empty selector wants everything, as in Jobs, and not nothing. */
  constructor(
    owners: Lister<T, R>,
    selectorOf: (owner: T) => LabelSelector | undefined,
    emptyWantsAll = false,
  ) {
    this.#owners = owners;
    this.#selectorOf = selectorOf;
    this.#emptyWantsAll = emptyWantsAll;
  }

  /**
   * Keys of the owners that an orphan concerns. An invalid selector wants nothing, and nobody wants
   * an orphan without labels. `mayAdopt` tells by an owner's record alone that it can't.
   */
  of(orphan: ObjectRecord, mayAdopt: (owner: R) => boolean = () => true): readonly string[] {
    if (Object.keys(orphan.labels).length === 0) return [];
    const candidates = this.#owners.list(orphan.namespace).filter(mayAdopt);
    return candidates.filter((owner) => this.#wants(owner, orphan)).map(({ key }) => key);
  }

  /** The owner is gone: its selector is forgotten. */
  forget(key: string): void {
    this.#selectors.delete(key);
  }

  #wants(owner: R, orphan: ObjectRecord): boolean {
    try {
      const selector = this.#selector(owner);
      if (selector === undefined || (selector.empty && !this.#emptyWantsAll)) return false;
      return selector.matches(orphan.labels);
    } catch {
      // Its stored object is lost: its own sync fetches it and looks for orphans then.
      return true;
    }
  }

  #selector({ key, uid, resourceVersion }: R): Selector | undefined {
    const version = `${uid}/${resourceVersion}`;
    const known = this.#selectors.get(key);
    if (known?.version === version) return known.selector;
    const owner = this.#owners.get(key);
    const selector = owner && compileSelector(this.#selectorOf(owner)).selector;
    if (selector === undefined) return undefined;
    if (this.#selectors.size >= OWNER_SELECTORS_MAX) this.#selectors.clear();
    this.#selectors.set(key, { version, selector });
    return selector;
  }
}
