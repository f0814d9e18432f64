/** Metrics of the endpointslice-mirroring controller, by upstream's names. */
import { exponentialBuckets, type Metrics } from '../../runtime/metrics.ts';
import { SliceGauges } from '../_kit/slices/gauges.ts';
import type { MirrorDecision } from './decide.ts';

const PREFIX = 'endpoint_slice_mirroring_controller';
const ENDPOINT_BUCKETS = exponentialBuckets(2, 2, 15);
const DURATION_BUCKETS = exponentialBuckets(0.001, 2, 15);

/** What the controller counts. */
export interface MirrorMetrics {
  synced(durationMs: number): void;
  changed(operation: 'create' | 'update' | 'delete'): void;
  decided(key: string, decision: MirrorDecision): void;
  /** Nothing is mirrored any more. */
  forget(key: string): void;
}

/** Registers the families. `endpointsMax` is what one slice holds. */
export function mirrorMetrics(metrics: Metrics, endpointsMax: number): MirrorMetrics {
  const gauges = new SliceGauges(metrics, { prefix: PREFIX, endpointsMax, slicesMin: 0 });
  const histogram = (name: string, help: string, buckets = ENDPOINT_BUCKETS) =>
    metrics.histogram(`${PREFIX}_${name}`, help, [], buckets);
  const added = histogram(
    'endpoints_added_per_sync',
    'Number of endpoints added on each Endpoints sync',
  );
  const updated = histogram(
    'endpoints_updated_per_sync',
    'Number of endpoints updated on each Endpoints sync',
  );
  const removed = histogram(
    'endpoints_removed_per_sync',
    'Number of endpoints removed on each Endpoints sync',
  );
  const skipped = histogram(
    'addresses_skipped_per_sync',
    'Number of addresses skipped on each Endpoints sync due to being invalid or exceeding ' +
      'MaxEndpointsPerSubset',
  );
  const duration = histogram(
    'endpoints_sync_duration',
    'Duration of syncEndpoints() in seconds',
    DURATION_BUCKETS,
  );
  const changes = metrics.counter(`${PREFIX}_changes`, 'Number of EndpointSlice changes', [
    'operation',
  ]);
  return {
    synced: (durationMs) => duration.observe(Math.trunc(durationMs) / 1000),
    changed: (operation) => changes.inc({ operation }),
    decided: (key, decision) => {
      added.observe(decision.totals.added);
      updated.observe(decision.totals.updated);
      removed.observe(decision.totals.removed);
      skipped.observe(decision.skipped);
      gauges.set(key, decision.groups);
    },
    forget: (key) => gauges.forget(key),
  };
}
