/** The taint eviction controller under the reference manager and under Holdfast. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { TAINT_SCENARIOS } from './nodes-taints.ts';
import { NodePair } from './nodes-world.ts';

setDefaultTimeout(180_000);

const PLAYED_AT_ONCE = 5;

let pair: NodePair;

beforeAll(async () => {
  pair = await NodePair.start({
    scenarios: TAINT_SCENARIOS,
    // By itself the reference's lacks an index that the DaemonSet controller brings.
    flags: ['--controllers=taint-eviction-controller,daemonset'],
    atOnce: PLAYED_AT_ONCE,
  });
});

afterAll(async () => {
  await pair?.stop();
});

describe('as the reference manager', () => {
  for (const scenario of TAINT_SCENARIOS) {
    test(scenario.name, async () => {
      const [wanted, found] = await pair.of(scenario);
      expect(found).toEqual(wanted);
    });
  }
});
