import { beforeEach, describe, expect, test } from 'bun:test';
import { createMetrics } from '../metrics.ts';
import type { WorkRow } from '../ports.ts';
import { type FakeClock, fakeClock } from '../testing/fake-clock.ts';
import { type MemoryTable, memoryTable } from '../testing/memory-table.ts';
import { createLimiter } from './limiter.ts';
import { createQueueMetrics } from './metrics.ts';
import type { FrameworkQueue } from './types.ts';
import { storedWork } from './work-rows.ts';
import { createWorkQueue } from './workqueue.ts';

const START = Date.parse('2026-11-30T06:00:00Z');

let clock: FakeClock;
let table: MemoryTable<WorkRow>;

/** A queue of a new process in this term, over the same table. */
function open(term: number, since = 7): FrameworkQueue {
  const work = storedWork({ queue: 'rs', table, clock, term, since });
  const limiter = createLimiter({}, clock);
  const metrics = createQueueMetrics(createMetrics({ process: 'none' }));
  const queue = createWorkQueue({ name: 'rs', clock, limiter, metrics, log: work.log });
  queue.restore(work.load());
  return queue;
}

async function fail(queue: FrameworkQueue, key: string): Promise<void> {
  queue.add(key);
  await queue.take();
  queue.noteError(key, 'no answer');
  queue.addRateLimited(key);
  queue.done(key);
}

beforeEach(() => {
  clock = fakeClock(START);
  table = memoryTable((row) => `${row.queue}/${row.key}`);
});

describe('rows', () => {
  test('hold what changed and what fails', async () => {
    const queue = open(7);
    await fail(queue, 'fails');
    queue.add('dirty');
    expect(table.all()).toEqual([
      {
        queue: 'rs',
        key: 'fails',
        failures: 1,
        dueAt: START + 5,
        dirty: false,
        lastError: 'no answer',
        because: '',
        term: 7,
        updatedAt: START,
      },
      expect.objectContaining({ key: 'dirty', dirty: true, failures: 0 }),
    ]);
  });

  test('go when nothing is left to do', async () => {
    const queue = open(7);
    await fail(queue, 'a');
    await clock.advance(5);
    await queue.take();
    queue.forget('a');
    queue.done('a');
    expect(table.all()).toEqual([]);
  });

  test('are not written for keys that only wait, come due or are looked over', async () => {
    const queue = open(7);
    queue.addAfter('waits', 100);
    queue.lookOver(true);
    queue.add('old');
    queue.lookOver(false);
    await clock.advance(200);
    expect(queue.depth()).toBe(2);
    expect(table.writes()).toBe(0);
  });

  test('go when a changed key is done and only waits on', async () => {
    const queue = open(7);
    queue.add('a');
    await queue.take();
    queue.addAfter('a', 1000);
    queue.done('a');
    expect(table.all()).toEqual([]);
  });
});

describe('the next term', () => {
  test('takes them over as its own', async () => {
    await fail(open(7), 'a');
    await clock.advance(2);
    const next = open(8);
    expect(next.failures('a')).toBe(1);
    expect(next.snapshot().waiting).toMatchObject([{ key: 'a', inMs: 3, error: 'no answer' }]);
    expect(table.all()).toMatchObject([{ key: 'a', term: 8 }]);
    expect(open(9).failures('a')).toBe(1);
  });

  test('takes them over also if a process in between died before it could', async () => {
    await fail(open(7), 'a');
    expect(open(10).failures('a')).toBe(1);
  });

  test('drops them if somebody else led between, and leaves other queues alone', async () => {
    await fail(open(7), 'a');
    const foreign = { ...table.all()[0]!, queue: 'job' };
    table.put(foreign);
    expect(open(9, 8).failures('a')).toBe(0);
    expect(table.all()).toEqual([foreign]);
  });
});
