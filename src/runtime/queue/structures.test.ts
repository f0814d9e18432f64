import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Due, DueHeap } from './due-heap.ts';
import { Lanes, type Waiting } from './lanes.ts';

interface Named extends Due {
  readonly name: number;
}

describe('DueHeap', () => {
  test('always has the earliest first, whatever is put, moved and removed', () => {
    const step = fc.record({
      name: fc.integer({ min: 0, max: 15 }),
      dueAt: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const heap = new DueHeap<Named>();
        const items = Array.from(
          { length: 16 },
          (_, name): Named => ({ name, dueAt: 0, place: -1 }),
        );
        const model = new Map<number, number>();
        for (const { name, dueAt } of steps) {
          const item = items[name]!;
          if (dueAt === undefined) heap.remove(item);
          else heap.put(item, dueAt);
          if (dueAt === undefined) model.delete(name);
          else model.set(name, dueAt);
          expect(heap.size).toBe(model.size);
          expect(heap.first()?.dueAt ?? -1).toBe(model.size > 0 ? Math.min(...model.values()) : -1);
          expect(item.place >= 0).toBe(model.has(name));
        }
        const order: number[] = [];
        for (let first = heap.first(); first !== undefined; first = heap.first()) {
          order.push(first.dueAt);
          heap.remove(first);
        }
        expect(order).toEqual([...model.values()].sort((a, b) => a - b));
      }),
    );
  });
});

interface Item extends Waiting {
  readonly name: number;
}

describe('Lanes', () => {
  test('give the highest priority first, and the oldest inside it', () => {
    const step = fc.record({
      verb: fc.constantFrom('push', 'remove', 'shift'),
      name: fc.integer({ min: 0, max: 9 }),
      priority: fc.integer({ min: -2, max: 2 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const lanes = new Lanes<Item>();
        const items = Array.from(
          { length: 10 },
          (_, name): Item => ({ name, priority: 0, before: undefined, after: undefined }),
        );
        let model: { name: number; priority: number }[] = [];
        for (const { verb, name, priority } of steps) {
          const item = items[name]!;
          const inside = model.some((one) => one.name === name);
          if (verb === 'push' && !inside) {
            item.priority = priority;
            lanes.push(item);
            model = [...model, { name, priority }].sort((a, b) => b.priority - a.priority);
          } else if (verb === 'remove' && inside) {
            lanes.remove(item);
            model = model.filter((one) => one.name !== name);
          } else if (verb === 'shift') {
            expect(lanes.shift()?.name).toBe(model.shift()?.name as number);
          }
          expect(Array.from(lanes, (one) => one.name)).toEqual(model.map((one) => one.name));
          expect(lanes.size).toBe(model.length);
        }
      }),
    );
  });
});
