/**
 * pod-garbage-collector-controller: deletes pods that nobody else will: too many ended ones, those
 * on nodes that are lost or gone, and those that were deleted before they came to a node.
 * `decide.ts` says which.
 */
import { NODES, PODS } from '../../api/resource.ts';
import type { Node, Pod } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  SyncRun,
} from '../../runtime/controller.ts';
import type { Lister, PodRecord } from '../../runtime/informer/types.ts';
import { PODS_READ_BEFORE_PAUSE } from '../../runtime/limits.ts';
import { whole } from '../_kit/whole.ts';
import {
  beyondThreshold,
  hasEnded,
  missingNodes,
  neverScheduled,
  onLostNodes,
  type Victim,
} from './decide.ts';
import { removalCounts } from './metrics.ts';
import { nodeExists, Quarantine } from './quarantine.ts';
import { Remover } from './remove.ts';

const NAME = 'pod-garbage-collector-controller';
const THRESHOLD_FLAG = 'terminated-pod-gc-threshold';
const PERIOD_MS = 20_000;
/** The one key of the queue of rounds. */
const ROUND = 'all pods';

/** The passport of the pod garbage collector. */
export const podGarbageCollectorController: ControllerDefinition = {
  name: NAME,
  aliases: ['podgc'],
  gates: [],
  enabledByDefault: true,
  account: 'pod-garbage-collector',
  watches: [PODS, NODES],
  writes: ['pods delete', 'pods/status patch'],
  flags: [THRESHOLD_FLAG],
  build,
};

function build(context: ControllerContext): Controller {
  const { informers, flags, metrics, log } = context;
  const pods = informers.pods().lister;
  const nodes = informers.of<Node>(NODES).lister;
  const rounds = context.queue('podgc');
  const vanished = context.queue('orphaned_pods_nodes');
  const quarantine = new Quarantine(context, vanished);
  const remover = new Remover({ pods, counts: removalCounts(metrics), log });
  const evicted = new Evicted(context);
  const threshold = Number(flags[THRESHOLD_FLAG]);

  const round = async (run: SyncRun): Promise<void> => {
    const all = pods.list('');
    const ended = all.filter(hasEnded);
    const isOver = threshold > 0 && ended.length > threshold;
    const isEvicted = await evicted.among(run, isOver ? ended : []);
    await remover.removeAll(run, beyondThreshold(ended, threshold, isEvicted), 'terminated');
    const going = all.filter(({ deleting }) => deleting);
    const found = await nodesOf(run, nodes, going);
    const lost = onLostNodes(going, (name) => found.get(name));
    await remover.removeAll(run, lost, 'out-of-service');
    quarantine.update(missingNodes(all, (name) => nodes.record(name) !== undefined));
    await remover.removeAll(run, neverScheduled(all), 'unscheduled');
    run.again(PERIOD_MS, 'the next round');
  };

  const orphans = async (node: string, run: SyncRun): Promise<void> => {
    const bound = pods.byIndex('nodeName', node);
    if (nodes.record(node) !== undefined || bound.length === 0) return quarantine.release(node);
    const leftMs = quarantine.leftMs(node);
    if (leftMs > 0) return run.again(leftMs, `node ${node} is missing: it may turn up again`);
    if (!(await nodeExists(run, node))) {
      const because = `node ${node} no longer exists`;
      const victims = pods.byIndex('nodeName', node).map((pod): Victim => ({ pod, because }));
      await remover.removeAll(run, victims, 'orphaned');
    }
    quarantine.release(node);
  };

  return {
    start: () => rounds.add(ROUND),
    queues: [
      {
        queue: rounds,
        workers: 1,
        announcesNothing: true,
        reconcile: (_key, run) => round(run),
      },
      { queue: vanished, workers: 1, announcesNothing: true, reconcile: orphans },
    ],
  };
}

/** The nodes that these pods are bound to, by name, as far as there are any. */
async function nodesOf(
  run: SyncRun,
  nodes: Lister<Node>,
  pods: readonly PodRecord[],
): Promise<ReadonlyMap<string, Node | undefined>> {
  const names = new Set(pods.map(({ nodeName }) => nodeName));
  names.delete('');
  const found = new Map<string, Node | undefined>();
  for (const name of names) found.set(name, await whole(run, NODES, nodes, name));
  return found;
}

/** Which pods were evicted; only whole pods tell, so each is read once. */
class Evicted {
  readonly #context: Pick<ControllerContext, 'informers' | 'clock'>;
  #known = new Map<string, boolean>();

  constructor(context: Pick<ControllerContext, 'informers' | 'clock'>) {
    this.#context = context;
  }

  /** Reads those of the pods that are not known; forgets all others. */
  async among(run: SyncRun, pods: readonly PodRecord[]): Promise<(pod: PodRecord) => boolean> {
    const { informers, clock } = this.#context;
    const { lister } = informers.pods();
    const known = new Map<string, boolean>();
    let read = 0;
    for (const { uid, key, phase } of pods) {
      if (phase !== 'Failed') continue;
      const before = this.#known.get(uid);
      if (before !== undefined) {
        known.set(uid, before);
        continue;
      }
      if (++read % PODS_READ_BEFORE_PAUSE === 0) await clock.sleep(0);
      const pod = await whole<Pod, PodRecord>(run, PODS, lister, key);
      known.set(uid, pod?.status?.reason === 'Evicted');
    }
    this.#known = known;
    return ({ uid }) => known.get(uid) ?? false;
  }
}
