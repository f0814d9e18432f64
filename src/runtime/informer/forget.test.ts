import { expect, test } from 'bun:test';
import { PODS, resourceId } from '../../api/resource.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { informersOn, settled } from '../testing/informers.ts';
import { memoryStore } from '../testing/memory-store.ts';

const ID = resourceId(PODS);

async function following() {
  const api = new FakeApi();
  const store = memoryStore();
  const clock = fakeClock(0);
  const informers = informersOn({ api, store, clock }, [PODS]);
  for (const name of ['a', 'b']) {
    api.put(PODS, { metadata: { namespace: 'default', name }, spec: {}, status: {} } as never);
  }
  const stop = new AbortController();
  informers.start(stop.signal);
  const settle = (): Promise<void> => settled(clock);
  await settle();
  const names = () =>
    informers
      .pods()
      .lister.list('')
      .map((pod) => pod.name);
  const rows = () => [...store.objects.heads(ID)].map(({ key }) => key);
  return { api, store, clock, informers, stop, settle, names, rows };
}

test('a forgotten resource is listed anew, and its cache stays in use meanwhile', async () => {
  const { api, store, informers, stop, settle, names, rows } = await following();
  const seen: string[] = [];
  informers.pods().addHandler({
    add: ({ name }, initial) => void (initial || seen.push(`add ${name}`)),
    update: ({ name }) => void seen.push(`update ${name}`),
    delete: ({ name }) => void seen.push(`delete ${name}`),
  });
  api.bookmark(PODS);
  await settle();
  let answer: () => void = () => undefined;
  api.held = new Promise((resolve) => {
    answer = resolve;
  });
  const done = informers.forget(ID, stop.signal);
  await settle();
  expect([rows(), store.objects.resumePoint(ID)]).toEqual([[], undefined]);
  expect(names()).toEqual(['a', 'b']);
  // A commit in between must not say that the rows are complete.
  store.commit();
  expect(store.objects.resumePoint(ID)).toBeUndefined();
  answer();
  await settle();
  await done;
  expect(rows()).toEqual(['default/a', 'default/b']);
  expect(store.objects.resumePoint(ID)?.resourceVersion).toBe(api.version);
  expect(seen).toEqual([]);
  stop.abort();
});

test('it is listed again until that succeeds', async () => {
  const { api, clock, informers, stop, settle, rows } = await following();
  api.broken.add(ID);
  let ended = false;
  const done = informers.forget(ID, stop.signal).then(() => {
    ended = true;
  });
  await clock.advance(2_000);
  await settle();
  expect([rows(), ended]).toEqual([[], false]);
  api.broken.delete(ID);
  await clock.advance(60_000);
  await settle();
  await done;
  expect(rows()).toEqual(['default/a', 'default/b']);
  stop.abort();
});

test('of what nobody follows only the rows go', async () => {
  const { store, informers, stop } = await following();
  const row = { key: 'x', uid: 'u', resourceVersion: '1', json: '{}' };
  store.objects.put({ resource: 'widgets.example.com', ...row });
  await informers.forget('widgets.example.com', stop.signal);
  expect([...store.objects.heads('widgets.example.com')]).toEqual([]);
  stop.abort();
});
