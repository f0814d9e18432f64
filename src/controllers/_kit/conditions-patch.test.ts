import { expect, test } from 'bun:test';
import { conditionsPatch } from './conditions-patch.ts';

test('conditions are patched in the order in which they are, new ones last', () => {
  const present = [{ type: 'A' }, { type: 'B' }];
  const changed = [
    { type: 'C', status: 'x' },
    { type: 'B', status: 'y' },
  ];
  expect(conditionsPatch(present, changed)).toEqual({
    conditions: [
      { type: 'B', status: 'y' },
      { type: 'C', status: 'x' },
    ],
    '$setElementOrder/conditions': [{ type: 'A' }, { type: 'B' }, { type: 'C' }],
  });
});
