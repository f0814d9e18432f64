/** Which cluster is this? A state file is only good for the cluster it was made of. */
import { NAMESPACES } from '../api/resource.ts';
import type { Namespace } from '../api/types/index.ts';
import type { KubeClient } from '../kube/types.ts';
import type { Clock } from './clock.ts';
import { IDENTITY_BACKOFF_BASE_MS, IDENTITY_BACKOFF_MAX_MS } from './limits.ts';
import type { Logger } from './log.ts';
import type { StorePort } from './ports.ts';

const FACT_CLUSTER = 'cluster.identity';
const IDENTITY_NAMESPACE = 'kube-system';

export interface ClusterIdentityDeps {
  readonly client: KubeClient;
  readonly store: StorePort;
  /** Hash of the CA bundle that vouches for the server. */
  readonly caHash: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Waits for the API server, then compares the UID of kube-system and the CA with what the state
 * file was made of; of another cluster everything is forgotten. Resolves when the state may be
 * used, or when the signal aborts.
 */
export async function settleClusterIdentity(
  deps: ClusterIdentityDeps,
  signal: AbortSignal,
): Promise<void> {
  const { store, log, clock } = deps;
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      const at = { name: IDENTITY_NAMESPACE };
      const namespace = await deps.client.get<Namespace>(NAMESPACES, at, { signal });
      const identity = `${namespace.metadata.uid} ${deps.caHash}`;
      const known = store.facts.get(FACT_CLUSTER);
      if (known !== undefined && known !== identity) {
        log.warning('The state file belongs to another cluster; starting afresh', {
          stored: known,
          found: identity,
        });
        store.forgetCluster(`it was made of cluster ${known}, this one is ${identity}`);
      }
      if (known !== identity) store.facts.set(FACT_CLUSTER, identity);
      return;
    } catch (error) {
      if (signal.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      log.warning('Waiting for the API server', { error: message, failures: failures + 1 });
      const grown = IDENTITY_BACKOFF_BASE_MS * 2 ** Math.min(failures, 8);
      await clock.sleep(Math.min(grown, IDENTITY_BACKOFF_MAX_MS), signal);
    }
  }
}
