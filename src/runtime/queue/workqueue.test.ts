import { beforeEach, describe, expect, test } from 'bun:test';
import { createMetrics } from '../metrics.ts';
import type { WorkRow } from '../ports.ts';
import { type FakeClock, fakeClock } from '../testing/fake-clock.ts';
import { createLimiter } from './limiter.ts';
import { createQueueMetrics } from './metrics.ts';
import { type FrameworkQueue, PRIORITY_LOW, type WorkState } from './types.ts';
import { createWorkQueue } from './workqueue.ts';

const START = Date.parse('2026-11-30T06:00:00Z');

let clock: FakeClock;
let queue: FrameworkQueue;
let metrics: ReturnType<typeof createMetrics>;
let log: Map<string, WorkState>;

beforeEach(() => {
  clock = fakeClock(START);
  metrics = createMetrics({ process: 'none' });
  log = new Map();
  queue = createWorkQueue({
    name: 'test',
    clock,
    limiter: createLimiter({}, clock),
    metrics: createQueueMetrics(metrics),
    log: { put: (state) => log.set(state.key, state), drop: (key) => log.delete(key) },
  });
});

/** Everything that can be taken now, in order; the keys are done at once. */
async function drain(): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth() > 0) {
    const key = (await queue.take())!;
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

function row(key: string, fields: Partial<WorkRow>): WorkRow {
  return {
    queue: 'test',
    key,
    failures: 0,
    dueAt: 0,
    dirty: false,
    lastError: '',
    because: '',
    term: 1,
    updatedAt: START,
    ...fields,
  };
}

describe('dirty keys', () => {
  test('are taken once each, first come, first served', async () => {
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    expect(queue.depth()).toBe(3);
    expect(await drain()).toEqual(['a', 'b', 'c']);
  });

  test('of a higher priority go first, and a ready key can rise but not sink', async () => {
    queue.add('low', PRIORITY_LOW);
    queue.add('rises', PRIORITY_LOW);
    queue.add('normal');
    queue.add('rises');
    queue.add('normal', PRIORITY_LOW);
    queue.add('high', 5);
    expect(await drain()).toEqual(['high', 'normal', 'rises', 'low']);
  });

  test('that are added while being processed come again after done', async () => {
    queue.add('a');
    expect(await queue.take()).toBe('a');
    queue.add('a');
    queue.add('a');
    expect(queue.depth()).toBe(0);
    queue.done('a');
    expect(await drain()).toEqual(['a']);
  });

  test('added together are one sync for a worker that waits', async () => {
    const taken = queue.take();
    queue.add('a');
    queue.add('b', 1);
    queue.add('a');
    expect(await taken).toBe('b');
    expect(queue.snapshot().ready.map(({ key }) => key)).toEqual(['a']);
  });
});

describe('delays', () => {
  test('end in order of time; of several wishes for a key the earliest wins', async () => {
    queue.addAfter('a', 300, 'late');
    queue.addAfter('b', 200);
    queue.addAfter('a', 100, 'early');
    queue.addAfter('a', 500, 'later');
    expect(queue.snapshot().waiting).toMatchObject([
      { key: 'a', because: 'early', dueAt: START + 100, inMs: 100 },
      { key: 'b', because: '', dueAt: START + 200, inMs: 200 },
    ]);
    await clock.advance(99);
    expect(await drain()).toEqual([]);
    await clock.advance(1);
    expect(await drain()).toEqual(['a']);
    await clock.advance(1000);
    expect(await drain()).toEqual(['b']);
    expect(clock.timers()).toBe(0);
  });

  test('without length are no delays', async () => {
    queue.addAfter('a', 0);
    queue.addAfter('b', -5);
    expect(await drain()).toEqual(['a', 'b']);
  });

  test('go on if the key is synced meanwhile', async () => {
    queue.addAfter('a', 100);
    queue.add('a');
    expect(await drain()).toEqual(['a']);
    await clock.advance(100);
    expect(await drain()).toEqual(['a']);
  });

  test('do not notice that the wall clock jumped', async () => {
    queue.addAfter('a', 100);
    clock.setWall(START + 86_400_000);
    await clock.advance(99);
    expect(queue.depth()).toBe(0);
    await clock.advance(1);
    expect(queue.depth()).toBe(1);
  });
});

describe('failing keys', () => {
  test('wait longer each time until forgotten', async () => {
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) {
      queue.addRateLimited('a');
      waits.push(queue.snapshot().waiting[0]!.inMs);
      await clock.advance(waits.at(-1)!);
      await drain();
    }
    expect(waits).toEqual([5, 10, 20, 40]);
    expect(queue.failures('a')).toBe(4);
    queue.forget('a');
    expect(queue.failures('a')).toBe(0);
  });
});

