import { expect, test } from 'bun:test';
import { labelSelectorText } from './selector-text.ts';

test.each([
  [undefined, 'nil'],
  [
    {},
    '&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}',
  ],
  [
    { matchLabels: { b: '2', a: '1' } },
    '&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},' +
      'MatchExpressions:[]LabelSelectorRequirement{},}',
  ],
  [
    {
      matchExpressions: [
        { key: 'k', operator: 'In', values: ['x', 'y'] },
        { key: 'e', operator: 'Exists' },
      ],
    },
    '&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{' +
      'LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},' +
      'LabelSelectorRequirement{Key:e,Operator:Exists,Values:[],},},}',
  ],
])('%p', (selector, text) => {
  expect(labelSelectorText(selector)).toBe(text);
});
