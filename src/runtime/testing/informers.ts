/** Informers over the API server in memory, with nobody to hear of what they log. */
import type { Resource } from '../../api/resource.ts';
import type { KubeObject } from '../../api/types/index.ts';
import type { Following } from '../informer/follow.ts';
import { createReflectorMetrics } from '../informer/reflector-metrics.ts';
import { Informers } from '../informer/set.ts';
import type { Logger } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import type { StorePort } from '../ports.ts';
import { seededRandom } from '../random.ts';
import type { FakeApi } from './fake-api.ts';
import type { FakeClock } from './fake-clock.ts';

/** Turns after which whatever needs no time has happened. */
const SETTLING_TURNS = 40;

const silent: Logger = {
  info: () => undefined,
  warning: () => undefined,
  error: () => undefined,
  v: () => silent,
  enabled: () => false,
  named: () => silent,
};

/** Informers of these resources, not started; nothing is redacted or compared from time to time. */
export function informersOn(
  world: { readonly api: FakeApi; readonly store: StorePort; readonly clock: FakeClock },
  resources: readonly Resource[],
  following?: Following,
): Informers {
  const deps = {
    client: world.api.client,
    store: world.store,
    clock: world.clock,
    random: seededRandom(1),
    log: silent,
    metrics: createReflectorMetrics(createMetrics({ process: 'none' })),
    redact: (_resource: string, object: KubeObject) => object,
    verifyIntervalMs: 0,
    replaced: () => undefined,
    dropDerived: () => undefined,
  };
  return new Informers(deps, resources, following);
}

/** Lets everything happen that needs no time. */
export async function settled(clock: FakeClock): Promise<void> {
  for (let turn = 0; turn < SETTLING_TURNS; turn++) await clock.settle();
}
