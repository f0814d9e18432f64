import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { TaintLimiter, ZoneQueue } from './zone-queue.ts';

function setUp(perSecond: number) {
  const time = { now: 0 };
  const monotonic = () => time.now;
  const queue = new ZoneQueue(new TaintLimiter(perSecond, monotonic), monotonic);
  const add = (...names: string[]) => names.map((name) => queue.add({ name, uid: `uid-${name}` }));
  const taken = () => queue.take()?.name;
  return { time, queue, add, taken };
}

describe('the queue of a zone', () => {
  test('gives the first at once, the next when a token has come', () => {
    const { time, queue, add, taken } = setUp(0.1);
    add('a', 'b');
    expect(taken()).toBe('a');
    queue.settle('a');
    expect(taken()).toBeUndefined();
    expect(queue.limiter.waitMs()).toBe(10_000);
    time.now = 9_999;
    expect(taken()).toBeUndefined();
    time.now = 10_000;
    expect(taken()).toBe('b');
  });

  test('takes nobody twice until it is removed', () => {
    const { queue, add } = setUp(1);
    expect(add('a', 'a')).toEqual([true, false]);
    queue.settle('a');
    expect(add('a')).toEqual([false]);
    expect(queue.remove('a')).toBe(true);
    expect(queue.remove('a')).toBe(false);
    expect(add('a')).toEqual([true]);
  });

  test('puts who failed behind the others', () => {
    const { time, queue, add } = setUp(1);
    add('a', 'b');
    queue.postpone('a', 50);
    expect(queue.waiting().map(({ name }) => name)).toEqual(['b', 'a']);
    queue.settle('b');
    expect(queue.take()).toBeUndefined();
    time.now = 2_000;
    expect(queue.take()?.name).toBe('a');
  });

  test('that has to stop stops, and goes on with an empty bucket', () => {
    const { time, queue, add, taken } = setUp(1);
    add('a');
    queue.swap(0);
    time.now = 60_000;
    expect(taken()).toBeUndefined();
    expect(queue.limiter.waitMs()).toBe(Infinity);
    queue.swap(1);
    expect(taken()).toBeUndefined();
    time.now = 61_000;
    expect(taken()).toBe('a');
  });

  test('with a rate of nothing gives one, as upstream', () => {
    const { time, queue, add, taken } = setUp(0);
    add('a', 'b');
    expect(taken()).toBe('a');
    queue.settle('a');
    time.now = 1e9;
    expect(taken()).toBeUndefined();
  });

  test('never gives more than its rate and one', () => {
    const steps = fc.array(fc.nat(3_000), { maxLength: 60 });
    fc.assert(
      fc.property(steps, fc.double({ min: 0.01, max: 2, noNaN: true }), (waits, perSecond) => {
        const { time, queue, add, taken } = setUp(perSecond);
        add(...Array.from({ length: 100 }, (_, at) => `n${at}`));
        let given = 0;
        for (const ms of waits) {
          time.now += ms;
          for (let name = taken(); name !== undefined; name = taken()) {
            queue.settle(name);
            given++;
          }
          expect(given).toBeLessThanOrEqual(1 + (time.now / 1_000) * perSecond + 1e-6);
        }
      }),
    );
  });
});
