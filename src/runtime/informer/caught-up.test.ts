import { expect, test } from 'bun:test';
import { DEPLOYMENTS, PODS } from '../../api/resource.ts';
import { FENCE_WATCH_SECONDS, WATCH_EMPTY_END_MS } from '../limits.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { informersOn, settled } from '../testing/informers.ts';
import { memoryStore } from '../testing/memory-store.ts';

/** Pods that were listed and are asked about once more, while something else has changed. */
async function asked() {
  const api = new FakeApi();
  const clock = fakeClock(0);
  const informers = informersOn({ api, store: memoryStore(), clock }, [PODS]);
  const stop = new AbortController();
  const settle = (): Promise<void> => settled(clock);
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
