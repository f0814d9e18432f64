/** What one metric of an autoscaler asks for, how its status shows it, or why it says nothing. */
import { milliText } from '../../api/quantity.ts';
import { repeatedMatch, type Selector } from '../../api/selector.ts';
import { labelSelectorText } from '../../api/selector-text.ts';
import type { Pod } from '../../api/types/index.ts';
import type { Lister, PodRecord } from '../../runtime/informer/types.ts';
import { type CpuTimes, type Groups, groupPods } from './groups.ts';
import {
  compiled,
  type Identifier,
  identified,
  inWords,
  isGiven,
  MetricFailure,
  milli,
  neitherTarget,
  outsideName,
  UNKNOWN_TYPE,
  wrapped,
} from './metric-words.ts';
import type { MetricsClient, PodMetricMap } from './metrics-client.ts';
import type { PodFacts } from './pod-facts.ts';
import {
  MetricProblem,
  measureAverage,
  measureUtilization,
  ofCounting,
  type PodMetrics,
  type Proposal,
  proposeFromPods,
  proposeFromShare,
  proposeFromTotal,
  sumOf,
  sumToShare,
  type Tolerances,
} from './proposal.ts';
import type { AutoscalerSpec } from './rules.ts';
import type { MetricStatus } from './status.ts';

/** One entry of `spec.metrics`. */
export type MetricSpec = NonNullable<AutoscalerSpec['metrics']>[number];
type ResourceSource = NonNullable<MetricSpec['resource']>;
type ContainerSource = NonNullable<MetricSpec['containerResource']>;
type Target = ResourceSource['target'];

/** What is asked about. */
export interface Scaled {
  readonly namespace: string;
  /** Replicas that the target's spec asks for, and that its status reports. */
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly selector: Selector;
  readonly tolerances: Tolerances;
  readonly signal: AbortSignal;
  /** Wall time. */
  readonly now: number;
}

/** What answers go by. */
export interface ComputeDeps {
  readonly client: MetricsClient;
  readonly pods: Lister<Pod, PodRecord>;
  readonly facts: PodFacts;
  readonly cpu: CpuTimes;
  readonly usePodLevel: boolean;
}

/** What a metric asks for. */
export interface Computed {
  readonly replicas: number;
  /** As events name it. */
  readonly metric: string;
  readonly status: MetricStatus;
}

const NO_PODS = 'no pods returned by selector while calculating replica count';
const HUNDRED = 100n;

/** Computes metrics. Throws MetricFailure for one that says nothing. */
export class MetricComputer {
  readonly #deps: ComputeDeps;

  constructor(deps: ComputeDeps) {
    this.#deps = deps;
  }

  async compute(scaled: Scaled, spec: MetricSpec): Promise<Computed> {
    const { resource, containerResource, pods, object, external } = spec;
    switch (spec.type) {
      case 'Resource':
        if (resource !== undefined) return await this.#resource(scaled, resource);
        break;
      case 'ContainerResource':
        if (containerResource !== undefined) {
          return await this.#containerResource(scaled, containerResource);
        }
        break;
      case 'Pods':
        if (pods !== undefined) return await this.#pods(scaled, pods);
        break;
      case 'Object':
        if (object !== undefined) return await this.#object(scaled, object);
        break;
      case 'External':
        if (external !== undefined) return await this.#external(scaled, external);
        break;
    }
    const problem = `unknown metric source type "${spec.type}"`;
    throw new MetricFailure(UNKNOWN_TYPE, problem, problem);
  }

