/**
 * node-lifecycle-controller: notices nodes that are no longer heard of, says so in their conditions
 * and those of their pods, and keeps taints that follow from conditions. Start with `monitor.ts`;
 * the pods are driven away by the taint eviction controller.
 */
import { LEASES, NODES, PODS } from '../../api/resource.ts';
import type { Lease, Node } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  SyncRun,
} from '../../runtime/controller.ts';
import type { LeaseRecord, NodeRecord } from '../../runtime/informer/types.ts';
import { waitsForCaches } from '../_kit/caught-up.ts';
import { noScheduleChange } from './decide-node.ts';
import { EVENT_COMPONENT } from './events.ts';
import { NodeHealths } from './health.ts';
import { KnownNodes } from './known-nodes.ts';
import { nodeMetrics } from './metrics.ts';
import { NodeMonitor } from './monitor.ts';
import { changeTaints, reconcileLabels } from './node-writes.ts';
import { markPodsNotReady } from './pods.ts';
import { Tainter } from './tainter.ts';
import { UnmarkedNodes } from './unmarked.ts';
import { Zones } from './zones.ts';

const PERIOD_FLAG = 'node-monitor-period';
const GRACE_FLAG = 'node-monitor-grace-period';
const STARTUP_FLAG = 'node-startup-grace-period';
const RATE_FLAG = 'node-eviction-rate';
const SECONDARY_RATE_FLAG = 'secondary-node-eviction-rate';
const LARGE_FLAG = 'large-cluster-size-threshold';
const THRESHOLD_FLAG = 'unhealthy-zone-threshold';

const NODE_WORKERS = 8;
const POD_WORKERS = 4;
/** The one key of the queues of looks and of taints. */
const ALL = 'all nodes';

/** The passport of the node lifecycle controller. */
export const nodeLifecycleController: ControllerDefinition = {
  name: 'node-lifecycle-controller',
  aliases: ['nodelifecycle'],
  gates: [],
  enabledByDefault: true,
  account: 'node-controller',
  watches: [NODES, PODS, LEASES],
  writes: ['nodes patch', 'nodes/status patch', 'pods/status patch'],
  flags: [
    PERIOD_FLAG,
    GRACE_FLAG,
    STARTUP_FLAG,
    RATE_FLAG,
    SECONDARY_RATE_FLAG,
    LARGE_FLAG,
    THRESHOLD_FLAG,
  ],
  build,
};

/** The parts of one lead, on the caches and memories of `context`. */
function partsOf(context: ControllerContext) {
  const { informers, flags, clock, log } = context;
  const nodes = informers.of<Node, NodeRecord>(NODES);
  const leases = informers.of<Lease, LeaseRecord>(LEASES);
  const pods = informers.pods();
  const number = (flag: string): number => Number(flags[flag]);
  const metrics = nodeMetrics(context.metrics);
  const events = context.events(EVENT_COMPONENT);
  const healths = new NodeHealths(context);
  const zones = new Zones({
    context,
    perSecond: number(RATE_FLAG),
    added: (zone) => metrics.zoneAdded(zone),
  });
  const tainter = new Tainter({ nodes: nodes.lister, zones, metrics, clock, log });
  const monitor = new NodeMonitor({
    nodes: nodes.lister,
    pods: pods.lister,
    leases: leases.lister,
    healths,
    known: new KnownNodes(context),
    unmarked: new UnmarkedNodes(context),
    zones,
    tainter,
    metrics,
    events,
    clock,
    log,
    grace: { usualMs: number(GRACE_FLAG), startupMs: number(STARTUP_FLAG) },
    rates: {
      usual: number(RATE_FLAG),
      secondary: number(SECONDARY_RATE_FLAG),
      largeZone: number(LARGE_FLAG),
    },
    unhealthyThreshold: number(THRESHOLD_FLAG),
  });
  const caughtUp = (): boolean => [nodes, leases, pods].every((informer) => informer.caughtUp());
  return { nodes, pods, events, healths, tainter, monitor, caughtUp };
}

function build(context: ControllerContext): Controller {
  const { clock, flags } = context;
  const { nodes, pods, events, healths, tainter, monitor, caughtUp } = partsOf(context);
  const nodeQueue = context.queue('node_lifecycle_controller');
  const podQueue = context.queue('node_lifecycle_controller_pods');
  const looks = context.queue('node_lifecycle_monitor');
  const taints = context.queue('node_lifecycle_taints');
  const periodMs = Number(flags[PERIOD_FLAG]);
  nodes.addHandler({
    add: ({ name }) => nodeQueue.add(name),
    update: ({ name }) => nodeQueue.add(name),
    delete: ({ name }) => monitor.gone(name),
  });
  pods.addHandler({
    add: ({ key, nodeName }, initial) => {
      // The first look finds those that were there.
      if (!initial && nodeName !== '') podQueue.add(key);
    },
    update: ({ key, nodeName }, previous) => {
      if (nodeName !== '' && nodeName !== previous.nodeName) podQueue.add(key);
    },
  });

  const syncNode = async (name: string, run: SyncRun): Promise<void> => {
    const node = nodes.lister.get(name);
    if (node === undefined) return;
    const change = noScheduleChange(node);
    try {
      if (change.add.length + change.remove.length > 0) {
        const because = `NoSchedule taints of node ${name} must be as its conditions`;
        await changeTaints(run, node, change, { clock, because });
      }
    } finally {
      await reconcileLabels(run, node);
    }
  };
  const syncPod = async (key: string, run: SyncRun): Promise<void> => {
    const pod = pods.lister.record(key);
    const node = pod && nodes.lister.record(pod.nodeName);
    const status = node && healths.statusOf(node.name, node.uid);
    if (node === undefined || status === undefined || status === '' || status === 'True') return;
    const deps = { pods: pods.lister, events, clock };
    const [error] = await markPodsNotReady(run, [key], node.name, deps);
    if (error !== undefined) throw error;
  };
  const look = async (run: SyncRun): Promise<void> => {
    if (waitsForCaches(run, caughtUp)) return;
    await monitor.look(run);
    tainter.wake((delayMs) => taints.addAfter(ALL, delayMs, 'nodes wait for a NoExecute taint'));
    run.again(periodMs, 'the next look');
  };
  return {
    start: () => looks.add(ALL),
    queues: [
      { queue: nodeQueue, workers: NODE_WORKERS, announcesNothing: true, reconcile: syncNode },
      { queue: podQueue, workers: POD_WORKERS, announcesNothing: true, reconcile: syncPod },
      { queue: looks, workers: 1, reconcile: (_, run) => look(run) },
      {
        queue: taints,
        workers: 1,
        announcesNothing: true,
        reconcile: (_, run) => tainter.pass(run),
      },
    ],
  };
}
