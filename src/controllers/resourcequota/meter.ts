/**
 * Measures what the objects of a namespace use. Prices are remembered by version, so that measuring
 * 5,000 pods again costs a look at each record and not at each pod.
 */
import type { Quantity } from '../../api/quantity.ts';
import { ZERO } from '../../api/quantity.ts';
import { apiVersionOf, type Resource } from '../../api/resource.ts';
import type { ResourceQuota, ScopeRequirement } from '../../api/types/index.ts';
import type { ObjectRecord } from '../../runtime/informer/types.ts';
import { PRICES_BEFORE_PAUSE, QUOTA_PRICES_MAX } from '../../runtime/limits.ts';
import { Lru } from '../../runtime/lru.ts';
import { addTo, ONE } from './amounts.ts';
import { amountsAt, type Charge, sameCharge, textOfCharge } from './charge.ts';
import type { Evaluator } from './evaluators.ts';
import { inScope, requirementsOf } from './scopes.ts';

/** What could be measured, and what was in the way of the rest. */
export interface Measured {
  readonly amounts: ReadonlyMap<string, Quantity>;
  readonly problems: readonly string[];
}

interface Priced {
  readonly version: string;
  readonly charge: Charge;
}

type Prices = Map<string, Priced>;

/** Remembers prices of the namespaces it measured. */
export class Meter {
  readonly #pause: () => Promise<void>;
  /** By "resource namespace". */
  readonly #known = new Map<string, Prices>();
  readonly #shared = new Lru<string, Charge>(QUOTA_PRICES_MAX);
  readonly #complete = new WeakSet<Evaluator>();

  /** `pause` lets others work during a long measurement. */
  constructor(pause: () => Promise<void>) {
    this.#pause = pause;
  }

  /** Usage of everything that the quota limits and somebody measures. `now` in ms. */
  async measure(
    quota: ResourceQuota,
    evaluators: Iterable<Evaluator>,
    now: number,
  ): Promise<Measured> {
    const namespace = quota.metadata.namespace ?? '';
    const hard = Object.keys(quota.spec?.hard ?? {});
    const requirements = requirementsOf(quota);
    const total = new Map<string, Quantity>();
    const measurable = new Set<string>();
    const unknown = new Set<string>();
    const problems: string[] = [];
    for (const evaluator of evaluators) {
      const names = hard.filter((name) => evaluator.measures(name));
      if (names.length === 0) continue;
      if (!this.#isComplete(evaluator)) {
        problems.push(`failed to list content: ${kindText(evaluator.informer.resource)}`);
        for (const name of names) unknown.add(name);
        continue;
      }
      for (const name of names) {
        measurable.add(name);
        if (!total.has(name)) total.set(name, ZERO);
      }
      await this.#addAll(total, evaluator, { namespace, requirements, now });
    }
    const amounts = [...total].filter(([name]) => measurable.has(name) && !unknown.has(name));
    return { amounts: new Map(amounts), problems };
  }

  /** An object appeared or changed: true if it costs something else than when priced last. */
  reprice(evaluator: Evaluator, record: ObjectRecord): boolean {
    const prices = this.#known.get(placeOf(evaluator, record.namespace));
    if (prices === undefined || evaluator.price === undefined) return false;
    const before = prices.get(record.key)?.charge;
    const after = this.#price(evaluator, record, prices);
    return before !== undefined && after !== undefined && !sameCharge(before, after);
  }

  /** No quota is left in the namespace. */
  forget(namespace: string): void {
    for (const place of this.#known.keys()) {
      if (place.endsWith(` ${namespace}`)) this.#known.delete(place);
    }
  }

  /**
   * True once the cache has been as new as the server: one that was only taken over from the disk
   * would count what was there before a long night.
   */
  #isComplete(evaluator: Evaluator): boolean {
    if (evaluator.informer.caughtUp()) this.#complete.add(evaluator);
    return this.#complete.has(evaluator);
  }

  async #addAll(
    total: Map<string, Quantity>,
    evaluator: Evaluator,
    scope: {
      readonly namespace: string;
      readonly requirements: readonly ScopeRequirement[];
      readonly now: number;
    },
  ): Promise<void> {
    const { namespace, requirements, now } = scope;
    const records = evaluator.informer.lister.list(namespace);
    const { names } = evaluator;
    if (names !== undefined) {
      if (requirements.length > 0) return;
      addTo(total, new Map(names.map((name) => [name, ONE])), records.length);
      return;
    }
    for (const [charge, count] of await this.#countCharges(evaluator, namespace, records)) {
      if (inScope(requirements, charge.facts)) addTo(total, amountsAt(charge, now), count);
    }
  }

  /** Most objects cost the same as many others: how often each price is to be paid. */
  async #countCharges(
    evaluator: Evaluator,
    namespace: string,
    records: readonly ObjectRecord[],
  ): Promise<Map<Charge, number>> {
    const place = placeOf(evaluator, namespace);
    const before = this.#known.get(place) ?? new Map();
    const prices: Prices = new Map();
    const counts = new Map<Charge, number>();
    let computed = 0;
    for (const record of records) {
      const known = before.get(record.key);
      const isFresh = !evaluator.isVolatile && known?.version === record.resourceVersion;
      if (!isFresh && ++computed % PRICES_BEFORE_PAUSE === 0) await this.#pause();
      const charge = isFresh ? known?.charge : this.#price(evaluator, record, prices);
      if (charge === undefined) continue;
      if (isFresh && known !== undefined) prices.set(record.key, known);
      counts.set(charge, (counts.get(charge) ?? 0) + 1);
    }
    this.#known.set(place, prices);
    return counts;
  }

  #price(evaluator: Evaluator, record: ObjectRecord, prices: Prices): Charge | undefined {
    const computed = evaluator.price?.(record);
    if (computed === undefined) return undefined;
    const text = textOfCharge(computed);
    const charge = this.#shared.get(text) ?? computed;
    this.#shared.set(text, charge);
    prices.set(record.key, { version: record.resourceVersion, charge });
    return charge;
  }
}

function placeOf(evaluator: Evaluator, namespace: string): string {
  return `${evaluator.resource} ${namespace}`;
}

/** In upstream's words. */
function kindText(resource: Resource): string {
  const version = apiVersionOf(resource);
  const gvr = resource.group === '' ? `/${version}` : version;
  return `${gvr}, Resource=${resource.plural} not yet synced`;
}
