/** The ttl controller under the reference manager and under Holdfast. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { TTL_SCENARIOS } from './nodes-ttl.ts';
import { NodePair } from './nodes-world.ts';

setDefaultTimeout(180_000);

let pair: NodePair;

beforeAll(async () => {
  pair = await NodePair.start({
    scenarios: TTL_SCENARIOS,
    flags: ['--controllers=ttl'],
    atOnce: 1,
  });
});

afterAll(async () => {
  await pair?.stop();
});

describe('as the reference manager', () => {
  for (const scenario of TTL_SCENARIOS) {
    test(scenario.name, async () => {
      const [wanted, found] = await pair.of(scenario);
      expect(found).toEqual(wanted);
    });
  }
});
