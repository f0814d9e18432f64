/** Families of the reflectors by resource: Holdfast's own, and upstream's of its informers. */
import { type Resource, resourceId } from '../../api/resource.ts';
import { type Metrics, perKey, sampler, tally } from '../metrics.ts';

const COMPONENT = 'kube-controller-manager';
const LATENCY_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const MS_PER_SECOND = 1_000;

export interface ReflectorMetrics {
  watchStarted(resource: string): void;
  listed(resource: string, how: 'full' | 'delta'): void;
  failed(resource: string): void;
  /** So many changes that arrived together were applied and told to the handlers in this time. */
  events(resource: string, changed: number, durationMs: number): void;
  /** A cache was compared as a whole; so many objects differed that its watch had passed. */
  verified(resource: string, missed: number): void;
  /** The series of a resource that is followed whole begin at zero. */
  followed(resource: Resource): void;
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
  const informers = informerFamilies(metrics);
  const changed = perKey((resource: string) => tally(events, { resource }));
  return {
    followed: informers.followed,
    watchStarted: (resource) => watches.inc({ resource }),
    listed: (resource, how) => lists.inc({ resource, how }),
    failed: (resource) => failures.inc({ resource }),
    events: (resource, count, durationMs) => {
      changed(resource)(count);
      if (count > 0) informers.processed(resource, durationMs);
    },
    verified: (resource, count) => missed.inc({ resource }, count),
  };
}

/**
 * Upstream's families. Events wait in no queue here: what arrives together is applied at once, so
 * `informer_queued_items` is always 0.
 */
function informerFamilies(metrics: Metrics) {
  const labels = ['group', 'name', 'resource', 'version'] as const;
  const queued = metrics.gauge(
    'informer_queued_items',
    '[ALPHA] Number of items currently queued in the FIFO.',
    labels,
  );
  const latency = metrics.histogram(
    'informer_processing_latency_seconds',
    '[ALPHA] Time taken to process events after popping from the queue.',
    labels,
    LATENCY_BUCKETS,
  );
  const known = new Map<string, (seconds: number) => void>();
  return {
    followed: (resource: Resource): void => {
      if (known.has(resourceId(resource))) return;
      const ofResource = informerLabels(resource);
      known.set(resourceId(resource), sampler(latency, ofResource));
      queued.set(ofResource, 0);
      latency.zero(ofResource);
    },
    processed: (resource: string, durationMs: number): void => {
      known.get(resource)?.(durationMs / MS_PER_SECOND);
    },
  };
}

/** Upstream makes the plural by an s, whatever the word: "endpointss", "networkpolicys". */
function informerLabels({ group, version, kind }: Resource) {
  return { group, name: COMPONENT, resource: `${kind.toLowerCase()}s`, version };
}
