/** The metric families of leader election, under upstream's names. */
import type { Metrics } from '../runtime/metrics.ts';

/** Reports about one Lease. */
export interface ElectionMetrics {
  leading(yes: boolean): void;
  slowPath(): void;
}

const STATUS_HELP =
  "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.";
const SLOW_PATH_HELP =
  "Total number of slow path exercised in renewing leader leases. 'name' is the string used to identify the lease. Please make sure to group by name.";

/** Registers both families; the gauge starts at 0, as upstream's does when its elector is made. */
export function electionMetrics(metrics: Metrics, leaseName: string): ElectionMetrics {
  const status = metrics.gauge('leader_election_master_status', STATUS_HELP, ['name']);
  const slowPaths = metrics.counter('leader_election_slowpath_total', SLOW_PATH_HELP, ['name']);
  const labels = { name: leaseName };
  status.set(labels, 0);
  return {
    leading: (yes) => status.set(labels, yes ? 1 : 0),
    slowPath: () => slowPaths.inc(labels),
  };
}
