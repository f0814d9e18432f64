/** What the API server serves: groups, versions, resources and their verbs. */
import { isNotFound } from '../api/errors.ts';
import { parseJson } from '../api/json.ts';
import type { Resource } from '../api/resource.ts';
import type { KubeClient, RequestOptions } from './types.ts';

/** A resource as discovery describes it. */
export interface DiscoveredResource extends Resource {
  readonly singular: string;
  readonly verbs: readonly string[];
  /** Names without the resource's own, e.g. "status", "scale". */
  readonly subresources: readonly string[];
}

export interface DiscoveredGroup {
  /** "" for core. */
  readonly name: string;
  /** In the server's order; stale versions are left out. */
  readonly versions: readonly string[];
  /** "" if no version could be read. */
  readonly preferredVersion: string;
}

export interface Discovery {
  /** Core first, then in the server's order. */
  readonly groups: readonly DiscoveredGroup[];
  /** Of all versions. */
  readonly resources: readonly DiscoveredResource[];
  /** Group versions ("metrics.k8s.io/v1beta1") that could not be read, and why. */
  readonly failed: ReadonlyMap<string, string>;
}

/** Aggregated discovery, newest form first, then the old way. */
const AGGREGATED = ['v2', 'v2beta1'].map(
  (version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
);
const ACCEPT = [...AGGREGATED, 'application/json'].join(',');

interface Kind {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
}

interface AggregatedList {
  readonly kind?: string;
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version: string;
      readonly freshness?: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: Kind;
        readonly scope?: string;
        readonly singularResource?: string;
        readonly verbs?: readonly string[];
        readonly subresources?: readonly { readonly subresource: string }[];
      }[];
    }[];
  }[];
}

interface LegacyVersions {
  readonly versions?: readonly string[];
}

interface LegacyGroups {
  readonly groups?: readonly {
    readonly name: string;
    readonly versions: readonly { readonly version: string }[];
    readonly preferredVersion?: { readonly version: string };
  }[];
}

interface LegacyResources {
  readonly resources?: readonly {
    readonly name: string;
    readonly singularName?: string;
    readonly namespaced: boolean;
    readonly kind: string;
    readonly verbs?: readonly string[];
  }[];
}

/**
 * Asks the server in two requests (aggregated discovery), or version by version if it only knows
 * the old way. Versions that can't be read are in `failed`, the others are complete. Throws what
 * the two first requests throw.
 */
export async function discover(
  client: KubeClient,
  options: RequestOptions = {},
): Promise<Discovery> {
  const ask = (path: string) => client.getPath(path, { ...options, accept: ACCEPT });
  const core = parseJson<AggregatedList & LegacyVersions>(await coreOr(ask));
  const named = parseJson<AggregatedList & LegacyGroups>(await ask('/apis'));
  const isAggregated = isAggregatedList(core) && isAggregatedList(named);
  if (isAggregated) return merge([fromAggregated(core), fromAggregated(named)]);
  const groups = [...coreGroups(core), ...namedGroups(named)];
  return versionByVersion(client, options, groups);
}

/** Aggregated API servers have no /api: as upstream, that is an empty core group. */
async function coreOr(ask: (path: string) => Promise<string>): Promise<string> {
  try {
    return await ask('/api');
  } catch (error) {
    if (isNotFound(error)) return '{"kind":"APIGroupDiscoveryList"}';
    throw error;
  }
}

function isAggregatedList(answer: { readonly kind?: string }): boolean {
  return answer.kind === 'APIGroupDiscoveryList';
}

function merge(parts: readonly Discovery[]): Discovery {
  return {
    groups: parts.flatMap((part) => part.groups),
    resources: parts.flatMap((part) => part.resources),
    failed: new Map(parts.flatMap((part) => [...part.failed])),
  };
}

function fromAggregated(list: AggregatedList): Discovery {
  const groups: DiscoveredGroup[] = [];
  const resources: DiscoveredResource[] = [];
  const failed = new Map<string, string>();
  for (const item of list.items ?? []) {
    const group = item.metadata?.name ?? '';
    const fresh = (item.versions ?? []).filter(({ version, freshness }) => {
      if (freshness !== 'Stale') return true;
      const name = groupVersion(group, version);
      failed.set(name, `stale GroupVersion discovery: ${name}`);
      return false;
    });
    const versions = fresh.map(({ version }) => version);
    groups.push({ name: group, versions, preferredVersion: versions[0] ?? '' });
    for (const { version, resources: found } of fresh) {
      for (const entry of found ?? []) {
        // A parent without a kind only carries subresources: upstream leaves it out as well.
        if (!entry.responseKind?.kind) continue;
        resources.push({
          group,
          version,
          plural: entry.resource,
          kind: entry.responseKind.kind,
          namespaced: entry.scope === 'Namespaced',
          singular: entry.singularResource ?? '',
          verbs: entry.verbs ?? [],
          subresources: (entry.subresources ?? []).map(({ subresource }) => subresource),
        });
      }
    }
  }
  return { groups, resources, failed };
}

function coreGroups(core: AggregatedList & LegacyVersions): DiscoveredGroup[] {
  if (isAggregatedList(core)) return [...fromAggregated(core).groups];
  const versions = core.versions ?? [];
  return versions.length === 0 ? [] : [{ name: '', versions, preferredVersion: versions[0] ?? '' }];
}

function namedGroups(named: AggregatedList & LegacyGroups): DiscoveredGroup[] {
  if (isAggregatedList(named)) return [...fromAggregated(named).groups];
  return (named.groups ?? []).map(({ name, versions, preferredVersion }) => ({
    name,
    versions: versions.map(({ version }) => version),
    preferredVersion: preferredVersion?.version ?? versions[0]?.version ?? '',
  }));
}

async function versionByVersion(
  client: KubeClient,
  options: RequestOptions,
  groups: readonly DiscoveredGroup[],
): Promise<Discovery> {
  const failed = new Map<string, string>();
  const asked = groups.flatMap(({ name, versions }) =>
    versions.map(async (version): Promise<readonly DiscoveredResource[]> => {
      const path = `/${name === '' ? 'api' : 'apis'}/${groupVersion(name, version)}`;
      try {
        const text = await client.getPath(path, { ...options, accept: 'application/json' });
        return fromLegacy(name, version, parseJson<LegacyResources>(text));
      } catch (error) {
        if (!(name === '' && isNotFound(error))) {
          const why = error instanceof Error ? error.message : String(error);
          failed.set(groupVersion(name, version), why);
        }
        return [];
      }
    }),
  );
  const resources = (await Promise.all(asked)).flat();
  return { groups, resources, failed };
}

function fromLegacy(
  group: string,
  version: string,
  list: LegacyResources,
): readonly DiscoveredResource[] {
  const all = list.resources ?? [];
  return all
    .filter(({ name }) => !name.includes('/'))
    .map((entry) => ({
      group,
      version,
      plural: entry.name,
      kind: entry.kind,
      namespaced: entry.namespaced,
      singular: entry.singularName ?? '',
      verbs: entry.verbs ?? [],
      subresources: all
        .filter(({ name }) => name.startsWith(`${entry.name}/`))
        .map(({ name }) => name.slice(entry.name.length + 1)),
    }));
}

/** "apps/v1", or "v1" for core. */
export function groupVersion(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}
