/**
 * disruption-controller: says in the status of each PodDisruptionBudget how many of its pods may be
 * evicted now; the API server's eviction goes by it. `decide.ts` says how many, `scale.ts` how many
 * pods there should be, `stale.ts` when a pod is no longer taken as disrupted.
 */
import {
  DEPLOYMENTS,
  POD_DISRUPTION_BUDGETS,
  PODS,
  REPLICA_SETS,
  REPLICATION_CONTROLLERS,
  STATEFUL_SETS,
} from '../../api/resource.ts';
import type {
  Deployment,
  PodDisruptionBudget,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  SyncRun,
} from '../../runtime/controller.ts';
import { Kinds } from '../_kit/scale/kinds.ts';
import { Scales } from '../_kit/scale/scales.ts';
import { Budgets } from './budgets.ts';
import { BudgetEvents } from './events.ts';
import type { ScaleSources } from './scale.ts';
import { staleInMs, withoutDisruption } from './stale.ts';
import { BudgetSync } from './sync.ts';
import { budgetHandler, podHandler } from './triggers.ts';

const NAME = 'disruption-controller';
const COMPONENT = 'controllermanager';

const BESIDE_PODS = [
  POD_DISRUPTION_BUDGETS,
  REPLICATION_CONTROLLERS,
  REPLICA_SETS,
  DEPLOYMENTS,
  STATEFUL_SETS,
];

/** The passport of the disruption controller. */
export const disruptionController: ControllerDefinition = {
  name: NAME,
  aliases: ['disruption'],
  gates: [],
  enabledByDefault: true,
  account: NAME,
  watches: [PODS, ...BESIDE_PODS],
  writes: ['poddisruptionbudgets/status update', 'pods/status update', 'events create/patch'],
  flags: [],
  build,
};

/** Keys of `disruption` and `disruption_recheck` are budgets, of `stale_pod_disruption` pods. */
function build(context: ControllerContext): Controller {
  const { informers, clock, log } = context;
  const pods = informers.pods();
  const budgets = informers.of<PodDisruptionBudget>(POD_DISRUPTION_BUDGETS);
  const queue = context.queue('disruption');
  const rechecks = context.queue('disruption_recheck');
  const stalePods = context.queue('stale_pod_disruption');
  const events = new BudgetEvents(context.events(COMPONENT));
  const sources = sourcesOf(context);
  const caches = [pods, ...BESIDE_PODS.map((resource) => informers.of(resource))];
  const sync = new BudgetSync({
    budgets: budgets.lister,
    sources,
    events,
    rechecks,
    log,
    caughtUp: () => caches.every((cache) => cache.caughtUp()),
  });
  const deps = { budgets: new Budgets(budgets.lister), queue, stalePods, events, clock };
  budgets.addHandler(budgetHandler(deps));
  pods.addHandler(podHandler(deps));
  const announcesNothing = true;
  return {
    queues: [
      { queue, workers: 1, announcesNothing, reconcile: (key, run) => sync.reconcile(key, run) },
      {
        queue: rechecks,
        workers: 1,
        announcesNothing,
        reconcile: async (key) => queue.addRateLimited(key),
      },
      {
        queue: stalePods,
        workers: 1,
        announcesNothing,
        reconcile: (key, run) => clearStale(sources.pods, key, run),
      },
    ],
  };
}

function sourcesOf(context: ControllerContext): ScaleSources {
  const { informers, client } = context;
  const kinds = new Kinds(context);
  return {
    pods: informers.pods().lister,
    replicationControllers: informers.of<ReplicationController>(REPLICATION_CONTROLLERS).lister,
    deployments: informers.of<Deployment>(DEPLOYMENTS).lister,
    replicaSets: informers.of<ReplicaSet>(REPLICA_SETS).lister,
    statefulSets: informers.of<StatefulSet>(STATEFUL_SETS).lister,
    kinds,
    scales: new Scales(kinds, client),
  };
}

async function clearStale(pods: ScaleSources['pods'], key: string, run: SyncRun): Promise<void> {
  const record = pods.record(key);
  const delayMs = record && staleInMs(record, run.now);
  if (record === undefined || delayMs === undefined) return;
  if (delayMs > 0) return run.again(delayMs, 'its condition DisruptionTarget is not stale yet');
  const pod = pods.get(key);
  if (pod === undefined) return;
  const { namespace, name } = record;
  const because = 'it was said to be disrupted and is still not being deleted';
  const at = { namespace, name, subresource: 'status' };
  await run.client.update(PODS, at, withoutDisruption(pod, run.now), {
    because,
    metadataOnly: true,
  });
}
