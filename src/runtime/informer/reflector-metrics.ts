/** Counters of the reflectors: Holdfast's own families, by resource. */
import type { Metrics } from '../metrics.ts';

export interface ReflectorMetrics {
  watchStarted(resource: string): void;
  listed(resource: string, how: 'full' | 'delta'): void;
  failed(resource: string): void;
  events(resource: string, changed: number): void;
  /** A cache was compared as a whole; so many objects differed that its watch had passed. */
  verified(resource: string, missed: number): void;
}

/** Registers the reflector families. */
export function createReflectorMetrics(metrics: Metrics): ReflectorMetrics {
  const watches = metrics.counter('holdfast_reflector_watches_total', 'Watches opened.', [
    'resource',
  ]);
  const lists = metrics.counter(
    'holdfast_reflector_lists_total',
    'Whole lists read ("full"), and comparisons by version ("delta").',
    ['resource', 'how'],
  );
  const failures = metrics.counter(
    'holdfast_reflector_failures_total',
    'Lists and watches that ended with an error.',
    ['resource'],
  );
  const events = metrics.counter(
    'holdfast_reflector_changes_total',
    'Objects added, changed or removed in the cache.',
    ['resource'],
  );
  const missed = metrics.counter(
    'holdfast_reflector_missed_changes_total',
    'Objects that the regular comparison found different although the watch had passed them.',
    ['resource'],
  );
  return {
    watchStarted: (resource) => watches.inc({ resource }),
    listed: (resource, how) => lists.inc({ resource, how }),
    failed: (resource) => failures.inc({ resource }),
    events: (resource, changed) => events.inc({ resource }, changed),
    verified: (resource, count) => missed.inc({ resource }, count),
  };
}
