import { describe, expect, test } from 'bun:test';
import type { KubeClient } from '../kube/types.ts';
import type { QueueDefinition, SyncRun } from './controller.ts';
import { DROPPED_KEY_RETRY_MS, STALE_CACHE_RETRY_MS } from './limits.ts';
import type { Logger } from './log.ts';
import { createMetrics } from './metrics.ts';
import type { JournalRow } from './ports.ts';
import { createLimiter } from './queue/limiter.ts';
import { createQueueMetrics } from './queue/metrics.ts';
import { createWorkQueue } from './queue/workqueue.ts';
import { NotYet, StaleCache } from './requeue.ts';
import { fakeClock } from './testing/fake-clock.ts';
import { runWorker } from './worker.ts';

const CONFIG_MAPS = { group: '', version: 'v1', plural: 'configmaps', kind: 'C', namespaced: true };

/** A worker over a real queue; each sync of a key does what the next of `syncs` says. */
function working(
  syncs: readonly ((run: SyncRun) => Promise<void>)[],
  limits: Pick<QueueDefinition, 'retriesMax'> = {},
) {
  const clock = fakeClock(0);
  const metrics = createQueueMetrics(createMetrics({ process: 'none' }));
  const limiter = createLimiter({}, clock);
  const queue = createWorkQueue({ name: 'tested', clock, limiter, metrics });
  const journal: JournalRow[] = [];
  const errors: string[] = [];
  const log: Logger = {
    info: () => undefined,
    warning: () => undefined,
    error: (message) => void errors.push(message),
    v: () => log,
    enabled: () => false,
    named: () => log,
  };
  const client = { patch: async () => ({ metadata: {} }) } as unknown as KubeClient;
  const waiting = [...syncs];
  let commits = 0;
  let synced = 0;
  const definition: QueueDefinition = {
    ...limits,
    queue,
    workers: 1,
    async reconcile(_key, run) {
      synced++;
      await waiting.shift()?.(run);
    },
  };
  const ended = runWorker({
    controller: 'tested-controller',
    definition,
    taking: queue,
    client,
    clock,
    log,
    signal: new AbortController().signal,
    commit: async () => {
      commits++;
    },
    mayWrite: () => true,
    recordWrite: () => undefined,
    heal: async () => undefined,
    journal: (row) => journal.push(row),
  });
  const counts = () => ({ commits, synced });
  return { clock, queue, journal, errors, ended, counts };
}

describe('a sync that is not through yet', () => {
  const notYet = async (): Promise<void> => {
    throw new NotYet('nobody has seen it');
  };

  test('comes again, later each time, and alarms nobody', async () => {
    const { clock, queue, journal, errors, ended, counts } = working([notYet, notYet, notYet]);
    queue.add('a');
    await clock.advance(0);
    expect(counts().synced).toBe(1);
    await clock.advance(5);
    expect(counts().synced).toBe(2);
    await clock.advance(9);
    expect(counts().synced).toBe(2);
    await clock.advance(1);
    expect(counts().synced).toBe(3);
    expect(queue.failures('a')).toBe(3);
    await clock.advance(20);
    expect(queue.failures('a')).toBe(0);
    expect([errors, journal]).toEqual([[], []]);
    queue.shutdown();
    await ended;
  });

  test('is in the journal if it wrote something before', async () => {
    const { clock, queue, journal, ended } = working([
      async (run) => {
        const at = { namespace: 'ns', name: 'a' };
        await run.client.patch(CONFIG_MAPS, at, 'merge', {}, { because: 'it must be so' });
        await notYet();
      },
    ]);
    queue.add('a');
    await clock.advance(0);
    expect(journal).toMatchObject([{ outcome: 'requeue', error: 'nobody has seen it' }]);
    queue.shutdown();
    await ended;
  });

  test('an error is logged and in the journal', async () => {
    const { clock, queue, journal, errors, ended } = working([
      async () => {
        throw new Error('broken');
      },
    ]);
    queue.add('a');
    await clock.advance(0);
    expect(errors).toEqual(['Reconcile failed and will be tried again']);
    expect(journal).toMatchObject([{ outcome: 'error', error: 'broken' }]);
    queue.shutdown();
    await ended;
  });
});

describe('a queue that gives up', () => {
  const failing = (error: Error) => async (): Promise<void> => {
    throw error;
  };

  /** Three failures in a row, each because of a new event. */
  async function failedThrice(error: Error) {
    const sync = failing(error);
    const made = working([sync, sync, sync], { retriesMax: 2 });
    for (let round = 0; round < 3; round++) {
      made.queue.add('a');
      await made.clock.advance(0);
    }
    return made;
  }

  test('drops a key that failed too often, until a resync of KCM would bring it again', async () => {
    const fail = async (): Promise<void> => {
      throw new Error('broken');
    };
    const made = working([fail, fail, fail], { retriesMax: 2 });
    const { clock, queue, errors, ended, counts } = made;
    queue.add('a');
    await clock.advance(1_000);
    expect(counts().synced).toBe(3);
    expect(queue.failures('a')).toBe(0);
    expect(errors).toContain('Dropping the key out of the queue');
    await clock.advance(DROPPED_KEY_RETRY_MS - 1_000);
    expect(counts().synced).toBe(3);
    await clock.advance(1_000);
    expect(counts().synced).toBe(4);
    queue.shutdown();
    await ended;
  });

  test('takes a dropped key up at the next event, with all its tries', async () => {
    const { clock, queue, ended, counts } = await failedThrice(new Error('conflict'));
    expect([counts().synced, queue.failures('a')]).toEqual([3, 0]);
    // The retry that waited when an event wore the key out has not come yet, and still comes.
    await clock.advance(5);
    expect(counts().synced).toBe(4);
    queue.add('a');
    await clock.advance(0);
    expect([counts().synced, queue.failures('a')]).toEqual([5, 0]);
    queue.shutdown();
    await ended;
  });

  test('keeps one that waits for a cache, however many events came meanwhile', async () => {
    const stale = await failedThrice(new StaleCache('not seen yet'));
    const { clock, queue, errors, ended, counts } = stale;
    expect(queue.failures('a')).toBe(0);
    expect(errors).toEqual([]);
    await clock.advance(STALE_CACHE_RETRY_MS);
    expect(counts().synced).toBe(4);
    queue.shutdown();
    await ended;
  });
});
