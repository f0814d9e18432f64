/** What the service manager is told: ready as soon as this process leads or stands by. */
import type { Elector, LeaseInfo } from '../lease/index.ts';
import type { StorePort } from '../runtime/ports.ts';
import type { Service, ServiceState } from '../service/index.ts';

/**
 * Standing by is more than not leading: the Lease was read and somebody holds it. Until then the
 * API server is waited for.
 */
export function serviceState(
  { state, lease, holder }: Pick<LeaseInfo, 'state' | 'lease' | 'holder'>,
  problem: string,
): ServiceState {
  const trouble = problem === '' ? '' : `; state file: ${problem}`;
  if (state === 'leading') {
    const what = lease === '' ? 'Leading without election' : `Leading ${lease}`;
    return { ready: true, status: what + trouble };
  }
  if (holder === '') return { ready: false, status: `Waiting for the Lease ${lease}${trouble}` };
  return { ready: true, status: `Standing by, ${holder} leads${trouble}` };
}

/** Lets the service manager follow the election and the state file. */
export function followService(
  service: Service,
  elector: Elector,
  store: Pick<StorePort, 'health'>,
): void {
  service.follow(() => serviceState(elector.leaseInfo(), store.health().problem));
  elector.onLead(() => service.look());
  elector.onLost(() => service.look());
}
