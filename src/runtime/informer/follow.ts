/**
 * Follows resources as discovery finds and loses them: every 30 s the server is asked what it
 * serves, and what the controllers want of it gets an informer, as long as the process lives.
 */
import { apiVersionOf, type Resource, resourceId } from '../../api/resource.ts';
import type { KubeObject } from '../../api/types/index.ts';
import { createMapper, type Discovery, type ResourceMapper } from '../../kube/index.ts';
import type { Clock } from '../clock.ts';
import type { ServedResource } from '../controller.ts';
import { DISCOVERY_INTERVAL_MS } from '../limits.ts';
import type { Logger } from '../log.ts';
import type { FactTable } from '../ports.ts';
import type { DiscoveryLook, Followed, FollowedResources, Informer } from './types.ts';

const FACT_FOLLOWED = 'followed.resources';
const NEEDED_VERBS = ['list', 'watch'];

/** How a resource is followed: whole objects, or only their metadata. */
export type FollowMode = 'whole' | 'metadata';

/** What the controllers of this process want to follow. */
export interface Following {
  /** Asked for each resource in its preferred version; undefined: nobody wants it. */
  wants(resource: ServedResource): FollowMode | undefined;
  /** Records of all caches carry ties. */
  readonly ties: boolean;
  /** Asks the server what it serves; throws if even the groups can't be read. */
  discover(): Promise<Discovery>;
}

/** The informers as the follower needs them. */
export interface FollowHost {
  find(id: string): Informer<KubeObject> | undefined;
  /** Makes and starts an informer. */
  add(resource: Resource, mode: FollowMode, resumable: boolean): Informer<KubeObject>;
  /** Ends an informer that was added; its records can still be read, its rows are gone. */
  remove(id: string): void;
  /** Drops the rows of a resource that nobody caches. */
  dropRows(id: string): void;
  /** Group versions that other servers answer. */
  aggregated(): Promise<ReadonlySet<string>>;
}

export interface FollowerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly facts: FactTable;
  readonly following: Following;
  readonly host: FollowHost;
}

interface Wanted {
  readonly resource: ServedResource;
  readonly mode: FollowMode;
}

interface Kept extends Wanted, Followed {
  /** The follower made its informer and ends it. */
  readonly own: boolean;
}

/** Looks at the server until the signal aborts. */
export class Follower implements FollowedResources {
  readonly #deps: FollowerDeps;
  readonly #log: Logger;
  /** Resources with rows of an earlier process that are not followed yet. */
  readonly #remembered: Set<string>;
  #kept = new Map<string, Kept>();
  #mapper: ResourceMapper | undefined;
  #listeners: ((look: DiscoveryLook) => void)[] = [];

  constructor(deps: FollowerDeps) {
    this.#deps = deps;
    this.#log = deps.log.named('discovery');
    this.#remembered = new Set(idsIn(deps.facts.get(FACT_FOLLOWED)));
  }

  list(): readonly Followed[] {
    return [...this.#kept.values()];
  }

  onLook(listener: (look: DiscoveryLook) => void): void {
    this.#listeners.push(listener);
  }

  serving(apiVersion: string, kind: string): ServedResource | undefined {
    return this.#mapper?.ofKind(apiVersion, kind);
  }

  /** The lead has ended: nobody hears of looks any more. */
  removeListeners(): void {
    this.#listeners = [];
  }

  /** Resources that have rows but no cache yet: they must not be resumed unseen either. */
  remembered(): readonly string[] {
    return [...this.#remembered];
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const look = await this.#look(signal);
      if (signal.aborted) return;
      for (const listener of this.#listeners) this.#tell(listener, look);
      await this.#deps.clock.sleep(DISCOVERY_INTERVAL_MS, signal);
    }
  }

  async #look(signal: AbortSignal): Promise<DiscoveryLook> {
    const nothing = (problem: string): DiscoveryLook => {
      return { added: [], removed: [], learned: 'nothing', problem };
    };
    try {
      const discovery = await this.#deps.following.discover();
      if (signal.aborted) return nothing('');
      const mapper = createMapper(discovery);
      const wanted = this.#wantedOf(mapper);
      if (wanted.size === 0) return nothing('no resources reported by discovery');
      this.#keepFailed(discovery, wanted);
      const removed = this.#removeAllBut(wanted);
      const added = await this.#addMissing(wanted, signal);
      this.#mapper = mapper;
      this.#settle(discovery);
      const failures = [...discovery.failed].map(([version, why]) => `${version}: ${why}`).sort();
      const learned = failures.length === 0 ? 'all' : 'part';
      return { added, removed, learned, problem: failures.join('; ') };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (!signal.aborted) this.#log.warning('Discovery failed', { error: problem });
      return nothing(problem);
    }
  }

  #wantedOf(mapper: ResourceMapper): Map<string, Wanted> {
    const wanted = new Map<string, Wanted>();
    for (const resource of mapper.preferred()) {
      if (!NEEDED_VERBS.every((verb) => resource.verbs.includes(verb))) continue;
      const mode = this.#deps.following.wants(resource);
      if (mode !== undefined) wanted.set(resourceId(resource), { resource, mode });
    }
    return wanted;
  }

