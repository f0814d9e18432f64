/** What the running process answers when asked about itself. */
import { DEBUG_ROWS_MAX } from '../runtime/limits.ts';
import type { HealthCheck, StatusPort } from '../runtime/status.ts';
import type { RunConfig } from './config.ts';
import { explainIn, type OverviewDeps, overviewOf } from './overview.ts';

/** Ties the status port to the parts that know. */
export function createStatus(config: RunConfig, deps: OverviewDeps): StatusPort {
  const { leadership, elector, opened } = deps;
  const { manager, informers } = leadership;
  const { store } = opened;
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
    overview: () => overviewOf(deps),
    explain: (word) => explainIn(deps, word),
    controllerDebug() {
      return Object.fromEntries(
        manager
          .hosts()
          .map((host) => [host.name, (path, query) => host.debug(path, query)] as const),
      );
    },
  };
}
