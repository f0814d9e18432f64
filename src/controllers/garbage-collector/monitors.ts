/** Feeds the graph from the informers of all deletable resources, as they come and go. */
import { apiVersionOf, type Resource, resourceId } from '../../api/resource.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ServedResource } from '../../runtime/controller.ts';
import type {
  DiscoveryLook,
  Followed,
  FollowedResources,
  Handler,
  ObjectRecord,
} from '../../runtime/informer/types.ts';
import type { Logger } from '../../runtime/log.ts';
import { cachesComplete } from '../_kit/followed-caches.ts';
import type { Graph } from './graph.ts';
import type { Source } from './node.ts';

/** They come and go by themselves, and own nothing. */
const IGNORED: ReadonlySet<string> = new Set(['events', 'events.events.k8s.io']);

/** True for resources whose objects the collector knows. */
export function isCollected(resource: Resource & Pick<ServedResource, 'verbs'>): boolean {
  return resource.verbs.includes('delete') && !IGNORED.has(resourceId(resource));
}

export interface MonitorsDeps {
  readonly followed: FollowedResources;
  readonly graph: Graph;
  readonly clock: Clock;
  readonly log: Logger;
  /** Something about the resources went wrong: nothing served, or caches that stay incomplete. */
  failed(): void;
}

/** One handler for each resource. */
export class Monitors {
  readonly #deps: MonitorsDeps;
  /** Aborts when the lead ends. */
  #signal = new AbortController().signal;

  constructor(deps: MonitorsDeps) {
    this.#deps = deps;
  }

  /** Builds the graph from what is cached now, and keeps it equal to the caches from then on. */
  begin(): void {
    const { followed, graph } = this.#deps;
    graph.inBulk(() => this.#add(followed.list()));
    followed.onLook((look) => void this.#look(look));
  }

  /** Waits until every cache is as new as the server was when asked; 30 s at most. */
  async complete(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    const isComplete = await this.#wait((one) => one.informer.caughtUp());
    if (signal.aborted) return;
    const { log, failed } = this.#deps;
    if (isComplete) log.info('All resource monitors have synced');
    else log.info('Not all resource monitors could be synced, proceeding anyways');
    if (!isComplete) failed();
  }

  #add(all: readonly Followed[]): void {
    for (const one of all) if (isCollected(one.resource)) one.informer.addHandler(this.#feed(one));
  }

  #feed({ resource }: Followed): Handler<ObjectRecord> {
    const { graph } = this.#deps;
    const source: Source = { apiVersion: apiVersionOf(resource), kind: resource.kind, resource };
    return {
      add: (record) => graph.observe(source, record, undefined),
      update(record, before) {
        if (record.uid !== before.uid) {
          // Deleted and created again, and only the latter was seen.
          graph.remove(source, before);
          graph.observe(source, record, undefined);
        } else if (record.ties === before.ties && record.deleting === before.deleting) {
          graph.refresh(source, record);
        } else {
          graph.observe(source, record, before);
        }
      },
      delete: (record) => graph.remove(source, record),
    };
  }

  async #look(look: DiscoveryLook): Promise<void> {
    const { log, failed } = this.#deps;
    if (look.learned === 'nothing') {
      log.v(2).info('No resources reported by discovery', { problem: look.problem });
      failed();
      return;
    }
    if (look.learned === 'part')
      log.info('Failed to discover some groups', { groups: look.problem });
    if (look.added.length === 0 && look.removed.length === 0) return;
    const names = (all: readonly Followed[]) => all.map(({ resource }) => resourceId(resource));
    log.v(2).info('The collected resources changed', {
      added: names(look.added),
      removed: names(look.removed),
    });
    for (const { informer } of look.removed) {
      for (const record of informer.lister.list('')) this.#deps.graph.lose(record);
    }
    this.#add(look.added);
    if (await this.#wait((one) => one.informer.synced())) return;
    log.warning('Timed out waiting for the caches of the dependency graph');
    failed();
  }

  #wait(test: (one: Followed) => boolean): Promise<boolean> {
    const { clock, followed } = this.#deps;
    const counts = ({ resource }: Followed): boolean => isCollected(resource);
    return cachesComplete({ followed, clock, signal: this.#signal, counts, test });
  }
}
