import { expect, test } from 'bun:test';
import { OVERVIEW_FAILING_MAX } from '../limits.ts';
import { createMetrics } from '../metrics.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { createLimiter } from './limiter.ts';
import { createQueueMetrics } from './metrics.ts';
import { createWorkQueue } from './workqueue.ts';

function queue() {
  const clock = fakeClock(0);
  const limiter = createLimiter({ baseDelayMs: 1_000 }, clock);
  const metrics = createQueueMetrics(createMetrics());
  return { clock, made: createWorkQueue({ name: 'q', id: 'q/1', clock, limiter, metrics }) };
}

test('a queue in numbers: what waits, runs, fails, and how often', async () => {
  const { clock, made } = queue();
  made.add('a');
  await clock.advance(200);
  made.add('b');
  made.addAfter('later', 60_000);
  await made.take();
  await clock.advance(300);
  expect(made.summary()).toMatchObject({ id: 'q/1', depth: 1, oldestMs: 300, processing: 1 });
  expect(made.summary()).toMatchObject({ longestMs: 300, delayed: 1, failing: 0 });
  made.noteError('a', 'no');
  made.addRateLimited('a');
  made.done('a');
  expect(made.summary()).toMatchObject({
    processing: 0,
    delayed: 2,
    failing: 1,
    syncsLastMinute: 1,
    failuresLastMinute: 1,
    worst: [{ key: 'a', failures: 1, error: 'no', dueAt: clock.now() + 1_000 }],
  });
  await clock.advance(120_000);
  expect(made.summary()).toMatchObject({ syncsLastMinute: 0, failuresLastMinute: 0, failing: 1 });
});

test('of many failing keys the worst are named', () => {
  const { made } = queue();
  for (let i = 0; i < OVERVIEW_FAILING_MAX + 10; i++) made.addRateLimited(`k${i}`);
  made.addRateLimited('k7');
  const { failing, worst } = made.summary();
  expect([failing, worst.length]).toEqual([OVERVIEW_FAILING_MAX + 10, OVERVIEW_FAILING_MAX]);
  expect(worst[0]).toMatchObject({ key: 'k7', failures: 2 });
});
