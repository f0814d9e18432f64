/** Metrics of the endpointslice controller, by upstream's names. */
import { exponentialBuckets, type Metrics } from '../../runtime/metrics.ts';
import { SliceGauges } from '../_kit/slices/gauges.ts';
import type { FamilyDecision } from './decide.ts';

const PREFIX = 'endpoint_slice_controller';
const ENDPOINT_BUCKETS = exponentialBuckets(2, 2, 15);
/** Those of a family that names none. */
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** How a sync ended; stale: the cache hadn't seen the last one's writes. */
export type SyncResult = 'success' | 'stale' | 'error';

/** What the controller counts. */
export interface SliceMetrics {
  synced(result: SyncResult): void;
  changed(operation: 'create' | 'update' | 'delete'): void;
  /** A family was decided. Of a Service with two families the last one counts, as upstream. */
  decided(serviceKey: string, decision: FamilyDecision): void;
  /** All writes of a family were made. */
  written(writes: number, topology: boolean, distribution: string | undefined): void;
  distributes(serviceKey: string, distribution: string | undefined): void;
  /** The Service is gone. */
  forget(serviceKey: string): void;
}

/** Registers the families. `endpointsMax` is what one slice holds. */
export function sliceMetrics(metrics: Metrics, endpointsMax: number): SliceMetrics {
  const gauges = new SliceGauges(metrics, { prefix: PREFIX, endpointsMax, slicesMin: 1 });
  const perSync = (name: string, help: string) =>
    metrics.histogram(`${PREFIX}_${name}`, help, [], ENDPOINT_BUCKETS);
  const added = perSync(
    'endpoints_added_per_sync',
    'Number of endpoints added on each Service sync',
  );
  const removed = perSync(
    'endpoints_removed_per_sync',
    'Number of endpoints removed on each Service sync',
  );
  const changes = metrics.counter(`${PREFIX}_changes`, 'Number of EndpointSlice changes', [
    'operation',
  ]);
  const changedPerSync = metrics.histogram(
    `${PREFIX}_endpointslices_changed_per_sync`,
    'Number of EndpointSlices changed on each Service sync',
    ['topology', 'traffic_distribution'],
    DEFAULT_BUCKETS,
  );
  const syncs = metrics.counter(`${PREFIX}_syncs`, 'Number of EndpointSlice syncs', ['result']);
  const distributions = new Distributions(metrics);
  return {
    synced: (result) => syncs.inc({ result }),
    changed: (operation) => changes.inc({ operation }),
    decided: (serviceKey, decision) => {
      added.observe(decision.added);
      removed.observe(decision.removed);
      gauges.set(serviceKey, decision.groups);
    },
    written: (writes, topology, distribution = '') =>
      changedPerSync.observe(
        { topology: topology ? 'Auto' : 'Disabled', traffic_distribution: distribution },
        writes,
      ),
    distributes: (serviceKey, distribution) => distributions.set(serviceKey, distribution),
    forget: (serviceKey) => {
      gauges.forget(serviceKey);
      distributions.set(serviceKey, undefined);
    },
  };
}

/** Counts Services by their trafficDistribution. */
class Distributions {
  readonly #ofService = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #show: (distribution: string, count: number) => void;

  constructor(metrics: Metrics) {
    const gauge = metrics.gauge(
      `${PREFIX}_services_count_by_traffic_distribution`,
      'Number of Services using some specific trafficDistribution',
      ['traffic_distribution'],
    );
    this.#show = (distribution, count) => gauge.set({ traffic_distribution: distribution }, count);
  }

  set(serviceKey: string, distribution: string | undefined): void {
    const before = this.#ofService.get(serviceKey);
    if (before === distribution) return;
    if (before !== undefined) this.#add(before, -1);
    if (distribution === undefined) this.#ofService.delete(serviceKey);
    else {
      this.#ofService.set(serviceKey, distribution);
      this.#add(distribution, 1);
    }
  }

  #add(distribution: string, more: number): void {
    const count = (this.#counts.get(distribution) ?? 0) + more;
    this.#counts.set(distribution, count);
    this.#show(distribution, count);
  }
}
