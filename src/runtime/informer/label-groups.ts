/**
 * Records of each namespace by their labels: whoever looks for those that a selector matches asks
 * once for each set of labels, not once for each record. Pays off where many records share one map
 * of labels, as the pods of one template do.
 */
import type { ObjectRecord } from './types.ts';

type Labels = ObjectRecord['labels'];
/** Labels that only one record has need no map of their own. */
type Group<R> = R | Map<string, R>;

/** Groups are told apart by the labels' identity; equal maps in two groups do no harm. */
export class LabelGroups<R extends ObjectRecord> {
  readonly #namespaces = new Map<string, Map<Labels, Group<R>>>();

  add(record: R): void {
    const groups = this.#namespaces.get(record.namespace) ?? new Map<Labels, Group<R>>();
    this.#namespaces.set(record.namespace, groups);
    const group = groups.get(record.labels);
    if (group === undefined) groups.set(record.labels, record);
    else if (group instanceof Map) group.set(record.key, record);
    else if (group.key === record.key) groups.set(record.labels, record);
    else {
      const both = new Map([group, record].map((one) => [one.key, one]));
      groups.set(record.labels, both);
    }
  }

  remove(record: R): void {
    const groups = this.#namespaces.get(record.namespace);
    const group = groups?.get(record.labels);
    if (groups === undefined || group === undefined) return;
    if (!(group instanceof Map)) {
      if (group.key === record.key) groups.delete(record.labels);
    } else {
      group.delete(record.key);
      if (group.size === 0) groups.delete(record.labels);
    }
    if (groups.size === 0) this.#namespaces.delete(record.namespace);
  }

  clear(): void {
    this.#namespaces.clear();
  }

  /** Those of a namespace whose labels are asked for. */
  selected(namespace: string, matches: (labels: Labels) => boolean): R[] {
    const found: R[] = [];
    for (const [labels, group] of this.#namespaces.get(namespace) ?? []) {
      if (!matches(labels)) continue;
      if (group instanceof Map) for (const record of group.values()) found.push(record);
      else found.push(group);
    }
    return found;
  }
}
