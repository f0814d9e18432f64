/** The node lifecycle controller under the reference manager and under Holdfast. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Cluster } from '../rig/index.ts';
import { Kubelet } from './nodes-kubelet.ts';
import { BLACKOUT, LIFECYCLE_FLAGS, LIFECYCLE_SCENARIOS } from './nodes-lifecycle.ts';
import { NodePair } from './nodes-world.ts';

setDefaultTimeout(240_000);

const PLAYED_AT_ONCE = 9;
const FLAGS = ['--controllers=nodelifecycle', ...LIFECYCLE_FLAGS];

/** A node that is always ready, so that the cluster never is without one. */
async function anchor(cluster: Cluster): Promise<void> {
  const kubelet = await new Kubelet(cluster.api, 'anchor').start();
  cluster.onStop(() => kubelet.stop());
}

describe('as the reference manager', () => {
  let pair: NodePair;

  beforeAll(async () => {
    pair = await NodePair.start({
      scenarios: LIFECYCLE_SCENARIOS,
      flags: FLAGS,
      atOnce: PLAYED_AT_ONCE,
      prepare: anchor,
    });
  });

  afterAll(async () => {
    await pair?.stop();
  });

  for (const scenario of LIFECYCLE_SCENARIOS) {
    test(scenario.name, async () => {
      const [wanted, found] = await pair.of(scenario);
      expect(found).toEqual(wanted);
    });
  }
});

describe('as the reference manager, in a cluster of its own', () => {
  test(BLACKOUT.name, async () => {
    const pair = await NodePair.start({ scenarios: [BLACKOUT], flags: FLAGS, atOnce: 1 });
    try {
      const [wanted, found] = await pair.of(BLACKOUT);
      expect(found).toEqual(wanted);
    } finally {
      await pair.stop();
    }
  });
});
