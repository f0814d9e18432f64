/** One ReplicaSet, default/web, under the whole controller: caches in, writes out. */
import { REPLICA_SETS } from '../../../api/resource.ts';
import type { Pod, ReplicaSet } from '../../../api/types/index.ts';
import { fakeContext } from '../../_kit/testing/fake-context.ts';
import { FakeRun } from '../../_kit/testing/fake-run.ts';
import { type PodFacts, podOf } from '../../_kit/testing/objects.ts';
import { replicaSetController } from '../index.ts';

/** Wall time of every test here. */
export const NOW = Date.parse('2026-01-01T12:00:00Z');
/** Key of the set that is synced. */
export const KEY = 'default/web';

/** Status of a set of 3 ready pods, as stored. */
export const settled = {
  replicas: 3,
  fullyLabeledReplicas: 3,
  readyReplicas: 3,
  availableReplicas: 3,
  terminatingReplicas: 0,
  observedGeneration: 1,
};

/** The controller over `set` and `pods`, and a run that syncs it. */
export function setUp(
  set: ReplicaSet | undefined,
  pods: readonly Pod[] = [],
  gatesOff: string[] = [],
) {
  const flags = { 'concurrent-replicaset-syncs': 5 };
  const fakes = fakeContext({ now: NOW, flags, gatesOff });
  const [queue] = replicaSetController.build(fakes.context)?.queues ?? [];
  if (queue === undefined) throw new Error('the controller has no queue');
  const sets = fakes.informers.of<ReplicaSet>(REPLICA_SETS);
  if (set !== undefined) sets.put(set);
  fakes.informers.pods().put(...pods);
  const run = new FakeRun(NOW);
  if (set !== undefined) run.live(REPLICA_SETS, set);
  return { ...fakes, sets, queue, run, sync: () => queue.reconcile(KEY, run) };
}

/** Pods web-0, web-1, … of this set. */
export function ownPods(count: number, owner: ReplicaSet, facts: PodFacts = {}): Pod[] {
  return Array.from({ length: count }, (_, i) => podOf({ name: `web-${i}`, owner, ...facts }));
}

/** The status that was written last. */
export function statusOf(run: FakeRun): ReplicaSet['status'] {
  const write = run.writes.findLast(({ resource }) => resource === 'replicasets.apps/status');
  return (write?.body as ReplicaSet | undefined)?.status;
}
