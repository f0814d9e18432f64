/** What is known of every quota without reading it: where it is, what it limits. */
import { quantitiesEqual } from '../../api/quantity.ts';
import type { ResourceQuota } from '../../api/types/index.ts';

type Texts = Readonly<Record<string, string>>;

interface Entry {
  /** spec.hard as last seen. */
  readonly hard: Texts;
  /** Names of status.hard, and of spec.hard: the status we wrote last may not be seen yet. */
  readonly names: readonly string[];
}

/** Quotas by namespace. */
export class QuotaBook {
  readonly #namespaces = new Map<string, Map<string, Entry>>();

  /** Notes a quota; true if its limits differ from those it had, or it is new. */
  note(key: string, { metadata, spec, status }: ResourceQuota): boolean {
    const namespace = metadata.namespace ?? '';
    const quotas = this.#namespaces.get(namespace) ?? new Map<string, Entry>();
    this.#namespaces.set(namespace, quotas);
    const hard = spec?.hard ?? {};
    const before = quotas.get(key);
    const names = Object.keys({ ...status?.hard, ...hard });
    quotas.set(key, { hard, names });
    return before === undefined || !sameTexts(before.hard, hard);
  }

  /** The quota is gone; true if it was the last one of its namespace. */
  remove(namespace: string, key: string): boolean {
    const quotas = this.#namespaces.get(namespace);
    quotas?.delete(key);
    if (quotas === undefined || quotas.size > 0) return false;
    this.#namespaces.delete(namespace);
    return true;
  }

  has(namespace: string): boolean {
    return this.#namespaces.has(namespace);
  }

  /** Keys of the quotas of a namespace that limit a name that `measures` knows. */
  limiting(namespace: string, measures: (name: string) => boolean): readonly string[] {
    const quotas = this.#namespaces.get(namespace);
    if (quotas === undefined) return [];
    return [...quotas].filter(([, { names }]) => names.some(measures)).map(([key]) => key);
  }
}

function sameTexts(a: Texts, b: Texts): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => {
    const text = b[name];
    return text !== undefined && quantitiesEqual(a[name] ?? '', text);
  });
}
