/** The metric of the garbage collector. */
import type { Metrics } from '../../runtime/metrics.ts';

/** Counts looks at the server that left resources unwatched. */
export function syncErrors(metrics: Metrics): () => void {
  const counter = metrics.counter(
    'garbagecollector_controller_resources_sync_error_total',
    'Number of garbage collector resources sync errors',
    [],
  );
  return () => counter.inc();
}
