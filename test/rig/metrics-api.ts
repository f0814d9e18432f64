/**
 * The three metrics APIs (metrics.k8s.io, custom.metrics.k8s.io, external.metrics.k8s.io) with values
 * that a test sets, aggregated into the API server as a metrics server and an adapter would be.
 */
import { aggregate } from './aggregation.ts';
import type { Obj } from './api.ts';
import { Authority } from './certs.ts';
import type { Cluster } from './cluster.ts';

const VERSIONS = [
  ['metrics.k8s.io', 'v1beta1'],
  ['custom.metrics.k8s.io', 'v1beta2'],
  ['custom.metrics.k8s.io', 'v1beta1'],
  ['external.metrics.k8s.io', 'v1beta1'],
] as const;
const WINDOW = '30s';

/** What containers use, by container name and resource; undefined: nothing was measured. */
export type Usage = Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
/** Of the pods that run, each with its place by name and their number. */
export type UsageRule = (pod: Obj, index: number, count: number) => Usage;
/** A value per pod that runs. */
export type PodRule = (pod: Obj, index: number, count: number) => string | undefined;

interface Outside {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
}

/** Values by namespace; what isn't set isn't found. */
export class MetricsApi {
  readonly #cluster: Cluster;
  readonly #usage = new Map<string, UsageRule>();
  readonly #pods = new Map<string, PodRule>();
  readonly #objects = new Map<string, string>();
  readonly #outside = new Map<string, readonly Outside[]>();
  /** Requests as they came, path and query. */
  readonly asked: string[] = [];

