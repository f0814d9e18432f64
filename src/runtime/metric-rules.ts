/**
 * What the flags say about single metrics: which are left out, and which values their labels may
 * have. With it go upstream's families about the metrics themselves.
 */
import { Counter, type Metric, type Registry } from 'prom-client';

/** What --disabled-metrics and --allow-metric-labels (or its manifest) say. */
export interface MetricRules {
  /** Full names of families that are not shown. */
  readonly disabled?: readonly string[];
  /** "metric,label" to the values that stay as they are; any other becomes "unexpected". */
  readonly allowedLabelValues?: ReadonlyMap<string, readonly string[]>;
}

const UNEXPECTED = 'unexpected';
/** How upstream's help texts begin. */
const STABILITY = /^\[(ALPHA|BETA|STABLE|INTERNAL)\] /;
/** Methods whose first argument may be labels. */
const LABELLED = ['inc', 'dec', 'set', 'observe', 'zero', 'remove', 'startTimer'] as const;

type Labels = Readonly<Record<string, unknown>>;
type Method = (...given: readonly unknown[]) => unknown;
type AllowedByLabel = ReadonlyMap<string, ReadonlySet<string>>;

/** The rules at work over one registry. */
export class MetricOversight {
  readonly #registry: Registry;
  readonly #disabled: ReadonlySet<string>;
  readonly #allowed = new Map<string, Map<string, ReadonlySet<string>>>();
  readonly #registered: Counter<'stability_level' | 'deprecated_version'>;
  readonly #hidden: Counter;
  readonly #unexpected: Counter;

  constructor(registry: Registry, { disabled = [], allowedLabelValues }: MetricRules = {}) {
    this.#registry = registry;
    this.#disabled = new Set(disabled);
    for (const [key, values] of allowedLabelValues ?? []) {
      const [metric = '', label = ''] = key.split(',');
      const labels = this.#allowed.get(metric) ?? new Map<string, ReadonlySet<string>>();
      this.#allowed.set(metric, labels.set(label, new Set(values)));
    }
    this.#registered = this.#own(
      'registered_metrics_total',
      '[BETA] The count of registered metrics broken by stability level and deprecation version.',
      ['deprecated_version', 'stability_level'],
    );
    const off = this.#own('disabled_metrics_total', '[BETA] The count of disabled metrics.');
    off.inc(this.#disabled.size);
    this.#hidden = this.#own('hidden_metrics_total', '[BETA] The count of hidden metrics.');
    this.#unexpected = this.#own(
      'cardinality_enforcement_unexpected_categorizations_total',
      '[ALPHA] The count of unexpected categorizations during cardinality enforcement.',
    );
    for (const level of ['BETA', 'BETA', 'BETA', 'ALPHA']) this.#count(level);
  }

  /** The registries that a family of this name is to be in: none if it is disabled. */
  registersOf(name: string): Registry[] {
    return this.#disabled.has(name) ? [] : [this.#registry];
  }

  /** Counts a new family, and keeps its labels to the allowed values. Gives it back. */
  adopt<M extends Metric>(name: string, help: string, labels: readonly string[], metric: M): M {
    const level = STABILITY.exec(help)?.[1];
    if (this.#disabled.has(name)) this.#hidden.inc();
    else if (level !== undefined) this.#count(level);
    const allowed = this.#allowed.get(name);
    if (allowed !== undefined) this.#constrain(metric, labels, allowed);
    return metric;
  }

  #own<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return new Counter<L>({ name, help, labelNames, registers: this.registersOf(name) });
  }

  #count(level: string): void {
    this.#registered.inc({ deprecated_version: '', stability_level: level });
  }

  /** Whatever labels its methods are handed, values that are not allowed become one. */
  #constrain(metric: Metric, names: readonly string[], allowed: AllowedByLabel): void {
    const value = (label: string | undefined, given: unknown): unknown => {
      const values = label === undefined ? undefined : allowed.get(label);
      if (values === undefined || values.has(String(given)) || given === UNEXPECTED) return given;
      this.#unexpected.inc();
      return UNEXPECTED;
    };
    const limited = (given: unknown): unknown => {
      if (typeof given !== 'object' || given === null) return given;
      const entries = Object.entries(given as Labels);
      return Object.fromEntries(entries.map(([label, one]) => [label, value(label, one)]));
    };
    const methods = metric as unknown as Record<string, Method | undefined>;
    for (const name of LABELLED) {
      const plain = methods[name]?.bind(metric);
      if (plain) methods[name] = (first, ...rest) => plain(limited(first), ...rest);
    }
    const bound = methods.labels?.bind(metric);
    if (bound) {
      methods.labels = (...given) =>
        bound(
          ...given.map((one, at) =>
            typeof one === 'object' ? limited(one) : value(names[at], one),
          ),
        );
    }
  }
}
