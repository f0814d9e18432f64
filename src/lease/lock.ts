/** The Lease object on the API server, read and written whole as upstream's LeaseLock does. */
import { isNotFound } from '../api/errors.ts';
import { apiVersionOf, LEASES } from '../api/resource.ts';
import type { Lease, ObjectReference } from '../api/types/index.ts';
import type { KubeClient } from '../kube/types.ts';
import type { LeaseName } from './messages.ts';
import type { ElectionRecord, SeenLease } from './term.ts';

/** Limits of one call. */
export interface CallLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The Lease as a candidate needs it. Errors are those of KubeClient. */
export interface LeasePort {
  /** undefined if there is no Lease. */
  read(limits: CallLimits): Promise<SeenLease | undefined>;
  create(record: ElectionRecord, limits: CallLimits): Promise<SeenLease>;
  /** Replaces the election fields of the Lease as last seen; a conflict if it has changed since. */
  update(record: ElectionRecord, limits: CallLimits): Promise<SeenLease>;
}

/**
 * The named Lease through `client`. An update PUTs the object last seen, so labels stay; its spec
 * is written anew with the five election fields.
 */
export function leaseLock(client: KubeClient, at: LeaseName): LeasePort {
  let last: Lease | undefined;
  const see = (lease: Lease): SeenLease => {
    last = lease;
    const { uid, resourceVersion } = lease.metadata;
    return { uid, resourceVersion, record: recordOf(lease) };
  };
  return {
    async read(limits) {
      try {
        return see(await client.get<Lease>(LEASES, at, limits));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        last = undefined;
        return undefined;
      }
    },
    async create(record, limits) {
      const body = {
        apiVersion: apiVersionOf(LEASES),
        kind: LEASES.kind,
        metadata: { name: at.name, namespace: at.namespace },
        spec: record,
      };
      return see(await client.create<Lease>(LEASES, { namespace: at.namespace }, body, limits));
    },
    async update(record, limits) {
      if (last === undefined) throw new Error('a Lease must be read before it is updated');
      const body = {
        ...last,
        apiVersion: apiVersionOf(LEASES),
        kind: LEASES.kind,
        spec: record,
      };
      return see(await client.update<Lease>(LEASES, at, body, limits));
    },
  };
}

/** What an event about the Lease refers to. */
export function leaseReference(at: LeaseName, seen: SeenLease): ObjectReference {
  const { uid, resourceVersion } = seen;
  return { apiVersion: apiVersionOf(LEASES), kind: LEASES.kind, ...at, uid, resourceVersion };
}

function recordOf(lease: Lease): ElectionRecord {
  const spec = lease.spec;
  return {
    holderIdentity: spec?.holderIdentity ?? '',
    leaseDurationSeconds: spec?.leaseDurationSeconds ?? 0,
    acquireTime: spec?.acquireTime ?? '',
    renewTime: spec?.renewTime ?? '',
    leaseTransitions: spec?.leaseTransitions ?? 0,
  };
}
