/** How many slices there are, and how many there would be if they were packed best. */
import type { Metrics } from '../../../runtime/metrics.ts';

/** How one set of ports stands: endpoints wanted at it, and slices it has. */
export interface GroupCount {
  readonly endpoints: number;
  readonly slices: number;
}

interface Totals {
  readonly endpoints: number;
  readonly slices: number;
  readonly slicesDesired: number;
}

export interface GaugesOptions {
  /** Of the families, without the last underscore. */
  readonly prefix: string;
  readonly endpointsMax: number;
  /** Slices that every owner has at least. */
  readonly slicesMin: number;
}

/** The three gauges of one controller, kept up to date owner by owner. */
export class SliceGauges {
  readonly #options: GaugesOptions;
  readonly #owners = new Map<string, Totals>();
  readonly #show: (totals: Totals) => void;
  #sum: Totals = { endpoints: 0, slices: 0, slicesDesired: 0 };

  constructor(metrics: Metrics, options: GaugesOptions) {
    this.#options = options;
    const gauge = (name: string, help: string) =>
      metrics.gauge(`${options.prefix}_${name}`, help, []);
    const desired = gauge('endpoints_desired', 'Number of endpoints desired');
    const slices = gauge('num_endpoint_slices', 'Number of EndpointSlices');
    const best = gauge(
      'desired_endpoint_slices',
      'Number of EndpointSlices that would exist with perfect endpoint allocation',
    );
    this.#show = (totals) => {
      desired.set(totals.endpoints);
      slices.set(totals.slices);
      best.set(totals.slicesDesired);
    };
  }

  /** What an owner has now takes the place of what it had. */
  set(ownerKey: string, groups: readonly GroupCount[]): void {
    const { endpointsMax, slicesMin } = this.#options;
    const sum = (of: (group: GroupCount) => number): number =>
      groups.reduce((total, group) => total + of(group), 0);
    const totals = {
      endpoints: sum(({ endpoints }) => endpoints),
      slices: sum(({ slices }) => slices),
      slicesDesired: Math.max(
        slicesMin,
        sum(({ endpoints }) => Math.ceil(endpoints / endpointsMax)),
      ),
    };
    this.#replace(ownerKey, totals);
    this.#owners.set(ownerKey, totals);
  }

  /** The owner is gone, or not looked after any more. */
  forget(ownerKey: string): void {
    if (!this.#owners.has(ownerKey)) return;
    this.#replace(ownerKey, { endpoints: 0, slices: 0, slicesDesired: 0 });
    this.#owners.delete(ownerKey);
  }

  #replace(ownerKey: string, now: Totals): void {
    const before = this.#owners.get(ownerKey);
    this.#sum = {
      endpoints: this.#sum.endpoints + now.endpoints - (before?.endpoints ?? 0),
      slices: this.#sum.slices + now.slices - (before?.slices ?? 0),
      slicesDesired: this.#sum.slicesDesired + now.slicesDesired - (before?.slicesDesired ?? 0),
    };
    this.#show(this.#sum);
  }
}
