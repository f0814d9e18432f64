/** NoExecute taints: which nodes wait for one, putting it on, and taking both off again. */
import { FencedError } from '../../api/errors.ts';
import { zoneKey } from '../../api/node.ts';
import { NODES } from '../../api/resource.ts';
import type { Node } from '../../api/types/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SyncRun } from '../../runtime/controller.ts';
import type { Lister, NodeRecord } from '../../runtime/informer/types.ts';
import type { Logger } from '../../runtime/log.ts';
import { whole } from '../_kit/whole.ts';
import {
  hasTaint,
  NOT_READY,
  noExecuteChange,
  type TaintChange,
  UNREACHABLE,
} from './decide-node.ts';
import type { NodeMetrics } from './metrics.ts';
import { changeTaints } from './node-writes.ts';
import type { Waiting, ZoneQueue } from './zone-queue.ts';
import type { Zones } from './zones.ts';

const PASS_MS = 100;
const NO_CONDITION_RETRY_MS = 50;
const BOTH_OFF: TaintChange = { add: [], remove: [UNREACHABLE, NOT_READY] };

export interface TainterDeps {
  readonly nodes: Lister<Node, NodeRecord>;
  readonly zones: Zones;
  readonly metrics: NodeMetrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Keeps the NoExecute taints of all nodes. */
export class Tainter {
  readonly #deps: TainterDeps;
  /** UIDs of nodes that this process has looked at. */
  readonly #seen = new Map<string, string>();

  constructor(deps: TainterDeps) {
    this.#deps = deps;
  }

  /** The status of Ready is this: the taint is swapped at once, or waits for its turn. */
  async follow(run: SyncRun, node: NodeRecord, ready: string): Promise<void> {
    const change = noExecuteChange(ready);
    if (change === undefined) return await this.takeOff(run, node);
    const { name, uid, noExecute } = node;
    const queue = this.#queueOf(node);
    const isTainted = change.add.every((taint) => hasTaint(noExecute, taint));
    if (change.remove.some((taint) => hasTaint(noExecute, taint))) {
      const because = `node ${name} is ${ready}, its taint says otherwise`;
      await this.#write(run, node, change, because);
      return;
    }
    // One that has its taint from before is not tainted again.
    if (isTainted && this.#seen.get(name) !== uid) queue.settle(name);
    this.#seen.set(name, uid);
    if (!isTainted) queue.remove(name);
    queue.add({ name, uid });
  }

  /** The node is ready, or all are not: both taints go. */
  async takeOff(run: SyncRun, node: NodeRecord): Promise<void> {
    this.#seen.set(node.name, node.uid);
    const isTainted = BOTH_OFF.remove.some((taint) => hasTaint(node.noExecute, taint));
    const because = `node ${node.name} must not drive its pods away`;
    if (isTainted && !(await this.#write(run, node, BOTH_OFF, because))) return;
    this.#queueOf(node).remove(node.name);
  }

  forget(name: string): void {
    this.#seen.delete(name);
  }

  /** Taints those whose turn it is; asks to be called again while anybody waits. */
  async pass(run: SyncRun): Promise<void> {
    const { zones } = this.#deps;
    for (const zone of zones.names()) {
      const queue = zones.queueOf(zone);
      for (let next = queue.take(); next !== undefined; next = queue.take()) {
        zones.taken(zone);
        await this.#taint(run, queue, next);
      }
    }
    zones.save();
    this.wake((delayMs) => run.again(delayMs, 'nodes wait for a NoExecute taint'));
  }

  /** Calls back with how long until somebody can be tainted, milliseconds; not if nobody can. */
  wake(callback: (delayMs: number) => void): void {
    const waitMs = this.#deps.zones.waitMs();
    if (Number.isFinite(waitMs)) callback(Math.max(PASS_MS, waitMs));
  }

  async #taint(run: SyncRun, queue: ZoneQueue, { name, uid }: Waiting): Promise<void> {
    const node = this.#deps.nodes.record(name);
    if (node?.uid !== uid) {
      queue.remove(name);
      return;
    }
    if (node.ready === undefined) {
      queue.postpone(name, NO_CONDITION_RETRY_MS);
      return;
    }
    const change = noExecuteChange(node.ready.status);
    const isDone =
      change === undefined ||
      (change.add.every((taint) => hasTaint(node.noExecute, taint)) &&
        !change.remove.some((taint) => hasTaint(node.noExecute, taint)));
    if (isDone) {
      queue.settle(name);
      return;
    }
    const because = `node ${name} is ${node.ready.status}, and it is its turn`;
    if (await this.#write(run, node, change, because)) {
      this.#deps.metrics.evicted(zoneKey(node.labels));
      queue.settle(name);
    } else queue.postpone(name, 0);
  }

  /** False if it failed, which is logged. Throws only if this process may not write. */
  async #write(
    run: SyncRun,
    { name, uid }: NodeRecord,
    change: TaintChange,
    because: string,
  ): Promise<boolean> {
    const { clock, log } = this.#deps;
    try {
      const node = await whole<Node, NodeRecord>(run, NODES, this.#deps.nodes, name);
      if (node?.metadata.uid === uid) await changeTaints(run, node, change, { clock, because });
      return true;
    } catch (error) {
      if (error instanceof FencedError) throw error;
      log.error('Failed to change the taints of a node', error, { node: name });
      return false;
    }
  }

  #queueOf(node: NodeRecord): ZoneQueue {
    return this.#deps.zones.queueOf(zoneKey(node.labels));
  }
}
