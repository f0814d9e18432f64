import { expect, test } from 'bun:test';
import { CONFIG_MAPS, PODS } from '../../api/resource.ts';
import { fakeClock } from '../../runtime/testing/fake-clock.ts';
import { cachesComplete } from './followed-caches.ts';
import { FakeFollowed } from './testing/fake-informers.ts';

function setUp() {
  const followed = new FakeFollowed();
  const clock = fakeClock(0);
  const end = new AbortController();
  const pods = followed.serve({ ...PODS, verbs: [] });
  followed.serve({ ...CONFIG_MAPS, verbs: [] }).complete = false;
  pods.complete = false;
  let answer: boolean | undefined;
  const wait = () =>
    cachesComplete({
      followed,
      clock,
      signal: end.signal,
      counts: ({ resource }) => resource.plural === 'pods',
      test: ({ informer }) => informer.caughtUp(),
    }).then((complete) => {
      answer = complete;
    });
  return { clock, end, pods, wait, answered: () => answer };
}

test('ends when all that counts is complete, however the rest is', async () => {
  const { clock, pods, wait, answered } = setUp();
  void wait();
  await clock.advance(5_000);
  expect(answered()).toBeUndefined();
  pods.complete = true;
  await clock.advance(100);
  expect(answered()).toBe(true);
});

test('ends after 30 s, and tells that something is missing', async () => {
  const { clock, wait, answered } = setUp();
  void wait();
  await clock.advance(29_900);
  expect(answered()).toBeUndefined();
  await clock.advance(200);
  expect(answered()).toBe(false);
});

test('ends without a complaint when nobody waits any more', async () => {
  const { clock, end, wait, answered } = setUp();
  void wait();
  await clock.advance(1_000);
  end.abort();
  await clock.advance(100);
  expect(answered()).toBe(true);
});
