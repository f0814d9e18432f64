import { expect, test } from 'bun:test';
import { DEPLOYMENTS, PODS } from '../../api/resource.ts';
import type { KubeObject } from '../../api/types/index.ts';
import { FENCE_WATCH_SECONDS, WATCH_EMPTY_END_MS } from '../limits.ts';
import type { Logger } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import { seededRandom } from '../random.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { memoryStore } from '../testing/memory-store.ts';
import { createReflectorMetrics } from './reflector-metrics.ts';
import { Informers } from './set.ts';

const silent: Logger = {
  info: () => undefined,
  warning: () => undefined,
  error: () => undefined,
  v: () => silent,
  enabled: () => false,
  named: () => silent,
};

/** Pods that were listed and are asked about once more, while something else has changed. */
async function asked() {
  const api = new FakeApi();
  const clock = fakeClock(0);
  const informers = new Informers(
    {
      client: api.client,
      store: memoryStore(),
      clock,
      random: seededRandom(1),
      log: silent,
      metrics: createReflectorMetrics(createMetrics({ process: 'none' })),
      redact: (_resource: string, object: KubeObject) => object,
      verifyIntervalMs: 0,
      replaced: () => undefined,
      dropDerived: () => undefined,
    },
    [PODS],
  );
  const stop = new AbortController();
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 40; turn++) await clock.settle();
  };
  const pod = (name: string) =>
    api.put(PODS, { metadata: { namespace: 'ns', name }, spec: {}, status: {} } as never);
  pod('a');
  informers.start(stop.signal);
  await settle();
  api.put(DEPLOYMENTS, { metadata: { namespace: 'ns', name: 'other' } });
  informers.expectCatchUp();
  await settle();
  const wait = async (ms: number): Promise<void> => {
    await clock.advance(ms);
    await settle();
  };
  const end = async (): Promise<void> => {
    api.endWatches();
    await settle();
  };
  return { stop, settle, wait, end, pod, caughtUp: () => informers.pods().caughtUp() };
}

const FENCE_MS = FENCE_WATCH_SECONDS * 1_000;

test('a watch that lasted its time without news says that there was none', async () => {
  const { stop, wait, end, caughtUp } = await asked();
  expect(caughtUp()).toBe(false);
  await wait(FENCE_MS);
  await end();
  expect(caughtUp()).toBe(true);
  stop.abort();
});

test('a watch that was ended early says nothing, however cleanly it ended', async () => {
  const { stop, wait, end, pod, settle, caughtUp } = await asked();
  await wait(FENCE_MS / 2);
  await end();
  await wait(WATCH_EMPTY_END_MS);
  expect(caughtUp()).toBe(false);
  pod('b');
  await settle();
  expect(caughtUp()).toBe(true);
  stop.abort();
});
