/** The look at all nodes that comes again and again: who is heard of, and what follows from it. */
import { FencedError, isDefiniteAnswer } from '../../api/errors.ts';
import { nodeRecordFields, zoneKey } from '../../api/node.ts';
import { NODES } from '../../api/resource.ts';
import type { Lease, Node, Pod } from '../../api/types/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { EventRecorder, SyncRun } from '../../runtime/controller.ts';
import type { LeaseRecord, Lister, NodeRecord, PodRecord } from '../../runtime/informer/types.ts';
import type { Logger } from '../../runtime/log.ts';
import { type Grace, judge, unknownConditions } from './decide-health.ts';
import { countZone, decideDisruption, type Rates, rateOf, type ZoneCount } from './decide-zones.ts';
import { notReady, registered, removing } from './events.ts';
import type { NodeHealths } from './health.ts';
import type { KnownNodes } from './known-nodes.ts';
import type { NodeMetrics } from './metrics.ts';
import { writeConditions } from './node-writes.ts';
import { markPodsNotReady } from './pods.ts';
import type { Tainter } from './tainter.ts';
import type { UnmarkedNodes } from './unmarked.ts';
import type { Zones } from './zones.ts';

const LEASE_NAMESPACE = 'kube-node-lease';
const EXCLUDED = 'node.kubernetes.io/exclude-disruption';
const LOOKS_AT_ONCE = 8;
const HEALTH_RETRY_MS = 20;
const HEALTH_RETRIES_MS = 100;

export interface MonitorDeps {
  readonly nodes: Lister<Node, NodeRecord>;
  readonly pods: Lister<Pod, PodRecord>;
  readonly leases: Lister<Lease, LeaseRecord>;
  readonly healths: NodeHealths;
  readonly known: KnownNodes;
  readonly unmarked: UnmarkedNodes;
  readonly zones: Zones;
  readonly tainter: Tainter;
  readonly metrics: NodeMetrics;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly grace: Grace;
  readonly rates: Rates;
  readonly unhealthyThreshold: number;
}

/** A node after its health was looked at: Ready as it was found, and as it is now. */
interface Looked {
  readonly node: NodeRecord;
  readonly found: string;
  readonly now: string | undefined;
}

/** What one look found in each zone: the statuses of Ready. */
type Statuses = Map<string, (string | undefined)[]>;

/** Looks at all nodes. */
export class NodeMonitor {
  readonly #deps: MonitorDeps;
  /** Nodes that an earlier process knew: what it had watched of them is not a fresh start. */
  readonly #inherited: ReadonlySet<string>;
  #lookedAt: number | undefined;

  constructor(deps: MonitorDeps) {
    this.#deps = deps;
    this.#inherited = new Set(deps.known.uids());
  }

