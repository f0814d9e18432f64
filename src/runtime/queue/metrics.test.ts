import { describe, expect, test } from 'bun:test';
import { createMetrics } from '../metrics.ts';
import { createQueueMetrics } from './metrics.ts';

const IDLE = { totalMs: 0, longestMs: 0 };

function setUp() {
  const metrics = createMetrics({ process: 'none' });
  const value = async (name: string): Promise<string | undefined> => {
    const line = (await metrics.serialize())
      .split('\n')
      .find((each) => each.startsWith(`workqueue_${name}{name="tokens"}`));
    return line?.split(' ')[1];
  };
  return { queues: createQueueMetrics(metrics), value };
}

describe('queues that share a name', () => {
  test('share their series', async () => {
    const { queues, value } = setUp();
    const one = queues.meter({ name: 'tokens', id: 'one' }, () => ({
      totalMs: 2_000,
      longestMs: 2_000,
    }));
    one.added();
    const two = queues.meter({ name: 'tokens', id: 'two' }, () => ({
      totalMs: 4_000,
      longestMs: 3_000,
    }));
    two.added();
    expect(await value('depth')).toBe('2');
    expect(await value('adds_total')).toBe('2');
    two.taken(1);
    expect(await value('depth')).toBe('1');
    expect(await value('unfinished_work_seconds')).toBe('6');
    expect(await value('longest_running_processor_seconds')).toBe('3');
  });

  test('and one that takes the place of a former one leaves the other alone', async () => {
    const { queues, value } = setUp();
    const meters = ['one', 'two'].map((id) => queues.meter({ name: 'tokens', id }, () => IDLE));
    for (const meter of meters) meter.added();
    queues.meter({ name: 'tokens', id: 'one' }, () => IDLE);
    expect(await value('depth')).toBe('1');
    expect(await value('adds_total')).toBe('2');
  });
});

test('a queue without a name has no series', async () => {
  const { queues, value } = setUp();
  queues.meter({ name: '', id: 'rounds' }, () => IDLE).added();
  expect(await value('depth')).toBeUndefined();
});
