/** The metrics port: families by their full upstream names over one prom-client registry. */
import { Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { MetricOversight, type MetricRules } from './metric-rules.ts';
import { addProcessMetrics } from './process-metrics.ts';

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

/** Metrics with what an HTTP endpoint needs. */
export interface ServedMetrics extends Metrics {
  /** The Prometheus text format, as Go writes it: by name, families without series left out. */
  serialize(): Promise<string>;
  readonly contentType: string;
}

export interface MetricsOptions extends MetricRules {
  /**
   * Which process_* families to have: all (default; then also those about the metrics themselves),
   * only the start time (/metrics/slis), none.
   */
  readonly process?: 'all' | 'start' | 'none';
}

/** Labels of kubernetes_build_info. */
export interface BuildInfo {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
}

/** `count` bucket bounds from `start`, each `factor` times the one before (with Go's rounding). */
export function exponentialBuckets(start: number, factor: number, count: number): number[] {
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound);
  return bounds;
}

/** Families that upstream doesn't have. */
const OWN_PREFIX = 'holdfast_';

/** Go writes numbers of this power of ten and above with an exponent. */
const GO_EXPONENT_FROM = 6;

/** A number as Go's %g with the shortest digits: recording rules name buckets by this text. */
export function goNumber(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : value < 0 ? '-Inf' : 'NaN';
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < GO_EXPONENT_FROM) return String(value);
  const sign = exponent < 0 ? '-' : '+';
  return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

const BUCKET_BOUND = /\ble="([^"+]+)"/g;

function goBounds(text: string): string {
  return text.replace(BUCKET_BOUND, (_, bound: string) => `le="${goNumber(Number(bound))}"`);
}

/** Sets kubernetes_build_info: what this binary says it was built from. */
export function recordBuildInfo(metrics: Metrics, build: BuildInfo): void {
  const labels = {
    major: build.major,
    minor: build.minor,
    git_version: build.gitVersion,
    git_commit: build.gitCommit,
    git_tree_state: build.gitTreeState,
    build_date: build.buildDate,
    go_version: build.goVersion,
    compiler: build.compiler,
    platform: build.platform,
  };
  const help =
    "[BETA] A metric with a constant '1' value labeled by major, minor, git version, git " +
    'commit, git tree state, build date, Go version, and compiler from which Kubernetes was ' +
    'built, and platform on which it is running.';
  const names = Object.keys(labels) as (keyof typeof labels)[];
  metrics.gauge('kubernetes_build_info', help, names).set(labels, 1);
}

/** Sets version_info: the Kubernetes versions ("1.36") this process acts as. */
export function recordVersionInfo(
  metrics: Metrics,
  versions: { component: string; binary: string; emulation: string; minCompat: string },
): void {
  const help =
    '[ALPHA] Provides the compatibility version info of the component. The component label is ' +
    'the name of the component, usually kube, but is relevant for aggregated-apiservers.';
  const { component, binary, emulation, minCompat } = versions;
  metrics
    .gauge('version_info', help, ['component', 'binary', 'emulation', 'min_compat'])
    .set({ component, binary, emulation, min_compat: minCompat }, 1);
}

/** Help texts begin with upstream's word for how stable a family is; without one it is the least. */
function helpOf(name: string, help: string): string {
  return help.startsWith('[') || name.startsWith(OWN_PREFIX) ? help : `[ALPHA] ${help}`;
}

const readers = new WeakMap<object, (() => void)[]>();

/** Calls back whenever the family is read. */
function whenRead(family: object, flush: () => void): void {
  const known = readers.get(family);
  if (known !== undefined) {
    known.push(flush);
    return;
  }
  const all = [flush];
  readers.set(family, all);
  const read = (): void => {
    for (const one of all) one();
  };
  Object.assign(family, { collect: read });
}

/**
 * Counts into one series of a family that nothing constrains. The family is told when it is read:
 * finding the series takes longer than all else that is done for an event.
 */
export function tally<L extends string>(
  counter: Counter<L>,
  labels: Readonly<Record<L, string>>,
): (amount?: number) => void {
  let pending = 0;
  const flush = (): void => {
    if (pending > 0) counter.inc(labels, pending);
    pending = 0;
  };
  whenRead(counter, flush);
  return (amount = 1) => {
    pending += amount;
  };
}

/** What prom-client keeps of one series of a histogram; buckets by the text of their bounds. */
interface Sampled {
  readonly labels: Readonly<Record<string, unknown>>;
  readonly bucketValues: Record<string, number>;
  sum: number;
  count: number;
}

