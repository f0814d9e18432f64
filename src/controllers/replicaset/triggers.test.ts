/** What wakes a ReplicaSet, and what lowers its expectations. */
import { describe, expect, test } from 'bun:test';
import { REPLICA_SETS } from '../../api/resource.ts';
import type { ReplicaSet } from '../../api/types/index.ts';
import { fakeContext } from '../_kit/testing/fake-context.ts';
import { podOf, replicaSetOf } from '../_kit/testing/objects.ts';
import { replicaSetController } from './index.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const KEY = 'default/web';
const OTHER_KEY = 'default/other';
const set = replicaSetOf();
const other = replicaSetOf({
  meta: { name: 'other', uid: 'uid-other' },
  spec: { selector: { matchLabels: { app: 'db' } } },
});

/** Sets `web` (app=web) and `other` (app=db) are known; nothing is queued yet. */
function setUp(...more: readonly ReplicaSet[]) {
  const fakes = fakeContext({ now: NOW, flags: { 'concurrent-replicaset-syncs': 1 } });
  replicaSetController.build(fakes.context);
  const sets = fakes.informers.of<ReplicaSet>(REPLICA_SETS);
  sets.put(set, other, ...more);
  const queue = fakes.queues.get('replicaset')!;
  queue.drain();
  return { ...fakes, sets, pods: fakes.informers.pods(), queue };
}

describe('ReplicaSets', () => {
  test('every event queues the key', () => {
    const { sets, queue } = setUp();
    sets.put(replicaSetOf({ meta: { resourceVersion: '8' } }));
    expect(queue.drain()).toEqual([KEY]);
    sets.remove(set);
    expect(queue.drain()).toEqual([KEY]);
    sets.put(set);
    expect(queue.drain()).toEqual([KEY]);
  });

  test('a deletion ends the expectations, also one that was missed', () => {
    const { sets, queue, expectations } = setUp();
    expectations.expect(KEY, 'uid-web', 2, []);
    sets.remove(set, true);
    expect(expectations.satisfied(KEY)).toBe(true);
    sets.put(set);
    expectations.expect(KEY, 'uid-web', 2, []);
    queue.drain();
    sets.put(replicaSetOf({ meta: { uid: 'uid-new' } }));
    expect(expectations.satisfied(KEY)).toBe(true);
    expect(queue.drain()).toEqual([KEY]);
  });

  test('an update under the same UID leaves them', () => {
    const { sets, expectations } = setUp();
    expectations.expect(KEY, 'uid-web', 2, []);
    sets.put(replicaSetOf({ meta: { resourceVersion: '8' } }));
    expect(expectations.satisfied(KEY)).toBe(false);
  });
});

