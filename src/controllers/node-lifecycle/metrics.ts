/** The metrics of the node lifecycle controller. */
import { exponentialBuckets, type Metrics } from '../../runtime/metrics.ts';

const PERCENT = 100;

/** Counts and measures; durations in milliseconds. */
export interface NodeMetrics {
  zone(zone: string, size: number, unhealthy: number): void;
  /** No node is in it any more. */
  zoneGone(zone: string): void;
  /** Begins to count the evictions of a zone. */
  zoneAdded(zone: string): void;
  evicted(zone: string): void;
  nodeLooked(durationMs: number): void;
  allLooked(durationMs: number): void;
}

/** Registers all families. */
export function nodeMetrics(metrics: Metrics): NodeMetrics {
  const gauge = (name: string, help: string) =>
    metrics.gauge(`node_collector_${name}`, help, ['zone']);
  const health = gauge('zone_health', 'Gauge measuring percentage of healthy nodes per zone.');
  const sizes = gauge('zone_size', 'Gauge measuring number of registered Nodes per zones.');
  const unhealthyNodes = gauge(
    'unhealthy_nodes_in_zone',
    'Gauge measuring number of not Ready Nodes per zones.',
  );
  const evictions = metrics.counter(
    'node_collector_evictions_total',
    '[STABLE] Number of Node evictions that happened since current instance of NodeController ' +
      'started.',
    ['zone'],
  );
  const node = metrics.histogram(
    'node_collector_update_node_health_duration_seconds',
    'Duration in seconds for NodeController to update the health of a single node.',
    [],
    exponentialBuckets(0.001, 4, 8),
  );
  const all = metrics.histogram(
    'node_collector_update_all_nodes_health_duration_seconds',
    'Duration in seconds for NodeController to update the health of all nodes.',
    [],
    exponentialBuckets(0.01, 4, 8),
  );
  return {
    zone(zone, size, unhealthy) {
      sizes.set({ zone }, size);
      health.set({ zone }, (PERCENT * (size - unhealthy)) / size);
      unhealthyNodes.set({ zone }, unhealthy);
    },
    zoneGone(zone) {
      sizes.set({ zone }, 0);
      health.set({ zone }, PERCENT);
      unhealthyNodes.set({ zone }, 0);
    },
    zoneAdded: (zone) => evictions.inc({ zone }, 0),
    evicted: (zone) => evictions.inc({ zone }),
    nodeLooked: (durationMs) => node.observe(durationMs / 1_000),
    allLooked: (durationMs) => all.observe(durationMs / 1_000),
  };
}