describe('the log', () => {
  test('knows a key from the moment it is dirty until it is done', async () => {
    queue.add('a');
    expect(log.get('a')).toMatchObject({ dirty: true, changed: true, failures: 0, dueAt: 0 });
    await queue.take();
    expect(log.has('a')).toBe(true);
    queue.add('a');
    queue.done('a');
    expect(log.has('a')).toBe(true);
    await drain();
    expect(log.size).toBe(0);
  });

  test('knows what fails, why, and when it is tried again', async () => {
    queue.add('a');
    await queue.take();
    queue.noteError('a', 'no answer');
    queue.addRateLimited('a');
    queue.done('a');
    expect(log.get('a')).toEqual({
      key: 'a',
      dirty: false,
      changed: true,
      failures: 1,
      dueAt: START + 5,
      error: 'no answer',
      because: '',
    });
    await clock.advance(5);
    expect(log.get('a')).toMatchObject({ dirty: true, changed: false, failures: 1, dueAt: 0 });
    await queue.take();
    queue.forget('a');
    expect(log.get('a')).toMatchObject({ dirty: true, failures: 0, error: '' });
    queue.done('a');
    expect(log.size).toBe(0);
  });

  test('remembers failures that nobody forgot, also when nothing is left to do', async () => {
    queue.addRateLimited('a');
    await clock.advance(5);
    await drain();
    expect(log.get('a')).toMatchObject({ dirty: false, dueAt: 0, failures: 1 });
    queue.forget('a');
    expect(log.size).toBe(0);
  });

  test('tells what changed from what is only due', async () => {
    queue.addAfter('a', 10, 'look again');
    await clock.advance(10);
    expect(log.get('a')).toMatchObject({ changed: false, because: 'look again' });
    queue.add('a');
    expect(log.get('a')).toMatchObject({ changed: true });
  });
});

describe('after a restart', () => {
  test('failing keys keep count and remaining delay; dirty ones are ready', async () => {
    queue.restore([
      row('waits', {
        failures: 4,
        dueAt: START + 30,
        updatedAt: START - 10,
        lastError: 'bad',
        because: 'x',
      }),
      row('overdue', { failures: 2, dueAt: START - 1000, updatedAt: START - 2000 }),
      row('dirty', { dirty: true, failures: 1 }),
      row('nothing', {}),
      row('under way', { failures: 7 }),
    ]);
    const ready = queue.snapshot().ready.map(({ key }) => key);
    expect(ready).toEqual(['overdue', 'dirty', 'under way']);
    expect(queue.snapshot().waiting).toMatchObject([
      { key: 'waits', inMs: 30, failures: 4, error: 'bad', because: 'x' },
    ]);
    expect([...log.keys()].sort()).toEqual(['dirty', 'overdue', 'under way', 'waits']);
    expect(['waits', 'overdue', 'dirty'].map((key) => queue.failures(key))).toEqual([4, 2, 1]);
  });

  test('the failures of former processes are none of the tries of this one', () => {
    queue.restore([row('a', { failures: 4, dueAt: START + 30, updatedAt: START })]);
    expect([queue.failures('a'), queue.tries('a')]).toEqual([4, 0]);
    queue.addRateLimited('a');
    expect([queue.failures('a'), queue.tries('a')]).toEqual([5, 1]);
    queue.forget('a');
    queue.addRateLimited('a');
    expect([queue.failures('a'), queue.tries('a')]).toEqual([1, 1]);
  });

  test('a clock set back prolongs no delay beyond its whole length', () => {
    queue.restore([
      row('a', { failures: 3, dueAt: START + 86_400_020, updatedAt: START + 86_400_000 }),
    ]);
    expect(queue.snapshot().waiting).toMatchObject([{ key: 'a', inMs: 20 }]);
  });

  test('looking everything over comes last and cuts no delay short', async () => {
    queue.restore([
      row('fails', { failures: 4, dueAt: START + 30, updatedAt: START }),
      row('dirty', { dirty: true }),
    ]);
    queue.lookOver(true);
    for (const key of ['fails', 'dirty', 'other']) queue.add(key);
    queue.lookOver(false);
    queue.add('new');
    expect(log.get('other')).toMatchObject({ changed: false });
    expect(await drain()).toEqual(['dirty', 'new', 'other']);
    queue.add('fails');
    expect(await drain()).toEqual(['fails']);
  });
});

