/** The scale subresource of any kind, read live. Upstream's scale client. */
import { parseJson } from '../../../api/json.ts';
import { apiVersionOf, type Resource } from '../../../api/resource.ts';
import { selectorFromMap } from '../../../api/selector.ts';
import { parseSelector } from '../../../api/selector-parse.ts';
import type { KubeObject } from '../../../api/types/index.ts';
import type { ControllerContext, SyncRun } from '../../../runtime/controller.ts';
import type { Kinds } from './kinds.ts';
import { inUpstreamWords } from './words.ts';

/** Whose scale. */
export interface ScaleAt {
  readonly namespace: string;
  readonly name: string;
}

/** A scale as the server sent it; in old groups the selector is a map beside a text. */
export interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: {
    readonly replicas?: number;
    readonly selector?: string | Readonly<Record<string, string>>;
    readonly targetSelector?: string;
  };
}

interface ResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly group?: string;
    readonly version?: string;
    readonly kind: string;
  }[];
}

/** Forms of a scale that can be read, as group/version. */
const SCALE_VERSIONS = new Set([
  'autoscaling/v1',
  'extensions/v1beta1',
  'apps/v1beta1',
  'apps/v1beta2',
]);

/** A scale that can't be understood; the message is upstream's. */
export class ScaleProblem extends Error {
  constructor(problem: string) {
    super(
      'received an object from a /scale endpoint which was not convertible to autoscaling Scale: ' +
        `failed to parse target selector: ${problem}`,
    );
    this.name = 'ScaleProblem';
  }
}

/** The selector of a scale as text in one order, "" if it has none. Throws ScaleProblem. */
export function scaleSelector({ status }: Scale): string {
  const { selector = '', targetSelector = '' } = status ?? {};
  if (targetSelector === '' && typeof selector !== 'string') return selectorFromMap(selector).text;
  const text = typeof selector === 'string' ? selector : targetSelector;
  const parsed = parseSelector(text);
  if (parsed.selector === undefined) {
    throw new ScaleProblem(`couldn't parse the selector string "${text}": ${parsed.problem}`);
  }
  const [compared] = /[<>]/.exec(parsed.selector.text) ?? [];
  if (compared !== undefined) {
    const operator = compared === '>' ? 'gt' : 'lt';
    throw new ScaleProblem(`"${operator}" isn't supported in label selectors`);
  }
  return parsed.selector.text;
}

/** Reads and writes scales; resources are taken in the version that the server prefers. */
export class Scales {
  readonly #kinds: Kinds;
  readonly #client: ControllerContext['client'];

  constructor(kinds: Kinds, client: ControllerContext['client']) {
    this.#kinds = kinds;
    this.#client = client;
  }

  /** Throws as SyncClient does, in upstream's words, and ScaleProblem. */
  async get(run: SyncRun, resource: Resource, { namespace, name }: ScaleAt): Promise<Scale> {
    const preferred = await this.#inNamespace(resource);
    const at = { namespace, name, subresource: 'scale' };
    let scale: Scale;
    try {
      scale = await run.client.get<Scale>(preferred, at);
    } catch (error) {
      throw inUpstreamWords(error, `${preferred.plural} ${name}`);
    }
    scaleSelector(scale);
    return scale;
  }

  /**
   * Asks for so many replicas where `scale` was read; a conflict if it has changed since. Servers
   * need not say in a scale which namespace it is of.
   */
  async update(
    run: SyncRun,
    resource: Resource,
    scale: Scale,
    wanted: { readonly namespace: string; readonly replicas: number; readonly because: string },
  ): Promise<Scale> {
    const preferred = await this.#inNamespace(resource);
    const { namespace } = wanted;
    const at = { namespace, name: scale.metadata.name, subresource: 'scale' };
    const body = { ...scale, spec: { ...scale.spec, replicas: wanted.replicas } };
    return await run.client.update<Scale>(preferred, at, body, { because: wanted.because });
  }

  /**
   * As upstream, a scale is asked for in a namespace whatever its kind is, and that of a kind
   * without namespaces is not found: who may write into one namespace must not reach beyond it.
   */
  async #inNamespace(resource: Resource): Promise<Resource> {
    return { ...(await this.#kinds.preferred(resource)), namespaced: true };
  }

  /** Whether objects of this resource, in this version, have a scale that can be read. */
  async implemented(run: SyncRun, resource: Resource): Promise<boolean> {
    const root = resource.group === '' ? '/api' : '/apis';
    const text = await this.#client.getPath(`${root}/${apiVersionOf(resource)}`, {
      accept: 'application/json',
      signal: run.signal,
    });
    const { resources = [] } = parseJson<ResourceList>(text);
    return resources.some(
      ({ name, group, version, kind }) =>
        name === `${resource.plural}/scale` &&
        kind === 'Scale' &&
        SCALE_VERSIONS.has(`${group}/${version}`),
    );
  }
}
