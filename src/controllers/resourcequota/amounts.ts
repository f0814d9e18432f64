/** Amounts by name, as quotas count them. */
import type { Amounts } from '../../api/pod-resources.ts';
import { addQuantities, type Quantity, quantityOf, timesQuantity } from '../../api/quantity.ts';

/** One of something. */
export const ONE: Quantity = quantityOf(1);

/** Adds `times` as much as `more` to a total. */
export function addTo(total: Map<string, Quantity>, more: Amounts, times = 1): void {
  for (const [name, quantity] of more) {
    const much = times === 1 ? quantity : timesQuantity(quantity, times);
    const known = total.get(name);
    total.set(name, known === undefined ? much : addQuantities(known, much));
  }
}

/** True if both have the same names and the same amounts. */
export function sameAmounts(a: Amounts, b: Amounts): boolean {
  if (a.size !== b.size) return false;
  for (const [name, quantity] of a) if (b.get(name)?.nanos !== quantity.nanos) return false;
  return true;
}

/** The name by which objects of a resource ("deployments.apps") are counted. */
export function countName(resource: string): string {
  return `count/${resource}`;
}
