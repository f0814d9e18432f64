import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { slowStart } from './slow-start.ts';

describe('slowStart', () => {
  test('calls in batches of 1, 2, 4 and the rest, each batch at once', async () => {
    const open: (() => void)[] = [];
    const started: number[] = [];
    const result = slowStart(10, 1, (index) => {
      started.push(index);
      return new Promise<void>((resolve) => open.push(resolve));
    });
    const batches: number[][] = [];
    while (started.length > 0) {
      batches.push(started.splice(0));
      for (const finish of open.splice(0)) finish();
      await new Promise(setImmediate);
    }
    expect(batches).toEqual([[0], [1, 2], [3, 4, 5, 6], [7, 8, 9]]);
    expect(await result).toEqual({ successes: 10, tried: 10, error: undefined });
  });

  test('batches do not grow beyond their bound', async () => {
    const batches: number[] = [];
    let size = 0;
    const wave = async (): Promise<void> => {
      size++;
      if (size === 1) queueMicrotask(() => batches.push(size));
      await new Promise(setImmediate);
      size = 0;
    };
    await slowStart(12, 1, wave, 4);
    expect(batches).toEqual([1, 2, 4, 4, 1]);
  });

  test('ends with the first batch that has an error, after the whole batch', async () => {
    const result = await slowStart(20, 1, async (index) => {
      if (index === 4) throw new Error('first');
      if (index === 5) {
        await Promise.resolve();
        throw new Error('second');
      }
    });
    expect(result).toMatchObject({ successes: 5, tried: 7 });
    expect(result.error).toEqual(new Error('first'));
  });

  test('an error thrown before any await is an error like others', async () => {
    const result = await slowStart(3, 1, () => {
      throw new Error('at once');
    });
    expect(result).toEqual({ successes: 0, tried: 1, error: new Error('at once') });
  });

  test('calls each index once, in order, and few in vain', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(60), fc.nat(60), async (count, bad) => {
        const called: number[] = [];
        const { successes, tried } = await slowStart(count, 1, async (index) => {
          called.push(index);
          if (index === bad) throw new Error('bad');
        });
        expect(called).toEqual(Array.from({ length: tried }, (_, i) => i));
        expect(successes).toBe(bad < tried ? tried - 1 : count);
        expect(tried).toBeLessThanOrEqual(2 * successes + 2);
      }),
    );
  });
});
