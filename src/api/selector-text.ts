/** A label selector as upstream's messages print it: the way its Go structs show themselves. */
import type { LabelSelector } from './types/index.ts';

/** `&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:...}`; "nil" for none. */
export function labelSelectorText(selector: LabelSelector | undefined): string {
  if (selector === undefined) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`);
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const parts = [
    `MatchLabels:map[string]string{${labels.join('')}},`,
    `MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},`,
  ];
  return `&LabelSelector{${parts.join('')}}`;
}