  async #resource(scaled: Scaled, { name, target }: ResourceSource): Promise<Computed> {
    const wording = {
      reason: 'FailedGetResourceMetric',
      error: (told: string) => `failed to get ${name} resource metric value: ${told}`,
    };
    const kind = 'resource';
    return await inWords(wording, async () => {
      const { current, ...rest } = await this.#usage(scaled, { name, container: '', target, kind });
      return { ...rest, status: { type: 'Resource', resource: { name, current } } };
    });
  }

  async #containerResource(
    scaled: Scaled,
    { name, container, target }: ContainerSource,
  ): Promise<Computed> {
    const wording = {
      reason: 'FailedGetContainerResourceMetric',
      error: (told: string) => `failed to get ${container} container metric value: ${told}`,
    };
    const kind = 'container resource';
    return await inWords(wording, async () => {
      const { current, ...rest } = await this.#usage(scaled, { name, container, target, kind });
      const containerResource = { name, container, current };
      return { ...rest, status: { type: 'ContainerResource', containerResource } };
    });
  }

  async #usage(scaled: Scaled, source: UsageSource) {
    const { name, container, target, kind } = source;
    const format = name === 'memory' ? 'binary' : 'decimal';
    const { averageValue, averageUtilization } = target;
    if (isGiven(averageValue)) {
      const proposal = await wrapped(`failed to get ${name} usage`, async () => {
        const metrics = await this.#resourceMetrics(scaled, name, container);
        return await this.#average(scaled, metrics, milli(averageValue), name);
      });
      const current = { averageValue: milliText(proposal.average, format) };
      return { replicas: proposal.replicas, metric: `${name} resource`, current };
    }
    if (!isGiven(averageUtilization)) {
      throw new MetricProblem(
        'invalid resource metric source: neither an average utilization target nor an average ' +
          'value (usage) target was set',
      );
    }
    const proposal = await wrapped(`failed to get ${name} utilization`, () =>
      this.#utilization(scaled, source, averageUtilization),
    );
    const metric = `${name} ${kind} utilization (percentage of request)`;
    const current = {
      averageUtilization: proposal.utilization,
      averageValue: milliText(proposal.average, format),
    };
    return { replicas: proposal.replicas, metric, current };
  }

  async #resourceMetrics(scaled: Scaled, name: string, container: string) {
    return await wrapped(`unable to get metrics for resource ${name}`, () =>
      this.#deps.client.ofResource(scaled, name, container),
    );
  }

  async #utilization(
    scaled: Scaled,
    { name, container }: UsageSource,
    targetPercent: number,
  ): Promise<Proposal> {
    const { facts, usePodLevel } = this.#deps;
    const metrics = await this.#resourceMetrics(scaled, name, container);
    const pods = this.#selected(scaled);
    const groups = await this.#groups(scaled, pods, metrics, name);
    ofCounting(metrics, groups);
    const requests = await facts.requests(pods, { resource: name, container, usePodLevel });
    const full = BigInt(Math.max(Number(HUNDRED), targetPercent));
    return proposeFromPods({
      ...this.#given(scaled, metrics, groups),
      measure: (counting) => measureUtilization(counting, requests, targetPercent),
      fallback: (pod) => ((requests.get(pod) ?? 0n) * full) / HUNDRED,
    });
  }

  async #average(
    scaled: Scaled,
    metrics: PodMetricMap,
    target: bigint,
    resource: string,
  ): Promise<Proposal> {
    const groups = await this.#groups(scaled, this.#selected(scaled), metrics, resource);
    return proposeFromPods({
      ...this.#given(scaled, metrics, groups),
      measure: (counting) => measureAverage(counting, target),
      fallback: () => target,
    });
  }

  #given(
    scaled: Scaled,
    metrics: PodMetricMap,
    groups: Groups,
  ): Omit<PodMetrics, 'measure' | 'fallback'> {
    const { specReplicas: current, tolerances } = scaled;
    return { current, metrics, groups, tolerances };
  }

  async #pods(scaled: Scaled, source: NonNullable<MetricSpec['pods']>): Promise<Computed> {
    const { metric, target } = source;
    const wording = {
      reason: 'FailedGetPodsMetric',
      error: (told: string) => `failed to get pods metric value: ${told}`,
    };
    return await inWords(wording, async () => {
      const selector = compiled(metric.selector);
      const metrics = await wrapped(`unable to get metric ${metric.name}`, () =>
        this.#deps.client.ofPods(scaled, metric.name, selector),
      );
      const wanted = milli(target.averageValue ?? '0');
      const proposal = await this.#average(scaled, metrics, wanted, '');
      const current = { averageValue: milliText(proposal.average, 'decimal') };
      const status = { type: 'Pods', pods: { metric: identified(metric), current } };
      return { replicas: proposal.replicas, metric: `pods metric ${metric.name}`, status };
    });
  }

  async #object(scaled: Scaled, source: NonNullable<MetricSpec['object']>): Promise<Computed> {
    const { metric, target, describedObject } = source;
    const { value, averageValue, type } = target;
    const isShare = type === 'AverageValue' && isGiven(averageValue);
    const isTotal = type === 'Value' && isGiven(value);
    const shared = isShare ? `failed to get ${metric.name} object metric: ` : '';
    const failed = 'failed to get object metric value: ';
    const wording = (inner: string) => ({
      reason: 'FailedGetObjectMetric',
      error: (told: string) => `${failed}${inner}${told}`,
    });
    const selector = await inWords(wording(''), async () => compiled(metric.selector));
    return await inWords(wording(shared), async () => {
      if (!isTotal && !isShare) throw new MetricProblem(neitherTarget('object'));
      const usage = await this.#objectUsage(scaled, source, selector);
      const base = { describedObject, metric: identified(metric) };
      if (isTotal) {
        const proposal = proposeFromTotal(usage, milli(value), this.#total(scaled));
        const current = { value: milliText(proposal.average, 'decimal') };
        const status = { type: 'Object', object: { ...base, current } };
        const name = `${describedObject.kind} metric ${metric.name}`;
        return { replicas: proposal.replicas, metric: name, status };
      }
      const proposal = proposeFromShare(usage, milli(averageValue ?? '0'), shareOf(scaled));
      const current = { averageValue: milliText(proposal.average, 'decimal') };
      const status = { type: 'Object', object: { ...base, current } };
      return { replicas: proposal.replicas, metric: outsideName(metric), status };
    });
  }

  async #objectUsage(
    scaled: Scaled,
    { metric, describedObject }: NonNullable<MetricSpec['object']>,
    selector: Selector,
  ): Promise<bigint> {
    const { kind, name } = describedObject;
    try {
      return await this.#deps.client.ofObject(scaled, describedObject, metric.name, selector);
    } catch (error) {
      if (!(error instanceof MetricProblem)) throw error;
      const where = `${kind} on ${scaled.namespace} ${name}/${error.message}`;
      throw new MetricProblem(`unable to get metric ${metric.name}: ${where}`);
    }
  }

  async #external(scaled: Scaled, source: NonNullable<MetricSpec['external']>): Promise<Computed> {
    const { metric, target } = source;
    const { value, averageValue } = target;
    const isShare = isGiven(averageValue);
    const outer = `failed to get ${metric.name} external metric value: `;
    const inner = isShare
      ? `failed to get ${metric.name} external metric: `
      : `failed to get external metric ${metric.name}: `;
    const isTotal = !isShare && isGiven(value);
    const wording = {
      reason: 'FailedGetExternalMetric',
      error: (told: string) => `${outer}${isShare || isTotal ? inner : ''}${told}`,
    };
    return await inWords(wording, async () => {
      if (!isShare && !isTotal) throw new MetricProblem(neitherTarget('external'));
      const usage = (isShare ? sumToShare : sumOf)(await this.#outsideValues(scaled, metric));
      const proposal = isShare
        ? proposeFromShare(usage, milli(averageValue), shareOf(scaled))
        : proposeFromTotal(usage, milli(value ?? '0'), this.#total(scaled));
      const text = milliText(proposal.average, 'decimal');
      const current = isShare ? { averageValue: text } : { value: text };
      const status = { type: 'External', external: { metric: identified(metric), current } };
      return { replicas: proposal.replicas, metric: outsideName(metric), status };
    });
  }

  async #outsideValues(scaled: Scaled, metric: Identifier): Promise<readonly bigint[]> {
    const selector = compiled(metric.selector);
    const id = `${scaled.namespace}/${metric.name}/${labelSelectorText(metric.selector)}`;
    return await wrapped(`unable to get external metric ${id}`, () =>
      this.#deps.client.ofOutside(scaled, metric.name, selector),
    );
  }

  #total(scaled: Scaled) {
    const { specReplicas: current, tolerances } = scaled;
    const readyPods = (): number => {
      const pods = this.#records(scaled);
      if (pods.length === 0) {
        throw new MetricProblem(`unable to calculate ready pods: ${NO_PODS}`);
      }
      return pods.filter(({ phase, ready }) => phase === 'Running' && ready).length;
    };
    return { current, tolerances, readyPods };
  }

  async #groups(
    scaled: Scaled,
    pods: readonly PodRecord[],
    metrics: PodMetricMap,
    resource: string,
  ): Promise<Groups> {
    const { facts, cpu } = this.#deps;
    if (resource !== 'cpu') return groupPods(pods, metrics, scaled.now);
    return groupPods(await facts.times(pods), metrics, scaled.now, cpu);
  }

  #selected(scaled: Scaled): readonly PodRecord[] {
    const pods = this.#records(scaled);
    if (pods.length === 0) throw new MetricProblem(NO_PODS);
    return pods;
  }

  #records({ namespace, selector }: Scaled): readonly PodRecord[] {
    return this.#deps.pods.selected(namespace, repeatedMatch(selector));
  }
}

interface UsageSource {
  readonly name: string;
  readonly container: string;
  readonly target: Target;
  /** As the metric's name says it. */
  readonly kind: string;
}

function shareOf({ statusReplicas: replicas, tolerances }: Scaled) {
  return { replicas, tolerances };
}
