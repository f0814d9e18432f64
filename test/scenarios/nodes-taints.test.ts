/** The taint eviction controller under the reference manager and under Holdfast. */
import { setDefaultTimeout } from 'bun:test';
import { compareAll } from './both.ts';
import { TAINT_SCENARIOS } from './nodes-taints.ts';
import { NodeWorld, settled } from './nodes-world.ts';

setDefaultTimeout(180_000);

compareAll('as the reference manager', {
  suite: 'nodes-taints',
  scenarios: TAINT_SCENARIOS,
  // By itself the reference's lacks an index that the DaemonSet controller brings.
  controllers: ['taint-eviction-controller', 'daemonset'],
  atOnce: 5,
  world: NodeWorld,
  look: settled,
});
