/** Which budgets select a pod, by their labels alone. */
import { compileSelector, type Selector } from '../../api/selector.ts';
import type { PodDisruptionBudget } from '../../api/types/index.ts';
import type { Lister, ObjectRecord, PodRecord } from '../../runtime/informer/types.ts';
import { BUDGET_SELECTORS_MAX } from '../../runtime/limits.ts';
import { Lru } from '../../runtime/lru.ts';

interface Compiled {
  readonly version: string;
  /** Undefined if it is invalid: then it selects no pod. */
  readonly selector: Selector | undefined;
}

/** Finds budgets by the labels of pods, keeping their compiled selectors. */
export class Budgets {
  readonly #lister: Lister<PodDisruptionBudget>;
  readonly #compiled = new Lru<string, Compiled>(BUDGET_SELECTORS_MAX);

  constructor(lister: Lister<PodDisruptionBudget>) {
    this.#lister = lister;
  }

  /** Records of the budgets that select a pod with these labels, by name. */
  of({ namespace, labels }: Pick<PodRecord, 'namespace' | 'labels'>): readonly ObjectRecord[] {
    const found = this.#lister.list(namespace).filter((budget) => this.#selects(budget, labels));
    return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The budget is gone: its selector is forgotten. */
  forget(key: string): void {
    this.#compiled.delete(key);
  }

  #selects(budget: ObjectRecord, labels: PodRecord['labels']): boolean {
    try {
      return this.#selector(budget)?.matches(labels) === true;
    } catch {
      // Its stored object is lost: its own sync fetches it and finds its pods then.
      return true;
    }
  }

  #selector({ key, uid, resourceVersion }: ObjectRecord): Selector | undefined {
    const version = `${uid}/${resourceVersion}`;
    const known = this.#compiled.get(key);
    if (known?.version === version) return known.selector;
    const { selector } = compileSelector(this.#lister.get(key)?.spec?.selector);
    this.#compiled.set(key, { version, selector });
    return selector;
  }
}
