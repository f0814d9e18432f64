import { expect, test } from 'bun:test';
import { isOwnTerm } from './term.ts';

test('rows count from the term on since which nobody else has led', () => {
  const terms = { term: 9, since: 7 };
  expect([6, 7, 8, 9, 10].filter((row) => isOwnTerm(row, terms))).toEqual([7, 8, 9]);
});

test('without election all rows are of the only term', () => {
  expect(isOwnTerm(0, { term: 0, since: 0 })).toBe(true);
});