describe('shutdown', () => {
  test('ends all takes, ignores adds, stops timers and keeps what was left', async () => {
    const waiting = [queue.take(), queue.take()];
    await clock.settle();
    queue.addAfter('later', 100);
    queue.shutdown();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
    queue.add('a');
    queue.addAfter('b', 10);
    queue.addRateLimited('c');
    expect(await queue.take()).toBeUndefined();
    expect(queue.depth()).toBe(0);
    expect(clock.timers()).toBe(0);
    expect([...log.keys()]).toEqual(['later']);
  });

  test('a key under work can still be done', async () => {
    queue.add('a');
    queue.add('b');
    await queue.take();
    queue.shutdown();
    queue.done('a');
    expect([...log.keys()]).toEqual(['b']);
  });
});

describe('metrics', () => {
  async function samples(): Promise<Record<string, number>> {
    const lines = (await metrics.serialize()).split('\n');
    const wanted = /^workqueue_(\w+)\{name="test"\} (.+)$/;
    const pairs = lines.flatMap((line) => {
      const match = wanted.exec(line);
      return match ? [[match[1]!, Number(match[2])] as const] : [];
    });
    return Object.fromEntries(pairs);
  }

  test('start at zero', async () => {
    expect(await samples()).toEqual({
      adds_total: 0,
      depth: 0,
      longest_running_processor_seconds: 0,
      queue_duration_seconds_count: 0,
      queue_duration_seconds_sum: 0,
      retries_total: 0,
      unfinished_work_seconds: 0,
      work_duration_seconds_count: 0,
      work_duration_seconds_sum: 0,
    });
  });

  test('count adds, delays and the time in the queue and at work', async () => {
    queue.add('a');
    queue.add('a');
    queue.add('b');
    await clock.advance(2000);
    await queue.take();
    queue.add('a');
    await clock.advance(1000);
    await queue.take();
    await clock.advance(3000);
    queue.addRateLimited('c');
    expect(await samples()).toMatchObject({
      adds_total: 3,
      depth: 1,
      retries_total: 1,
      queue_duration_seconds_count: 2,
      queue_duration_seconds_sum: 5,
      unfinished_work_seconds: 7,
      longest_running_processor_seconds: 4,
    });
    queue.done('a');
    queue.done('b');
    expect(await samples()).toMatchObject({
      depth: 1,
      adds_total: 3,
      work_duration_seconds_count: 2,
      work_duration_seconds_sum: 7,
      unfinished_work_seconds: 0,
      longest_running_processor_seconds: 0,
    });
  });

  test('a queue without a name has none', async () => {
    const unnamed = createWorkQueue({
      name: '',
      clock,
      limiter: createLimiter({}, clock),
      metrics: createQueueMetrics(metrics),
    });
    unnamed.add('a');
    expect(await unnamed.take()).toBe('a');
    expect(await metrics.serialize()).not.toContain('name=""');
  });
});

test('the wall clock was set: waiting keys are due, failing ones wait on', async () => {
  queue.addAfter('a', 3_600_000, 'its time');
  queue.add('b');
  queue.addRateLimited('f');
  queue.addAfter('f', 3_600_000, 'its time');
  const left = queue.snapshot().waiting.find(({ key }) => key === 'f')?.inMs;
  queue.endDelays();
  expect(await drain()).toEqual(['b', 'a']);
  expect(queue.snapshot().waiting).toMatchObject([{ key: 'f', inMs: left as number }]);
  await clock.advance(10);
  expect(await drain()).toEqual(['f']);
  await clock.advance(7_200_000);
  expect(queue.depth()).toBe(0);
});
