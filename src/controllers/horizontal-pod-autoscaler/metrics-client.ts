/** The three metrics APIs, read live: metrics.k8s.io, custom.metrics.k8s.io, external.metrics.k8s.io. */
import { parseGoDuration } from '../../api/go-duration.ts';
import { parseJson } from '../../api/json.ts';
import { quantityMilli } from '../../api/quantity.ts';
import { PODS, parseApiVersion, type Resource, resourceId } from '../../api/resource.ts';
import type { Selector } from '../../api/selector.ts';
import { timeMs } from '../../api/time.ts';
import type { ControllerContext } from '../../runtime/controller.ts';
import type { Kinds } from '../_kit/scale/kinds.ts';
import { inUpstreamWords, textOf } from '../_kit/scale/words.ts';
import { MetricProblem, type PodMetric } from './proposal.ts';

const RESOURCE_API = 'metrics.k8s.io';
const CUSTOM_API = 'custom.metrics.k8s.io';
const EXTERNAL_API = 'external.metrics.k8s.io';
/** Versions of the custom API that can be read; upstream knows no others. */
const CUSTOM_VERSIONS = ['v1beta2', 'v1beta1'];
const NANOS_PER_MS = 1_000_000n;

/** Values by pod. */
export type PodMetricMap = ReadonlyMap<string, PodMetric>;

/** An object that a metric is about. */
export interface DescribedObject {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
}

interface List<T> {
  readonly items?: readonly T[] | null;
}

interface PodUsage {
  readonly metadata: { readonly name: string };
  readonly timestamp?: string;
  readonly window?: string;
  readonly containers?: readonly {
    readonly name: string;
    readonly usage?: Readonly<Record<string, string>>;
  }[];
}

interface MetricValue {
  readonly describedObject?: { readonly name?: string };
  readonly value: string;
}

/** Where and what to ask. */
interface Question {
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly segments: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  /** How upstream's client names it when the answer is no Status. */
  readonly about: string;
}

/** Asks for metrics. All errors are MetricProblems in upstream's words. */
export class MetricsClient {
  readonly #client: ControllerContext['client'];
  readonly #kinds: Kinds;
  readonly #periodMs: number;

  /** Which version of the custom API is preferred is asked again each `periodMs`. */
  constructor({ client }: Pick<ControllerContext, 'client'>, kinds: Kinds, periodMs: number) {
    this.#client = client;
    this.#kinds = kinds;
    this.#periodMs = periodMs;
  }

  /** What pods, or one container of each, use of a resource. */
  async ofResource(
    at: { readonly namespace: string; readonly selector: Selector; readonly signal: AbortSignal },
    resource: string,
    container: string,
  ): Promise<PodMetricMap> {
    const question = {
      group: RESOURCE_API,
      version: 'v1beta1',
      namespace: at.namespace,
      segments: ['pods'],
      query: { labelSelector: at.selector.text },
      about: `pods.${RESOURCE_API}`,
    };
    const items = await this.#items<PodUsage>(question, 'resource', at.signal);
    const found = new Map<string, PodMetric>();
    for (const item of items) {
      const value = usageOf(item, resource, container);
      if (value === undefined) continue;
      const windowMs = durationMs(item.window);
      found.set(item.metadata.name, { value, at: timeMs(item.timestamp), windowMs });
    }
    return found;
  }