  /** Looks at all nodes once. */
  async look(run: SyncRun): Promise<void> {
    const { nodes, zones, metrics, clock } = this.#deps;
    const startedAt = clock.monotonic();
    const all = nodes.list('');
    for (const { labels } of all) zones.ensure(zoneKey(labels));
    await this.#greet(run, all);
    const statuses: Statuses = new Map();
    const waiting = [...all].reverse();
    const worker = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        await this.#lookAt(run, next, statuses);
      }
    };
    // One that fails must not leave the others at work while the next look begins.
    const ends = await Promise.allSettled(Array.from({ length: LOOKS_AT_ONCE }, worker));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    await this.#disruption(run, statuses, all);
    zones.save();
    this.#lookedAt = startedAt;
    metrics.allLooked(clock.monotonic() - startedAt);
  }

  /** A node is gone: nothing is left to be done about its pods. */
  gone(name: string): void {
    this.#deps.unmarked.delete(name);
  }

  async #greet(run: SyncRun, all: readonly NodeRecord[]): Promise<void> {
    const { known, events, healths, tainter, unmarked, log } = this.#deps;
    const { added, removed } = known.compare(all);
    for (const node of added) {
      log.v(1).info('Controller observed a new Node', { node: node.name });
      registered(events, node);
      known.add(node);
      // Of one whose condition is known only the taint that doesn't fit it is taken off, below.
      if (node.ready === undefined) await tainter.takeOff(run, node);
    }
    for (const node of removed) {
      log.v(1).info('Controller observed a Node deletion', { node: node.name });
      removing(events, node);
      known.remove(node.name);
      healths.forget(node.name);
      tainter.forget(node.name);
      unmarked.delete(node.name);
    }
  }

  async #lookAt(run: SyncRun, { name, uid }: NodeRecord, statuses: Statuses): Promise<void> {
    const { clock, metrics } = this.#deps;
    const startedAt = clock.monotonic();
    try {
      const looked = await this.#health(run, name, uid);
      if (looked !== undefined) await this.#follow(run, looked, statuses);
    } finally {
      metrics.nodeLooked(clock.monotonic() - startedAt);
    }
  }

  async #follow(run: SyncRun, { node, found, now }: Looked, statuses: Statuses): Promise<void> {
    const { tainter, events, pods, unmarked, log } = this.#deps;
    const { name, labels } = node;
    if (!Object.hasOwn(labels, EXCLUDED)) {
      const zone = zoneKey(labels);
      statuses.set(zone, [...(statuses.get(zone) ?? []), now]);
    }
    if (now === undefined) {
      unmarked.delete(name);
      return;
    }
    const isLost = now !== 'True' && found === 'True';
    if (isLost) {
      // The next look finds it lost already: whatever fails from here on is due then.
      unmarked.add(node);
      notReady(events, node);
    }
    await tainter.follow(run, node, now);
    if (isLost || (unmarked.has(node) && found !== 'True')) {
      const keys = pods.byIndex('nodeName', name).map(({ key }) => key);
      const [error] = await markPodsNotReady(run, keys, name, this.#deps);
      if (error !== undefined) {
        log.error('Unable to mark all pods NotReady on node; queuing for retry', error, {
          node: name,
        });
        unmarked.add(node);
        return;
      }
    }
    unmarked.delete(name);
  }

  /** Undefined if the node could not be updated or is gone: it is left out of this look. */
  async #health(run: SyncRun, name: string, uid: string): Promise<Looked | undefined> {
    const { clock, log } = this.#deps;
    const until = clock.monotonic() + HEALTH_RETRIES_MS;
    let live: Node | undefined;
    for (;;) {
      try {
        return await this.#tryHealth(run, name, uid, live);
      } catch (error) {
        if (error instanceof FencedError) throw error;
        if (clock.monotonic() >= until) {
          const what = 'Update health of Node from Controller error, Skipping';
          log.error(`${what} - no pods will be evicted`, error, { node: name });
          return undefined;
        }
      }
      await clock.sleep(HEALTH_RETRY_MS, run.signal);
      try {
        live = await run.client.get<Node>(NODES, { name });
      } catch (error) {
        log.error('Failed while getting a Node to retry updating node health', error, {
          node: name,
        });
        return undefined;
      }
    }
  }

  async #tryHealth(
    run: SyncRun,
    name: string,
    uid: string,
    live: Node | undefined,
  ): Promise<Looked | undefined> {
    const { nodes, leases, healths, unmarked, clock, grace } = this.#deps;
    const node = live === undefined ? nodes.record(name) : nodeRecordFields(live);
    if (node?.uid !== uid) return undefined;
    const renewTime = leases.record(`${LEASE_NAMESPACE}/${name}`)?.renewTime;
    const before = healths.get(name, uid);
    const judgement = judge({ ready: node.ready, renewTime }, before?.seen, grace);
    const silentMs = healths.put(node, before, judgement, this.#ageMs(node));
    const found = node.ready?.status ?? 'Unknown';
    if (silentMs <= judgement.graceMs) return { node, found, now: node.ready?.status };
    const whole = live ?? nodes.get(name);
    if (whole === undefined) return undefined;
    const conditions = unknownConditions(whole, clock.now());
    if (conditions.length > 0) {
      const allowed = `${judgement.graceMs / 1_000} s are allowed`;
      const because = `nothing was heard of node ${name} for ${Math.floor(silentMs / 1_000)} s, ${allowed}`;
      if (found === 'True') {
        unmarked.announce(node);
        await run.barrier();
      }
      try {
        await writeConditions(run, whole, conditions, because);
      } catch (error) {
        // Without a definite answer it may have been written all the same.
        if (found === 'True' && !isDefiniteAnswer(error)) unmarked.add(node);
        throw error;
      }
      const heartbeatTime = node.ready?.heartbeatTime ?? whole.metadata.creationTimestamp ?? '';
      healths.marked(name, uid, { ready: { status: 'Unknown', heartbeatTime }, renewTime });
    }
    return { node, found, now: 'Unknown' };
  }

  /**
   * For how long a node that never spoke may have been silent, milliseconds: since it was
   * created, but only as far as that was watched. Without memory its age is all there is.
   */
  #ageMs({ uid, createdAt }: NodeRecord): number {
    const { clock } = this.#deps;
    if (this.#inherited.has(uid)) return 0;
    const ageMs = Math.max(0, clock.now() - createdAt);
    return this.#lookedAt === undefined
      ? ageMs
      : Math.min(ageMs, clock.monotonic() - this.#lookedAt);
  }

  async #disruption(run: SyncRun, statuses: Statuses, all: readonly NodeRecord[]): Promise<void> {
    const { zones, metrics, healths, tainter, log, rates, unhealthyThreshold } = this.#deps;
    const found = new Map<string, ZoneCount>();
    for (const [zone, ready] of statuses) {
      const count = countZone(ready, unhealthyThreshold);
      found.set(zone, count);
      metrics.zone(zone, count.size, count.unhealthy);
    }
    for (const zone of [...zones.states.keys()].filter((name) => !found.has(name))) {
      metrics.zoneGone(zone);
      zones.drop(zone);
    }
    const { kind, changes } = decideDisruption(zones.states, found);
    if (kind === 'begins') {
      log.info('Controller detected that all Nodes are not-Ready. Entering master disruption mode');
      for (const node of all)
        await tainter.takeOff(run, this.#deps.nodes.record(node.name) ?? node);
    } else if (kind === 'ends') {
      log.info('Controller detected that some Nodes are Ready. Exiting master disruption mode');
      healths.restartAll();
    }
    for (const [zone, count] of found) {
      if (kind === 'zones' && !changes.has(zone)) continue;
      zones.queueOf(zone).swap(kind === 'begins' ? 0 : rateOf(count, rates));
    }
    for (const [zone, state] of changes) {
      log.info('Controller detected that zone is now in new state', { zone, newState: state });
      zones.setState(zone, state);
    }
  }
}