/** The series of these labels; undefined where the family keeps them under other labels. */
function sampledSeries(
  histogram: object,
  labels: Readonly<Record<string, string>>,
): Sampled | undefined {
  const { hashMap } = histogram as { readonly hashMap: Readonly<Record<string, Sampled>> };
  const names = Object.keys(labels);
  return Object.values(hashMap).find((one) =>
    names.every((name) => one.labels[name] === labels[name]),
  );
}

/**
 * Observes into one series of a histogram that is neither reset nor removed. The first value goes
 * through the family; all others are counted here and added to its series when it is read: finding
 * series and bucket takes longer than all else that is done for an event.
 */
export function sampler<L extends string>(
  histogram: Histogram<L>,
  labels: Readonly<Record<L, string>>,
): (value: number) => void {
  let series: Sampled | undefined;
  let bounds: readonly number[] = [];
  let pending = new Float64Array();
  const begin = (): void => {
    series = sampledSeries(histogram, labels);
    if (series === undefined) return;
    const { bucketValues } = series;
    bounds = Object.keys(bucketValues)
      .map(Number)
      .sort((one, other) => one - other);
    pending = new Float64Array(bounds.length);
    whenRead(histogram, () => {
      for (const [at, bound] of bounds.entries()) {
        bucketValues[bound] = (bucketValues[bound] ?? 0) + (pending[at] ?? 0);
      }
      pending.fill(0);
    });
  };
  return (value) => {
    if (series === undefined || !Number.isFinite(value)) {
      histogram.observe(labels, value);
      if (series === undefined) begin();
      return;
    }
    series.sum += value;
    series.count += 1;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
    if (at < bounds.length) pending[at] = (pending[at] ?? 0) + 1;
  };
}

/** One of what `make` makes for each key, made when it is first asked for. */
export function perKey<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const fresh = make(key);
    made.set(key, fresh);
    return fresh;
  };
}

class Families implements ServedMetrics {
  readonly registry = new Registry();
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #made = new Map<string, Metric>();
  readonly #oversight: MetricOversight | undefined;

  constructor(rules: MetricRules | undefined) {
    this.#oversight = rules && new MetricOversight(this.registry, rules);
  }

  counter<L extends string>(name: string, help: string, labels: readonly L[]): Counter<L> {
    const config = this.#config(name, help, labels);
    return this.#once(config, Counter<L>, () => new Counter<L>(config));
  }

  gauge<L extends string>(name: string, help: string, labels: readonly L[]): Gauge<L> {
    const config = this.#config(name, help, labels);
    return this.#once(config, Gauge<L>, () => new Gauge<L>(config));
  }

  histogram<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets: readonly number[],
  ): Histogram<L> {
    const config = { ...this.#config(name, help, labels), buckets: [...buckets] };
    return this.#once(config, Histogram<L>, () => new Histogram<L>(config));
  }

  async serialize(): Promise<string> {
    const names = this.registry.getMetricsAsArray().map(({ name }) => name);
    const families: string[] = [];
    for (const name of names.sort()) {
      const text = await this.registry.getSingleMetricAsString(name);
      // Two lines are HELP and TYPE alone.
      if (text.split('\n', 3).length > 2) families.push(goBounds(text));
    }
    return families.length === 0 ? '' : `${families.join('\n')}\n`;
  }

  #config<L extends string>(name: string, given: string, labelNames: readonly L[]) {
    const registers = this.#oversight?.registersOf(name) ?? [this.registry];
    return { name, help: helpOf(name, given), labelNames, registers };
  }

  #once<M extends Metric>(
    config: {
      readonly name: string;
      readonly help: string;
      readonly labelNames: readonly string[];
    },
    kind: abstract new (...args: never[]) => M,
    make: () => M,
  ): M {
    const { name, help, labelNames } = config;
    const known: unknown = this.#made.get(name) ?? this.registry.getSingleMetric(name);
    if (known instanceof kind) return known;
    if (known !== undefined) {
      throw new Error(`metric ${name} is asked for as a ${kind.name} but exists as another kind`);
    }
    const made = make();
    this.#made.set(name, made);
    return this.#oversight?.adopt(name, help, labelNames, made) ?? made;
  }
}

/** An empty registry with the process_* families. */
export function createMetrics(options: MetricsOptions = {}): ServedMetrics {
  const { process: wanted = 'all', ...rules } = options;
  const families = new Families(wanted === 'all' ? rules : undefined);
  if (wanted !== 'none') addProcessMetrics(families.registry, wanted === 'start');
  return families;
}
