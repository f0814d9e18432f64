import { expect, test } from 'bun:test';
import { seededRandom } from '../../src/runtime/random.ts';
import { type Accident, accidents } from './campaign.ts';
import type { Deck } from './deck.ts';

const GROUPS = { root: '/nowhere', limit: 'memory.max' };
const KINDS: Accident[] = ['apiServer', 'etcd', 'freeze', 'kill', 'outOfMemory'];

function drawn(deck: Deck<Accident>, count: number): Accident[] {
  return Array.from({ length: count }, () => deck.draw());
}

test('every kind of accident comes in the first twenty, and in each twenty after', () => {
  for (let seed = 0; seed < 50; seed++) {
    const deck = accidents(seededRandom(seed), GROUPS);
    expect(deck.size).toBe(20);
    for (let round = 0; round < 3; round++) {
      expect([...new Set(drawn(deck, deck.size))].sort()).toEqual(KINDS);
    }
  }
});

test('a seed repeats the order, another one has another', () => {
  const order = (seed: number) => drawn(accidents(seededRandom(seed), GROUPS), 40);
  expect(order(1)).toEqual(order(1));
  expect(order(1)).not.toEqual(order(2));
});

test('without control groups nothing runs out of memory', () => {
  const deck = accidents(seededRandom(1), undefined);
  const kinds = new Set(drawn(deck, deck.size));
  expect([...kinds].sort()).toEqual(KINDS.filter((kind) => kind !== 'outOfMemory'));
});
