/** Metrics of the root CA publisher: how its syncs ended, and how long they took. */
import { ApiError } from '../../api/errors.ts';
import type { Metrics } from '../../runtime/metrics.ts';

const BUCKET_SMALLEST_SECONDS = 0.001;
const BUCKET_COUNT = 15;
const BUCKETS = Array.from({ length: BUCKET_COUNT }, (_, at) => BUCKET_SMALLEST_SECONDS * 2 ** at);
const HELP = 'Number of namespace syncs happened in root ca cert publisher.';
const MS_PER_SECOND = 1_000;

/** Counts one sync. `error` undefined: it went well. */
export type SyncMeter = (durationMs: number, error: unknown) => void;

/** HTTP status of the API server's answer; 200 for success, 500 for an error without an answer. */
export function codeOf(error: unknown): string {
  if (error === undefined) return '200';
  return error instanceof ApiError ? String(error.code) : '500';
}

/** Makes the two families and gives what fills them. */
export function syncMeter(metrics: Metrics): SyncMeter {
  const labels = ['code'] as const;
  const total = metrics.counter('root_ca_cert_publisher_sync_total', HELP, labels);
  const seconds = metrics.histogram(
    'root_ca_cert_publisher_sync_duration_seconds',
    HELP,
    labels,
    BUCKETS,
  );
  return (durationMs, error) => {
    const code = codeOf(error);
    total.inc({ code });
    seconds.observe({ code }, durationMs / MS_PER_SECOND);
  };
}
