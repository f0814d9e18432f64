/** The ttl controller under the reference manager and under Holdfast. */
import { setDefaultTimeout } from 'bun:test';
import { compareAll } from './both.ts';
import { TTL_SCENARIOS } from './nodes-ttl.ts';
import { NodeWorld, settled } from './nodes-world.ts';

setDefaultTimeout(180_000);

compareAll('as the reference manager', {
  suite: 'nodes-ttl',
  scenarios: TTL_SCENARIOS,
  controllers: ['ttl'],
  atOnce: 1,
  world: NodeWorld,
  look: settled,
});