  private constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Serves and registers the APIs; resolves when the API server finds them available. */
  static async serve(cluster: Cluster): Promise<MetricsApi> {
    const made = new MetricsApi(cluster);
    const authority = await Authority.create('rig metrics');
    const { certPem: cert, keyPem: key } = await authority.issue({
      commonName: 'rig-metrics',
      hosts: ['localhost', '127.0.0.1'],
    });
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      tls: { cert, key },
      fetch: (request) => made.#answer(new URL(request.url)),
    });
    cluster.onStop(() => server.stop(true));
    await aggregate(cluster.api, 'rig-metrics', server.port ?? 0, VERSIONS);
    return made;
  }

  /** What pods of a namespace use. */
  usage(namespace: string, rule: UsageRule): void {
    this.#usage.set(namespace, rule);
  }

  /** A metric of each pod. */
  ofPods(namespace: string, metric: string, rule: PodRule): void {
    this.#pods.set(`${namespace}/${metric}`, rule);
  }

  /** A metric of one object: resource as "deployments.apps", "services", or "namespaces". */
  ofObject(namespace: string, resource: string, name: string, metric: string, value: string): void {
    this.#objects.set(`${namespace}/${resource}/${name}/${metric}`, value);
  }

  /** A metric from outside the cluster. */
  outside(namespace: string, metric: string, ...values: readonly Outside[]): void {
    this.#outside.set(`${namespace}/${metric}`, values);
  }

  async #answer({ pathname, searchParams, search }: URL): Promise<Response> {
    this.asked.push(pathname + search);
    const [, , group = '', version = '', scope, namespace = '', ...rest] = pathname
      .split('/')
      .map(decodeURIComponent);
    if (pathname === `/apis/${group}/${version}`) return Response.json(resources(group, version));
    if (scope !== 'namespaces') return notFound(pathname);
    const answer = await this.#list(group, version, namespace, rest, searchParams);
    return answer === undefined ? notFound(pathname) : Response.json(answer);
  }

  async #list(
    group: string,
    version: string,
    namespace: string,
    rest: readonly string[],
    query: URLSearchParams,
  ): Promise<object | undefined> {
    const apiVersion = `${group}/${version}`;
    const [resource = '', name = '', metric = ''] = rest;
    if (group === 'metrics.k8s.io') {
      const items = await this.#usages(namespace, query.get('labelSelector') ?? '');
      return { apiVersion, kind: 'PodMetricsList', metadata: {}, items };
    }
    if (group === 'external.metrics.k8s.io') {
      const items = this.#outsideValues(namespace, resource, query.get('labelSelector') ?? '');
      return items && { apiVersion, kind: 'ExternalMetricValueList', metadata: {}, items };
    }
    const isAllPods = resource === 'pods' && name === '*';
    const items = isAllPods
      ? await this.#podValues(version, namespace, metric, query.get('labelSelector') ?? '')
      : this.#objectValues(version, namespace, resource, name, metric);
    return items && { apiVersion, kind: 'MetricValueList', metadata: {}, items };
  }

  async #running(namespace: string, labelSelector: string): Promise<Obj[]> {
    const pods = await this.#cluster.api.list('pods', namespace, { labelSelector });
    return pods
      .filter(({ status }) => status?.phase === 'Running')
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  async #usages(namespace: string, labelSelector: string): Promise<object[]> {
    const rule = this.#usage.get(namespace);
    const pods = rule === undefined ? [] : await this.#running(namespace, labelSelector);
    return pods.flatMap((pod, index) => {
      const usage = rule?.(pod, index, pods.length);
      if (usage === undefined) return [];
      const containers = Object.entries(usage).map(([name, used]) => ({ name, usage: used }));
      const metadata = { name: pod.metadata.name, namespace };
      return [{ metadata, timestamp: now(), window: WINDOW, containers }];
    });
  }

  async #podValues(
    version: string,
    namespace: string,
    metric: string,
    labelSelector: string,
  ): Promise<object[] | undefined> {
    const rule = this.#pods.get(`${namespace}/${metric}`);
    if (rule === undefined) return undefined;
    const pods = await this.#running(namespace, labelSelector);
    return pods.flatMap((pod, index) => {
      const value = rule(pod, index, pods.length);
      const { name } = pod.metadata;
      return value === undefined
        ? []
        : [metricValue(version, { kind: 'Pod', name }, metric, value)];
    });
  }

  #objectValues(
    version: string,
    namespace: string,
    resource: string,
    name: string,
    metric: string,
  ): object[] | undefined {
    // The metric of a namespace comes as .../metrics/METRIC.
    const isNamespace = resource === 'metrics' && metric === '';
    const id = isNamespace ? `namespaces/${namespace}/${name}` : `${resource}/${name}/${metric}`;
    const value = this.#objects.get(`${namespace}/${id}`);
    if (value === undefined) return undefined;
    return [metricValue(version, { kind: resource, name }, isNamespace ? name : metric, value)];
  }

  #outsideValues(namespace: string, metric: string, selector: string): object[] | undefined {
    const wanted = selector.split(',').filter((part) => part !== '');
    return this.#outside
      .get(`${namespace}/${metric}`)
      ?.filter(({ labels }) =>
        wanted.every((part) => {
          const [key = '', value] = part.split('=');
          return labels[key] === value;
        }),
      )
      .map(({ labels, value }) => ({
        metricName: metric,
        metricLabels: labels,
        timestamp: now(),
        value,
      }));
  }
}

function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z');
}

function metricValue(
  version: string,
  describedObject: { readonly kind: string; readonly name: string },
  metric: string,
  value: string,
): object {
  const named = version === 'v1beta1' ? { metricName: metric } : { metric: { name: metric } };
  return { describedObject, ...named, timestamp: now(), value };
}

function resources(group: string, version: string): object {
  const verbs = ['get', 'list'];
  const own =
    group === 'metrics.k8s.io'
      ? [{ name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs }]
      : [];
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: `${group}/${version}`,
    resources: own,
  };
}

function notFound(path: string): Response {
  const message = `the rig has no metric at ${path}`;
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: 'NotFound',
    code: 404,
  };
  return Response.json({ ...status, message }, { status: 404 });
}
