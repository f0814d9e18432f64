/** What must hold for a queue whatever is done to it, in whatever order. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createMetrics } from '../metrics.ts';
import { type FakeClock, fakeClock } from '../testing/fake-clock.ts';
import { createLimiter } from './limiter.ts';
import { createQueueMetrics } from './metrics.ts';
import type { FrameworkQueue, WorkState } from './types.ts';
import { createWorkQueue } from './workqueue.ts';

const keys = fc.constantFrom('a', 'b', 'c', 'd');
const step = fc.oneof(
  fc.record({
    verb: fc.constant('add' as const),
    key: keys,
    priority: fc.integer({ min: -1, max: 1 }),
  }),
  fc.record({
    verb: fc.constant('addAfter' as const),
    key: keys,
    ms: fc.integer({ min: 1, max: 50 }),
  }),
  fc.record({ verb: fc.constant('fail' as const), key: keys }),
  fc.record({ verb: fc.constant('forget' as const), key: keys }),
  fc.record({ verb: fc.constant('take' as const) }),
  fc.record({ verb: fc.constant('done' as const), key: keys }),
  fc.record({ verb: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 60 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const DELAY_MAX_MS = 10_000_000;

/** Drives a queue and keeps a simple account of what it owes. */
class Account {
  readonly clock: FakeClock = fakeClock(0);
  readonly log = new Map<string, WorkState>();
  readonly queue: FrameworkQueue;
  readonly processing = new Set<string>();
  /** What was asked for and not yet given: at once, and at a later time. */
  readonly owed = new Set<string>();
  readonly owedLater = new Map<string, number>();
  taking = 0;

  constructor() {
    this.queue = createWorkQueue({
      name: '',
      clock: this.clock,
      limiter: createLimiter({}, this.clock),
      metrics: createQueueMetrics(createMetrics({ process: 'none' })),
      log: {
        put: (state) => this.log.set(state.key, state),
        drop: (key) => this.log.delete(key),
      },
    });
  }

  async take(): Promise<void> {
    this.taking++;
    const key = await this.queue.take();
    this.taking--;
    if (key === undefined) return;
    expect(this.processing.has(key)).toBe(false);
    // Nothing is given out that wasn't asked for, and nothing early.
    this.ripen();
    expect(this.owed.delete(key)).toBe(true);
    this.processing.add(key);
  }

  /** What was asked for at a later time is owed at once when that time has come. */
  ripen(): void {
    for (const key of [...this.owedLater.keys()]) {
      if (!this.isDue(key)) continue;
      this.owedLater.delete(key);
      this.owed.add(key);
    }
  }

  isDue(key: string): boolean {
    const at = this.owedLater.get(key);
    return at !== undefined && at <= this.clock.monotonic();
  }

  oweLater(key: string, delayMs: number): void {
    this.ripen();
    const at = this.clock.monotonic() + delayMs;
    this.owedLater.set(key, Math.min(at, this.owedLater.get(key) ?? at));
  }

  async run(step: Step): Promise<void> {
    const { queue, clock } = this;
    switch (step.verb) {
      case 'add':
        this.owed.add(step.key);
        queue.add(step.key, step.priority);
        break;
      case 'addAfter':
        this.oweLater(step.key, step.ms);
        queue.addAfter(step.key, step.ms);
        break;
      case 'fail':
        this.oweLater(step.key, 5 * 2 ** queue.failures(step.key));
        queue.addRateLimited(step.key);
        break;
      case 'forget':
        queue.forget(step.key);
        break;
      case 'take':
        void this.take();
        break;
      case 'done':
        if (this.processing.delete(step.key)) queue.done(step.key);
        break;
      case 'advance':
        await clock.advance(step.ms);
        break;
    }
    await clock.settle();
  }

  check(): void {
    const ready = this.queue.snapshot().ready.map(({ key }) => key);
    expect(new Set(ready).size).toBe(ready.length);
    expect(ready.some((key) => this.processing.has(key))).toBe(false);
    // Nobody waits while there is work.
    if (this.taking > 0) expect(ready).toEqual([]);
    for (const key of this.processing) expect(this.log.get(key)?.dirty).toBe(true);
    for (const key of this.owed) expect(this.log.get(key)?.dirty).toBe(true);
    for (const key of this.owedLater.keys()) {
      const state = this.log.get(key);
      expect(this.isDue(key) ? state?.dirty : (state?.dueAt ?? 0) > 0).toBe(true);
    }
  }

  settled(): boolean {
    return this.owed.size + this.owedLater.size + this.processing.size === 0;
  }

  /** Lets everything end that was begun; every key owed must come. */
  async finish(): Promise<void> {
    for (let round = 0; round < 10 && !this.settled(); round++) {
      for (const key of this.processing) {
        this.queue.forget(key);
        this.queue.done(key);
      }
      this.processing.clear();
      await this.clock.advance(DELAY_MAX_MS);
      while (this.queue.depth() > 0) await this.take();
      await this.clock.settle();
    }
  }
}

test('no key is at two workers, lost, taken early, or owed without being in the log', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 50 }), async (steps) => {
      const account = new Account();
      for (const one of steps) {
        await account.run(one);
        account.check();
      }
      await account.finish();
      expect(account.settled()).toBe(true);
      account.queue.shutdown();
      await account.clock.settle();
      for (const state of account.log.values()) expect(state.failures).toBeGreaterThan(0);
      expect(account.taking).toBe(0);
      expect(account.clock.timers()).toBe(0);
    }),
    { numRuns: 300 },
  );
});