  /** A group version that can't be read now still has what it had, as long as its cache lives. */
  #keepFailed({ failed }: Discovery, wanted: Map<string, Wanted>): void {
    for (const [id, kept] of this.#kept) {
      const isUnread = failed.has(apiVersionOf(kept.resource));
      if (isUnread && !wanted.has(id) && kept.informer.synced()) wanted.set(id, kept);
    }
  }

  #removeAllBut(wanted: ReadonlyMap<string, Wanted>): Followed[] {
    const removed: Followed[] = [];
    for (const [id, kept] of this.#kept) {
      if (sameWish(kept, wanted.get(id))) continue;
      this.#kept.delete(id);
      removed.push(kept);
      if (kept.own) this.#deps.host.remove(id);
    }
    return removed;
  }

  async #addMissing(
    wanted: ReadonlyMap<string, Wanted>,
    signal: AbortSignal,
  ): Promise<readonly Followed[]> {
    const missing = [...wanted].filter(([id]) => !this.#kept.has(id));
    const { host } = this.#deps;
    const toMake = missing.filter(([id]) => host.find(id) === undefined);
    const aggregated = toMake.length === 0 ? undefined : await this.#aggregated();
    if (signal.aborted) return [];
    const added = missing.map(([id, { resource, mode }]): Kept => {
      const present = host.find(id);
      const resumable = aggregated !== undefined && !aggregated.has(apiVersionOf(resource));
      const informer = present ?? host.add(resource, mode, resumable);
      this.#remembered.delete(id);
      return { resource, mode, informer, own: present === undefined };
    });
    // In the server's order, whatever came first.
    const all = new Map([...this.#kept, ...added.map((one) => [idOf(one), one] as const)]);
    this.#kept = new Map([...wanted.keys()].flatMap((id) => entryOf(all, id)));
    return added;
  }

  /** Undefined if nobody can tell: then nothing new is resumed. */
  async #aggregated(): Promise<ReadonlySet<string> | undefined> {
    try {
      return await this.#deps.host.aggregated();
    } catch (error) {
      this.#log.warning('Could not tell which APIs other servers answer: listing all new ones', {
        error: error instanceof Error ? error.message : String(error),
      });
      return undefined;
    }
  }

  /** Rows of resources that are gone go too; what is followed now is remembered. */
  #settle({ failed }: Discovery): void {
    const unread = [...failed.keys()].map((version) => version.split('/').slice(0, -1).join('/'));
    for (const id of this.#remembered) {
      const group = id.split('.').slice(1).join('.');
      if (unread.includes(group)) continue;
      this.#remembered.delete(id);
      if (this.#deps.host.find(id) === undefined) this.#deps.host.dropRows(id);
    }
    const own = [...this.#kept].filter(([, kept]) => kept.own).map(([id]) => id);
    const text = JSON.stringify([...own, ...this.#remembered].sort());
    const { facts } = this.#deps;
    if (facts.get(FACT_FOLLOWED) !== text) facts.set(FACT_FOLLOWED, text);
  }

  #tell(listener: (look: DiscoveryLook) => void, look: DiscoveryLook): void {
    try {
      listener(look);
    } catch (error) {
      this.#log.error('A listener of discovery failed', error);
    }
  }
}

function idOf({ resource }: Followed): string {
  return resourceId(resource);
}

function entryOf(all: ReadonlyMap<string, Kept>, id: string): [string, Kept][] {
  const kept = all.get(id);
  return kept === undefined ? [] : [[id, kept]];
}

function sameWish(a: Wanted, b: Wanted | undefined): boolean {
  return (
    a.mode === b?.mode &&
    a.resource.version === b.resource.version &&
    a.resource.kind === b.resource.kind &&
    a.resource.namespaced === b.resource.namespaced
  );
}

function idsIn(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.map(String) : [];
  } catch {
    // Unreadable: rows of what is gone stay behind, and nobody reads them.
    return [];
  }
}
