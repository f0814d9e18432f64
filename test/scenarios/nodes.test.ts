/** The node lifecycle controller under the reference manager and under Holdfast. */
import { setDefaultTimeout } from 'bun:test';
import type { Cluster } from '../rig/index.ts';
import { compareAll } from './both.ts';
import { Kubelet } from './nodes-kubelet.ts';
import { BLACKOUT, LIFECYCLE_FLAGS, LIFECYCLE_SCENARIOS } from './nodes-lifecycle.ts';
import { NodeWorld, settled } from './nodes-world.ts';

setDefaultTimeout(240_000);

const BASE = {
  controllers: ['nodelifecycle'],
  flags: LIFECYCLE_FLAGS,
  world: NodeWorld,
  look: settled,
} as const;

/** A node that is always ready, so that the cluster never is without one. */
async function anchor(cluster: Cluster): Promise<void> {
  const kubelet = await new Kubelet(cluster.api, 'anchor').start();
  cluster.onStop(() => kubelet.stop());
}

compareAll('as the reference manager', {
  ...BASE,
  suite: 'nodes',
  scenarios: LIFECYCLE_SCENARIOS,
  atOnce: 9,
  prepare: anchor,
});

compareAll('as the reference manager, in a cluster of its own', {
  ...BASE,
  suite: 'nodes-blackout',
  scenarios: [BLACKOUT],
  atOnce: 1,
});
