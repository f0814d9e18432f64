/** The metrics port: families by their full upstream names over one prom-client registry. */
import type { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Makes metric families; asking for a name twice gives the same family. */
export interface Metrics {
  readonly registry: Registry;
  counter<L extends string>(name: string, help: string, labels: readonly L[]): Counter<L>;
  gauge<L extends string>(name: string, help: string, labels: readonly L[]): Gauge<L>;
  histogram<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets: readonly number[],
  ): Histogram<L>;
}
