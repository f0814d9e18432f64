/** Finds resources among those the server serves: by kind, by verbs, in the preferred version. */
import { type DiscoveredResource, type Discovery, groupVersion } from './discovery.ts';

/** Answers questions about one discovery; made anew when the server is asked again. */
export interface ResourceMapper {
  /** The resource of an object's apiVersion and kind, undefined if the server has none. */
  ofKind(apiVersion: string, kind: string): DiscoveredResource | undefined;
  /** The resource of a group and kind in the preferred version, or the first that has it. */
  ofGroupKind(group: string, kind: string): DiscoveredResource | undefined;
  /**
   * Each resource once, in its group's preferred version, or in the first version that has it.
   * Upstream's ServerPreferredResources.
   */
  preferred(): readonly DiscoveredResource[];
}

/** A mapper over what discovery found. */
export function createMapper(discovery: Discovery): ResourceMapper {
  const byKind = new Map<string, DiscoveredResource>();
  for (const resource of discovery.resources) {
    const key = `${groupVersion(resource.group, resource.version)} ${resource.kind}`;
    // Kinds may have several resources; the first one that is listed is the main one.
    if (!byKind.has(key)) byKind.set(key, resource);
  }
  const versions = new Map(discovery.groups.map((group) => [group.name, versionOrder(group)]));
  const preferred = choosePreferred(discovery);
  return {
    ofKind: (apiVersion, kind) => byKind.get(`${apiVersion} ${kind}`),
    ofGroupKind(group, kind) {
      for (const version of versions.get(group) ?? []) {
        const found = byKind.get(`${groupVersion(group, version)} ${kind}`);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    preferred: () => preferred,
  };
}

/** True if the resource knows all of these verbs ("list", "watch", "deletecollection", ...). */
export function supportsVerbs(resource: DiscoveredResource, ...verbs: readonly string[]): boolean {
  return verbs.every((verb) => resource.verbs.includes(verb));
}

function versionOrder(group: { versions: readonly string[]; preferredVersion: string }): string[] {
  const { versions, preferredVersion } = group;
  const others = versions.filter((version) => version !== preferredVersion);
  return versions.includes(preferredVersion) ? [preferredVersion, ...others] : others;
}

function choosePreferred(discovery: Discovery): readonly DiscoveredResource[] {
  const preferredOf = new Map(
    discovery.groups.map(({ name, preferredVersion }) => [name, preferredVersion]),
  );
  const chosen = new Map<string, DiscoveredResource>();
  for (const resource of discovery.resources) {
    const key = `${resource.group}/${resource.plural}`;
    const isPreferred = preferredOf.get(resource.group) === resource.version;
    if (isPreferred || !chosen.has(key)) chosen.set(key, resource);
  }
  return [...chosen.values()];
}
