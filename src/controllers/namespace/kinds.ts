/** Which kinds of objects a namespace may hold, and how they can be deleted. */
import type { DiscoveryResult, ServedResource } from '../../runtime/controller.ts';

/** Discovery could not read some group versions; the others are known. */
export class PartialDiscoveryError extends Error {
  readonly groups: number;

  constructor(failed: ReadonlyMap<string, string>) {
    const each = [...failed].map(([groupVersion, why]) => `${groupVersion}: ${why}`).sort();
    super(`unable to retrieve the complete list of server APIs: ${each.join(', ')}`);
    this.name = 'PartialDiscoveryError';
    this.groups = failed.size;
  }
}

/** True if the kind supports the verb. */
export function supports(kind: ServedResource, verb: string): boolean {
  return kind.verbs.includes(verb);
}

/**
 * Namespaced kinds, each in the version its group prefers (or the first that has it), of which
 * objects can be deleted. In the server's order.
 */
export function deletableKinds({ groups, resources }: DiscoveryResult): readonly ServedResource[] {
  const preferred = new Map(groups.map(({ name, preferredVersion }) => [name, preferredVersion]));
  const chosen = new Map<string, ServedResource>();
  for (const resource of resources) {
    const id = `${resource.plural}.${resource.group}`;
    if (chosen.has(id) && resource.version !== preferred.get(resource.group)) continue;
    chosen.set(id, resource);
  }
  return [...chosen.values()].filter((kind) => kind.namespaced && supports(kind, 'delete'));
}

/** "apps/v1, Resource=deployments", as upstream's messages name a kind. */
export function kindText({ group, version, plural }: ServedResource): string {
  return `${group}/${version}, Resource=${plural}`;
}