describe('a new pod', () => {
  test('of a set is a creation observed', () => {
    const { pods, queue, expectations } = setUp();
    expectations.expect(KEY, 'uid-web', 2, []);
    pods.put(podOf({ owner: set }));
    expect(expectations.awaited(KEY).adds).toBe(1);
    expect(queue.drain()).toEqual([KEY]);
  });

  test('that is terminating already is a deletion observed, no creation', () => {
    const { pods, queue, expectations } = setUp();
    expectations.expect(KEY, 'uid-web', 1, ['default/web-1']);
    pods.put(podOf({ owner: set, deletedAt: NOW }));
    expect(expectations.awaited(KEY)).toEqual({ adds: 1, deletes: [] });
    expect(queue.drain()).toEqual([KEY]);
  });

  test('of an unknown set, of another kind, or of an earlier set of that name: nobody', () => {
    const { pods, queue } = setUp();
    const gone = replicaSetOf({ meta: { name: 'gone', uid: 'uid-gone' } });
    const earlier = replicaSetOf({ meta: { uid: 'uid-before' } });
    const job = { ...REPLICA_SETS, kind: 'Job' };
    pods.put(podOf({ name: 'a', owner: gone }), podOf({ name: 'b', owner: earlier }));
    pods.put(podOf({ name: 'c', owner: set, ownerResource: job }));
    expect(queue.drain()).toEqual([]);
  });

  test('without a controller queues every set that would adopt it, and awaits nothing', () => {
    const wide = replicaSetOf({
      meta: { name: 'wide', uid: 'uid-wide' },
      spec: { selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } },
    });
    const without = replicaSetOf({
      meta: { name: 'without', uid: 'uid-without' },
      spec: { selector: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] } },
    });
    const empty = replicaSetOf({ meta: { name: 'empty', uid: 'e' }, spec: { selector: {} } });
    const far = replicaSetOf({ meta: { name: 'far', uid: 'f', namespace: 'elsewhere' } });
    const { pods, queue, expectations } = setUp(wide, without, empty, far);
    expectations.expect(KEY, 'uid-web', 1, []);
    pods.put(podOf());
    expect(queue.drain()).toEqual(['default/web', 'default/wide']);
    expect(expectations.awaited(KEY).adds).toBe(1);
    pods.put(podOf({ name: 'bare', labels: {} }));
    expect(queue.drain()).toEqual([]);
  });

  test('an orphan meets the selector as it is now, and a set whose object is lost', () => {
    const { pods, sets, queue } = setUp();
    pods.put(podOf({ name: 'a' }));
    expect(queue.drain()).toEqual([KEY]);
    sets.put(
      replicaSetOf({
        meta: { resourceVersion: '8' },
        spec: { selector: { matchLabels: { app: 'other' } } },
      }),
    );
    queue.drain();
    pods.put(podOf({ name: 'b' }));
    expect(queue.drain()).toEqual([]);
    sets.remove(other);
    sets.put(other);
    sets.lose(other);
    queue.drain();
    pods.put(podOf({ name: 'c' }));
    expect(queue.drain()).toEqual([OTHER_KEY]);
  });

  test('that was there before counts for nothing: its set is queued by itself', () => {
    const fakes = fakeContext({ now: NOW, flags: { 'concurrent-replicaset-syncs': 1 } });
    fakes.informers.of<ReplicaSet>(REPLICA_SETS).put(set, other);
    const orphan = podOf({ name: 'orphan' });
    const going = podOf({ name: 'going', owner: other, deletedAt: NOW });
    fakes.informers.pods().put(podOf({ owner: set }), orphan, going);
    fakes.expectations.expect(KEY, 'uid-web', 1, []);
    fakes.expectations.expect(OTHER_KEY, 'uid-other', 0, ['default/going']);
    replicaSetController.build(fakes.context);
    expect(fakes.expectations.awaited(KEY).adds).toBe(1);
    expect(fakes.expectations.satisfied(OTHER_KEY)).toBe(true);
    expect(fakes.queues.get('replicaset')?.drain()).toEqual([OTHER_KEY, KEY]);
  });
});

