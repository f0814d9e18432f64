/** What the running process answers when asked about itself. */
import type { Elector } from '../lease/index.ts';
import { DEBUG_ROWS_MAX } from '../runtime/limits.ts';
import type { StorePort } from '../runtime/ports.ts';
import type { HealthCheck, StatusPort } from '../runtime/status.ts';
import type { RunConfig } from './config.ts';
import type { Leadership } from './leadership.ts';

/** Ties the status port to the parts that know. */
export function createStatus(
  config: RunConfig,
  leadership: Leadership,
  store: StorePort,
  elector: Elector,
): StatusPort {
  const { manager, informers } = leadership;
  const some = <T>(rows: readonly T[]): readonly T[] => rows.slice(0, DEBUG_ROWS_MAX);
  return {
    healthChecks(): readonly HealthCheck[] {
      const election = elector.health();
      return [...(election === undefined ? [] : [election]), ...manager.healthChecks()];
    },
    configz: () => config.configz,
    flagz: () => config.flagz,
    statusz() {
      const { opened, problem, tornResources } = store.health();
      return {
        State: opened,
        ...(problem === '' ? {} : { 'State problem': problem }),
        ...(tornResources.length === 0 ? {} : { Torn: tornResources.join(' ') }),
        Leadership: elector.state(),
      };
    },
    debug: () => ({
      lease: () => elector.leaseInfo(),
      queues: () => manager.hosts().flatMap((host) => host.queueSnapshots()),
      watches: () => informers.statuses(),
      expectations: () => some(store.expectations.all()),
      intents: () => some(store.intents.all()),
      'own-writes': () => some(store.ownWrites.all()),
      memory: () => some(store.memory.all()),
      store: () => store.health(),
    }),
    controllerDebug() {
      return Object.fromEntries(
        manager
          .hosts()
          .map((host) => [host.name, (path, query) => host.debug(path, query)] as const),
      );
    },
  };
}
