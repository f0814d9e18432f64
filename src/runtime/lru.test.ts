import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Lru } from './lru.ts';

describe('Lru', () => {
  test('drops the entry used longest ago', () => {
    const lru = new Lru<string, number>(2);
    lru.set('a', 1);
    lru.set('b', 2);
    lru.get('a');
    lru.set('c', 3);
    expect([...lru.newestFirst()]).toEqual([
      ['c', 3],
      ['a', 1],
    ]);
    expect(lru.has('b')).toBe(false);
  });

  test('keeps the sum of sizes below its bound, and does not keep what is too big alone', () => {
    const lru = new Lru<string, string>(10, 100);
    lru.set('a', 'x', 60);
    lru.set('b', 'y', 40);
    expect(lru.bytes).toBe(100);
    lru.set('a', 'z', 70);
    expect([...lru.newestFirst()]).toEqual([['a', 'z']]);
    lru.set('huge', 'h', 101);
    expect(lru.size).toBe(0);
    expect(lru.bytes).toBe(0);
  });

  test('behaves as a plain list of the last uses', () => {
    const step = fc.record({
      verb: fc.constantFrom('get', 'set', 'delete'),
      key: fc.integer({ min: 0, max: 6 }),
    });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        (steps, max) => {
          const lru = new Lru<number, number>(max);
          let model: [number, number][] = [];
          steps.forEach(({ verb, key }, at) => {
            const held = model.find(([k]) => k === key);
            if (verb === 'get') expect(lru.get(key)).toBe(held?.[1]);
            if (verb === 'delete') expect(lru.delete(key)).toBe(held !== undefined);
            if (verb === 'set') lru.set(key, at);
            const rest = model.filter(([k]) => k !== key);
            if (verb === 'set') model = [[key, at], ...rest];
            else if (verb === 'delete') model = rest;
            else if (held) model = [held, ...rest];
            model = model.slice(0, max);
            expect([...lru.newestFirst()]).toEqual(model);
          });
        },
      ),
    );
  });
});