describe('a changed pod', () => {
  const before = podOf({ owner: set });

  test('queues its set', () => {
    const { pods, queue } = setUp();
    pods.put(before);
    queue.drain();
    pods.put(podOf({ owner: set, node: 'node-2', resourceVersion: '2' }));
    expect(queue.drain()).toEqual([KEY]);
    expect(queue.later).toEqual([]);
  });

  test('that starts terminating is a deletion observed, once', () => {
    const { pods, queue, expectations } = setUp();
    pods.put(before);
    expectations.expect(KEY, 'uid-web', 0, ['default/web-1', 'default/web-2']);
    queue.drain();
    const going = podOf({ owner: set, deletedAt: NOW, resourceVersion: '2' });
    pods.put(going);
    expect(queue.drain()).toEqual([KEY]);
    expect(expectations.awaited(KEY).deletes).toEqual(['default/web-2']);
    pods.remove(going);
    expect(expectations.awaited(KEY).deletes).toEqual(['default/web-2']);
  });

  test('that changes hands queues both sets', () => {
    const { pods, queue } = setUp();
    pods.put(before);
    queue.drain();
    pods.put(podOf({ owner: other, resourceVersion: '2' }));
    expect(queue.drain()).toEqual([OTHER_KEY, KEY]);
  });

  test('that changes labels and hands while terminating queues both sets', () => {
    const { pods, queue } = setUp();
    pods.put(before);
    queue.drain();
    const labels = { app: 'db' };
    pods.put(podOf({ owner: other, labels, deletedAt: NOW, resourceVersion: '2' }));
    expect(queue.drain()).toEqual([OTHER_KEY, KEY]);
  });

  test('that is released queues its old set and those that match', () => {
    const { pods, queue } = setUp();
    pods.put(before);
    queue.drain();
    pods.put(podOf({ labels: { app: 'db' }, resourceVersion: '2' }));
    expect(queue.drain()).toEqual([OTHER_KEY, KEY]);
  });

  test('that is released with its labels as they were queues those that match', () => {
    const { pods, queue } = setUp();
    const labels = { app: 'db' };
    pods.put(podOf({ owner: set, labels }));
    queue.drain();
    pods.put(podOf({ labels, resourceVersion: '2' }));
    expect(queue.drain()).toEqual([OTHER_KEY, KEY]);
  });

  test('an orphan queues sets only if its labels changed', () => {
    const { pods, queue } = setUp();
    pods.put(podOf());
    queue.drain();
    pods.put(podOf({ node: 'node-2', resourceVersion: '2' }));
    expect(queue.drain()).toEqual([]);
    pods.put(podOf({ labels: { app: 'db' }, resourceVersion: '3' }));
    expect(queue.drain()).toEqual([OTHER_KEY]);
  });

  test('that becomes ready queues its set once more after minReadySeconds', () => {
    const { pods, queue, sets } = setUp();
    const patient = replicaSetOf({ spec: { minReadySeconds: 30 }, meta: { resourceVersion: '8' } });
    sets.put(patient);
    pods.put(podOf({ owner: set, ready: false }));
    queue.drain();
    pods.put(podOf({ owner: set, resourceVersion: '2' }));
    expect(queue.drain()).toEqual([KEY]);
    expect(queue.later).toEqual([
      {
        key: KEY,
        delayMs: 30_000,
        because: 'pod web-1 became ready and is available after 30 s',
      },
    ]);
    pods.put(podOf({ owner: set, resourceVersion: '3' }));
    expect(queue.later).toHaveLength(1);
    sets.lose(patient);
    pods.put(podOf({ owner: set, ready: false, resourceVersion: '4' }));
    pods.put(podOf({ owner: set, resourceVersion: '5' }));
    expect(queue.later).toHaveLength(1);
    expect(queue.drain()).toEqual([KEY]);
  });

  test('that is another pod of the same name: the old one is gone, the new one is new', () => {
    const { pods, queue, expectations } = setUp();
    pods.put(before);
    queue.drain();
    expectations.expect(KEY, 'uid-web', 0, ['default/web-1']);
    expectations.expect(OTHER_KEY, 'uid-other', 1, []);
    pods.put(podOf({ owner: other, uid: 'uid-again' }));
    expect(expectations.satisfied(KEY)).toBe(true);
    expect(expectations.satisfied(OTHER_KEY)).toBe(true);
    expect(queue.drain()).toEqual([OTHER_KEY, KEY]);
  });
});

describe('a deleted pod', () => {
  test('is a deletion observed and queues its set', () => {
    const { pods, queue, expectations } = setUp();
    const pod = podOf({ owner: set });
    pods.put(pod);
    queue.drain();
    expectations.expect(KEY, 'uid-web', 0, ['default/web-1']);
    pods.remove(pod, true);
    expect(expectations.satisfied(KEY)).toBe(true);
    expect(queue.drain()).toEqual([KEY]);
  });

  test('without a controller concerns nobody', () => {
    const { pods, queue } = setUp();
    const orphan = podOf();
    pods.put(orphan);
    queue.drain();
    pods.remove(orphan);
    expect(queue.drain()).toEqual([]);
  });
});