  /** A metric of each pod. */
  async ofPods(
    at: { readonly namespace: string; readonly selector: Selector; readonly signal: AbortSignal },
    metric: string,
    metricSelector: Selector,
  ): Promise<PodMetricMap> {
    const question = await this.#customQuestion(at, PODS, '*', metric, {
      labelSelector: at.selector.text,
      metricLabelSelector: metricSelector.text,
    });
    const items = await this.#items<MetricValue>(question, 'custom', at.signal);
    return new Map(
      items.map(({ describedObject, value }) => [
        describedObject?.name ?? '',
        { value: milliOf(value), at: 0, windowMs: 0 },
      ]),
    );
  }

  /** A metric of one object, in the same namespace (or of the namespace itself). */
  async ofObject(
    at: { readonly namespace: string; readonly signal: AbortSignal },
    object: DescribedObject,
    metric: string,
    metricSelector: Selector,
  ): Promise<bigint> {
    const query = { metricLabelSelector: metricSelector.text };
    const question = await this.#objectQuestion(at, object, metric, query);
    const items = await this.#ask<MetricValue>(question, 'custom', at.signal);
    const [first] = items;
    if (first === undefined || items.length !== 1) {
      const found = `returned ${items.length} results when we asked for exactly one`;
      throw unfetched('custom', `the custom metrics API server ${found}`);
    }
    return milliOf(first.value);
  }

  /** All values of an external metric. */
  async ofOutside(
    at: { readonly namespace: string; readonly signal: AbortSignal },
    metric: string,
    metricSelector: Selector,
  ): Promise<readonly bigint[]> {
    const question = {
      group: EXTERNAL_API,
      version: 'v1beta1',
      namespace: at.namespace,
      // Upstream's client writes it as it writes resources; adapters know the name in this form.
      segments: [metric.toLowerCase()],
      query: { labelSelector: metricSelector.text },
      about: `${metric}.${EXTERNAL_API}`,
    };
    const items = await this.#items<MetricValue>(question, 'external', at.signal);
    return items.map(({ value }) => milliOf(value));
  }

  async #objectQuestion(
    at: { readonly namespace: string; readonly signal: AbortSignal },
    { apiVersion = '', kind, name }: DescribedObject,
    metric: string,
    query: Question['query'],
  ): Promise<Question> {
    const parsed = parseApiVersion(apiVersion);
    const group = 'problem' in parsed ? '' : parsed.group;
    if (group === '' && kind === 'Namespace') {
      const version = await this.#customVersion();
      const about = `metrics.${CUSTOM_API} ${metric}`;
      const { namespace } = at;
      return { group: CUSTOM_API, version, namespace, segments: ['metrics', metric], query, about };
    }
    const mapped = async (): Promise<Resource> => {
      try {
        return await this.#kinds.mapping(group, '', kind);
      } catch (error) {
        const full = group === '' ? kind : `${kind}.${group}`;
        const what = `unable to map kind ${full} to resource`;
        throw unfetched('custom', `${what}: ${textOf(error)}`);
      }
    };
    await this.#customVersion();
    return await this.#customQuestion(at, await mapped(), name, metric, query);
  }

  async #customQuestion(
    at: { readonly namespace: string; readonly signal: AbortSignal },
    resource: Resource,
    name: string,
    metric: string,
    query: Question['query'],
  ): Promise<Question> {
    const version = await this.#customVersion();
    const id = resourceId(resource);
    const about = `${id}.${CUSTOM_API} ${name}`;
    const segments = [id, name, metric];
    return { group: CUSTOM_API, version, namespace: at.namespace, segments, query, about };
  }

  async #customVersion(): Promise<string> {
    let served: readonly string[] | undefined;
    try {
      served = await this.#kinds.versions(CUSTOM_API, this.#periodMs);
    } catch (error) {
      throw unfetched('custom', textOf(error));
    }
    if (served === undefined) {
      throw unfetched('custom', `no custom metrics API (${CUSTOM_API}) registered`);
    }
    const version = served.find((one) => CUSTOM_VERSIONS.includes(one));
    if (version !== undefined) return version;
    throw unfetched('custom', 'no known available metric versions found');
  }

  async #items<T>(question: Question, api: Api, signal: AbortSignal): Promise<readonly T[]> {
    const items = await this.#ask<T>(question, api, signal);
    if (items.length > 0) return items;
    throw new MetricProblem(`no metrics returned from ${api} metrics API`);
  }

  async #ask<T>(question: Question, api: Api, signal: AbortSignal): Promise<readonly T[]> {
    const { group, version, namespace, segments, query, about } = question;
    const path = ['apis', group, version, 'namespaces', namespace, ...segments];
    const given = Object.entries(query).filter(([, value]) => value !== '');
    const search = given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
    const url = `/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
    try {
      const text = await this.#client.getPath(url, { accept: 'application/json', signal });
      return parseJson<List<T>>(text).items ?? [];
    } catch (error) {
      throw unfetched(api, textOf(inUpstreamWords(error, about)));
    }
  }
}

type Api = 'resource' | 'custom' | 'external';

function unfetched(api: Api, problem: string): MetricProblem {
  return new MetricProblem(`unable to fetch metrics from ${api} metrics API: ${problem}`);
}

function milliOf(text: string): bigint {
  return quantityMilli(text) ?? 0n;
}

/** Of a whole pod only if all its containers were measured. */
function usageOf(item: PodUsage, resource: string, container: string): bigint | undefined {
  const { containers = [] } = item;
  const asked = containers.filter(({ name }) => container === '' || name === container);
  const values = asked.map(({ usage = {} }) =>
    Object.hasOwn(usage, resource) ? usage[resource] : undefined,
  );
  if (values.length === 0) return undefined;
  let sum = 0n;
  for (const value of values) {
    if (value === undefined) return undefined;
    sum += milliOf(value);
  }
  return sum;
}

function durationMs(text: string | undefined): number {
  const { nanoseconds = 0n } = { nanoseconds: undefined, ...parseGoDuration(text ?? '0s') };
  return Number(nanoseconds / NANOS_PER_MS);
}
