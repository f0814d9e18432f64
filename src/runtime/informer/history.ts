/**
 * Is the server's history the one this cache knows? A restored etcd needs a restarted API server,
 * so the identities of the API servers are remembered: when one changed, nothing is resumed and
 * every resource is compared.
 */
import { LEASES } from '../../api/resource.ts';
import type { Lease } from '../../api/types/index.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Logger } from '../log.ts';
import type { FactTable } from '../ports.ts';

const IDENTITY_SELECTOR = 'apiserver.kubernetes.io/identity=kube-apiserver';
const FACT_IDENTITIES = 'apiserver.identities';
const FACT_COMPARING = 'apiserver.comparing';

/** What reflectors ask about, and tell of, the server's history. */
export interface HistoryCheck {
  /** Resolves once the API server's identities have been compared with the remembered ones. */
  verified(signal: AbortSignal): Promise<void>;
  /** True if the caches are of the history that the server has now, as far as is known. */
  trusted(): boolean;
  /** True if this resource's cache may not be resumed before it was compared. */
  mustCompare(resource: string): boolean;
  /** The resource has been compared. */
  compared(resource: string): void;
  /** The server answered that the version is too old. */
  expired(resource: string): void;
  /** A stream ended with an error: the server may have been restarted. */
  uncleanEnd(): void;
  /** The server's versions went back: everything derived from the old history goes. */
  rewound(resource: string): void;
}

export interface HistoryDeps {
  readonly client: KubeClient;
  readonly facts: FactTable;
  readonly log: Logger;
  /** Resources that are resumed and so must be compared when the server changed. */
  resources(): readonly string[];
  /** False for a resource for whose comparison nobody waits: it may never come to an end. */
  vital(resource: string): boolean;
  /** The server was restarted or replaced: nothing may be decided before all is compared. */
  replaced(because: string): void;
  /** Drops own writes, expectations and intents. */
  dropDerived(because: string): void;
}

/** Creates the process-wide history check. */
export function createHistoryCheck(deps: HistoryDeps): HistoryCheck {
  return new History(deps);
}

/**
 * The same check for a cache whose troubles say nothing about the API server: its kind may be going
 * away, or another server may answer for it. Writing must not wait for it to recover.
 */
export function bystander(history: HistoryCheck): HistoryCheck {
  return {
    verified: (signal) => history.verified(signal),
    trusted: () => history.trusted(),
    mustCompare: (resource) => history.mustCompare(resource),
    compared: (resource) => history.compared(resource),
    expired: (resource) => history.expired(resource),
    uncleanEnd: () => undefined,
    rewound: (resource) => history.rewound(resource),
  };
}

class History implements HistoryCheck {
  readonly #deps: HistoryDeps;
  readonly #pending = new Set<string>();
  #checked = false;
  #checking: Promise<void> | undefined;
  #identities = '';

  constructor(deps: HistoryDeps) {
    this.#deps = deps;
  }

  async verified(signal: AbortSignal): Promise<void> {
    if (this.#checked) return;
    this.#checking ??= this.#check(signal).finally(() => {
      this.#checking = undefined;
    });
    await this.#checking;
  }

  trusted(): boolean {
    if (!this.#checked) return false;
    for (const resource of this.#pending) if (this.#deps.vital(resource)) return false;
    return true;
  }

  mustCompare(resource: string): boolean {
    return this.#pending.has(resource);
  }

  compared(resource: string): void {
    if (!this.#pending.delete(resource)) return;
    if (this.#pending.size === 0 && this.#identities !== '') this.#settle();
  }

  expired(resource: string): void {
    this.#pending.add(resource);
  }

  uncleanEnd(): void {
    this.#checked = false;
  }

  rewound(resource: string): void {
    this.#deps.log.warning('The history of the API server was rewound; derived state is dropped', {
      resource,
    });
    this.#deps.dropDerived(`the API server's history was rewound, seen in ${resource}`);
  }

  async #check(signal: AbortSignal): Promise<void> {
    const page = await this.#deps.client.list<Lease>(LEASES, {
      namespace: 'kube-system',
      labelSelector: IDENTITY_SELECTOR,
      signal,
    });
    const holders = page.items.map((lease) => lease.spec?.holderIdentity ?? '').sort();
    const identities = holders.join(',');
    const { facts } = this.#deps;
    const known = facts.get(FACT_IDENTITIES);
    const interrupted = facts.get(FACT_COMPARING) !== undefined;
    this.#identities = identities;
    this.#checked = true;
    if (known === identities && !interrupted) return;
    if (known === undefined && !interrupted) return this.#settle();
    facts.set(FACT_COMPARING, identities);
    for (const resource of this.#deps.resources()) this.#pending.add(resource);
    if (this.#pending.size === 0) return this.#settle();
    this.#deps.log.info('The API server was restarted or replaced: comparing all caches', {
      before: known ?? '',
      now: identities,
    });
    this.#deps.replaced('the API server was restarted or replaced');
  }

  #settle(): void {
    this.#deps.facts.set(FACT_IDENTITIES, this.#identities);
    this.#deps.facts.delete(FACT_COMPARING);
  }
}
