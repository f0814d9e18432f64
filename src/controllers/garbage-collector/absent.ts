/** Owners that are known not to exist: a thousand dependents need not ask a thousand times. */
import type { OwnerReference } from '../../api/types/index.ts';
import { ABSENT_OWNERS_MAX } from '../../runtime/limits.ts';
import { Lru } from '../../runtime/lru.ts';
import { type Identity, identityOf, keyOfIdentity } from './identity.ts';

/** UIDs never come back, so what was absent once stays absent; the oldest are forgotten. */
export class AbsentOwners {
  readonly #known = new Lru<string, true>(ABSENT_OWNERS_MAX);

  add(owner: Identity): void {
    this.#known.set(keyOfIdentity(owner), true);
  }

  /** True if the owner is absent, as a cluster-scoped object or in the dependent's namespace. */
  has(reference: OwnerReference, namespace: string): boolean {
    return this.#has(identityOf(reference, '')) || this.#has(identityOf(reference, namespace));
  }

  #has(owner: Identity): boolean {
    return this.#known.get(keyOfIdentity(owner)) === true;
  }
}
